//===- ReadProgram.cpp - .engine bytes to programs, trusting nothing ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads a file that may be anything. In order, each step before the next relies
// on it: prefix and its checksum; section table and its checksum; place, size and
// checksum of each section; records; the rules of checkProgram; and at last that
// writing the program again gives these very bytes:
//
//   one bit of padding set  ->  error: byte 1237 is not what a writer puts there
//
// So there is one file per program, and no byte of it is without meaning.
//
//===----------------------------------------------------------------------===//

#include "Format.h"

#include "facet/Isa/Check.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/SHA256.h"

#include <cstring>
#include <map>
#include <tuple>

using namespace facet;
using namespace facet::format;
using llvm::ArrayRef;
using llvm::StringRef;
using llvm::Twine;

namespace {

class Reader {
public:
  Reader(ArrayRef<uint8_t> file, StringRef name, Diagnostics &diags)
      : file(file), name(name), diags(diags) {}
  std::optional<Program> read();

  bool readPrefix();
  bool readTable();
  std::vector<SectionEntry> table;
  bool nameOf(const SectionEntry &entry, StringRef &text);

private:
  bool fail(const Twine &message) {
    diags.error({name.str()}, message);
    return false;
  }
  ArrayRef<uint8_t> bytesOf(const SectionEntry &e) const {
    return file.slice(e.offset, e.size);
  }
  const SectionEntry *find(uint32_t type) const {
    for (const SectionEntry &e : table)
      if (e.type == type)
        return &e;
    return nullptr;
  }
  template <typename T>
  bool readRecords(SectionType type, std::vector<T> &records);
  bool readStrings(SectionType type, StringRef &strings);
  bool string(StringRef strings, uint32_t offset, std::string &text);
  bool readMachine();
  bool readSymbols();
  bool readSemaphoresAndRings();
  bool readQueues();
  bool readLocations();
  bool readNotes();
  bool readBuildId(std::array<uint8_t, 32> &buildId);

  ArrayRef<uint8_t> file;
  StringRef name;
  Diagnostics &diags;
  Prefix prefix;
  StringRef strings, debugStrings;
  Program program;
  bool unknownSections = false;
};

} // namespace

bool facet::isProgramFile(ArrayRef<uint8_t> bytes) {
  return bytes.size() >= sizeof magic &&
         std::memcmp(bytes.data(), magic, sizeof magic) == 0;
}

//===----------------------------------------------------------------------===//
// Prefix and table
//===----------------------------------------------------------------------===//

bool Reader::readPrefix() {
  if (!isProgramFile(file))
    return fail("not a program file (no magic number)");
  if (file.size() < sizeof(Prefix))
    return fail("cut off: " + Twine(file.size()) +
                " bytes, the prefix alone has " + Twine(sizeof(Prefix)));
  std::memcpy(&prefix, file.data(), sizeof prefix);
  if (crc32c(file.take_front(sizeof(Prefix) - 4)) != prefix.prefixCrc)
    return fail("damaged: the checksum of the prefix is wrong");
  if (prefix.major != major)
    return fail("is of format version " + Twine(prefix.major) + "." +
                Twine(prefix.minor) + ", this tool reads " + Twine(major) +
                ".x");
  if (prefix.incompatible)
    return fail("uses features this tool does not know");
  if (prefix.headerSize != sizeof(Prefix) ||
      prefix.sectionEntrySize != sizeof(SectionEntry) ||
      prefix.tableOffset != sizeof(Prefix))
    return fail("the prefix is not laid out as version 1 says");
  if (prefix.fileSize != file.size())
    return fail("cut off or extended: " + Twine(file.size()) +
                " bytes, written were " + Twine(prefix.fileSize));
  return true;
}

