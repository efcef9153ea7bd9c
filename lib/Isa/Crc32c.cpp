//===- Crc32c.cpp - the checksum of sections ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// CRC-32C (Castagnoli, reflected polynomial 0x82f63b78), eight bytes a step from
// eight tables. It finds every single-bit error and every burst of up to 32 bits;
// LLVM's crc32 is the other polynomial.
//
//===----------------------------------------------------------------------===//

#include "facet/Isa/Container.h"

#include <cstring>

using namespace facet;

namespace {
struct Tables {
  uint32_t t[8][256];
  Tables() {
    for (uint32_t i = 0; i != 256; ++i) {
      uint32_t c = i;
      for (int bit = 0; bit != 8; ++bit)
        c = (c >> 1) ^ (c & 1 ? 0x82f63b78u : 0);
      t[0][i] = c;
    }
    for (uint32_t i = 0; i != 256; ++i)
      for (int n = 1; n != 8; ++n)
        t[n][i] = (t[n - 1][i] >> 8) ^ t[0][t[n - 1][i] & 0xff];
  }
};
} // namespace

uint32_t facet::crc32c(llvm::ArrayRef<uint8_t> bytes, uint32_t crc) {
  static const Tables tables;
  const auto &t = tables.t;
  crc = ~crc;
  const uint8_t *p = bytes.data();
  size_t n = bytes.size();
  for (; n >= 8; n -= 8, p += 8) {
    uint32_t low, high;
    std::memcpy(&low, p, 4);
    std::memcpy(&high, p + 4, 4);
    low ^= crc;
    crc = t[7][low & 0xff] ^ t[6][low >> 8 & 0xff] ^ t[5][low >> 16 & 0xff] ^
          t[4][low >> 24] ^ t[3][high & 0xff] ^ t[2][high >> 8 & 0xff] ^
          t[1][high >> 16 & 0xff] ^ t[0][high >> 24];
  }
  for (; n; --n)
    crc = (crc >> 8) ^ t[0][(crc ^ *p++) & 0xff];
  return ~crc;
}
