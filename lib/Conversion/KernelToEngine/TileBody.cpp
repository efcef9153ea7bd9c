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
#include "IntegerRange.h"

#include <cmath>

using namespace mlir;
using namespace facet;
using namespace facet::engine;

LogicalResult TileBody::prepare(Region &region) {
  if (region.empty())
    return success();
  for (Operation &inner : region.front().without_terminator()) {
    if (!isa<arith::ConstantOp>(inner) && !recipeOf(&inner))
      return inner.emitError("the matrix engine has no instruction for '")
             << inner.getName() << "' of " << inner.getResult(0).getType()
             << " on this road; compile for a CPU, or compute it before the "
                "kernel";
    if (inner.getNumResults() == 1 && inner.getResult(0).getType().isInteger(4))
      return inner.emitError("rounds to ")
             << inner.getResult(0).getType()
             << "; this road reads elements of four bits and makes none: clamp "
                "to their range in i32, or compile for a CPU";
    if (failed(checkIntegers(inner)))
      return failure();
  }
  return checkGiven(region);
}

LogicalResult TileBody::prepare() {
  for (unsigned i = 0; i < op.getInputs().size(); ++i) {
    if (givenInputs.contains(i))
      continue;
    Type element =
        cast<RankedTensorType>(op.getInputs()[i].getType()).getElementType();
    if (!dtypeOf(storedType(element)))
      return op->emitError("reads elements of ")
             << element
             << ", which the matrix engine has not; compile for a CPU";
    if (failed(lowering.homeOf(op, i)))
      return failure();
  }
  // Every input is read everywhere: without gathers all places exist, and what a
  // guard excludes is chosen away at the end.
  return success(succeeded(prepare(op.getGuards())) &&
                 succeeded(prepare(op.getBody())));
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

/// Conditions and integers are f32 on the machine.
static Type computedType(Type type) {
  bool wide = type.isInteger(1) || type.isInteger(32) || type.isInteger(64);
  return wide ? Type(Float32Type::get(type.getContext())) : type;
}

QueueKind TileBody::engineOf(Operation *def) {
  Recipe recipe = *recipeOf(def);
  if (recipe.kind == Recipe::Function)
    return QueueKind::Scalar;
  if (recipe.kind == Recipe::Copy && !countsInI32(def))
    return copierOf(def->getOperand(0));
  bool onGpsimd =
      recipe.kind == Recipe::Index ||
      (countsInI32(def) && recipe.kind != Recipe::Alias && !comparesWide(def));
  return onGpsimd ? QueueKind::Gpsimd : QueueKind::Vector;
}

bool TileBody::isLocal(const void *key, unsigned part) {
  // Temporaries of one op: 1 is written by scalar, 7 to 11 are read by gpsimd.
  if (part == 1 || (part >= 7 && part <= 11))
    return false;
  if (key == &op || (part != 0 && part != 2))
    return true;
  auto *def = static_cast<Operation *>(const_cast<void *>(key));
  if (engineOf(def) != QueueKind::Vector)
    return false;
  // Conditions of guards are read by whom the body says.
  SmallVector<Operation *> users(def->getUsers());
  while (!users.empty()) {
    Operation *user = users.pop_back_val();
    if (user->hasTrait<OpTrait::IsTerminator>()) {
      if (user->getParentRegion() == &op.getGuards())
        return false;
      continue; // vector copies it out
    }
    if (recipeOf(user)->kind == Recipe::Alias)
      llvm::append_range(users, user->getUsers());
    else if (engineOf(user) != QueueKind::Vector)
      return false;
  }
  return true;
}

Value TileBody::target(const void *def, unsigned part, TileValue::Kind kind,
                       Type type, RingOp into) {
  RingOp ring =
      into ? into : ringFor(def, part, kind, type, isLocal(def, part) ? 1 : 2);
  Value slot = lowering.acquire(ring);
  SmallVector<int64_t> shape = {rows.size,
                                kind == TileValue::Column ? 1 : columns.size};
  // A row of a slot may be longer than what this tile has.
  return lowering.view(slot, 0, shape);
}

Value TileBody::finish(const void *def, unsigned part, RingOp into,
                       Value tile) {
  RingOp ring = into ? into : rings[{def, part}];
  lowering.commit(ring);
  if (into)
    return tile;
  Value slot = lowering.wait(ring);
  // Temporaries of what differs from tile to tile go with the tile.
  bool isShared =
      keeps && def != &op &&
      !dependsOnRows(
          static_cast<Operation *>(const_cast<void *>(def))->getResult(0));
  (isShared ? keptOpen : open).push_back(ring);
  return lowering.view(slot, 0, cast<TileType>(tile.getType()).getShape());
}

SmallVector<unsigned> TileBody::loadedInputs() {
  SmallVector<unsigned> inputs;
  for (unsigned i = 0; i < op.getInputs().size(); ++i)
    if (!givenInputs.contains(i) &&
        (!op.getBody().front().getArgument(i).use_empty() ||
         (!op.getGuards().empty() &&
          !op.getGuards().front().getArgument(i).use_empty())))
      inputs.push_back(i);
  return inputs;
}

void TileBody::load(const Span &tileRows, const Span &tileColumns,
                    ArrayRef<Linear> others, Run run) {
  for (unsigned input : loadedInputs()) {
    if (!run.first && !dependsOnRows(input))
      continue;
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
    RingOp ring = ringFor(op, input, kind, home.elementType, depthOf(input));
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
  RingOp ring =
      ringFor(op, input, value.kind, home.elementType, depthOf(input));
  Value slot = lowering.wait(ring);
  (keeps && !dependsOnRows(input) ? keptOpen : open).push_back(ring);
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
  Value tile = target(def, 0, a.kind, type, into);
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
  Value tile = target(def, 1, a.kind, type, into);
  lowering.issue(QueueKind::Scalar, "activate",
                 {{"dst", tile}, {"src", a.tile}},
                 {lowering.word("func", name)});
  result.tile = finish(def, 1, into, tile);
  return result;
}

QueueKind TileBody::copierOf(Value value) {
  while (auto cast = value.getDefiningOp<kernel::CastOp>()) {
    if (cast.getMode() != kernel::CastMode::Exact)
      break;
    value = cast.getValue();
  }
  auto argument = dyn_cast<BlockArgument>(value);
  return argument && argument.getOwner()->getParent() == &op.getBody() &&
                 givenInputs.contains(argument.getArgNumber())
             ? evicts
             : QueueKind::Vector;
}

/// Also makes a tile of a constant.
TileValue TileBody::copy(Operation *def, Value operand, Type type, RingOp into,
                         bool saturate) {
  TileValue a = evaluate(operand);
  TileValue result;
  result.kind = a.kind == TileValue::Constant ? TileValue::Tile : a.kind;
  Value tile = target(def, 2, result.kind, type, into);
  if (a.kind == TileValue::Constant)
    fill(tile, clampTo(type, a.constant));
  else
    lowering.copy(copierOf(operand), tile, a.tile, saturate);
  result.tile = finish(def, 2, into, tile);
  return result;
}

/// The machine divides nowhere: a / b becomes (a·s)·(1/(b·s)), each step rounded once,
/// and leaves a·s in `a`, the reciprocal in `b`. The power of two s is 1 but where 1/b
/// alone would be an infinity or lose bits, for |b| below 2⁻¹⁰⁰ and above 2¹⁰⁰.
void TileBody::prepareDivision(Operation *def, TileValue &a, TileValue &b) {
  constexpr double large = 0x1p100, small = 0x1p-100;
  Type f32 = Float32Type::get(def->getContext());
  auto number = [](double value) {
    TileValue constant;
    constant.constant = value;
    return constant;
  };
  auto times = [&](TileValue x, TileValue y, unsigned part) {
    return combine(QueueKind::Vector, "mul", x, y, def, f32, {}, part);
  };
  if (b.kind == TileValue::Constant) {
    double size = std::abs(b.constant);
    double scale = size == 0 || std::isinf(size) ? 1
                   : size < small                ? large
                   : size > large                ? small
                                                 : 1;
    if (scale != 1)
      a = times(a, number(scale), 31);
    b.constant = double(1.0f / float(b.constant * scale));
    return;
  }
  auto two = [&](TileValue source, StringRef op0, double imm0, StringRef op1,
                 double imm1, unsigned part) {
    TileValue result;
    result.kind = source.kind;
    Value tile = target(def, part, source.kind, f32, {});
    lowering.issue(QueueKind::Vector, "tensor_scalar",
                   {{"dst", tile}, {"src", source.tile}},
                   {lowering.word("op0", op0), lowering.number("imm0", imm0),
                    lowering.word("op1", op1), lowering.number("imm1", imm1)});
    result.tile = finish(def, part, {}, tile);
    return result;
  };
  TileValue below = two(b, "abs_max", 0, "lt", small, 32);
  TileValue up = two(below, "mul", large, "add", 1, 33);
  TileValue within = two(b, "abs_max", 0, "le", large, 34);
  TileValue down = combine(QueueKind::Vector, "max", within, number(small), def,
                           f32, {}, 35);
  TileValue scale = times(up, down, 36);
  b = combine(QueueKind::Vector, "reciprocal", times(b, scale, 37),
              std::nullopt, def, f32, {}, 3);
  a = a.kind == TileValue::Constant && a.constant == 1 ? scale
                                                       : times(a, scale, 38);
}

/// round(x) + c, say: tensor_scalar does two operations, one after the other.
std::optional<TileValue> TileBody::unaryThenScalar(Operation *def,
                                                   StringRef alu, Type type,
                                                   RingOp into) {
  if (alu == "div" || !def->getOperand(0).getType().isF32())
    return std::nullopt;
  for (unsigned i : {0, 1}) {
    Value value = def->getOperand(i);
    Operation *inner = value.getDefiningOp();
    if (!inner || !value.hasOneUse() || isa<arith::ConstantOp>(inner) ||
        inner->getParentRegion() != &op.getBody() ||
        recipeOf(inner)->kind != Recipe::Unary)
      continue;
    TileValue scalar = evaluate(def->getOperand(1 - i));
    TileValue source = evaluate(inner->getOperand(0));
    if (source.kind == TileValue::Constant || scalar.kind <= source.kind)
      return std::nullopt;
    TileValue result;
    result.kind = source.kind;
    Value tile = target(def, 0, result.kind, type, into);
    SmallVector<NamedAttribute> fields = {
        lowering.word("op0", recipeOf(inner)->name), lowering.word("op1", alu)};
    if (i == 1)
      fields.push_back(lowering.flag("reverse1"));
    SmallVector<std::pair<StringRef, Value>> operands = {{"dst", tile},
                                                         {"src", source.tile}};
    if (scalar.kind == TileValue::Constant)
      fields.push_back(lowering.number("imm1", scalar.constant));
    else
      operands.push_back({"s1", scalar.tile});
    lowering.issue(QueueKind::Vector, "tensor_scalar", operands, fields);
    result.tile = finish(def, 0, into, tile);
    return result;
  }
  return std::nullopt;
}

TileValue TileBody::binary(Operation *def, StringRef alu, Value lhs, Value rhs,
                           Type type, RingOp into) {
  if (std::optional<TileValue> both = unaryThenScalar(def, alu, type, into))
    return *both;
  TileValue a = evaluate(lhs), b = evaluate(rhs);
  if (a.kind == TileValue::Constant && b.kind == TileValue::Constant)
    a = copy(def, lhs, Float32Type::get(def->getContext()), {}, false);
  if (alu == "div") {
    prepareDivision(def, a, b);
    alu = "mul";
  }
  return combine(QueueKind::Vector, alu, a, b, def, type, into);
}

/// An operation on bits: all its operands are integers, immediates included.
static bool isBitwise(StringRef alu) {
  return alu == "and" || alu == "or" || alu == "xor" || alu == "shl" ||
         alu == "shr" || alu == "sar";
}

void TileBody::combineInto(Value tile, QueueKind queue, StringRef alu,
                           const TileValue &a,
                           const std::optional<TileValue> &b) {
  auto immediate = [&](double number) {
    if (queue != QueueKind::Gpsimd && !isBitwise(alu))
      return lowering.number("imm0", number);
    return lowering.builder.getNamedAttr(
        "imm0", lowering.builder.getI32IntegerAttr(int32_t(int64_t(number))));
  };
  if (b && a.kind == b->kind) {
    lowering.issue(queue, "tensor_tensor",
                   {{"dst", tile}, {"a", a.tile}, {"b", b->tile}},
                   {lowering.word("op", alu)});
  } else {
    // One side is narrower: the scalar of tensor_scalar.
    bool reversed = b && b->kind < a.kind;
    const TileValue &src = reversed ? *b : a;
    const TileValue &scalar = reversed || !b ? a : *b;
    SmallVector<NamedAttribute> fields = {lowering.word("op0", alu)};
    if (reversed)
      fields.push_back(lowering.flag("reverse0"));
    SmallVector<std::pair<StringRef, Value>> operands = {{"dst", tile},
                                                         {"src", src.tile}};
    if (b && scalar.kind == TileValue::Constant)
      fields.push_back(immediate(scalar.constant));
    else if (b)
      operands.push_back({"s0", scalar.tile});
    lowering.issue(queue, "tensor_scalar", operands, fields);
  }
}

TileValue TileBody::combine(QueueKind queue, StringRef alu, TileValue a,
                            std::optional<TileValue> b, const void *key,
                            Type type, RingOp into, unsigned part) {
  TileValue result;
  bool wide = a.kind == TileValue::Tile || (b && b->kind == TileValue::Tile);
  result.kind = wide ? TileValue::Tile : TileValue::Column;
  Value tile = target(key, part, result.kind, type, into);
  combineInto(tile, queue, alu, a, b);
  result.tile = finish(key, part, into, tile);
  return result;
}

void TileBody::fill(Value tile, double value, QueueKind queue) {
  Type element = cast<TileType>(tile.getType()).getElementType();
  NamedAttribute number = lowering.number("value", value);
  if (isa<IntegerType>(element))
    number = lowering.builder.getNamedAttr(
        "value", lowering.builder.getI32IntegerAttr(int32_t(int64_t(value))));
  lowering.issue(queue, "fill", {{"dst", tile}}, {number});
}

Value TileBody::spread(Value column) {
  Linear at;
  if (auto view = column.getDefiningOp<ViewOp>()) {
    at = cast<AffineConstantExpr>(view.getAt().getResult(0)).getValue();
    column = view.getSource();
  }
  return lowering.view(column, at, {rows.size, columns.size}, {0});
}

TileValue TileBody::widen(TileValue value, const void *key, unsigned part,
                          Type type) {
  if (value.kind == TileValue::Tile ||
      (value.kind == TileValue::Column && columns.size == 1))
    return value;
  TileValue wide;
  wide.kind = TileValue::Tile;
  Value tile = target(key, part, TileValue::Tile,
                      type ? type : Type(lowering.builder.getF32Type()), {});
  if (value.kind == TileValue::Constant)
    fill(tile, value.constant);
  else
    lowering.copy(QueueKind::Vector, tile, spread(value.tile));
  wide.tile = finish(key, part, {}, tile);
  return wide;
}

/// select takes whole tiles, and a number only in the second place.
TileValue TileBody::select(const void *key, TileValue mask, TileValue yes,
                           TileValue no, Type type, RingOp into) {
  mask = widen(mask, key, 4);
  yes = widen(yes, key, 5);
  if (no.kind == TileValue::Column)
    no = widen(no, key, 6);
  TileValue result;
  result.kind = TileValue::Tile;
  Value tile = target(key, 0, TileValue::Tile, type, into);
  SmallVector<std::pair<StringRef, Value>> operands = {
      {"dst", tile}, {"mask", mask.tile}, {"a", yes.tile}};
  SmallVector<NamedAttribute> fields;
  bool intoIntegers =
      isa<IntegerType>(cast<TileType>(tile.getType()).getElementType());
  if (no.kind == TileValue::Constant && intoIntegers)
    fields.push_back(lowering.builder.getNamedAttr(
        "imm0",
        lowering.builder.getI32IntegerAttr(int32_t(int64_t(no.constant)))));
  else if (no.kind == TileValue::Constant)
    fields.push_back(lowering.number("imm0", no.constant));
  else
    operands.push_back({"b", no.tile});
  lowering.issue(QueueKind::Vector, "select", operands, fields);
  result.tile = finish(key, 0, into, tile);
  return result;
}

/// The value of an iterator: numbers that gpsimd writes.
TileValue TileBody::indexValue(Operation *def) {
  StringRef name = cast<kernel::IndexOp>(def).getIterator();
  unsigned iterator = 0;
  while (op.getIteratorName(iterator) != name)
    ++iterator;
  if (auto made = indices.find(iterator); made != indices.end())
    return made->second;
  TileValue result;
  bool inRow = columnIterator == iterator, inRows = rowIterator == iterator;
  result.kind = inRow ? TileValue::Tile : TileValue::Column;
  Linear start = inRow ? columns.start : inRows ? rows.start : at[iterator];
  Value tile = target(def, 0, result.kind, lowering.builder.getF32Type(), {});
  int64_t width = inRow ? columns.size : 1;
  lowering.issue(QueueKind::Gpsimd, "iota",
                 {{"dst", tile},
                  {"index", lowering.index(start, {rows.size, width},
                                           inRows ? 1 : 0, inRow ? 1 : 0)}});
  result.tile = finish(def, 0, {}, tile);
  indices[iterator] = result;
  return result;
}

TileValue TileBody::conjunction(ArrayRef<int64_t> atoms, RingOp into) {
  TileValue mask = evaluate(atom(atoms.front()));
  for (auto [i, number] : llvm::enumerate(atoms.drop_front())) {
    TileValue next = widen(evaluate(atom(number)), &op, 20 + 2 * unsigned(i));
    mask = widen(mask, &op, 21 + 2 * unsigned(i));
    RingOp last = i + 2 == atoms.size() ? into : RingOp();
    Value tile = target(&op, 60 + unsigned(i), TileValue::Tile,
                        lowering.builder.getF32Type(), last);
    lowering.issue(QueueKind::Vector, "tensor_tensor",
                   {{"dst", tile}, {"a", mask.tile}, {"b", next.tile}},
                   {lowering.word("op", "land")});
    mask.tile = finish(&op, 60 + unsigned(i), last, tile);
  }
  return mask;
}

/// An i32 on chip as an f32 for the arithmetic of vector alone, which rounds what it
/// reads.
bool TileBody::isRoundedByReaders(Operation *def) {
  auto cast = dyn_cast<kernel::CastOp>(def);
  if (!cast || cast.getMode() != kernel::CastMode::Round ||
      !cast.getValue().getType().isInteger(32) || !cast.getType().isF32())
    return false;
  TileValue value = evaluate(cast.getValue());
  if (!value.tile ||
      !isa<IntegerType>(
          mlir::cast<TileType>(value.tile.getType()).getElementType()))
    return false;
  return llvm::all_of(def->getUsers(), [&](Operation *user) {
    if (user->hasTrait<OpTrait::IsTerminator>() ||
        user->getParentRegion() != &op.getBody())
      return false;
    Recipe::Kind kind = recipeOf(user)->kind;
    return (kind == Recipe::Unary || kind == Recipe::Binary) &&
           engineOf(user) == QueueKind::Vector;
  });
}

/// Computes `def`, rounded to `type`, into `into` when that is given.
TileValue TileBody::compute(Operation *def, Type type, RingOp into) {
  Recipe recipe = *recipeOf(def);
  if (comparesWide(def))
    return compareWide(def, into);
  if (countsInI32(def) && recipe.kind != Recipe::Alias)
    return integer(def, type, into);
  switch (recipe.kind) {
  case Recipe::Integer:
    llvm_unreachable("they count in i32");
  case Recipe::Size: {
    TileValue value;
    value.constant = double(*lowering.extentOf(def->getResult(0)));
    return value;
  }
  case Recipe::Alias: {
    // An integer that is a number of f32 already, or an i32 that is rounded.
    auto cast = dyn_cast<kernel::CastOp>(def);
    if (cast && cast.getMode() == kernel::CastMode::Round &&
        !fitsF32(lowering, op, cast.getValue()))
      return copy(def, def->getOperand(0), type, into, false);
    return evaluate(def->getOperand(0));
  }
  case Recipe::Copy: {
    // A value that is only rounded is computed in the narrower type at once: every
    // instruction rounds once, when it writes.
    Value rounded = def->getOperand(0);
    bool isOnlyRounded = rounded.hasOneUse();
    // An integer that is a number of f32 is one already.
    for (auto cast = rounded.getDefiningOp<kernel::CastOp>();
         cast && cast.getMode() == kernel::CastMode::Round &&
         isa<IntegerType>(cast.getValue().getType()) &&
         fitsF32(lowering, op, cast.getValue());
         cast = rounded.getDefiningOp<kernel::CastOp>()) {
      rounded = cast.getValue();
      isOnlyRounded &= rounded.hasOneUse();
    }
    Operation *source = rounded.getDefiningOp();
    bool plain = source && !isa<arith::ConstantOp>(source) &&
                 !recipe.saturate && isOnlyRounded && !countsInI32(source);
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
    if (!into && isRoundedByReaders(def))
      return evaluate(def->getOperand(0));
    return copy(def, def->getOperand(0), type, into, recipe.saturate);
  }
  case Recipe::Unary:
    return unary(def, recipe.name, def->getOperand(0), computedType(type),
                 into);
  case Recipe::Function:
    return function(def, recipe.name, def->getOperand(0), type, into);
  case Recipe::Binary:
    return binary(def, recipe.name, def->getOperand(0), def->getOperand(1),
                  computedType(type), into);
  case Recipe::Select: {
    TileValue mask = evaluate(def->getOperand(0)),
              yes = evaluate(def->getOperand(1)),
              no = evaluate(def->getOperand(2));
    return select(def, mask, yes, no, computedType(type), into);
  }
  case Recipe::Index:
    return indexValue(def);
  }
  llvm_unreachable("all recipes are listed");
}

/// As an i1, true is -1.
static bool isTrue(arith::ConstantOp constant) {
  return cast<IntegerAttr>(constant.getValue()).getValue().getBoolValue();
}

TileValue TileBody::evaluate(Value value) {
  auto at = values.find(value);
  if (at != values.end())
    return at->second;
  TileValue result;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    unsigned input = argument.getArgNumber();
    if (input >= op.getInputs().size())
      return values[value] = evaluate(atom(input - op.getInputs().size()));
    // The same input in the guards and in the body.
    Value inBody = op.getBody().front().getArgument(input);
    if (auto loaded = values.find(inBody); loaded != values.end())
      return loaded->second;
    result.tile = given.lookup(input);
    result.kind = isColumn(result.tile) ? TileValue::Column : TileValue::Tile;
  } else if (auto constant = value.getDefiningOp<arith::ConstantOp>()) {
    if (auto number = dyn_cast<FloatAttr>(constant.getValue()))
      result.constant = number.getValueAsDouble();
    else
      result.constant =
          constant.getType().isInteger(1)
              ? double(isTrue(constant))
              : double(cast<IntegerAttr>(constant.getValue()).getInt());
  } else {
    result = compute(value.getDefiningOp(), value.getType(), {});
  }
  values[value] = result;
  return result;
}

void TileBody::begin(const Span &tileRows, const Span &tileColumns,
                     ArrayRef<Linear> others, ArrayRef<unsigned> wanted,
                     Run run) {
  rows = tileRows;
  columns = tileColumns;
  at.assign(others.begin(), others.end());
  keeps = !run.first || !run.last;
  values = run.first ? decltype(values)() : kept;
  indices = run.first ? decltype(indices)() : keptIndices;
  // The last tile may have fewer rows.
  auto fit = [&](TileValue &value) {
    if (!value.tile)
      return;
    SmallVector<int64_t> shape(cast<TileType>(value.tile.getType()).getShape());
    if (shape.front() == rows.size)
      return;
    shape.front() = rows.size;
    auto view = value.tile.getDefiningOp<ViewOp>();
    value.tile = lowering.view(view ? view.getSource() : value.tile, 0, shape);
  };
  for (auto &[key, value] : values)
    fit(value);
  for (auto &[iterator, value] : indices)
    fit(value);
  // Loaded slots are taken in any case: a body may not need all of them.
  for (unsigned input : wanted) {
    Value argument = op.getBody().front().getArgument(input);
    if (!values.contains(argument))
      values[argument] = waitFor(input);
  }
}

void TileBody::end(Run run) {
  for (RingOp ring : open)
    lowering.release(ring);
  open.clear();
  if (run.first && keeps) {
    kept.clear();
    keptIndices.clear();
    for (auto &[value, made] : values)
      if (!dependsOnRows(value))
        kept[value] = made;
    for (auto &[iterator, made] : indices)
      if (rowIterator != iterator)
        keptIndices[iterator] = made;
  }
  if (!run.last)
    return;
  for (RingOp ring : keptOpen)
    lowering.release(ring);
  keptOpen.clear();
}

void TileBody::emitConditions(
    ArrayRef<int64_t> atoms, const Span &tileRows, const Span &tileColumns,
    ArrayRef<Linear> others,
    const llvm::SmallDenseMap<unsigned, Value> &givenTiles, RingOp into) {
  given = givenTiles;
  begin(tileRows, tileColumns, others, loadedInputs(/*ofStart=*/false), Run());
  if (atoms.size() == 1)
    yieldInto(atom(atoms.front()), into);
  else
    conjunction(atoms, into);
  end(Run());
}

void TileBody::emit(const Span &tileRows, const Span &tileColumns,
                    ArrayRef<Linear> others,
                    const llvm::SmallDenseMap<unsigned, Value> &givenTiles,
                    RingOp into, double otherwise, Run run) {
  given = givenTiles;
  begin(tileRows, tileColumns, others, loadedInputs(/*ofStart=*/false), run);
  if (startedSum)
    values[startedSum] = {TileValue::Tile, given.begin()->second};
  Value yielded = op.getBody().front().getTerminator()->getOperand(0);
  if (!op.getFilter().empty()) {
    TileValue no;
    no.constant = otherwise;
    TileValue mask = conjunction(op.getFilter(), {});
    if (yielded.getType().isInteger(32))
      integerSelect(&op, mask, evaluate(yielded), no, into);
    else
      select(&op, mask, evaluate(yielded), no, lowering.builder.getF32Type(),
             into);
  } else {
    yieldInto(yielded, into);
  }
  end(run);
}

//===----------------------------------------------------------------------===//
// What a sum begins with
//===----------------------------------------------------------------------===//

/// The inputs that `value` is computed from other than through `without`.
void TileBody::inputsOf(Value value, Value without,
                        llvm::SmallDenseSet<unsigned> &inputs) {
  if (value == without)
    return;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    inputs.insert(argument.getArgNumber());
    return;
  }
  if (value.getDefiningOp()->getParentRegion() == &op.getBody())
    for (Value operand : value.getDefiningOp()->getOperands())
      inputsOf(operand, without, inputs);
}

