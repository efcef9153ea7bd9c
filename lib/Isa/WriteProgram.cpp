//===- WriteProgram.cpp - programs to .engine bytes -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lays a program out as sections, in a fixed order, each at a multiple of 64
// bytes (constants 4096) and with its CRC-32C:
//
//   prefix · table · ARCH STR SYM SEM RING APAT AFFINE PRED Q.0.tensor ... CONST
//   HASH · LSTR LOC NOTE
//
// Nothing but the program goes in: no time, no host, no path. Tables that are
// empty have no section. The last three are optional for readers and not part of
// the build id, so stripping them keeps it.
//
//===----------------------------------------------------------------------===//

#include "Format.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/SHA256.h"

#include <cstring>

using namespace facet;
using namespace facet::format;

const char *format::sectionName(uint32_t type) {
  static const char *const names[] = {
      "?",    "ARCH", "STR",   "SYM",  "SEM",  "RING", "APAT", "AFFINE",
      "PRED", "Q",    "CONST", "HASH", "LSTR", "LOC",  "NOTE", "PARAM"};
  return type < std::size(names) ? names[type] : names[0];
}

std::string format::queueSectionName(const Queue &queue) {
  return "Q." + std::to_string(queue.core) + "." + engineName(queue.engine);
}

namespace {

/// NUL-terminated strings, each once; offset 0 is the empty one.
class StringTable {
public:
  uint32_t add(llvm::StringRef text) {
    if (text.empty())
      return 0;
    auto [at, added] = offsets.try_emplace(text, uint32_t(bytes.size()));
    if (added) {
      bytes.insert(bytes.end(), text.begin(), text.end());
      bytes.push_back(0);
    }
    return at->second;
  }
  std::vector<uint8_t> bytes{0};

private:
  llvm::StringMap<uint32_t> offsets;
};

struct Section {
  SectionEntry entry;
  std::vector<uint8_t> bytes;
};

class Writer {
public:
  explicit Writer(Program &program) : program(program) {}
  std::vector<uint8_t> write();

private:
  template <typename T>
  static std::vector<uint8_t> bytesOf(const std::vector<T> &table) {
    static_assert(std::is_trivially_copyable_v<T>);
    const auto *begin = reinterpret_cast<const uint8_t *>(table.data());
    return {begin, begin + table.size() * sizeof(T)};
  }
  void addSection(SectionType type, std::vector<uint8_t> bytes,
                  uint32_t entrySize, llvm::StringRef name = "");
  template <typename T>
  void addTable(SectionType type, const std::vector<T> &table) {
    if (!table.empty())
      addSection(type, bytesOf(table), sizeof(T));
  }
  void addMachine();
  void addSymbols();
  void addSemaphoresAndRings();
  void addHash();
  void addLocations();
  std::vector<uint8_t> layOut();

  Program &program;
  StringTable strings, debugStrings;
  std::vector<Section> sections;
  std::vector<uint8_t> constants;
};

} // namespace

void Writer::addSection(SectionType type, std::vector<uint8_t> bytes,
                        uint32_t entrySize, llvm::StringRef name) {
  Section section{};
  section.entry.type = type;
  section.entry.flags = type < DebugStrings;
  section.entry.size = bytes.size();
  section.entry.entrySize = entrySize;
  section.entry.count = uint32_t(bytes.size() / entrySize);
  section.entry.name = strings.add(name.empty() ? sectionName(type) : name);
  section.bytes = std::move(bytes);
  sections.push_back(std::move(section));
}

void Writer::addMachine() {
  std::string text = canonicalMachine(program.machine);
  MachineHash hash = machineHash(program.machine);
  std::vector<uint8_t> bytes(hash.begin(), hash.end());
  bytes.insert(bytes.end(), text.begin(), text.end());
  addSection(Arch, std::move(bytes), 1);
}

void Writer::addSymbols() {
  std::vector<SymbolRecord> records;
  for (const Buffer &b : program.buffers) {
    SymbolRecord r{};
    r.name = strings.add(b.name);
    r.space = uint8_t(b.space);
    r.dtype = uint8_t(b.dtype);
    r.kind = uint8_t(b.kind);
    r.rank = uint8_t(b.shape.size());
    r.partition = b.partition;
    r.partitions = b.partitions;
    r.address = b.address;
    r.bytes = b.bytes;
    r.liveBegin = b.liveBegin;
    r.liveEnd = b.liveEnd;
    std::copy(b.shape.begin(), b.shape.end(), r.shape);
    std::copy(b.strides.begin(), b.strides.end(), r.strides);
    if (b.kind == BufferKind::Data) {
      constants.resize(llvm::alignTo(constants.size(), sectionAlign));
      r.dataOffset = constants.size();
      constants.insert(constants.end(), b.data.begin(), b.data.end());
    }
    records.push_back(r);
  }
  addTable(Symbols, records);
}

