//===- Interpreter.cpp - runs kernel IR, element by element ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Interpreter.h. Slow and plain: one attribute per element.
//
//===----------------------------------------------------------------------===//

#include "Interpreter.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/TypeUtilities.h"

#include <cmath>

using namespace mlir;
using namespace facet::kernel;
using namespace facet::test;

Tensor::Tensor(ArrayRef<int64_t> shape, Attribute fill)
    : shape(shape), elements(ShapedType::getNumElements(shape), fill) {}

int64_t Tensor::offset(ArrayRef<int64_t> indices) const {
  int64_t result = 0;
  for (auto [index, extent] : llvm::zip_equal(indices, shape)) {
    if (index < 0 || index >= extent)
      return -1;
    result = result * extent + index;
  }
  return result;
}

/// Calls `visit` for every point of a box, the last dimension fastest.
static void forEachPoint(ArrayRef<int64_t> extents,
                         llvm::function_ref<void(ArrayRef<int64_t>)> visit) {
  if (llvm::is_contained(extents, 0))
    return;
  SmallVector<int64_t> point(extents.size(), 0);
  while (true) {
    visit(point);
    size_t dim = extents.size();
    while (dim != 0 && ++point[dim - 1] == extents[dim - 1])
      point[--dim] = 0;
    if (dim == 0)
      return;
  }
}

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

static double toDouble(Attribute value) {
  return cast<FloatAttr>(value).getValueAsDouble();
}

/// A function of the language or of math on one float; nothing if it is none.
static std::optional<double> evaluate(StringRef name, double x) {
  if (name == "exp")
    return std::exp(x);
  if (name == "log")
    return std::log(x);
  if (name == "sqrt")
    return std::sqrt(x);
  if (name == "rsqrt")
    return 1 / std::sqrt(x);
  if (name == "tanh")
    return std::tanh(x);
  if (name == "erf")
    return std::erf(x);
  if (name == "floor")
    return std::floor(x);
  if (name == "ceil")
    return std::ceil(x);
  if (name == "roundeven")
    return std::nearbyint(x);
  if (name == "absf")
    return std::fabs(x);
  if (name == "relu")
    return x < 0 ? 0 : x;
  if (name == "sigmoid")
    return 1 / (1 + std::exp(-x));
  if (name == "silu")
    return x / (1 + std::exp(-x));
  if (name == "gelu")
    return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0)));
  if (name == "gelu_tanh")
    return 0.5 * x *
           (1 + std::tanh(0.79788456080286536 * (x + 0.044715 * x * x * x)));
  return std::nullopt;
}

/// Elements of unsigned types cannot be constants of arith, so folds do not make them.
static Attribute toUnsigned(CastOp cast, Attribute value) {
  auto type = llvm::cast<IntegerType>(cast.getType());
  int64_t limit = (int64_t(1) << type.getWidth()) - 1;
  APSInt wide(64, /*isUnsigned=*/false);
  if (auto number = dyn_cast<FloatAttr>(value)) {
    bool isExact;
    number.getValue().convertToInteger(wide, APFloat::rmNearestTiesToEven,
                                       &isExact);
  } else {
    wide = llvm::cast<IntegerAttr>(value).getValue().sextOrTrunc(64);
  }
  int64_t result = wide.getSExtValue();
  result = cast.getMode() == CastMode::Wrap
               ? (result & limit)
               : std::clamp<int64_t>(result, 0, limit);
  return IntegerAttr::get(type, APInt(type.getWidth(), result));
}

bool Interpreter::fail(Operation &op, StringRef why) {
  llvm::raw_string_ostream os(error);
  os << why << ": " << op;
  return false;
}

int64_t Interpreter::integer(OpFoldResult value) const {
  auto attribute = dyn_cast<Attribute>(value);
  if (!attribute)
    attribute = scalar(cast<Value>(value));
  return cast<IntegerAttr>(attribute).getInt();
}