bool TileBody::splitStart(unsigned input) {
  if (op.getNumGuardAtoms() != 0)
    return false;
  Value sum = op.getBody().front().getArgument(input);
  SmallVector<std::pair<Value, Operation *>> terms;
  llvm::SmallDenseSet<unsigned> ofStart, ofRest;
  while (sum.hasOneUse()) {
    auto add = dyn_cast<arith::AddIOp>(*sum.user_begin());
    if (!add)
      break;
    Value term = add.getLhs() == sum ? add.getRhs() : add.getLhs();
    terms.push_back({term, add});
    inputsOf(term, Value(), ofStart);
    sum = add.getResult();
  }
  inputsOf(op.getBody().front().getTerminator()->getOperand(0), sum, ofRest);
  if (terms.empty() || ofStart.contains(input) ||
      llvm::any_of(ofStart, [&](unsigned i) { return ofRest.contains(i); }))
    return false;
  startTerms = terms;
  startedSum = sum;
  startInputs = ofStart;
  return true;
}

void TileBody::emitStart(const Span &tileRows, const Span &tileColumns,
                         ArrayRef<Linear> others, Value total, Run run) {
  begin(tileRows, tileColumns, others, loadedInputs(/*ofStart=*/true), run);
  // a * b + c in one instruction, where b is one element of a row.
  auto fused = [&](unsigned which) {
    auto [value, key] = startTerms[which];
    auto product = value.getDefiningOp<arith::MulIOp>();
    if (!product)
      return false;
    TileValue a = asI32(evaluate(product.getLhs()), key, 8),
              b = asI32(evaluate(product.getRhs()), key, 9);
    if (b.kind == TileValue::Tile)
      std::swap(a, b);
    auto [other, otherKey] = startTerms[1 - which];
    TileValue c = asI32(evaluate(other), otherKey, 7);
    if (a.kind != TileValue::Tile || b.kind != TileValue::Column ||
        c.kind != TileValue::Tile)
      return false;
    lowering.issue(
        QueueKind::Gpsimd, "scalar_tensor_tensor",
        {{"dst", total}, {"src", a.tile}, {"s0", b.tile}, {"b", c.tile}},
        {lowering.word("op0", "mul"), lowering.word("op1", "add")});
    return true;
  };
  if (startTerms.size() == 2 && (fused(0) || fused(1)))
    return end(run);
  TileValue sum;
  for (auto [i, term] : llvm::enumerate(startTerms)) {
    auto [value, key] = term;
    TileValue next = asI32(evaluate(value), key, 7);
    if (i == 0) {
      sum = next;
    } else if (sum.kind == TileValue::Constant &&
               next.kind == TileValue::Constant) {
      sum.constant = double(int32_t(uint32_t(int64_t(sum.constant)) +
                                    uint32_t(int64_t(next.constant))));
    } else if (i + 1 == startTerms.size() &&
               (sum.kind == TileValue::Tile || next.kind == TileValue::Tile)) {
      combineInto(total, QueueKind::Gpsimd, "add", sum, next);
      return end(run);
    } else {
      sum = combine(QueueKind::Gpsimd, "add", sum, next, key,
                    lowering.builder.getI32Type(), {}, 10);
    }
  }
  if (sum.kind == TileValue::Constant) {
    fill(total, sum.constant, QueueKind::Gpsimd);
  } else {
    bool narrow = sum.kind == TileValue::Column && columns.size != 1;
    lowering.issue(
        QueueKind::Gpsimd, "copy",
        {{"dst", total}, {"src", narrow ? spread(sum.tile) : sum.tile}});
  }
  end(run);
}

