//===- TileBody.cpp - a scalar body on tiles ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every op of a body becomes one instruction on a whole tile; what is the same for
// all elements of a row stays one element per row, what is a number an immediate:
//
//   gelu(s[m, n] + b[n])       vector:  t = tensor_tensor add(s, b)
//                              scalar:  y = activate gelu(t), rounded to y's type
//
// Functions run on the scalar engine, everything else on vector. Each value has a
// ring of its own, so the two engines and the transfers work on different tiles at
// the same time.
//
//===----------------------------------------------------------------------===//

#include "TileBody.h"

#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;
using namespace facet;
using namespace facet::engine;

//===----------------------------------------------------------------------===//
// What there is an instruction for
//===----------------------------------------------------------------------===//

namespace {
struct Recipe {
  enum Kind { Alias, Copy, Unary, Binary, Function, Select, Size };
  Kind kind;
  StringRef name;
  /// Copy: clamps to the largest finite value.
  bool saturate = false;
};
} // namespace

static std::optional<Recipe> compareRecipe(arith::CmpFOp op) {
  switch (op.getPredicate()) {
  case arith::CmpFPredicate::OEQ:
    return Recipe{Recipe::Binary, "eq"};
  case arith::CmpFPredicate::UNE:
    return Recipe{Recipe::Binary, "ne"};
  case arith::CmpFPredicate::OLT:
    return Recipe{Recipe::Binary, "lt"};
  case arith::CmpFPredicate::OLE:
    return Recipe{Recipe::Binary, "le"};
  case arith::CmpFPredicate::OGT:
    return Recipe{Recipe::Binary, "gt"};
  case arith::CmpFPredicate::OGE:
    return Recipe{Recipe::Binary, "ge"};
  default:
    return std::nullopt;
  }
}

static std::optional<Recipe> castRecipe(kernel::CastOp op) {
  Type from = op.getValue().getType(), to = op.getResult().getType();
  if (from.isF64() || to.isF64())
    return std::nullopt;
  bool fromNumber = op.getValue().getDefiningOp<kernel::SizeOp>() != nullptr;
  switch (op.getMode()) {
  case kernel::CastMode::Exact:
    return Recipe{Recipe::Alias, ""};
  case kernel::CastMode::Round:
    if (fromNumber)
      return Recipe{Recipe::Alias, ""};
    if (from.isInteger(64))
      return std::nullopt;
    return Recipe{Recipe::Copy, ""};
  case kernel::CastMode::RoundSat:
    return Recipe{Recipe::Copy, "", true};
  case kernel::CastMode::Sat:
    // From a float: nearest even, NaN to 0, clamped, as the machine converts.
    if (isa<FloatType>(from) && !to.isInteger(64))
      return Recipe{Recipe::Copy, ""};
    return std::nullopt;
  case kernel::CastMode::Wrap:
    return std::nullopt;
  }
  llvm_unreachable("all modes are listed");
}

static std::optional<Recipe> applyRecipe(kernel::ApplyOp op) {
  if (!op.getType().isF32())
    return std::nullopt;
  switch (op.getFunction()) {
  case kernel::ScalarFunction::Relu:
    return Recipe{Recipe::Unary, "relu"};
  case kernel::ScalarFunction::Sigmoid:
    return Recipe{Recipe::Function, "sigmoid"};
  case kernel::ScalarFunction::Silu:
    return Recipe{Recipe::Function, "silu"};
  case kernel::ScalarFunction::Gelu:
    return Recipe{Recipe::Function, "gelu"};
  case kernel::ScalarFunction::GeluTanh:
    return Recipe{Recipe::Function, "gelu_tanh"};
  }
  llvm_unreachable("all functions are listed");
}

