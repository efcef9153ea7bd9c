//===- StableHloOps.cpp - what ops of StableHLO make ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   dot_general   ↦  sum[k](a[i, m, k] * b[i, k, n])      batch axes, then a's, then b's
//   broadcast_in_dim, transpose, reshape by axes of 1     another way to subscript
//   reduce … applies stablehlo.maximum                     max[k](…), max(init, …) if init counts
//   compare, select, iota                                  conditions, where, an index
//
// Shapes are numbers, as JAX writes them. What XLA and the language do differently is
// refused: division and powers of integers, conversions that cut off are written out.
//
//===----------------------------------------------------------------------===//

#include "LinalgBody.h"
#include "StableHlo.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace facet;
using namespace facet::import;
using import::Text;
using Operand = import::Value;

namespace {

class Maker {
public:
  Maker(Operation &op, ArrayRef<Operand> operands, KernelText &kernel)
      : op(op), operands(operands.begin(), operands.end()), kernel(kernel) {}
  std::optional<Operand> make();

private:
  std::nullopt_t refuse(const Twine &why) {
    op.emitError(why);
    return std::nullopt;
  }
  ArrayRef<int64_t> list(StringRef name) {
    auto numbers = op.getAttrOfType<DenseI64ArrayAttr>(name);
    return numbers ? numbers.asArrayRef() : ArrayRef<int64_t>();
  }
  bool operandsFit(StringRef name);
  StringRef word() {
    auto text = op.getAttrOfType<StringAttr>("word");
    return text ? text.getValue() : StringRef();
  }
  /// The first operand is read more than once.
  void keepFirst() { operands[0] = kernel.keep(operands[0], "t"); }
  /// `combine` of the operands' elements, which all have the result's shape or none.
  Operand elementwise(std::function<Text(ArrayRef<Text>)> combine,
                      Work work = Work::Heavy);

  std::optional<Operand> convertTo();
  std::optional<Operand> power();
  std::optional<Operand> broadcast();
  std::optional<Operand> transpose();
  std::optional<Operand> reshape();
  std::optional<Operand> reduce();
  std::optional<Operand> product();
  std::optional<Operand> compare();
  std::optional<Operand> iota();

  Operation &op;
  SmallVector<Operand> operands;
  KernelText &kernel;
  ScalarType type{};
  std::vector<std::string> axes; ///< of the result
};

} // namespace

Operand Maker::elementwise(std::function<Text(ArrayRef<Text>)> combine,
                           Work work) {
  Operand value;
  value.type = type;
  value.axes = axes;
  value.work = work;
  value.converts = arithmeticType(type) != type;
  value.raw = [values = std::vector<Operand>(operands.begin(), operands.end()),
               combine](const Subscripts &subscripts) {
    SmallVector<Text> elements;
    for (const Operand &value : values)
      elements.push_back(
          value.at(value.axes.empty() ? Subscripts() : subscripts));
    return combine(elements);
  };
  return value;
}

std::optional<Operand> Maker::convertTo() {
  ScalarType from = operands[0].type, to = type;
  if (from == to)
    return operands[0];
  Work work = operands[0].work == Work::Heavy ? Work::Heavy : Work::Light;
  if (to == ScalarType::Bool)
    return elementwise([from](ArrayRef<Text> e) {
      return binary("!=", e[0], number(isFloat(from) ? "0.0" : "0"));
    });
  if (isFloat(from) && !isFloat(to)) {
    keepFirst();
    Operand value = elementwise([to](ArrayRef<Text> e) {
      return call((spelling(to) + ".sat").str(), {truncated(e[0])});
    });
    value.converts = false;
    return value;
  }
  return elementwise(
      [from, to](ArrayRef<Text> e) {
        ScalarType wide = arithmeticType(to);
        // Between floats of f32 and from narrow to i32 there is nothing to write.
        return arithmeticType(from) == wide ? e[0] : convert(wide, e[0]);
      },
      work);
}

std::optional<Operand> Maker::power() {
  std::string exponent =
      operands[1].work == Work::None
          ? operands[1].raw(Subscripts(operands[1].axes.size(), "0")).text
          : std::string();
  double p;
  if (!isFloat(type) || !llvm::to_float(exponent, p))
    return refuse("a float to the power of one number is known here");
  if (!import::power(number(exponent), p))
    return refuse(
        "the exponents known here are 2, 3, 0.5, -0.5 and -1, found " +
        exponent);
  keepFirst();
  return elementwise([p](ArrayRef<Text> e) { return *import::power(e[0], p); });
}

