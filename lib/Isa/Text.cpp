//===- Text.cpp - spelling of strings, floats and dense steps -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The small spellings on which assembler and disassembler must agree to the bit:
//
//   0x3dcccccd -> 0.1      0x80000000 -> -0.0      0x7fc00001 -> bits(0x7fc00001)
//
//===----------------------------------------------------------------------===//

#include "Text.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <cstdio>
#include <cstring>

using namespace facet;

std::string text::quote(llvm::StringRef raw) {
  std::string out = "\"";
  for (unsigned char c : raw) {
    if (c == '"' || c == '\\')
      (out += '\\') += char(c);
    else if (c == '\n')
      out += "\\n";
    else if (c < 0x20 || c == 0x7f)
      ((out += "\\x") += llvm::hexdigit(c >> 4, true)) +=
          llvm::hexdigit(c & 15, true);
    else
      out += char(c);
  }
  return out + '"';
}

static float floatOf(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

std::string text::printFloat(uint32_t bits) {
  if ((bits & 0x7f800000u) == 0x7f800000u) {
    if (bits == 0x7f800000u)
      return "inf";
    if (bits == 0xff800000u)
      return "-inf";
    if (bits == 0x7fc00000u)
      return "nan";
    return "bits(0x" + llvm::utohexstr(bits, /*LowerCase=*/true) + ")";
  }
  char spelled[32];
  for (int digits = 1; digits <= 9; ++digits) {
    std::snprintf(spelled, sizeof spelled, "%.*g", digits,
                  double(floatOf(bits)));
    if (parseFloat(spelled) == bits)
      break;
  }
  std::string out = spelled;
  if (out.find_first_of(".e") == std::string::npos)
    out += ".0";
  return out;
}

std::optional<uint32_t> text::parseFloat(llvm::StringRef spelled) {
  if (spelled == "inf")
    return 0x7f800000u;
  if (spelled == "-inf")
    return 0xff800000u;
  if (spelled == "nan")
    return 0x7fc00000u;
  if (spelled.consume_front("bits(")) {
    uint32_t bits;
    if (!spelled.consume_back(")") || !spelled.starts_with("0x") ||
        spelled.getAsInteger(0, bits))
      return std::nullopt;
    return bits;
  }
  // digits [. digits] [e [sign] digits]
  llvm::StringRef rest = spelled;
  (void)rest.consume_front("-");
  auto digits = [&] {
    size_t n = rest.find_first_not_of("0123456789");
    n = std::min(n, rest.size());
    rest = rest.drop_front(n);
    return n != 0;
  };
  if (spelled.size() > 64 || !digits())
    return std::nullopt;
  if (rest.consume_front(".") && !digits())
    return std::nullopt;
  if (rest.consume_front("e") || rest.consume_front("E")) {
    if (!rest.consume_front("-"))
      (void)rest.consume_front("+");
    if (rest.size() > 4 || !digits())
      return std::nullopt;
  }
  if (!rest.empty())
    return std::nullopt;
  llvm::APFloat value(llvm::APFloat::IEEEsingle());
  auto status =
      value.convertFromString(spelled, llvm::APFloat::rmNearestTiesToEven);
  if (!status) {
    llvm::consumeError(status.takeError());
    return std::nullopt;
  }
  return uint32_t(value.bitcastToAPInt().getZExtValue());
}

int64_t text::denseStep(const Access &access, unsigned dimension) {
  if (access.count[dimension] == 1)
    return 0;
  int64_t step = 1;
  for (unsigned d = dimension + 1; d < access.rank; ++d)
    step *= access.count[d];
  return step;
}

int64_t text::denseRowStep(const Access &access) {
  if (access.space == Space::Sbuf || access.space == Space::Psum ||
      access.partitions == 1)
    return 0;
  return int64_t(access.elements());
}

std::vector<int64_t> text::denseStrides(llvm::ArrayRef<int64_t> shape) {
  std::vector<int64_t> strides(shape.size());
  int64_t next = 1;
  for (size_t d = shape.size(); d-- > 0;) {
    strides[d] = next;
    if (__builtin_mul_overflow(next, shape[d], &next))
      next = 0;
  }
  return strides;
}