bool Reader::readTable() {
  uint64_t bytes = uint64_t(prefix.sectionCount) * sizeof(SectionEntry);
  if (prefix.sectionCount > 4096 || bytes > file.size() - sizeof(Prefix))
    return fail("the section table does not fit the file");
  ArrayRef<uint8_t> raw = file.slice(sizeof(Prefix), bytes);
  if (crc32c(raw) != prefix.tableCrc)
    return fail("damaged: the checksum of the section table is wrong");
  table.resize(prefix.sectionCount);
  if (bytes)
    std::memcpy(table.data(), raw.data(), bytes);
  uint64_t end = sizeof(Prefix) + bytes;
  for (size_t i = 0; i != table.size(); ++i) {
    const SectionEntry &e = table[i];
    auto bad = [&](const Twine &what) {
      return fail("section " + Twine(i) + " (" + sectionName(e.type) + ") " +
                  what);
    };
    if (e.offset % (e.type == Constants ? constAlign : sectionAlign))
      return bad("is not aligned");
    if (e.offset < end || e.offset > file.size() ||
        e.size > file.size() - e.offset)
      return bad("overlaps another or leaves the file");
    end = e.offset + e.size;
    if (!e.entrySize || e.size != uint64_t(e.count) * e.entrySize)
      return bad("has a size that is not its count of entries");
    if (e.flags > 1)
      return bad("has flags this tool does not know");
    bool known = e.type >= Arch && e.type <= Notes;
    if (e.type == Parameters)
      return bad("is reserved for a later version");
    if (!known && (e.flags & 1))
      return bad("is required and not known to this tool");
    if (known && bool(e.flags & 1) != (e.type < DebugStrings))
      return bad("is marked " + Twine(e.flags & 1 ? "required" : "optional"));
    unknownSections |= !known;
    if (crc32c(bytesOf(e)) != e.crc)
      return bad("is damaged: its checksum is wrong");
    for (size_t j = 0; j != i; ++j)
      if (table[j].type == e.type && e.type != QueueCode && known)
        return bad("is there twice");
  }
  return readStrings(Strings, strings);
}

bool Reader::nameOf(const SectionEntry &entry, StringRef &text) {
  std::string copy;
  if (!string(strings, entry.name, copy))
    return false;
  text = StringRef(strings.data() + entry.name);
  return true;
}

//===----------------------------------------------------------------------===//
// Sections
//===----------------------------------------------------------------------===//

template <typename T>
bool Reader::readRecords(SectionType type, std::vector<T> &records) {
  static_assert(std::is_trivially_copyable_v<T>);
  const SectionEntry *e = find(type);
  if (!e)
    return true;
  if (e->entrySize != sizeof(T))
    return fail(Twine(sectionName(type)) + " has entries of " +
                Twine(e->entrySize) + " bytes, wanted " + Twine(sizeof(T)));
  records.resize(e->count);
  if (e->size)
    std::memcpy(static_cast<void *>(records.data()), bytesOf(*e).data(),
                e->size);
  return true;
}

bool Reader::readStrings(SectionType type, StringRef &text) {
  const SectionEntry *e = find(type);
  if (!e) {
    text = StringRef("", 1);
    return type == DebugStrings || fail("has no STR section");
  }
  text = llvm::toStringRef(bytesOf(*e));
  const auto *begin = reinterpret_cast<const llvm::UTF8 *>(text.begin());
  if (text.empty() || text.front() != '\0' || text.back() != '\0' ||
      e->entrySize != 1 ||
      !llvm::isLegalUTF8String(&begin, begin + text.size()))
    return fail(Twine(sectionName(type)) + " is not a table of UTF-8 strings");
  return true;
}

bool Reader::string(StringRef table, uint32_t offset, std::string &text) {
  if (offset >= table.size() || (offset && table[offset - 1] != '\0'))
    return fail("a string lies outside its table");
  text = table.data() + offset; // the table ends with NUL
  return true;
}

bool Reader::readMachine() {
  const SectionEntry *e = find(Arch);
  if (!e || e->size < 32)
    return fail("has no ARCH section");
  ArrayRef<uint8_t> bytes = bytesOf(*e);
  std::string error;
  std::optional<Machine> machine =
      parseCanonicalMachine(llvm::toStringRef(bytes.drop_front(32)), error);
  if (!machine)
    return fail("ARCH: " + error);
  if (ArrayRef<uint8_t>(machineHash(*machine)) != bytes.take_front(32))
    return fail("ARCH: the machine's hash is not that of its parameters");
  program.machine = std::move(*machine);
  return true;
}