std::optional<Operand> Maker::broadcast() {
  ArrayRef<int64_t> dims = list("dims");
  const Operand &x = operands[0];
  if (dims.size() != x.axes.size() || llvm::any_of(dims, [&](int64_t dim) {
        return dim < 0 || dim >= int64_t(axes.size()) ||
               llvm::count(dims, dim) != 1;
      }))
    return refuse("dims names an axis of the result for each of the operand's");
  return view(x, axes,
              [from = x.axes, to = axes,
               dims = dims.vec()](const Subscripts &subscripts) {
                Subscripts own;
                for (auto [axis, dim] : llvm::zip(from, dims))
                  own.push_back(
                      axis == "1" && to[dim] != "1" ? "0" : subscripts[dim]);
                return own;
              });
}

std::optional<Operand> Maker::transpose() {
  ArrayRef<int64_t> dims = list("dims");
  size_t rank = operands[0].axes.size();
  std::vector<bool> seen(rank);
  for (int64_t dim : dims)
    if (dim < 0 || dim >= int64_t(rank) || seen[dim])
      return refuse("dims is no order of the axes");
    else
      seen[dim] = true;
  if (dims.size() != rank || axes.size() != rank)
    return refuse("dims is no order of the axes");
  return view(operands[0], axes, turned(dims.vec()));
}

std::optional<Operand> Maker::reshape() {
  const Operand &x = operands[0];
  std::vector<int>
      from; // the operand's axis of each of the result's, -1: an axis of 1
  size_t next = 0;
  auto skip = [&] {
    while (next < x.axes.size() && x.axes[next] == "1")
      ++next;
  };
  for (const std::string &axis : axes) {
    if (axis == "1") {
      from.push_back(-1);
      continue;
    }
    skip();
    if (next == x.axes.size() || x.axes[next] != axis)
      return refuse(
          "axes are split or joined; that is not known here but for axes of 1");
    from.push_back(int(next++));
  }
  skip();
  if (next != x.axes.size())
    return refuse(
        "axes are split or joined; that is not known here but for axes of 1");
  return reseen(x, from);
}

std::optional<Operand> Maker::reduce() {
  StringRef name = llvm::StringSwitch<StringRef>(word())
                       .Case("stablehlo.add", "sum")
                       .Case("stablehlo.maximum", "max")
                       .Case("stablehlo.minimum", "min")
                       .Case("stablehlo.and", "all")
                       .Case("stablehlo.or", "any")
                       .Default("");
  bool logical = name == "all" || name == "any";
  if (name.empty() || logical != (type == ScalarType::Bool))
    return refuse("reductions by " + word() + " of " + spelling(type) +
                  " are not known here");
  Operand x = kernel.keep(operands[0], "t"), init = operands[1];
  if (!init.axes.empty())
    return refuse("a reduction begins with one number");
  std::vector<bool> marks(x.axes.size());
  std::vector<std::string> extents;
  for (int64_t dim : list("dims"))
    if (dim < 0 || dim >= int64_t(marks.size()))
      return refuse("there is no axis " + Twine(dim));
    else if (marks[dim])
      return refuse("dims names axis " + Twine(dim) + " twice");
    else
      marks[dim] = true;
  for (auto [axis, mark] : llvm::zip(x.axes, marks))
    if (mark)
      extents.push_back(axis);
  if (axes.size() + extents.size() != x.axes.size() || extents.empty())
    return refuse("the result does not have the axes that are left");
  Operand value = elementwise(nullptr);
  value.raw = [=, name = name.str(),
               &kernel = kernel](const Subscripts &subscripts) {
    Text all = kernel.reduce(name, extents, [&](const Subscripts &k) {
      Subscripts own;
      size_t inner = 0, outer = 0;
      for (bool mark : marks)
        own.push_back(mark ? k[inner++] : subscripts[outer++]);
      return x.at(own);
    });
    return combined(name, init.at({}), all);
  };
  return value;
}