bool Interpreter::runScalar(Operation &op) {
  Value result = op.getResult(0);
  if (auto size = dyn_cast<SizeOp>(op)) {
    scalars[result] =
        IntegerAttr::get(result.getType(), sizes.at(size.getName().str()));
    return true;
  }
  if (auto index = dyn_cast<IndexOp>(op)) {
    scalars[result] = IntegerAttr::get(result.getType(),
                                       iterators.lookup(index.getIterator()));
    return true;
  }
  SmallVector<Attribute> operands;
  for (Value operand : op.getOperands())
    operands.push_back(scalar(operand));
  auto isBool = [&](unsigned i, bool value) {
    auto attribute = dyn_cast_or_null<IntegerAttr>(operands[i]);
    return attribute && attribute.getType().isInteger(1) &&
           attribute.getValue().isOne() == value;
  };
  if (isa<arith::SelectOp>(op)) {
    scalars[result] = isBool(0, true)    ? operands[1]
                      : isBool(0, false) ? operands[2]
                                         : Attribute();
    return true;
  }
  if (isa<arith::AndIOp, arith::OrIOp>(op) && result.getType().isInteger(1)) {
    bool decides = isa<arith::OrIOp>(op);
    for (unsigned i : {0, 1})
      if (isBool(i, decides))
        return scalars[result] = operands[i], true;
  }
  if (!op.hasTrait<OpTrait::ConstantLike>() &&
      !llvm::all_of(operands, [](Attribute a) { return !!a; })) {
    scalars[result] = {};
    return true;
  }
  bool isFloat = !operands.empty() && isa<FloatAttr>(operands[0]);
  StringRef function = op.getName().stripDialect();
  if (auto apply = dyn_cast<ApplyOp>(op)) {
    function = stringifyScalarFunction(apply.getFunction());
    if (!isFloat) { // relu of an integer
      auto value = cast<IntegerAttr>(operands[0]);
      scalars[result] = value.getValue().isNegative()
                            ? IntegerAttr::get(value.getType(), 0)
                            : value;
      return true;
    }
  }
  if (isFloat && op.getNumOperands() == 1 && !isa<CastOp>(op)) {
    if (std::optional<double> value =
            evaluate(function, toDouble(operands[0]))) {
      APFloat rounded(*value);
      bool losesInfo;
      rounded.convert(cast<FloatType>(result.getType()).getFloatSemantics(),
                      APFloat::rmNearestTiesToEven, &losesInfo);
      scalars[result] = FloatAttr::get(result.getType(), rounded);
      return true;
    }
  }
  if (auto cast = dyn_cast<CastOp>(op);
      cast && result.getType().isUnsignedInteger()) {
    scalars[result] = toUnsigned(cast, operands[0]);
    return true;
  }
  SmallVector<OpFoldResult> folded;
  for (int attempt = 0; attempt != 3; ++attempt) {
    if (failed(op.fold(operands, folded))) {
      if (!isa<arith::DivSIOp, arith::RemSIOp, arith::FloorDivSIOp>(op))
        return fail(op, "does not fold");
      scalars[result] = {}; // a division by zero
      return true;
    }
    if (!folded.empty()) {
      auto attribute = dyn_cast<Attribute>(folded.front());
      scalars[result] =
          attribute ? attribute : scalar(cast<Value>(folded.front()));
      return true;
    }
    for (auto [attribute, operand] : llvm::zip(operands, op.getOperands()))
      attribute = scalar(operand); // changed in place
  }
  return fail(op, "folds in place for ever");
}

//===----------------------------------------------------------------------===//
// Structured ops
//===----------------------------------------------------------------------===//

Attribute Interpreter::read(StructuredOpInterface op, unsigned input,
                            ArrayRef<int64_t> point) {
  SmallVector<int64_t> indices;
  for (const Subscript &subscript : op.getAccess(input).getSubscripts()) {
    if (subscript.kind == Subscript::Iterator) {
      indices.push_back(point[subscript.value]);
    } else if (subscript.kind == Subscript::Constant) {
      indices.push_back(subscript.value);
    } else {
      auto index =
          dyn_cast_or_null<IntegerAttr>(read(op, subscript.value, point));
      if (!index)
        return {};
      indices.push_back(index.getType().isUnsignedInteger()
                            ? index.getValue().getZExtValue()
                            : index.getValue().getSExtValue());
    }
  }
  const Tensor &from = tensor(op.getInputs()[input]);
  int64_t offset = from.offset(indices);
  return offset < 0 ? Attribute() : from.elements[offset];
}

static bool holds(Attribute atom) {
  auto value = dyn_cast_or_null<IntegerAttr>(atom);
  return value && value.getValue().isOne();
}