static std::optional<Recipe> recipeOf(Operation *op) {
  if (auto cast = dyn_cast<kernel::CastOp>(op))
    return castRecipe(cast);
  if (auto apply = dyn_cast<kernel::ApplyOp>(op))
    return applyRecipe(apply);
  if (auto compare = dyn_cast<arith::CmpFOp>(op))
    return compare.getLhs().getType().isF32() ? compareRecipe(compare)
                                              : std::nullopt;
  if (isa<kernel::SizeOp>(op))
    return Recipe{Recipe::Size, ""};
  if (isa<arith::SelectOp>(op))
    return op->getResult(0).getType().isF32()
               ? std::optional(Recipe{Recipe::Select, ""})
               : std::nullopt;
  bool isBool =
      op->getNumResults() == 1 && op->getResult(0).getType().isInteger(1);
  if (isBool) {
    if (isa<arith::AndIOp>(op))
      return Recipe{Recipe::Binary, "land"};
    if (isa<arith::OrIOp>(op))
      return Recipe{Recipe::Binary, "lor"};
    if (isa<arith::XOrIOp>(op))
      return Recipe{Recipe::Binary, "ne"};
    return std::nullopt;
  }
  if (op->getNumResults() != 1 || !op->getResult(0).getType().isF32())
    return std::nullopt;
  return llvm::TypeSwitch<Operation *, std::optional<Recipe>>(op)
      .Case<arith::AddFOp>([](auto) { return Recipe{Recipe::Binary, "add"}; })
      .Case<arith::SubFOp>([](auto) { return Recipe{Recipe::Binary, "sub"}; })
      .Case<arith::MulFOp>([](auto) { return Recipe{Recipe::Binary, "mul"}; })
      .Case<arith::DivFOp>([](auto) { return Recipe{Recipe::Binary, "div"}; })
      .Case<arith::MaximumFOp>(
          [](auto) { return Recipe{Recipe::Binary, "max"}; })
      .Case<arith::MinimumFOp>(
          [](auto) { return Recipe{Recipe::Binary, "min"}; })
      .Case<arith::NegFOp>([](auto) { return Recipe{Recipe::Unary, "neg"}; })
      .Case<math::AbsFOp>([](auto) { return Recipe{Recipe::Unary, "abs"}; })
      .Case<math::SqrtOp>([](auto) { return Recipe{Recipe::Unary, "sqrt"}; })
      .Case<math::RsqrtOp>([](auto) { return Recipe{Recipe::Unary, "rsqrt"}; })
      .Case<math::FloorOp>([](auto) { return Recipe{Recipe::Unary, "floor"}; })
      .Case<math::CeilOp>([](auto) { return Recipe{Recipe::Unary, "ceil"}; })
      .Case<math::RoundEvenOp>(
          [](auto) { return Recipe{Recipe::Unary, "round"}; })
      .Case<math::ExpOp>([](auto) { return Recipe{Recipe::Function, "exp"}; })
      .Case<math::LogOp>([](auto) { return Recipe{Recipe::Function, "log"}; })
      .Case<math::TanhOp>([](auto) { return Recipe{Recipe::Function, "tanh"}; })
      .Case<math::ErfOp>([](auto) { return Recipe{Recipe::Function, "erf"}; })
      .Default([](auto) { return std::nullopt; });
}

