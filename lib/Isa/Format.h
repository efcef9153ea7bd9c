//===- Format.h - the records of a .engine file ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What writer and reader share; docs/Container.md describes it. All numbers are
// little-endian, all records are plain and without padding.
//
//===----------------------------------------------------------------------===//

#ifndef FACET_LIB_ISA_FORMAT_H
#define FACET_LIB_ISA_FORMAT_H

#include "facet/Isa/Container.h"

#include <type_traits>

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "records are read in place; big-endian hosts need a byte-swapping copy"
#endif

namespace facet::format {

/// A byte above 127, CR LF, ^Z, LF: any damage by a text-mode copy shows.
constexpr uint8_t magic[8] = {0x89, 'F', 'C', 'T', '\r', '\n', 0x1a, '\n'};
constexpr uint16_t major = 1, minor = 0;
constexpr uint64_t sectionAlign = 64, constAlign = 4096;

struct Prefix {
  uint8_t magic[8];
  uint16_t major, minor;
  uint32_t headerSize; // of this prefix
  uint64_t fileSize;
  uint64_t tableOffset;
  uint32_t sectionCount, sectionEntrySize;
  uint64_t incompatible, compatible; // feature bits; none yet
  uint32_t tableCrc;
  uint32_t prefixCrc; // of the 60 bytes before
};
static_assert(sizeof(Prefix) == 64);

struct SectionEntry {
  uint32_t type;
  uint32_t flags; // bit 0: required
  uint64_t offset, size;
  uint32_t count, entrySize;
  uint32_t name; // in STR
  uint32_t crc;
};
static_assert(sizeof(SectionEntry) == 40);

enum SectionType : uint32_t {
  Arch = 1,     ///< 32-byte hash, then the machine's canonical text
  Strings,      ///< NUL-terminated UTF-8, offset 0 is the empty string
  Symbols,      ///< SymbolRecord
  Semaphores,   ///< SemaphoreRecord
  Rings,        ///< RingRecord
  Accesses,     ///< Access
  Affines,      ///< AffineForm
  Predicates,   ///< Predicate
  QueueCode,    ///< Instruction; the name says which queue
  Constants,    ///< contents of data buffers
  Hash,         ///< SHA-256 of the required sections before it
  DebugStrings, ///< as Strings, for the two below
  Locations,    ///< LocationRecord
  Notes,        ///< NoteRecord
  Parameters,   ///< reserved: values known at run time
};

struct SymbolRecord {
  uint32_t name;
  uint8_t space, dtype, kind, rank;
  uint16_t partition, partitions;
  uint32_t reserved;
  uint64_t address, bytes, dataOffset;
  uint32_t liveBegin, liveEnd;
  int64_t shape[8], strides[8];
};
static_assert(sizeof(SymbolRecord) == 176);

struct SemaphoreRecord {
  uint32_t name;
  int32_t initial, final;
  uint32_t reserved;
};
static_assert(sizeof(SemaphoreRecord) == 16);

struct RingRecord {
  uint32_t name;
  uint32_t queue, ring, depth;
};
static_assert(sizeof(RingRecord) == 16);

/// Holds from instruction `pc` of `queue` to the next record; all 0 but the first
/// two: no location.
struct LocationRecord {
  uint32_t queue, pc, file, line, column, op;
};
static_assert(sizeof(LocationRecord) == 24);

struct NoteRecord {
  uint32_t key, value;
};
static_assert(sizeof(NoteRecord) == 8);

/// Puts tables into the order of first use and folds constant parts of addresses
/// into the accesses, so that one program has one form (Canonical.cpp).
void canonicalise(Program &program);

/// The name of a section of this type: "ARCH"; "Q.0.tensor" for a queue.
const char *sectionName(uint32_t type);
std::string queueSectionName(const Queue &queue);

} // namespace facet::format

#endif // FACET_LIB_ISA_FORMAT_H
