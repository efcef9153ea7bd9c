//===- Reseal.cpp - forged files with right checksums ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checksums stop accidents, not forgers. Tests and fuzzers forge files with this,
// so that the rules behind the checksums are what is tested.
//
//===----------------------------------------------------------------------===//

#include "Reseal.h"

#include "Format.h"

#include "llvm/Support/SHA256.h"

#include <algorithm>
#include <cstring>

using namespace facet;
using format::Prefix;
using format::SectionEntry;

void test::reseal(std::vector<uint8_t> &file) {
  if (file.size() < sizeof(Prefix))
    return;
  Prefix prefix;
  std::memcpy(&prefix, file.data(), sizeof prefix);
  uint64_t count =
      std::min<uint64_t>(prefix.sectionCount,
                         (file.size() - sizeof prefix) / sizeof(SectionEntry));
  std::vector<SectionEntry> table(count);
  uint8_t *raw = file.data() + sizeof prefix;
  if (count != 0) // memcpy takes no null, not even for nothing
    std::memcpy(table.data(), raw, count * sizeof(SectionEntry));
  llvm::SHA256 hash;
  bool hashed = false;
  for (SectionEntry &e : table) {
    if (e.offset > file.size() || e.size > file.size() - e.offset)
      continue;
    llvm::MutableArrayRef<uint8_t> bytes(file.data() + e.offset, e.size);
    if (e.type == format::Hash && e.size == 32 && !hashed) {
      hashed = true;
      std::array<uint8_t, 32> id = hash.final();
      std::memcpy(bytes.data(), id.data(), 32);
    }
    if (e.type < format::Hash) {
      uint64_t head[2] = {e.type, e.size};
      hash.update(
          llvm::ArrayRef(reinterpret_cast<const uint8_t *>(head), sizeof head));
      hash.update(bytes);
    }
    e.crc = crc32c(bytes);
  }
  if (count != 0)
    std::memcpy(raw, table.data(), count * sizeof(SectionEntry));
  prefix.tableCrc = crc32c({raw, count * sizeof(SectionEntry)});
  std::memcpy(file.data(), &prefix, sizeof prefix);
  prefix.prefixCrc = crc32c({file.data(), sizeof prefix - 4});
  std::memcpy(file.data(), &prefix, sizeof prefix);
}