static Attribute combine(ReduceKind kind, Attribute a, Attribute b) {
  if (!a || !b)
    return {};
  if (auto x = dyn_cast<FloatAttr>(a)) {
    APFloat value = x.getValue(), other = cast<FloatAttr>(b).getValue();
    switch (kind) {
    case ReduceKind::Sum:
      return FloatAttr::get(x.getType(), value + other);
    case ReduceKind::Max:
      return FloatAttr::get(x.getType(), llvm::maximum(value, other));
    default:
      return FloatAttr::get(x.getType(), llvm::minimum(value, other));
    }
  }
  APInt value = cast<IntegerAttr>(a).getValue(),
        other = cast<IntegerAttr>(b).getValue();
  Type type = cast<IntegerAttr>(a).getType();
  switch (kind) {
  case ReduceKind::Sum:
    return IntegerAttr::get(type, value + other);
  case ReduceKind::Max:
    return IntegerAttr::get(type, value.sgt(other) ? value : other);
  case ReduceKind::Min:
    return IntegerAttr::get(type, value.slt(other) ? value : other);
  case ReduceKind::Any:
    return IntegerAttr::get(type, value | other);
  default:
    return IntegerAttr::get(type, value & other);
  }
}

/// Whether the pair (b, j) replaces (a, i): better, or equal and earlier, or the first
/// NaN; anything replaces the index −1.
static bool replaces(bool isMax, Attribute a, int64_t i, Attribute b,
                     int64_t j) {
  if (i < 0)
    return true;
  if (auto x = dyn_cast<FloatAttr>(a)) {
    APFloat value = x.getValue(), other = cast<FloatAttr>(b).getValue();
    if (value.isNaN() || other.isNaN())
      return value.isNaN() == other.isNaN() ? j < i : other.isNaN();
    APFloat::cmpResult order = other.compare(value);
    return order == APFloat::cmpEqual
               ? j < i
               : (order == APFloat::cmpGreaterThan) == isMax;
  }
  APInt value = cast<IntegerAttr>(a).getValue(),
        other = cast<IntegerAttr>(b).getValue();
  return value == other ? j < i : other.sgt(value) == isMax;
}

