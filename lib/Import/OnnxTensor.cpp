//===- OnnxTensor.cpp - types and numbers of ONNX's tensors ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A tensor has its elements as bytes, or in a list of a wider type: int32_data for all
// small ones, bit patterns for floats of 16 bits. bytesOf makes one of both, what reads
// numbers reads those bytes.
//
//===----------------------------------------------------------------------===//

#include "Onnx.h"
#include "facet/Support/Npy.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/Support/Endian.h"

#include <cmath>

using namespace llvm;
using namespace facet;
using namespace facet::import;

std::optional<ScalarType> facet::import::elementType(int onnxType) {
  // TensorProto.DataType; those without a name are newer than the description.
  switch (onnxType) {
  case onnx::TensorProto::FLOAT:
    return ScalarType::F32;
  case onnx::TensorProto::DOUBLE:
    return ScalarType::F64;
  case onnx::TensorProto::FLOAT16:
    return ScalarType::F16;
  case onnx::TensorProto::BFLOAT16:
    return ScalarType::BF16;
  case onnx::TensorProto::INT8:
    return ScalarType::I8;
  case onnx::TensorProto::UINT8:
    return ScalarType::U8;
  case onnx::TensorProto::INT16:
    return ScalarType::I16;
  case onnx::TensorProto::INT32:
    return ScalarType::I32;
  case onnx::TensorProto::INT64:
    return ScalarType::I64;
  case onnx::TensorProto::BOOL:
    return ScalarType::Bool;
  case 17:
    return ScalarType::F8E4M3FN;
  case 19:
    return ScalarType::F8E5M2;
  case 21:
    return ScalarType::U4;
  case 22:
    return ScalarType::I4;
  default:
    return std::nullopt;
  }
}

std::string facet::import::nameOfType(int onnxType) {
  static constexpr StringLiteral names[] = {
      "undefined",      "float",        "uint8",          "int8",
      "uint16",         "int16",        "int32",          "int64",
      "string",         "bool",         "float16",        "double",
      "uint32",         "uint64",       "complex64",      "complex128",
      "bfloat16",       "float8e4m3fn", "float8e4m3fnuz", "float8e5m2",
      "float8e5m2fnuz", "uint4",        "int4",           "float4e2m1",
      "float8e8m0"};
  if (onnxType >= 0 && onnxType < int(std::size(names)))
    return names[onnxType].str();
  return "element type " + std::to_string(onnxType);
}

std::optional<std::vector<uint8_t>>
facet::import::bytesOf(const onnx::TensorProto &tensor, ScalarType type) {
  std::optional<uint64_t> size =
      denseBytes(bitWidth(type), ArrayRef<int64_t>(tensor.dims().data(),
                                                   size_t(tensor.dims_size())));
  if (!size || tensor.data_location() == onnx::TensorProto::EXTERNAL)
    return std::nullopt;
  std::vector<uint8_t> bytes;
  auto append = [&](const auto &list, auto element) {
    for (auto value : list) {
      uint8_t packed[sizeof(element)];
      support::endian::write<decltype(element), endianness::little>(
          packed, decltype(element)(value));
      bytes.insert(bytes.end(), packed, packed + sizeof(element));
    }
  };
  if (tensor.has_raw_data())
    bytes.assign(tensor.raw_data().begin(), tensor.raw_data().end());
  else if (type == ScalarType::F32)
    append(tensor.float_data(), float());
  else if (type == ScalarType::F64)
    append(tensor.double_data(), double());
  else if (type == ScalarType::I64)
    append(tensor.int64_data(), int64_t());
  else if (bitWidth(type) == 32)
    append(tensor.int32_data(), int32_t());
  else if (bitWidth(type) == 16)
    append(tensor.int32_data(), uint16_t());
  else
    append(tensor.int32_data(), uint8_t());
  if (bytes.size() != *size)
    return std::nullopt;
  return bytes;
}

/// The `index`th element, exact but for large 64-bit integers; nothing for types that no
/// axis, shape or scale has.
static std::optional<double> numberAt(ArrayRef<uint8_t> bytes, ScalarType type,
                                      size_t index) {
  const uint8_t *at = bytes.data() + index * (bitWidth(type) / 8);
  auto bits = [&](auto element) {
    return support::endian::read<decltype(element), endianness::little>(at);
  };
  auto small = [&](const fltSemantics &semantics) {
    return APFloat(semantics, APInt(16, bits(uint16_t()))).convertToDouble();
  };
  switch (type) {
  case ScalarType::F32:
    return bit_cast<float>(bits(uint32_t()));
  case ScalarType::F64:
    return bit_cast<double>(bits(uint64_t()));
  case ScalarType::F16:
    return small(APFloat::IEEEhalf());
  case ScalarType::BF16:
    return small(APFloat::BFloat());
  case ScalarType::I64:
    return double(bits(int64_t()));
  case ScalarType::I32:
    return bits(int32_t());
  case ScalarType::I16:
    return bits(int16_t());
  case ScalarType::I8:
    return bits(int8_t());
  case ScalarType::U8:
  case ScalarType::Bool:
    return bits(uint8_t());
  default:
    return std::nullopt;
  }
}

std::optional<Numbers>
facet::import::numbersOf(const onnx::TensorProto &tensor) {
  std::optional<ScalarType> type = elementType(tensor.data_type());
  Numbers result;
  int64_t count = 1;
  for (int64_t extent : tensor.dims()) {
    result.shape.push_back(extent);
    if (extent < 0 || extent > mostNumbers || (count *= extent) > mostNumbers)
      return std::nullopt;
  }
  std::optional<std::vector<uint8_t>> bytes;
  if (type)
    bytes = bytesOf(tensor, *type);
  if (!bytes)
    return std::nullopt;
  for (int64_t i = 0; i != count; ++i) {
    std::optional<double> value = numberAt(*bytes, *type, i);
    if (!value)
      return std::nullopt;
    result.values.push_back(*value);
    bool fits = std::isfinite(*value) && std::abs(*value) < 9e18;
    result.integers.push_back(
        *type == ScalarType::I64
            ? support::endian::read64le(bytes->data() + 8 * i)
            : int64_t(fits ? *value : 0));
  }
  return result;
}
