//===- ScalarOps.cpp - index, cast, apply ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Verifiers and folds of what scalar bodies need beside arith and math.
//
//===----------------------------------------------------------------------===//

#include "Syntax.h"

using namespace mlir;
using namespace facet::kernel;

//===----------------------------------------------------------------------===//
// kernel.index
//===----------------------------------------------------------------------===//

void IndexOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getResult(), getIterator());
}

LogicalResult IndexOp::verify() {
  auto op = (*this)->getParentOfType<StructuredOpInterface>();
  if (!op)
    return emitOpError(
        "must stand in a kernel.map, kernel.reduce or kernel.softmax");
  for (unsigned i = 0, e = op.getNumIterators(); i != e; ++i)
    if (op.getIteratorName(i) == getIterator())
      return success();
  return emitOpError() << "reads '" << getIterator()
                       << "', which is no iterator of the enclosing "
                       << op->getName();
}

//===----------------------------------------------------------------------===//
// kernel.cast
//===----------------------------------------------------------------------===//

static bool isStorageInteger(Type type) {
  return isElementType(type) && type.isInteger() &&
         type.getIntOrFloatBitWidth() < 32 && !type.isInteger(1);
}

static bool isWideInteger(Type type) {
  return type.isSignlessInteger(32) || type.isSignlessInteger(64);
}

/// Any integer of a kernel but i1.
static bool isNumber(Type type) {
  return isStorageInteger(type) || isWideInteger(type);
}

static bool isStorageFloat(Type type) {
  return isa<FloatTF32Type>(type) ||
         (isElementType(type) && isa<FloatType>(type) &&
          type.getIntOrFloatBitWidth() < 32);
}

static bool isWideFloat(Type type) { return type.isF32() || type.isF64(); }

/// What each mode converts, in one word per row of the table of the op.
static bool isLegalCast(CastMode mode, Type from, Type to) {
  unsigned fromWidth = from.getIntOrFloatBitWidth(),
           toWidth = to.getIntOrFloatBitWidth();
  switch (mode) {
  case CastMode::Exact:
    if (from.isSignlessInteger(1))
      return isWideInteger(to) || isWideFloat(to);
    return (isStorageFloat(from) && to.isF32()) ||
           (from.isF32() && to.isF64()) ||
           (isStorageInteger(from) && to.isSignlessInteger(32)) ||
           (from.isSignlessInteger(32) && to.isSignlessInteger(64));
  case CastMode::Round:
    if (isWideFloat(from))
      return isStorageFloat(to) || (isWideFloat(to) && toWidth < fromWidth);
    return isNumber(from) && isWideFloat(to);
  case CastMode::RoundSat:
    return isWideFloat(from) && isStorageFloat(to);
  case CastMode::Wrap:
    return isWideInteger(from) && isNumber(to) && toWidth <= fromWidth;
  case CastMode::Sat:
    return isNumber(to) &&
           (isWideFloat(from) || (isWideInteger(from) && toWidth <= fromWidth));
  }
  return false;
}

LogicalResult CastOp::verify() {
  Type from = getValue().getType(), to = getResult().getType();
  if (isLegalCast(getMode(), from, to))
    return success();
  InFlightDiagnostic diagnostic =
      emitOpError() << "cannot convert " << from << " to " << to << " by '"
                    << stringifyCastMode(getMode()) << "'";
  SmallVector<StringRef> modes;
  for (CastMode mode : {CastMode::Exact, CastMode::Round, CastMode::RoundSat,
                        CastMode::Wrap, CastMode::Sat})
    if (isLegalCast(mode, from, to))
      modes.push_back(stringifyCastMode(mode));
  if (!modes.empty())
    diagnostic << "; possible: " << llvm::join(modes, ", ");
  return diagnostic;
}

OpFoldResult CastOp::fold(FoldAdaptor) { return {}; }

//===----------------------------------------------------------------------===//
// kernel.apply
//===----------------------------------------------------------------------===//

LogicalResult ApplyOp::verify() {
  if (getFunction() != ScalarFunction::Relu &&
      !isa<FloatType>(getValue().getType()))
    return emitOpError() << "applies '"
                         << stringifyScalarFunction(getFunction()) << "' to "
                         << getValue().getType()
                         << "; only relu takes integers";
  return success();
}