void TileBody::yieldInto(Value yielded, RingOp into) {
  Type type = yielded.getType();
  Operation *def = yielded.getDefiningOp();
  bool computed = def && !isa<arith::ConstantOp>(def);
  TileValue value;
  if (computed) {
    Recipe::Kind kind = recipeOf(def)->kind;
    // An index is written by gpsimd for all that read it.
    computed =
        kind != Recipe::Alias && kind != Recipe::Size && kind != Recipe::Index;
  }
  // A column must be spread over the row, a constant written: by a copy. All tiles
  // of a body are written by the same engine.
  computed = computed && (maxColumns == 1 || dependsOnColumns(yielded));
  if (computed)
    value = compute(def, type, into);
  if (!computed || value.kind == TileValue::Constant) {
    TileValue source = computed ? value : evaluate(yielded);
    Value slot = lowering.acquire(into);
    Value tile = lowering.view(slot, 0, {rows.size, columns.size});
    if (source.kind == TileValue::Constant) {
      fill(tile, source.constant);
    } else {
      bool narrow = source.kind == TileValue::Column && columns.size != 1;
      Value from = narrow ? spread(source.tile) : source.tile;
      lowering.copy(copierOf(yielded), tile, from);
    }
    lowering.commit(into);
  }
}

bool TileBody::dependsOnRows(unsigned input) {
  if (givenInputs.contains(input))
    return true;
  return rowIterator && lowering.homeOf(op, input)->strides[*rowIterator] != 0;
}

