//===- ScalarType.cpp - facts about element types -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names, widths and the type an element is read as: a `bf16` element reads as
// f32, a `u4` element as i32.
//
//===----------------------------------------------------------------------===//

#include "Words.h"

using namespace facet;

llvm::StringRef facet::spelling(ScalarType type) {
  return words(WordKind::Type)[static_cast<unsigned>(type)];
}

ScalarType facet::arithmeticType(ScalarType type) {
  switch (type) {
  case ScalarType::Bool:
  case ScalarType::I32:
  case ScalarType::I64:
  case ScalarType::F32:
  case ScalarType::F64:
    return type;
  case ScalarType::F16:
  case ScalarType::BF16:
  case ScalarType::F8E4M3:
  case ScalarType::F8E4M3FN:
  case ScalarType::F8E5M2:
  case ScalarType::TF32:
    return ScalarType::F32;
  case ScalarType::I16:
  case ScalarType::I8:
  case ScalarType::U8:
  case ScalarType::I4:
  case ScalarType::U4:
    return ScalarType::I32;
  }
  return type;
}

bool facet::isFloat(ScalarType type) {
  ScalarType read = arithmeticType(type);
  return read == ScalarType::F32 || read == ScalarType::F64;
}

bool facet::isInteger(ScalarType type) {
  ScalarType read = arithmeticType(type);
  return read == ScalarType::I32 || read == ScalarType::I64;
}

unsigned facet::bitWidth(ScalarType type) {
  switch (type) {
  case ScalarType::I64:
  case ScalarType::F64:
    return 64;
  case ScalarType::I32:
  case ScalarType::F32:
  case ScalarType::TF32:
    return 32;
  case ScalarType::F16:
  case ScalarType::BF16:
  case ScalarType::I16:
    return 16;
  case ScalarType::Bool:
  case ScalarType::F8E4M3:
  case ScalarType::F8E4M3FN:
  case ScalarType::F8E5M2:
  case ScalarType::I8:
  case ScalarType::U8:
    return 8;
  case ScalarType::I4:
  case ScalarType::U4:
    return 4;
  }
  return 0;
}