std::optional<Operand> Maker::product() {
  Operand a = kernel.keep(operands[0], "t"), b = kernel.keep(operands[1], "t");
  if (type == ScalarType::Bool)
    return refuse("bool has no products");
  // What each axis is: the number of a batch, a sum, or its own place in the result.
  struct Side {
    std::vector<int> batch, sum, free;
  };
  ArrayRef<int64_t> batchA = list("batching_dims_left"),
                    batchB = list("batching_dims_right"),
                    sumA = list("contracting_dims_left"),
                    sumB = list("contracting_dims_right");
  auto sideOf = [&](const Operand &x, ArrayRef<int64_t> batch,
                    ArrayRef<int64_t> sum) -> std::optional<Side> {
    Side side;
    // Before they become int: nothing verified them.
    for (int64_t axis : llvm::concat<const int64_t>(batch, sum))
      if (axis < 0 || axis >= int64_t(x.axes.size()))
        return std::nullopt;
    side.batch.assign(batch.begin(), batch.end());
    side.sum.assign(sum.begin(), sum.end());
    for (int axis = 0; axis != int(x.axes.size()); ++axis)
      if (!llvm::is_contained(side.batch, axis) &&
          !llvm::is_contained(side.sum, axis))
        side.free.push_back(axis);
    if (side.batch.size() + side.sum.size() + side.free.size() != x.axes.size())
      return std::nullopt;
    return side;
  };
  std::optional<Side> left = sideOf(a, batchA, sumA),
                      right = sideOf(b, batchB, sumB);
  if (!left || !right || batchA.size() != batchB.size() ||
      sumA.size() != sumB.size() ||
      axes.size() != batchA.size() + left->free.size() + right->free.size())
    return refuse("the lists of axes do not fit the operands");
  std::vector<std::string> extents;
  for (auto [x, y] : llvm::zip(sumA, sumB)) {
    if (a.axes[x] != b.axes[y])
      return refuse("the sum runs over " + a.axes[x] + " and over " +
                    b.axes[y]);
    extents.push_back(a.axes[x]);
  }
  Operand value = elementwise(nullptr);
  value.raw = [=, l = *left, r = *right, to = type,
               &kernel = kernel](const Subscripts &subscripts) {
    return kernel.reduce("sum", extents, [&](const Subscripts &k) {
      auto element = [&](const Operand &x, const Side &side, size_t firstFree) {
        Subscripts own(x.axes.size());
        for (auto [i, axis] : llvm::enumerate(side.batch))
          own[axis] = subscripts[i];
        for (auto [i, axis] : llvm::enumerate(side.sum))
          own[axis] = k[i];
        for (auto [i, axis] : llvm::enumerate(side.free))
          own[axis] = subscripts[firstFree + i];
        Text text = x.at(own);
        bool widens = arithmeticType(x.type) != arithmeticType(to);
        return widens ? convert(arithmeticType(to), text) : text;
      };
      return binary("*", element(a, l, l.batch.size()),
                    element(b, r, l.batch.size() + l.free.size()));
    });
  };
  return value;
}

std::optional<Operand> Maker::compare() {
  StringRef sign = llvm::StringSwitch<StringRef>(word())
                       .Case("EQ", "==")
                       .Case("NE", "!=")
                       .Case("LT", "<")
                       .Case("LE", "<=")
                       .Case("GT", ">")
                       .Case("GE", ">=")
                       .Default("");
  auto kind = op.getAttrOfType<StringAttr>("kind");
  bool total = kind && kind.getValue() == "TOTALORDER";
  if (sign.empty() || total || operands[0].type == ScalarType::Bool)
    return refuse("this comparison is not known here");
  return elementwise(
      [sign](ArrayRef<Text> e) { return binary(sign, e[0], e[1]); });
}

std::optional<Operand> Maker::iota() {
  auto dim = op.getAttrOfType<IntegerAttr>("dim");
  if (!dim || dim.getInt() < 0 || dim.getInt() >= int64_t(axes.size()))
    return refuse("dim names an axis of the result");
  Operand value = elementwise(nullptr, Work::Light);
  value.raw = [at = size_t(dim.getInt()),
               to = arithmeticType(type)](const Subscripts &subscripts) {
    Text index{subscripts[at], Binding::Primary, {}};
    return to == ScalarType::I64 ? index : convert(to, index);
  };
  return value;
}

/// No definition verifies these ops: whether there are as many operands as an op of this
/// name has, and where it works on elements, of the result's shape or single numbers.
bool Maker::operandsFit(StringRef name) {
  unsigned count =
      llvm::StringSwitch<unsigned>(name)
          .Case("iota", 0)
          .Cases({"select", "clamp"}, 3)
          .Cases(
              {"add", "subtract", "multiply", "divide", "maximum", "minimum"},
              2)
          .Cases({"power", "and", "or", "compare", "dot_general", "reduce"}, 2)
          .Default(1);
  if (operands.size() != count)
    return false;
  bool moves = llvm::StringSwitch<bool>(name)
                   .Cases({"broadcast_in_dim", "transpose", "reshape",
                           "dot_general", "reduce"},
                          true)
                   .Default(false);
  bool takesNumbers = name == "select" || name == "clamp";
  return moves || llvm::all_of(operands, [&](const Operand &operand) {
           return operand.axes == axes ||
                  (takesNumbers && operand.axes.empty());
         });
}