bool Reader::readSymbols() {
  std::vector<SymbolRecord> records;
  if (!readRecords(Symbols, records))
    return false;
  const SectionEntry *data = find(Constants);
  for (const SymbolRecord &r : records) {
    Buffer b;
    if (!string(strings, r.name, b.name))
      return false;
    if (r.space > uint8_t(Space::Index) || r.dtype >= numDTypes ||
        r.kind > uint8_t(BufferKind::Scratch) || r.rank > 8 || r.reserved)
      return fail("buffer '" + b.name + "' is not one");
    b.space = Space(r.space);
    b.dtype = DType(r.dtype);
    b.kind = BufferKind(r.kind);
    b.partition = r.partition;
    b.partitions = r.partitions;
    b.address = r.address;
    b.bytes = r.bytes;
    b.liveBegin = r.liveBegin;
    b.liveEnd = r.liveEnd;
    b.shape.assign(r.shape, r.shape + r.rank);
    b.strides.assign(r.strides, r.strides + r.rank);
    if (b.kind == BufferKind::Data) {
      if (!data || r.dataOffset > data->size ||
          b.bytes > data->size - r.dataOffset)
        return fail("buffer '" + b.name + "' has its data outside CONST");
      ArrayRef<uint8_t> bytes = bytesOf(*data).slice(r.dataOffset, b.bytes);
      b.data.assign(bytes.begin(), bytes.end());
    }
    program.buffers.push_back(std::move(b));
  }
  return true;
}

bool Reader::readSemaphoresAndRings() {
  std::vector<SemaphoreRecord> semaphores;
  std::vector<RingRecord> rings;
  if (!readRecords(Semaphores, semaphores) || !readRecords(Rings, rings))
    return false;
  for (const SemaphoreRecord &r : semaphores) {
    SemaphoreInfo s{"", r.initial, r.final};
    if (!string(strings, r.name, s.name))
      return false;
    program.semaphores.push_back(std::move(s));
  }
  for (const RingRecord &r : rings) {
    RingInfo info{r.queue, r.ring, r.depth, ""};
    if (!string(strings, r.name, info.name))
      return false;
    program.rings.push_back(std::move(info));
  }
  return true;
}

bool Reader::readQueues() {
  for (const SectionEntry &e : table) {
    StringRef text;
    if (!nameOf(e, text))
      return false;
    if (e.type != QueueCode)
      continue;
    Queue queue;
    bool found = false;
    for (unsigned engine = 0; engine != numEngines && !found; ++engine) {
      queue.engine = Engine(engine);
      found = text == queueSectionName(queue);
    }
    if (!found)
      return fail("section '" + text +
                  "' is not the queue of an engine of core 0");
    if (e.entrySize != sizeof(Instruction))
      return fail(text + " has entries of " + Twine(e.entrySize) +
                  " bytes, wanted " + Twine(sizeof(Instruction)));
    queue.code.resize(e.count);
    if (e.size)
      std::memcpy(static_cast<void *>(queue.code.data()), bytesOf(e).data(),
                  e.size);
    queue.locations.resize(e.count);
    program.queues.push_back(std::move(queue));
  }
  return true;
}

