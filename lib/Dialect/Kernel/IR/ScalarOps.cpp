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

/// `value` rounded to `to`, to nearest even; overflow as the type has it, or clamped.
static APFloat roundTo(APFloat value, FloatType to, bool saturate) {
  const llvm::fltSemantics &semantics = to.getFloatSemantics();
  bool isNaN = value.isNaN(), isNegative = value.isNegative(), losesInfo;
  value.convert(semantics, APFloat::rmNearestTiesToEven, &losesInfo);
  if (saturate && !isNaN && !value.isFinite())
    return APFloat::getLargest(semantics, isNegative);
  return value;
}

static Attribute foldFloat(CastMode mode, APFloat value, Type to) {
  if (auto type = dyn_cast<FloatType>(to))
    return FloatAttr::get(type,
                          roundTo(value, type, mode == CastMode::RoundSat));
  // To an integer: nearest even, clamped; NaN is 0.
  APSInt integer(to.getIntOrFloatBitWidth(), /*isUnsigned=*/false);
  bool isExact;
  value.convertToInteger(integer, APFloat::rmNearestTiesToEven, &isExact);
  return IntegerAttr::get(to, integer);
}

static Attribute foldInteger(CastMode mode, const APInt &value, Type from,
                             Type to) {
  // i1 is 0 or 1.
  bool isUnsigned = from.isUnsignedInteger() || from.isInteger(1);
  if (auto type = dyn_cast<FloatType>(to)) {
    APFloat result(type.getFloatSemantics());
    result.convertFromAPInt(value, !isUnsigned, APFloat::rmNearestTiesToEven);
    return FloatAttr::get(type, result);
  }
  unsigned width = to.getIntOrFloatBitWidth();
  if (mode == CastMode::Sat)
    return IntegerAttr::get(to, value.truncSSat(width));
  return IntegerAttr::get(to, isUnsigned ? value.zextOrTrunc(width)
                                         : value.sextOrTrunc(width));
}

OpFoldResult CastOp::fold(FoldAdaptor adaptor) {
  CastMode mode = getMode();
  Type to = getResult().getType();
  if (auto inner = getValue().getDefiningOp<CastOp>();
      inner && inner.getMode() == CastMode::Exact) {
    // A value that came from the type without loss goes back to it without loss. Not
    // so with saturation: an infinity would become finite.
    if (inner.getValue().getType() == to && mode != CastMode::RoundSat)
      return inner.getValue();
    if (mode == CastMode::Exact &&
        isLegalCast(mode, inner.getValue().getType(), to)) {
      setOperand(inner.getValue());
      return getResult();
    }
  }
  if (to.isUnsignedInteger()) // there are no constants of these
    return {};
  if (auto value = dyn_cast_or_null<FloatAttr>(adaptor.getValue()))
    return foldFloat(mode, value.getValue(), to);
  if (auto value = dyn_cast_or_null<IntegerAttr>(adaptor.getValue()))
    return foldInteger(mode, value.getValue(), getValue().getType(), to);
  return {};
}

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
