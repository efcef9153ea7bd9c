//===- Contraction.cpp - sums of products, recognised ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tensor engine takes sums of products of two tensors in the types its array
// multiplies exactly into f32:
//
//   sum[k](x[m, k] * w[k, n])             bf16 · bf16
//   sum[k](bf16(x[m, k]) * w[k, n])       x f32: rounded to bf16 on the way in
//   sum[k](x[m, k] * w[k, n])             u8 · i8: exact as bf16, as far as f32 sums are
//
//===----------------------------------------------------------------------===//

#include "facet/Planner/Engine/Contraction.h"

using namespace mlir;
using namespace facet;
using namespace facet::engine;
using kernel::StructuredOpInterface;

namespace {
struct Factor {
  unsigned input;
  Type type;
};
} // namespace

/// The input whose element `value` is, if every point reads it.
static std::optional<unsigned> inputOf(StructuredOpInterface op, Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || argument.getOwner() != &op.getBody().front() ||
      argument.getArgNumber() >= op.getInputs().size() ||
      !op.getGuardsOfInput(argument.getArgNumber()).empty())
    return std::nullopt;
  return argument.getArgNumber();
}

/// One input, read as it is or rounded once to another type.
static std::optional<Factor> traceFactor(StructuredOpInterface op,
                                         Value value) {
  SmallVector<kernel::CastOp> casts;
  while (auto cast = value.getDefiningOp<kernel::CastOp>()) {
    casts.push_back(cast);
    value = cast.getValue();
  }
  std::optional<unsigned> input = inputOf(op, value);
  if (!input)
    return std::nullopt;
  Type type = value.getType();
  bool rounded = false;
  for (kernel::CastOp cast : llvm::reverse(casts)) {
    if (cast.getMode() == kernel::CastMode::Exact)
      continue;
    if (cast.getMode() != kernel::CastMode::Round || rounded ||
        !isa<FloatType>(type))
      return std::nullopt;
    rounded = true;
    type = cast.getResult().getType();
  }
  return Factor{*input, type};
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

Integers engine::valuesOf(IntegerType type) {
  int64_t half = int64_t(1) << (type.getWidth() - 1);
  return type.isUnsigned() ? Integers(0, 2 * half - 1)
                           : Integers(-half, half - 1);
}

int64_t engine::exactTerms(Integers a, Integers b) {
  auto magnitude = [](Integers values) {
    return std::max(std::abs(values.first), std::abs(values.second));
  };
  return (int64_t(1) << 24) / std::max<int64_t>(1, magnitude(a) * magnitude(b));
}

/// What an i32 of a map's body can be: elements of narrow types, moved by numbers.
static std::optional<Integers> valuesOf(Value value) {
  if (auto cast = value.getDefiningOp<kernel::CastOp>())
    return cast.getMode() == kernel::CastMode::Exact ? valuesOf(cast.getValue())
                                                     : std::nullopt;
  if (auto constant = value.getDefiningOp<arith::ConstantOp>()) {
    auto number = dyn_cast<IntegerAttr>(constant.getValue());
    return number ? std::optional(Integers(number.getInt(), number.getInt()))
                  : std::nullopt;
  }
  if (auto difference = value.getDefiningOp<arith::SubIOp>()) {
    std::optional<Integers> a = valuesOf(difference.getLhs()),
                            b = valuesOf(difference.getRhs());
    return a && b ? std::optional(
                        Integers(a->first - b->second, a->second - b->first))
                  : std::nullopt;
  }
  auto type = dyn_cast<IntegerType>(value.getType());
  return type && isa<BlockArgument>(value) && type.getWidth() > 1 &&
                 type.getWidth() <= 8
             ? std::optional(engine::valuesOf(type))
             : std::nullopt;
}

/// The integers that `tensor` holds by the map that made it, which may have rounded them
/// to floats that hold them.
static std::optional<Integers> integersIn(Value tensor) {
  auto map = tensor.getDefiningOp<kernel::MapOp>();
  if (!map || map->getNumResults() != 1)
    return std::nullopt;
  auto op = cast<StructuredOpInterface>(map.getOperation());
  Value value = op.getBody().front().getTerminator()->getOperand(0);
  if (isa<FloatType>(value.getType()) && !value.getType().isBF16())
    return std::nullopt;
  if (op.getNumGuardAtoms() != 0)
    return std::nullopt;
  while (isa<FloatType>(value.getType())) {
    auto cast = value.getDefiningOp<kernel::CastOp>();
    if (!cast || (cast.getMode() != kernel::CastMode::Round &&
                  cast.getMode() != kernel::CastMode::Exact))
      return std::nullopt;
    value = cast.getValue();
  }
  return valuesOf(value);
}

/// bf16 holds every integer up to 2^8.
static bool fitsBF16(Integers values) {
  return values.first >= -256 && values.second <= 256;
}

namespace {
struct IntegerFactor {
  unsigned input;
  Integers values;
};
} // namespace

/// An element of a narrow integer type, or a float that holds such an integer.
static std::optional<IntegerFactor> traceInteger(StructuredOpInterface op,
                                                 Value value) {
  while (auto cast = value.getDefiningOp<kernel::CastOp>()) {
    bool isRead = cast.getMode() == kernel::CastMode::Sat &&
                  isa<FloatType>(cast.getValue().getType());
    if (cast.getMode() != kernel::CastMode::Exact && !isRead)
      return std::nullopt;
    value = cast.getValue();
  }
  std::optional<unsigned> input = inputOf(op, value);
  if (!input)
    return std::nullopt;
  std::optional<Integers> values = integersIn(op.getInputs()[*input]);
  if (!values)
    values = ::valuesOf(value);
  if (!values || !fitsBF16(*values))
    return std::nullopt;
  return IntegerFactor{*input, *values};
}

/// Fills in the factors of a product of integers.
static bool matchIntegers(StructuredOpInterface op, arith::MulIOp product,
                          const Machine *machine, Contraction &result) {
  std::optional<IntegerFactor> a = traceInteger(op, product.getLhs()),
                               b = traceInteger(op, product.getRhs());
  if (!a || !b)
    return false;
  result.a = a->input;
  result.b = b->input;
  result.aType = result.bType = BFloat16Type::get(op->getContext());
  result.exactTerms = engine::exactTerms(a->values, b->values);
  // At least one step of the array.
  return !machine || result.exactTerms >= machine->tensor.rows;
}

static bool multiplies(Type type, const Machine *machine) {
  if (isa<Float8E4M3FNType>(type))
    return !machine || machine->tensor.f8e4m3fn;
  return type.isF32() || type.isTF32() || type.isBF16() || type.isF16() ||
         isa<Float8E4M3Type, Float8E5M2Type>(type);
}

/// The types the array sees: narrow ones may be mixed, a wide one makes both wide.
static void agree(Type &a, Type &b) {
  bool wideA = a.isF32() || a.isTF32(), wideB = b.isF32() || b.isTF32();
  if (wideA == wideB && !(wideA && a != b))
    return;
  a = b = Float32Type::get(a.getContext());
}

/// Fills in the factors of a product of floats.
static bool matchFloats(StructuredOpInterface op, arith::MulFOp product,
                        const Machine *machine, Contraction &result) {
  if (!product.getType().isF32())
    return false;
  std::optional<Factor> a = traceFactor(op, product.getLhs()),
                        b = traceFactor(op, product.getRhs());
  if (!a || !b || !multiplies(a->type, machine) ||
      !multiplies(b->type, machine))
    return false;
  result.a = a->input;
  result.b = b->input;
  result.aType = a->type;
  result.bType = b->type;
  agree(result.aType, result.bType);
  return isa<Float8E4M3FNType>(result.aType) ==
         isa<Float8E4M3FNType>(result.bType);
}

std::optional<Contraction> engine::matchContraction(kernel::ReduceOp reduce,
                                                    const Machine *machine,
                                                    bool filtered) {
  auto op = cast<StructuredOpInterface>(reduce.getOperation());
  if (reduce.getKind() != kernel::ReduceKind::Sum ||
      (!filtered && op.getNumGuardAtoms() != 0))
    return std::nullopt;
  Value yielded = op.getBody().front().getTerminator()->getOperand(0);
  Contraction result;
  result.reduce = reduce;
  if (auto product = yielded.getDefiningOp<arith::MulFOp>()) {
    if (!matchFloats(op, product, machine, result))
      return std::nullopt;
  } else if (auto product = yielded.getDefiningOp<arith::MulIOp>()) {
    if (!product.getType().isInteger(32) ||
        !matchIntegers(op, product, machine, result))
      return std::nullopt;
  } else {
    return std::nullopt;
  }

  // Through an index as well: the rows it chooses are laid out before.
  std::function<bool(unsigned, unsigned)> uses = [&](unsigned input,
                                                     unsigned iterator) {
    return llvm::any_of(op.getAccess(input).getSubscripts(),
                        [&](const kernel::Subscript &subscript) {
                          return subscript.kind == kernel::Subscript::Element
                                     ? uses(subscript.value, iterator)
                                     : subscript.kind ==
                                               kernel::Subscript::Iterator &&
                                           subscript.value == int64_t(iterator);
                        });
  };
  for (unsigned i = 0; i < op.getNumIterators(); ++i) {
    bool inA = uses(result.a, i), inB = uses(result.b, i);
    if (i >= op.getNumParallel()) {
      if (!inA || !inB)
        return std::nullopt;
      result.k.push_back(i);
    } else {
      (inA == inB ? result.both
       : inA      ? result.onlyA
                  : result.onlyB)
          .push_back(i);
    }
  }
  if (result.k.empty())
    return std::nullopt;
  result.epilogue = kernel::matchEpilogue(reduce);
  return result;
}

bool Contraction::isOnlyRounded() const {
  if (!epilogue)
    return true;
  auto map = llvm::cast<kernel::StructuredOpInterface>(
      kernel::MapOp(epilogue->map).getOperation());
  if (!map.getFilter().empty() || map->getNumResults() != 1)
    return false;
  mlir::Block &body = map.getBody().front();
  Value value = body.getTerminator()->getOperand(0);
  if (auto cast = value.getDefiningOp<kernel::CastOp>();
      cast && (cast.getMode() == kernel::CastMode::Round ||
               cast.getMode() == kernel::CastMode::Exact))
    value = cast.getValue();
  return value == body.getArgument(epilogue->sumsInput);
}