LogicalResult TileBody::prepare() {
  if (op.getNumGuardAtoms() != 0)
    return op->emitError(
        "has elements that exist only where a condition holds; "
        "this road computes all of them: compile for a CPU");
  for (unsigned i = 0; i < op.getInputs().size(); ++i) {
    Type element =
        cast<RankedTensorType>(op.getInputs()[i].getType()).getElementType();
    if (!givenInputs.contains(i) && !dtypeOf(lowering.storedType(element)))
      return op->emitError("reads elements of ")
             << element
             << ", which the matrix engine has not; compile for a CPU";
  }
  for (Operation &inner : op.getBody().front().without_terminator()) {
    if (isa<arith::ConstantOp>(inner) || recipeOf(&inner))
      continue;
    return inner.emitError("the matrix engine has no instruction for '")
           << inner.getName() << "' of " << inner.getResult(0).getType()
           << " on this road; compile for a CPU, or compute it before the "
              "kernel";
  }
  for (unsigned i = 0; i < op.getInputs().size(); ++i)
    if (!givenInputs.contains(i) && failed(lowering.homeOf(op, i)))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// Tiles of values
//===----------------------------------------------------------------------===//

RingOp TileBody::ringFor(const void *key, unsigned part, TileValue::Kind kind,
                         Type type, int64_t depth) {
  RingOp &ring = rings[{key, part}];
  if (!ring) {
    SmallVector<int64_t> shape = {maxRows,
                                  kind == TileValue::Column ? 1 : maxColumns};
    ring =
        lowering.ring("t", depth, lowering.tileType(shape, type, Memory::Sbuf));
  }
  return ring;
}

/// i1 and f32 are f32 on the machine: 0 or 1.
static Type storedType(Type type) {
  return type.isInteger(1) ? Type(Float32Type::get(type.getContext())) : type;
}

Value TileBody::target(Operation *def, unsigned part, TileValue::Kind kind,
                       Type type, QueueKind queue, RingOp into) {
  RingOp ring = into ? into : ringFor(def, part, kind, storedType(type));
  Value slot = lowering.acquire(ring);
  SmallVector<int64_t> shape = {rows.size,
                                kind == TileValue::Column ? 1 : columns.size};
  // A row of a slot may be longer than what this tile has.
  return lowering.view(slot, 0, shape);
}

Value TileBody::finish(Operation *def, unsigned part, RingOp into, Value tile) {
  RingOp ring = into ? into : rings[{def, part}];
  lowering.commit(ring);
  if (into)
    return tile;
  Value slot = lowering.wait(ring);
  open.push_back(ring);
  return lowering.view(slot, 0, cast<TileType>(tile.getType()).getShape());
}

SmallVector<unsigned> TileBody::loadedInputs() {
  SmallVector<unsigned> inputs;
  for (unsigned i = 0; i < op.getInputs().size(); ++i)
    if (!givenInputs.contains(i) &&
        !op.getBody().front().getArgument(i).use_empty())
      inputs.push_back(i);
  return inputs;
}

void TileBody::load(const Span &tileRows, const Span &tileColumns,
                    ArrayRef<Linear> others) {
  for (unsigned input : loadedInputs()) {
    Home home = *lowering.homeOf(op, input);
    int64_t rowStride = rowIterator ? home.strides[*rowIterator] : 0;
    int64_t columnStride = columnIterator ? home.strides[*columnIterator] : 0;
    Linear base = home.constant;
    for (auto [i, stride] : llvm::enumerate(home.strides))
      if (rowIterator != i && columnIterator != i)
        base += others[i] * stride;
    base += tileRows.start * rowStride;
    base += tileColumns.start * columnStride;
    TileValue::Kind kind = kindOf(home);
    int64_t width = kind == TileValue::Column ? 1 : tileColumns.size;
    RingOp ring = ringFor(op, input, kind, home.elementType, inputDepth);
    Value slot = lowering.acquire(ring);
    lowering.issue(QueueKind::Sync, "dma_copy",
                   {{"dst", lowering.view(slot, 0, {tileRows.size, width})},
                    {"src", lowering.hbmView(
                                home.buffer, base, {tileRows.size, width},
                                rowStride, {width == 1 ? 1 : columnStride})}});
    lowering.commit(ring);
  }
}

TileValue TileBody::waitFor(unsigned input) {
  Home home = *lowering.homeOf(op, input);
  TileValue value;
  value.kind = kindOf(home);
  RingOp ring = ringFor(op, input, value.kind, home.elementType, inputDepth);
  Value slot = lowering.wait(ring);
  open.push_back(ring);
  value.tile = lowering.view(
      slot, 0, {rows.size, value.kind == TileValue::Column ? 1 : columns.size});
  return value;
}

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

static double foldUnary(StringRef name, double a) {
  if (name == "neg")
    return -a;
  if (name == "abs")
    return std::fabs(a);
  if (name == "sqrt")
    return float(std::sqrt(float(a)));
  if (name == "rsqrt")
    return float(1 / std::sqrt(a));
  if (name == "floor")
    return std::floor(a);
  if (name == "ceil")
    return std::ceil(a);
  if (name == "round")
    return std::nearbyint(a);
  return a > 0 ? a : 0; // relu
}

TileValue TileBody::unary(Operation *def, StringRef alu, Value operand,
                          Type type, RingOp into) {
  TileValue a = evaluate(operand);
  if (a.kind == TileValue::Constant) {
    a.constant = foldUnary(alu, a.constant);
    return a;
  }
  TileValue result;
  result.kind = a.kind;
  Value tile = target(def, 0, a.kind, type, QueueKind::Vector, into);
  lowering.issue(QueueKind::Vector, "tensor_scalar",
                 {{"dst", tile}, {"src", a.tile}}, {lowering.word("op0", alu)});
  result.tile = finish(def, 0, into, tile);
  return result;
}

TileValue TileBody::function(Operation *def, StringRef name, Value operand,
                             Type type, RingOp into) {
  TileValue a = evaluate(operand);
  if (a.kind == TileValue::Constant)
    a = copy(def, operand, Float32Type::get(def->getContext()), {}, false);
  TileValue result;
  result.kind = a.kind;
  Value tile = target(def, 1, a.kind, type, QueueKind::Scalar, into);
  lowering.issue(QueueKind::Scalar, "activate",
                 {{"dst", tile}, {"src", a.tile}},
                 {lowering.word("func", name)});
  result.tile = finish(def, 1, into, tile);
  return result;
}

/// Also makes a tile of a constant.
TileValue TileBody::copy(Operation *def, Value operand, Type type, RingOp into,
                         bool saturate) {
  TileValue a = evaluate(operand);
  SmallVector<NamedAttribute> fields;
  if (saturate)
    fields.push_back(lowering.flag("sat"));
  TileValue result;
  result.kind = a.kind == TileValue::Constant ? TileValue::Tile : a.kind;
  Value tile = target(def, 2, result.kind, type, QueueKind::Vector, into);
  if (a.kind == TileValue::Constant)
    lowering.issue(QueueKind::Vector, "fill", {{"dst", tile}},
                   {lowering.number("value", a.constant)});
  else
    lowering.issue(QueueKind::Vector, "copy", {{"dst", tile}, {"src", a.tile}},
                   fields);
  result.tile = finish(def, 2, into, tile);
  return result;
}

TileValue TileBody::binary(Operation *def, StringRef alu, Value lhs, Value rhs,
                           Type type, RingOp into) {
  TileValue a = evaluate(lhs), b = evaluate(rhs);
  if (a.kind == TileValue::Constant && b.kind == TileValue::Constant)
    a = copy(def, lhs, Float32Type::get(def->getContext()), {}, false);
  if (alu == "div") {
    // a · (1/b): the machine divides nowhere; each of the two rounds once.
    if (b.kind == TileValue::Constant) {
      b.constant = double(1.0f / float(b.constant));
    } else {
      TileValue inverse;
      inverse.kind = b.kind;
      Value tile = target(def, 3, b.kind, Float32Type::get(def->getContext()),
                          QueueKind::Vector, {});
      lowering.issue(QueueKind::Vector, "tensor_scalar",
                     {{"dst", tile}, {"src", b.tile}},
                     {lowering.word("op0", "reciprocal")});
      inverse.tile = finish(def, 3, {}, tile);
      b = inverse;
    }
    alu = "mul";
  }
  TileValue result;
  bool wide = a.kind == TileValue::Tile || b.kind == TileValue::Tile;
  result.kind = wide ? TileValue::Tile : TileValue::Column;
  Value tile = target(def, 0, result.kind, type, QueueKind::Vector, into);
  if (a.kind == b.kind) {
    lowering.issue(QueueKind::Vector, "tensor_tensor",
                   {{"dst", tile}, {"a", a.tile}, {"b", b.tile}},
                   {lowering.word("op", alu)});
  } else {
    // One side is narrower: the scalar of tensor_scalar.
    bool reversed = b.kind < a.kind;
    TileValue &src = reversed ? b : a, &scalar = reversed ? a : b;
    SmallVector<NamedAttribute> fields = {lowering.word("op0", alu)};
    if (reversed)
      fields.push_back(lowering.flag("reverse0"));
    SmallVector<std::pair<StringRef, Value>> operands = {{"dst", tile},
                                                         {"src", src.tile}};
    if (scalar.kind == TileValue::Constant)
      fields.push_back(lowering.number("imm0", scalar.constant));
    else
      operands.push_back({"s0", scalar.tile});
    lowering.issue(QueueKind::Vector, "tensor_scalar", operands, fields);
  }
  result.tile = finish(def, 0, into, tile);
  return result;
}

/// Computes `def`, rounded to `type`, into `into` when that is given.
TileValue TileBody::compute(Operation *def, Type type, RingOp into) {
  Recipe recipe = *recipeOf(def);
  switch (recipe.kind) {
  case Recipe::Size: {
    TileValue value;
    value.constant = double(*lowering.extentOf(def->getResult(0)));
    return value;
  }
  case Recipe::Alias:
    return evaluate(def->getOperand(0));
  case Recipe::Copy: {
    // A value that is only rounded is computed in the narrower type at once: every
    // instruction rounds once, when it writes.
    Operation *source = def->getOperand(0).getDefiningOp();
    bool plain = source && !isa<arith::ConstantOp>(source) &&
                 !recipe.saturate && def->getOperand(0).hasOneUse();
    if (plain) {
      Recipe::Kind kind = recipeOf(source)->kind;
      if (kind == Recipe::Unary || kind == Recipe::Binary ||
          kind == Recipe::Function) {
        RingOp ring = into;
        TileValue value = compute(source, type, ring);
        if (value.kind != TileValue::Constant)
          return value;
      }
    }
    return copy(def, def->getOperand(0), type, into, recipe.saturate);
  }
  case Recipe::Unary:
    return unary(def, recipe.name, def->getOperand(0), type, into);
  case Recipe::Function:
    return function(def, recipe.name, def->getOperand(0), type, into);
  case Recipe::Binary:
    return binary(def, recipe.name, def->getOperand(0), def->getOperand(1),
                  type, into);
  case Recipe::Select: {
    TileValue mask = evaluate(def->getOperand(0));
    TileValue parts[2];
    for (unsigned i = 0; i < 2; ++i)
      parts[i] = evaluate(def->getOperand(1 + i));
    // select takes whole tiles, and a number only in the second place.
    auto widen = [&](TileValue value, unsigned part) {
      if (value.kind == TileValue::Tile)
        return value;
      TileValue wide;
      wide.kind = TileValue::Tile;
      Type f32 = Float32Type::get(def->getContext());
      Value tile =
          target(def, part, TileValue::Tile, f32, QueueKind::Vector, {});
      lowering.issue(QueueKind::Vector, "fill", {{"dst", tile}},
                     {lowering.number("value", value.kind == TileValue::Constant
                                                   ? value.constant
                                                   : 0)});
      if (value.kind == TileValue::Column)
        lowering.issue(QueueKind::Vector, "tensor_scalar",
                       {{"dst", tile}, {"src", tile}, {"s0", value.tile}},
                       {lowering.word("op0", "add")});
      wide.tile = finish(def, part, {}, tile);
      return wide;
    };
    mask = widen(mask, 4);
    parts[0] = widen(parts[0], 5);
    if (parts[1].kind == TileValue::Column)
      parts[1] = widen(parts[1], 6);
    TileValue result;
    result.kind = TileValue::Tile;
    Value tile = target(def, 0, TileValue::Tile, type, QueueKind::Vector, into);
    SmallVector<std::pair<StringRef, Value>> operands = {
        {"dst", tile}, {"mask", mask.tile}, {"a", parts[0].tile}};
    SmallVector<NamedAttribute> fields;
    if (parts[1].kind == TileValue::Tile)
      operands.push_back({"b", parts[1].tile});
    else
      fields.push_back(lowering.number("imm0", parts[1].constant));
    lowering.issue(QueueKind::Vector, "select", operands, fields);
    result.tile = finish(def, 0, into, tile);
    return result;
  }
  }
  llvm_unreachable("all recipes are listed");
}

TileValue TileBody::evaluate(Value value) {
  auto at = values.find(value);
  if (at != values.end())
    return at->second;
  TileValue result;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    unsigned input = argument.getArgNumber();
    result.kind = TileValue::Tile;
    result.tile = given.lookup(input);
  } else if (auto constant = value.getDefiningOp<arith::ConstantOp>()) {
    if (auto number = dyn_cast<FloatAttr>(constant.getValue()))
      result.constant = number.getValueAsDouble();
    else
      result.constant = double(cast<IntegerAttr>(constant.getValue()).getInt());
  } else {
    result = compute(value.getDefiningOp(), value.getType(), {});
  }
  values[value] = result;
  return result;
}