bool Interpreter::runStructured(StructuredOpInterface op) {
  unsigned numInputs = op.getInputs().size(), numParallel = op.getNumParallel();
  SmallVector<int64_t> extents;
  for (OpFoldResult extent : op.getMixedExtents())
    extents.push_back(integer(extent));
  auto reduce = dyn_cast<ReduceOp>(op.getOperation());
  SmallVector<Tensor> results;
  for (Value init : op.getInits())
    results.push_back(reduce ? tensor(init) : Tensor(tensor(init).shape));

  // The exponents of a softmax, null where the point does not exist.
  Tensor exponents(extents);
  std::vector<bool> exists(exponents.elements.size(), false);
  bool ok = true;
  forEachPoint(extents, [&](ArrayRef<int64_t> point) {
    if (!ok)
      return;
    for (unsigned i = 0; i != point.size(); ++i)
      iterators[op.getIteratorName(i)] = point[i];
    SmallVector<Attribute> atoms(op.getNumGuardAtoms());
    Operation *guardYield = op.getGuards().empty()
                                ? nullptr
                                : op.getGuards().front().getTerminator();
    auto element = [&](unsigned i, bool inGuards) {
      for (int64_t atom : op.getGuardsOfInput(i))
        if (!holds(inGuards ? scalar(guardYield->getOperand(atom))
                            : atoms[atom]))
          return Attribute();
      return read(op, i, point);
    };
    if (guardYield) {
      for (Operation &nested : op.getGuards().front().without_terminator()) {
        for (Value operand : nested.getOperands())
          if (auto argument = dyn_cast<BlockArgument>(operand);
              argument && argument.getOwner() == nested.getBlock())
            scalars[argument] =
                element(argument.getArgNumber(), /*inGuards=*/true);
        if (!(ok = runScalar(nested)))
          return;
      }
      for (auto [atom, value] : llvm::zip(atoms, guardYield->getOperands())) {
        auto argument = dyn_cast<BlockArgument>(value);
        atom = argument && argument.getOwner() == &op.getGuards().front()
                   ? element(argument.getArgNumber(), /*inGuards=*/true)
                   : scalar(value);
      }
    }
    for (int64_t atom : op.getFilter())
      if (!holds(atoms[atom]))
        return;
    Block &body = op.getBody().front();
    for (unsigned i = 0; i != numInputs; ++i)
      scalars[body.getArgument(i)] = element(i, /*inGuards=*/false);
    for (auto [i, atom] : llvm::enumerate(atoms))
      scalars[body.getArgument(numInputs + i)] = atom;
    for (Operation &nested : body.without_terminator())
      if (!(ok = runScalar(nested)))
        return;
    SmallVector<Attribute> yielded;
    for (Value value : body.getTerminator()->getOperands())
      yielded.push_back(scalar(value));

    if (isa<SoftmaxOp>(op)) {
      int64_t at = exponents.offset(point);
      exponents.elements[at] = yielded[0];
      exists[at] = true;
      return;
    }
    int64_t at = results[0].offset(point.take_front(numParallel));
    if (!reduce) {
      results[0].elements[at] = yielded[0];
    } else if (results.size() == 1) {
      Attribute &total = results[0].elements[at];
      total = combine(reduce.getKind(), total, yielded[0]);
    } else {
      Attribute &value = results[0].elements[at],
                &index = results[1].elements[at];
      if (!value || !yielded[0] || !yielded[1])
        value = {};
      else if (replaces(reduce.getKind() == ReduceKind::Argmax, value,
                        integer(index), yielded[0], integer(yielded[1])))
        value = yielded[0], index = yielded[1];
    }
  });
  if (isa<SoftmaxOp>(op)) {
    auto type =
        cast<FloatType>(getElementTypeOrSelf(op->getResult(0).getType()));
    auto constant = [&](double value) { return FloatAttr::get(type, value); };
    auto arithmetic = [&](Attribute a, Attribute b, bool divide) -> Attribute {
      if (!a || !b)
        return {};
      APFloat x = cast<FloatAttr>(a).getValue(),
              y = cast<FloatAttr>(b).getValue();
      return FloatAttr::get(type, divide ? x / y : x - y);
    };
    ArrayRef<int64_t> all(extents);
    forEachPoint(all.take_front(numParallel), [&](ArrayRef<int64_t> row) {
      Attribute max = constant(-INFINITY), sum = constant(0);
      auto inRow = [&](llvm::function_ref<void(int64_t)> visit) {
        forEachPoint(all.drop_front(numParallel), [&](ArrayRef<int64_t> rest) {
          SmallVector<int64_t> point(row);
          llvm::append_range(point, rest);
          visit(exponents.offset(point));
        });
      };
      inRow([&](int64_t at) {
        if (exists[at])
          max = combine(ReduceKind::Max, max, exponents.elements[at]);
      });
      inRow([&](int64_t at) {
        if (!exists[at])
          return;
        Attribute e = arithmetic(exponents.elements[at], max, /*divide=*/false);
        if (e) {
          APFloat value(std::exp(toDouble(e)));
          bool losesInfo;
          value.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                        &losesInfo);
          e = FloatAttr::get(type, value);
        }
        exponents.elements[at] = e;
        sum = combine(ReduceKind::Sum, sum, e);
      });
      inRow([&](int64_t at) {
        results[0].elements[at] =
            exists[at]
                ? arithmetic(exponents.elements[at], sum, /*divide=*/true)
                : constant(0);
      });
    });
  }
  for (auto [i, result] : llvm::enumerate(results))
    tensors.insert_or_assign(op->getResult(i), std::move(result));
  return ok;
}

//===----------------------------------------------------------------------===//
// Tensors, loops, the kernel
//===----------------------------------------------------------------------===//