void Writer::addSemaphoresAndRings() {
  std::vector<SemaphoreRecord> semaphores;
  for (const SemaphoreInfo &s : program.semaphores)
    semaphores.push_back({strings.add(s.name), s.initial, s.final, 0});
  addTable(Semaphores, semaphores);
  std::vector<RingRecord> rings;
  for (const RingInfo &r : program.rings)
    rings.push_back({strings.add(r.name), r.queue, r.ring, r.depth});
  addTable(Rings, rings);
}

/// The build id: SHA-256 over type, size and contents of the required sections.
void Writer::addHash() {
  // STR is complete only once the last names are in it.
  for (SectionType type : {Hash, DebugStrings, Locations, Notes})
    strings.add(sectionName(type));
  for (Section &section : sections)
    if (section.entry.type == Strings) {
      section.bytes = strings.bytes;
      section.entry.size = section.entry.count = uint32_t(strings.bytes.size());
    }
  llvm::SHA256 hash;
  for (const Section &section : sections) {
    uint64_t head[2] = {section.entry.type, section.entry.size};
    hash.update(
        llvm::ArrayRef(reinterpret_cast<const uint8_t *>(head), sizeof head));
    hash.update(section.bytes);
  }
  program.buildId = hash.final();
  addSection(Hash, {program.buildId.begin(), program.buildId.end()}, 32);
}

void Writer::addLocations() {
  std::vector<LocationRecord> records;
  for (uint32_t q = 0; q != program.queues.size(); ++q) {
    uint32_t before = 0;
    for (uint32_t pc = 0; pc != program.queues[q].locations.size(); ++pc) {
      uint32_t at = program.queues[q].locations[pc];
      if (at == before)
        continue;
      before = at;
      LocationRecord r{q, pc, 0, 0, 0, 0};
      if (at) {
        const Location &l = program.locations[at - 1];
        r = {q,      pc,       debugStrings.add(l.file),
             l.line, l.column, debugStrings.add(l.op)};
      }
      records.push_back(r);
    }
  }
  std::vector<NoteRecord> notes;
  for (const auto &[key, value] : program.notes)
    notes.push_back({debugStrings.add(key), debugStrings.add(value)});
  if (records.empty() && notes.empty())
    return;
  addSection(DebugStrings, debugStrings.bytes, 1);
  addTable(Locations, records);
  addTable(Notes, notes);
}

std::vector<uint8_t> Writer::layOut() {
  std::vector<uint8_t> file(sizeof(Prefix) +
                            sections.size() * sizeof(SectionEntry));
  for (Section &section : sections) {
    uint64_t align =
        section.entry.type == Constants ? constAlign : sectionAlign;
    file.resize(llvm::alignTo(file.size(), align));
    section.entry.offset = file.size();
    section.entry.crc = crc32c(section.bytes);
    file.insert(file.end(), section.bytes.begin(), section.bytes.end());
  }
  uint8_t *table = file.data() + sizeof(Prefix);
  for (size_t i = 0; i != sections.size(); ++i)
    std::memcpy(table + i * sizeof(SectionEntry), &sections[i].entry,
                sizeof(SectionEntry));
  Prefix prefix{};
  std::memcpy(prefix.magic, magic, sizeof magic);
  prefix.major = major;
  prefix.minor = minor;
  prefix.headerSize = sizeof(Prefix);
  prefix.fileSize = file.size();
  prefix.tableOffset = sizeof(Prefix);
  prefix.sectionCount = uint32_t(sections.size());
  prefix.sectionEntrySize = sizeof(SectionEntry);
  prefix.tableCrc = crc32c({table, sections.size() * sizeof(SectionEntry)});
  std::memcpy(file.data(), &prefix, sizeof prefix);
  prefix.prefixCrc = crc32c({file.data(), sizeof(Prefix) - 4});
  std::memcpy(file.data(), &prefix, sizeof prefix);
  return file;
}

std::vector<uint8_t> Writer::write() {
  addMachine();
  addSection(Strings, {0}, 1); // filled by addHash
  addSymbols();
  addSemaphoresAndRings();
  addTable(Accesses, program.accesses);
  addTable(Affines, program.affines);
  addTable(Predicates, program.predicates);
  for (const Queue &queue : program.queues)
    addSection(QueueCode, bytesOf(queue.code), sizeof(Instruction),
               queueSectionName(queue));
  if (!constants.empty())
    addSection(Constants, constants, 1);
  addHash();
  addLocations();
  return layOut();
}

std::vector<uint8_t> facet::writeProgram(Program &program) {
  canonicalise(program);
  return Writer(program).write();
}
