//===- ElementType.cpp - one row per element type -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From an MLIR type to its row:
//
//   bf16 ─▶ FACET_BF16, "bf16", facet_bf16, 16 bits, DLPack code 4, passed as i16
//
// A table, because five places need a column each and must not drift apart.
//
//===----------------------------------------------------------------------===//

#include "ElementType.h"

#include "facet/abi.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using namespace facet::interface;

// DLPack's DLDataTypeCode, as its specification numbers it.
enum DLCode : uint8_t {
  DLInt = 0,
  DLUInt = 1,
  DLFloat = 2,
  DLBfloat = 4,
  DLBool = 6,
  DLFloat8E4M3 = 8,
  DLFloat8E4M3FN = 10,
  DLFloat8E5M2 = 12
};

static const ElementType table[] = {
    {FACET_BOOL, "bool", "bool", 8, DLBool, 'i'},
    {FACET_I32, "i32", "int32_t", 32, DLInt, 'i'},
    {FACET_I64, "i64", "int64_t", 64, DLInt, 'i'},
    {FACET_F32, "f32", "float", 32, DLFloat, 'f'},
    {FACET_F64, "f64", "double", 64, DLFloat, 'f'},
    {FACET_F16, "f16", "facet_f16", 16, DLFloat, 'i'},
    {FACET_BF16, "bf16", "facet_bf16", 16, DLBfloat, 'i'},
    {FACET_F8E4M3, "f8e4m3", "facet_f8e4m3", 8, DLFloat8E4M3, 'i'},
    {FACET_F8E4M3FN, "f8e4m3fn", "facet_f8e4m3fn", 8, DLFloat8E4M3FN, 'i'},
    {FACET_F8E5M2, "f8e5m2", "facet_f8e5m2", 8, DLFloat8E5M2, 'i'},
    {FACET_I16, "i16", "int16_t", 16, DLInt, 'i'},
    {FACET_I8, "i8", "int8_t", 8, DLInt, 'i'},
    {FACET_U8, "u8", "uint8_t", 8, DLUInt, 'i'},
    {FACET_I4, "i4", "facet_i4x2", 4, DLInt, 'i'},
    {FACET_U4, "u4", "facet_u4x2", 4, DLUInt, 'i'},
};

static int32_t numberOf(Type type) {
  if (auto integer = dyn_cast<IntegerType>(type)) {
    bool isUnsigned = integer.isUnsigned();
    switch (integer.getWidth()) {
    case 1:
      return FACET_BOOL;
    case 4:
      return isUnsigned ? FACET_U4 : FACET_I4;
    case 8:
      return isUnsigned ? FACET_U8 : FACET_I8;
    case 16:
      return FACET_I16;
    case 32:
      return FACET_I32;
    case 64:
      return FACET_I64;
    default:
      return 0;
    }
  }
  if (type.isF32())
    return FACET_F32;
  if (type.isF64())
    return FACET_F64;
  if (type.isF16())
    return FACET_F16;
  if (type.isBF16())
    return FACET_BF16;
  if (isa<Float8E4M3Type>(type))
    return FACET_F8E4M3;
  if (isa<Float8E4M3FNType>(type))
    return FACET_F8E4M3FN;
  return isa<Float8E5M2Type>(type) ? FACET_F8E5M2 : 0;
}

const ElementType *facet::interface::lookUpElementType(Type type) {
  int32_t number = numberOf(type);
  for (const ElementType &row : table)
    if (row.number == number)
      return &row;
  return nullptr;
}