bool Reader::readLocations() {
  std::vector<LocationRecord> records;
  if (!readStrings(DebugStrings, debugStrings) ||
      !readRecords(Locations, records))
    return false;
  std::map<std::tuple<uint32_t, uint32_t, uint32_t, uint32_t>, uint32_t>
      numbers;
  for (size_t i = 0; i != records.size(); ++i) {
    const LocationRecord &r = records[i];
    if (r.queue >= program.queues.size() ||
        r.pc >= program.queues[r.queue].code.size())
      return fail("LOC names instruction " + Twine(r.pc) + " of queue " +
                  Twine(r.queue) + ", which does not exist");
    if (i && std::tie(records[i - 1].queue, records[i - 1].pc) >=
                 std::tie(r.queue, r.pc))
      return fail("LOC is not in order");
    uint32_t number = 0;
    if (r.file || r.line || r.column || r.op) {
      auto [at, added] = numbers.try_emplace({r.file, r.line, r.column, r.op},
                                             program.locations.size() + 1);
      if (added) {
        Location l{"", r.line, r.column, ""};
        if (!string(debugStrings, r.file, l.file) ||
            !string(debugStrings, r.op, l.op))
          return false;
        program.locations.push_back(std::move(l));
      }
      number = at->second;
    }
    std::vector<uint32_t> &locations = program.queues[r.queue].locations;
    size_t end = i + 1 != records.size() && records[i + 1].queue == r.queue
                     ? std::min<size_t>(records[i + 1].pc, locations.size())
                     : locations.size();
    for (size_t pc = r.pc; pc < end; ++pc)
      locations[pc] = number;
  }
  return true;
}

bool Reader::readNotes() {
  std::vector<NoteRecord> records;
  if (!readRecords(Notes, records))
    return false;
  for (const NoteRecord &r : records) {
    std::pair<std::string, std::string> note;
    if (!string(debugStrings, r.key, note.first) ||
        !string(debugStrings, r.value, note.second))
      return false;
    program.notes.push_back(std::move(note));
  }
  return true;
}

/// The build id, which is that of the required sections as they stand.
bool Reader::readBuildId(std::array<uint8_t, 32> &buildId) {
  const SectionEntry *stored = find(Hash);
  if (!stored || stored->size != buildId.size())
    return fail("has no HASH section");
  std::copy_n(bytesOf(*stored).begin(), buildId.size(), buildId.begin());
  llvm::SHA256 hash;
  for (const SectionEntry &e : table)
    if (e.type < Hash) {
      uint64_t head[2] = {e.type, e.size};
      hash.update(
          ArrayRef(reinterpret_cast<const uint8_t *>(head), sizeof head));
      hash.update(bytesOf(e));
    }
  if (hash.final() != buildId)
    return fail("the build id is not that of the required sections");
  return true;
}

std::optional<Program> Reader::read() {
  if (!readPrefix() || !readTable() || !readMachine() || !readSymbols() ||
      !readSemaphoresAndRings() || !readRecords(Accesses, program.accesses) ||
      !readRecords(Affines, program.affines) ||
      !readRecords(Predicates, program.predicates) || !readQueues() ||
      !readLocations() || !readNotes())
    return std::nullopt;
  std::array<uint8_t, 32> buildId;
  if (!readBuildId(buildId) || !checkProgram(program, diags, name))
    return std::nullopt;

  std::vector<uint8_t> again = writeProgram(program);
  bool canonical = unknownSections ? program.buildId == buildId
                                   : ArrayRef<uint8_t>(again) == file;
  if (!canonical) {
    size_t at = 0;
    while (at < again.size() && at < file.size() && again[at] == file[at])
      ++at;
    fail("not in canonical form: byte " + Twine(at) +
         " is not what a writer puts there");
    return std::nullopt;
  }
  return std::move(program);
}

std::optional<Program> facet::readProgram(ArrayRef<uint8_t> bytes,
                                          StringRef file, Diagnostics &diags) {
  return Reader(bytes, file, diags).read();
}

std::vector<SectionInfo> facet::listSections(ArrayRef<uint8_t> bytes) {
  Diagnostics ignored;
  Reader reader(bytes, "", ignored);
  std::vector<SectionInfo> infos;
  if (!reader.readPrefix() || !reader.readTable())
    return infos;
  for (const SectionEntry &e : reader.table) {
    StringRef text;
    if (!reader.nameOf(e, text))
      text = "?";
    infos.push_back({text.str(), bool(e.flags & 1), e.offset, e.size, e.count,
                     e.entrySize, e.crc});
  }
  return infos;
}