bool Interpreter::runTensorOp(Operation &op) {
  auto numbers = [&](ArrayRef<OpFoldResult> values) {
    return llvm::map_to_vector(
        values, [&](OpFoldResult value) { return integer(value); });
  };
  if (auto empty = dyn_cast<tensor::EmptyOp>(op)) {
    tensors.insert_or_assign(op.getResult(0),
                             Tensor(numbers(empty.getMixedSizes())));
    return true;
  }
  if (auto splat = dyn_cast<tensor::SplatOp>(op)) {
    SmallVector<int64_t> shape;
    unsigned next = 0;
    for (int64_t extent : splat.getType().getShape())
      shape.push_back(ShapedType::isDynamic(extent)
                          ? integer(splat.getDynamicSizes()[next++])
                          : extent);
    tensors.insert_or_assign(op.getResult(0),
                             Tensor(shape, scalar(splat.getInput())));
    return true;
  }
  if (auto dim = dyn_cast<tensor::DimOp>(op)) {
    scalars[op.getResult(0)] = IntegerAttr::get(
        op.getResult(0).getType(),
        tensor(dim.getSource()).shape[*dim.getConstantIndex()]);
    return true;
  }
  auto each = [&](auto sliceOp, auto visit) {
    SmallVector<int64_t> offsets = numbers(sliceOp.getMixedOffsets());
    forEachPoint(numbers(sliceOp.getMixedSizes()),
                 [&](ArrayRef<int64_t> point) {
                   SmallVector<int64_t> whole;
                   for (auto [offset, index] : llvm::zip_equal(offsets, point))
                     whole.push_back(offset + index);
                   visit(point, whole);
                 });
  };
  bool inside = true;
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
    const Tensor &from = tensor(slice.getSource());
    Tensor result(numbers(slice.getMixedSizes()));
    each(slice, [&](ArrayRef<int64_t> point, ArrayRef<int64_t> whole) {
      int64_t at = from.offset(whole);
      inside &= at >= 0;
      if (at >= 0)
        result.elements[result.offset(point)] = from.elements[at];
    });
    tensors.insert_or_assign(op.getResult(0), std::move(result));
    return inside || fail(op, "reads out of range");
  }
  if (auto slice = dyn_cast<tensor::InsertSliceOp>(op)) {
    const Tensor &from = tensor(slice.getSource());
    Tensor result = tensor(slice.getDest());
    each(slice, [&](ArrayRef<int64_t> point, ArrayRef<int64_t> whole) {
      int64_t at = result.offset(whole);
      inside &= at >= 0;
      if (at >= 0)
        result.elements[at] = from.elements[from.offset(point)];
    });
    tensors.insert_or_assign(op.getResult(0), std::move(result));
    return inside || fail(op, "writes out of range");
  }
  return fail(op, "is unknown");
}

bool Interpreter::runFor(Operation &op) {
  auto loop = cast<scf::ForOp>(op);
  auto copy = [&](Value from, Value to) {
    if (isa<TensorType>(to.getType()))
      tensors.insert_or_assign(to, Tensor(tensor(from)));
    else
      scalars[to] = scalar(from);
  };
  SmallVector<Value> carried(loop.getInits());
  for (int64_t i = integer(loop.getLowerBound());
       i < integer(loop.getUpperBound()); i += integer(loop.getStep())) {
    for (auto [from, to] : llvm::zip(carried, loop.getRegionIterArgs()))
      copy(from, to);
    scalars[loop.getInductionVar()] =
        IntegerAttr::get(IndexType::get(op.getContext()), i);
    if (!runBlock(*loop.getBody()))
      return false;
    carried.assign(loop.getYieldedValues().begin(),
                   loop.getYieldedValues().end());
  }
  for (auto [from, to] : llvm::zip(carried, loop.getResults()))
    copy(from, to);
  return true;
}

bool Interpreter::runOp(Operation &op) {
  if (auto structured = dyn_cast<StructuredOpInterface>(op))
    return runStructured(structured);
  if (isa<scf::ForOp>(op))
    return runFor(op);
  if (isa<tensor::TensorDialect>(op.getDialect()))
    return runTensorOp(op);
  if (isa<RequireOp>(op) || op.hasTrait<OpTrait::IsTerminator>())
    return true;
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    if (auto dense = dyn_cast<DenseElementsAttr>(constant.getValue())) {
      Tensor result(dense.getType().getShape());
      llvm::copy(dense.getValues<Attribute>(), result.elements.begin());
      tensors.insert_or_assign(op.getResult(0), std::move(result));
      return true;
    }
  }
  return runScalar(op);
}

bool Interpreter::runBlock(Block &block) {
  return llvm::all_of(block, [&](Operation &op) { return runOp(op); });
}

std::optional<std::vector<Tensor>>
Interpreter::run(FuncOp kernel, std::vector<Tensor> arguments) {
  for (auto [argument, value] :
       llvm::zip_equal(kernel.getBody().getArguments(), arguments))
    tensors.insert_or_assign(argument, std::move(value));
  if (!runBlock(kernel.getBody().front()))
    return std::nullopt;
  std::vector<Tensor> results;
  for (Value value : kernel.getBody().front().getTerminator()->getOperands())
    results.push_back(tensor(value));
  return results;
}