void TileBody::emit(const Span &tileRows, const Span &tileColumns,
                    ArrayRef<Linear> others,
                    const llvm::SmallDenseMap<unsigned, Value> &givenTiles,
                    RingOp into, unsigned result) {
  rows = tileRows;
  columns = tileColumns;
  at.assign(others.begin(), others.end());
  given = givenTiles;
  values.clear();
  // Loaded slots are taken in any case: a body may not need all of them.
  for (unsigned input : loadedInputs())
    values[op.getBody().front().getArgument(input)] = waitFor(input);
  Value yielded = op.getBody().front().getTerminator()->getOperand(result);
  Type type = yielded.getType();
  Operation *def = yielded.getDefiningOp();
  bool computed = def && !isa<arith::ConstantOp>(def);
  TileValue value;
  if (computed) {
    Recipe::Kind kind = recipeOf(def)->kind;
    computed = kind != Recipe::Alias && kind != Recipe::Size;
  }
  // A column must be spread over the row, a constant written: by a copy.
  computed = computed && (columns.size == 1 || dependsOnColumns(yielded));
  if (computed)
    value = compute(def, type, into);
  if (!computed || value.kind == TileValue::Constant) {
    TileValue source = computed ? value : evaluate(yielded);
    Value slot = lowering.acquire(into);
    Value tile = lowering.view(slot, 0, {rows.size, columns.size});
    if (source.kind == TileValue::Constant) {
      lowering.issue(QueueKind::Vector, "fill", {{"dst", tile}},
                     {lowering.number("value", source.constant)});
    } else {
      // The one element of a row is read again and again.
      Value from = source.tile;
      if (source.kind == TileValue::Column && columns.size != 1) {
        if (auto view = from.getDefiningOp<ViewOp>())
          from = view.getSource();
        from = lowering.view(from, 0, {rows.size, columns.size}, {0});
      }
      lowering.issue(QueueKind::Vector, "copy", {{"dst", tile}, {"src", from}});
    }
    lowering.commit(into);
  }
  for (RingOp ring : open)
    lowering.release(ring);
  open.clear();
}

bool TileBody::dependsOnColumns(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    unsigned input = argument.getArgNumber();
    if (given.contains(input))
      return true;
    Home home = *lowering.homeOf(op, input);
    return columnIterator && home.strides[*columnIterator] != 0;
  }
  Operation *def = value.getDefiningOp();
  return !isa<arith::ConstantOp>(def) &&
         llvm::any_of(def->getOperands(),
                      [&](Value operand) { return dependsOnColumns(operand); });
}