bool TileBody::dependsOnRows(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    unsigned input = argument.getArgNumber();
    return input >= op.getInputs().size()
               ? dependsOnRows(atom(input - op.getInputs().size()))
               : dependsOnRows(input);
  }
  Operation *def = value.getDefiningOp();
  if (auto index = dyn_cast<kernel::IndexOp>(def))
    return rowIterator &&
           op.getIteratorName(*rowIterator) == index.getIterator();
  return !isa<arith::ConstantOp>(def) &&
         llvm::any_of(def->getOperands(),
                      [&](Value operand) { return dependsOnRows(operand); });
}

bool TileBody::dependsOnColumns(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    unsigned input = argument.getArgNumber();
    if (input >= op.getInputs().size())
      return dependsOnColumns(atom(input - op.getInputs().size()));
    if (given.contains(input))
      return !isColumn(given.lookup(input));
    Home home = *lowering.homeOf(op, input);
    return columnIterator && home.strides[*columnIterator] != 0;
  }
  Operation *def = value.getDefiningOp();
  if (auto index = dyn_cast<kernel::IndexOp>(def))
    return columnIterator &&
           op.getIteratorName(*columnIterator) == index.getIterator();
  return !isa<arith::ConstantOp>(def) &&
         llvm::any_of(def->getOperands(),
                      [&](Value operand) { return dependsOnColumns(operand); });
}