std::optional<Operand> Maker::make() {
  if (op.getNumResults() != 1)
    return refuse("an op of one result is needed");
  auto tensor = dyn_cast<RankedTensorType>(op.getResult(0).getType());
  std::optional<ScalarType> element =
      tensor ? scalarType(tensor.getElementType()) : std::nullopt;
  if (!element || !tensor.hasStaticShape()) {
    op.emitError("a tensor of numbers with a static shape is needed, found ")
        << op.getResult(0).getType();
    return std::nullopt;
  }
  type = *element;
  for (int64_t extent : tensor.getShape())
    axes.push_back(std::to_string(extent));

  StringRef name = op.getName().stripDialect();
  if (!operandsFit(name))
    return refuse("'" + op.getName().getStringRef() +
                  "' does not take these operands");
  auto special = llvm::StringSwitch<std::optional<Operand> (Maker::*)()>(name)
                     .Case("convert", &Maker::convertTo)
                     .Case("power", &Maker::power)
                     .Case("broadcast_in_dim", &Maker::broadcast)
                     .Case("transpose", &Maker::transpose)
                     .Case("reshape", &Maker::reshape)
                     .Case("reduce", &Maker::reduce)
                     .Case("dot_general", &Maker::product)
                     .Case("compare", &Maker::compare)
                     .Case("iota", &Maker::iota)
                     .Default(nullptr);
  if (special)
    return (this->*special)();
  StringRef sign = llvm::StringSwitch<StringRef>(name)
                       .Case("add", "+")
                       .Case("subtract", "-")
                       .Case("multiply", "*")
                       .Case("divide", "/")
                       .Case("and", "&&")
                       .Case("or", "||")
                       .Default("");
  bool logical = name == "and" || name == "or" || name == "not";
  if (logical != (type == ScalarType::Bool) && name != "select")
    return refuse("'" + op.getName().getStringRef() + "' of " + spelling(type) +
                  " is not known here");
  if (name == "divide" && !isFloat(type))
    return refuse("integers divide by cutting off here, in the language they "
                  "floor; convert to float first");
  if (!sign.empty())
    return elementwise(
        [sign](ArrayRef<Text> e) { return binary(sign, e[0], e[1]); });
  StringRef function = llvm::StringSwitch<StringRef>(name)
                           .Case("maximum", "max")
                           .Case("minimum", "min")
                           .Case("select", "where")
                           .Case("abs", "abs")
                           .Case("exponential", "exp")
                           .Case("log", "log")
                           .Case("sqrt", "sqrt")
                           .Case("rsqrt", "rsqrt")
                           .Case("tanh", "tanh")
                           .Case("logistic", "sigmoid")
                           .Case("floor", "floor")
                           .Case("ceil", "ceil")
                           .Case("round_nearest_even", "round")
                           .Case("erf", "erf")
                           .Default("");
  // JAX guards a row's maximum by one with -inf, which changes nothing.
  if (name == "maximum")
    for (unsigned side : {0u, 1u})
      if (operands[side].work == Work::None &&
          operands[side].raw(Subscripts(axes.size(), "0")).text == "-inf")
        return operands[1 - side];
  if (!function.empty())
    return elementwise(
        [function](ArrayRef<Text> e) { return call(function, e); });
  if (name == "negate" || name == "not")
    return elementwise([name](ArrayRef<Text> e) {
      return unary(name == "not" ? "!" : "-", e[0]);
    });
  if (name == "square") {
    keepFirst();
    return elementwise(
        [](ArrayRef<Text> e) { return binary("*", e[0], e[0]); });
  }
  if (name == "clamp")
    return elementwise(
        [](ArrayRef<Text> e) { return call("clamp", {e[1], e[0], e[2]}); });
  return refuse("'" + op.getName().getStringRef() +
                "' is not among the ops that import knows");
}

std::optional<Operand> facet::import::makeStableHlo(Operation &op,
                                                    ArrayRef<Operand> operands,
                                                    KernelText &kernel) {
  return Maker(op, operands, kernel).make();
}
