//===- HostileFileTest.cpp - files that are not what they say -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "RandomProgram.h"
#include "Reseal.h"

#include "Format.h"

#include "facet/Isa/Assembler.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

#include <cstring>

using namespace facet;
using namespace facet::test;
using format::Prefix;
using format::SectionEntry;

static std::vector<uint8_t> smallFile() {
  Program program = randomProgram(shippedMachine("trn2"), 11, 2);
  return writeProgram(program);
}

static std::string textOf(const Program &program) {
  std::string text;
  llvm::raw_string_ostream os(text);
  disassemble(program, os);
  return text;
}

TEST(HostileFile, every_single_bit_flip_is_rejected) {
  std::vector<uint8_t> file = smallFile();
  for (size_t bit = 0; bit != file.size() * 8; ++bit) {
    file[bit / 8] ^= uint8_t(1u << bit % 8);
    Diagnostics diags;
    EXPECT_FALSE(readProgram(file, "flipped", diags)) << "byte " << bit / 8;
    EXPECT_TRUE(diags.hasErrors());
    file[bit / 8] ^= uint8_t(1u << bit % 8);
  }
}

TEST(HostileFile,
     flips_with_right_checksums_are_rejected_or_mean_something_else) {
  const std::vector<uint8_t> file = smallFile();
  Diagnostics none;
  std::string text = textOf(*readProgram(file, "whole", none));
  unsigned accepted = 0;
  for (size_t byte = 0; byte != file.size(); ++byte) {
    std::vector<uint8_t> flipped = file;
    flipped[byte] ^= uint8_t(1u << byte % 8);
    reseal(flipped);
    if (flipped == file)
      continue; // the flip was in a checksum
    Diagnostics diags;
    std::optional<Program> program = readProgram(flipped, "flipped", diags);
    EXPECT_NE(bool(program), diags.hasErrors());
    if (program) {
      ++accepted;
      EXPECT_NE(textOf(*program), text) << "byte " << byte;
    }
  }
  EXPECT_GT(accepted, 0u); // immediates, strings, ...: the resealing works
}

TEST(HostileFile, every_cut_is_rejected) {
  const std::vector<uint8_t> file = smallFile();
  for (size_t n = 0; n < file.size(); ++n) {
    std::vector<uint8_t> cut(file.begin(), file.begin() + ptrdiff_t(n));
    Diagnostics diags;
    EXPECT_FALSE(readProgram(cut, "cut", diags)) << n;
  }
}

namespace {

/// One field of prefix or table set to a value, resealed, and what is said.
struct Lie {
  const char *about;
  std::function<void(Prefix &, std::vector<SectionEntry> &)> tell;
  const char *message;
};

} // namespace

static SectionEntry &section(std::vector<SectionEntry> &table, uint32_t type) {
  for (SectionEntry &e : table)
    if (e.type == type)
      return e;
  std::abort();
}

/// Turns a section into one of an optional kind that nobody knows.
static void hide(SectionEntry &e) {
  e.type = 1000;
  e.flags = 0;
}

TEST(HostileFile, each_lie_is_named) {
  const Lie lies[] = {
      {"version", [](Prefix &p, auto &) { p.major = 2; },
       "is of format version 2.0, this tool reads 1.x"},
      {"features", [](Prefix &p, auto &) { p.incompatible = 4; },
       "uses features this tool does not know"},
      {"header", [](Prefix &p, auto &) { p.headerSize = 128; },
       "the prefix is not laid out as version 1 says"},
      {"size", [](Prefix &p, auto &) { p.fileSize += 64; },
       "cut off or extended"},
      {"sections", [](Prefix &p, auto &) { p.sectionCount = 0x40000000; },
       "the section table does not fit the file"},
      {"offset",
       [](Prefix &, auto &t) {
         section(t, format::Symbols).offset = ~0ull - 63;
       },
       "overlaps another or leaves the file"},
      {"alignment",
       [](Prefix &, auto &t) { section(t, format::Symbols).offset += 8; },
       "is not aligned"},
      {"overlap",
       [](Prefix &, auto &t) {
         section(t, format::Symbols).offset = section(t, format::Arch).offset;
       },
       "overlaps another or leaves the file"},
      {"long",
       [](Prefix &, auto &t) { section(t, format::Notes).size = ~0ull; },
       "overlaps another or leaves the file"},
      {"count",
       [](Prefix &, auto &t) { section(t, format::Symbols).count = 1; },
       "has a size that is not its count of entries"},
      {"no entries",
       [](Prefix &, auto &t) { section(t, format::Symbols).entrySize = 0; },
       "has a size that is not its count of entries"},
      {"entry size",
       [](Prefix &, auto &t) {
         SectionEntry &e = section(t, format::Symbols);
         e.entrySize = 1;
         e.count = uint32_t(e.size);
       },
       "SYM has entries of 1 bytes, wanted 176"},
      {"unknown and required",
       [](Prefix &, auto &t) { section(t, format::Constants).type = 99; },
       "is required and not known to this tool"},
      {"reserved",
       [](Prefix &, auto &t) {
         section(t, format::Notes).type = format::Parameters;
       },
       "is reserved for a later version"},
      {"optional",
       [](Prefix &, auto &t) { section(t, format::Symbols).flags = 0; },
       "is marked optional"},
      {"flags",
       [](Prefix &, auto &t) { section(t, format::Symbols).flags = 3; },
       "has flags this tool does not know"},
      {"twice",
       [](Prefix &, auto &t) {
         section(t, format::Notes).type = format::Locations;
       },
       "is there twice"},
      {"no strings",
       [](Prefix &, auto &t) { hide(section(t, format::Strings)); },
       "has no STR section"},
      {"no machine", [](Prefix &, auto &t) { hide(section(t, format::Arch)); },
       "has no ARCH section"},
      {"name",
       [](Prefix &, auto &t) { section(t, format::Symbols).name = 0x7fffffff; },
       "a string lies outside its table"},
      {"queue",
       [](Prefix &, auto &t) {
         section(t, format::QueueCode).name = section(t, format::Symbols).name;
       },
       "section 'SYM' is not the queue of an engine of core 0"},
  };
  const std::vector<uint8_t> file = smallFile();
  for (const Lie &lie : lies) {
    std::vector<uint8_t> told = file;
    Prefix prefix;
    std::memcpy(&prefix, told.data(), sizeof prefix);
    std::vector<SectionEntry> table(prefix.sectionCount);
    std::memcpy(table.data(), told.data() + sizeof prefix,
                table.size() * sizeof(SectionEntry));
    lie.tell(prefix, table);
    std::memcpy(told.data(), &prefix, sizeof prefix);
    std::memcpy(told.data() + sizeof prefix, table.data(),
                table.size() * sizeof(SectionEntry));
    reseal(told);
    Diagnostics diags;
    EXPECT_FALSE(readProgram(told, "lie", diags)) << lie.about;
    EXPECT_NE(messages(diags).find(lie.message), std::string::npos)
        << lie.about << ": " << messages(diags);
  }
}

TEST(HostileFile, checksums_and_magic_are_named) {
  std::vector<uint8_t> file = smallFile();
  auto said = [&](size_t byte) {
    std::vector<uint8_t> damaged = file;
    damaged[byte] ^= 1;
    Diagnostics diags;
    EXPECT_FALSE(readProgram(damaged, "f", diags));
    return messages(diags);
  };
  EXPECT_NE(said(0).find("not a program file (no magic number)"),
            std::string::npos);
  EXPECT_NE(said(20).find("damaged: the checksum of the prefix is wrong"),
            std::string::npos);
  EXPECT_NE(
      said(70).find("damaged: the checksum of the section table is wrong"),
      std::string::npos);
  EXPECT_NE(said(file.size() - 1).find("is damaged: its checksum is wrong"),
            std::string::npos);
}

TEST(HostileFile, padding_is_part_of_the_file) {
  std::vector<uint8_t> file = smallFile();
  // The byte after the machine's text, before STR.
  std::vector<SectionInfo> sections = listSections(file);
  size_t gap = sections[0].offset + sections[0].size;
  ASSERT_LT(gap, sections[1].offset);
  file[gap] = 1;
  Diagnostics diags;
  EXPECT_FALSE(readProgram(file, "f", diags));
  EXPECT_NE(messages(diags).find("not in canonical form: byte " +
                                 std::to_string(gap)),
            std::string::npos)
      << messages(diags);
}

TEST(HostileFile, an_unknown_optional_section_is_skipped) {
  std::vector<uint8_t> file = smallFile();
  Diagnostics diags;
  std::optional<Program> whole = readProgram(file, "f", diags);
  ASSERT_TRUE(whole && !whole->notes.empty());
  Prefix prefix;
  std::memcpy(&prefix, file.data(), sizeof prefix);
  for (uint32_t i = 0; i != prefix.sectionCount; ++i) {
    uint8_t *at = file.data() + sizeof prefix + i * sizeof(SectionEntry);
    SectionEntry entry;
    std::memcpy(&entry, at, sizeof entry);
    if (entry.type == format::Notes)
      hide(entry);
    std::memcpy(at, &entry, sizeof entry);
  }
  reseal(file);
  std::optional<Program> program = readProgram(file, "f", diags);
  ASSERT_TRUE(program) << messages(diags);
  EXPECT_TRUE(program->notes.empty());
  EXPECT_EQ(program->buildId, whole->buildId);
}

/// Damages the bytes of one section, reseals, and returns what is said.
static std::string
saidOfBytes(uint32_t type,
            const std::function<void(llvm::MutableArrayRef<uint8_t>)> &damage) {
  std::vector<uint8_t> file = smallFile();
  Prefix prefix;
  std::memcpy(&prefix, file.data(), sizeof prefix);
  std::vector<SectionEntry> table(prefix.sectionCount);
  std::memcpy(table.data(), file.data() + sizeof prefix,
              table.size() * sizeof(SectionEntry));
  SectionEntry &entry = section(table, type);
  damage({file.data() + entry.offset, entry.size});
  reseal(file);
  Diagnostics diags;
  EXPECT_FALSE(readProgram(file, "f", diags));
  return messages(diags);
}

TEST(HostileFile, each_bad_record_is_named) {
  using Bytes = llvm::MutableArrayRef<uint8_t>;
  auto says = [](const std::string &text, const char *wanted) {
    EXPECT_NE(text.find(wanted), std::string::npos) << text << wanted;
  };
  says(saidOfBytes(format::Strings, [](Bytes b) { b.back() = 'x'; }),
       "STR is not a table of UTF-8 strings");
  says(saidOfBytes(format::Strings, [](Bytes b) { b[1] = 0xff; }),
       "STR is not a table of UTF-8 strings");
  says(saidOfBytes(format::DebugStrings, [](Bytes b) { b[0] = 'x'; }),
       "LSTR is not a table of UTF-8 strings");
  says(saidOfBytes(format::Arch, [](Bytes b) { b[0] ^= 1; }),
       "ARCH: the machine's hash is not that of its parameters");
  says(saidOfBytes(format::Arch, [](Bytes b) { b[32] = 'N'; }),
       "ARCH: the machine has no usable name");
  says(saidOfBytes(format::Arch, [](Bytes b) { b[32 + 15] = 'E'; }),
       "ARCH: the machine's kind is neither cpu nor engine");
  says(saidOfBytes(format::Arch, [](Bytes b) { b[b.size() - 1] = ' '; }),
       "ARCH: the machine's 'energy.static_watt' is missing or not a value it "
       "can have");
  // Record members by their offset in docs/Container.md.
  says(saidOfBytes(format::Symbols, [](Bytes b) { b[4] = 9; }), "is not one");
  says(saidOfBytes(format::Symbols, [](Bytes b) { b[0] = 2; }),
       "a string lies outside its table");
  says(saidOfBytes(format::Symbols, [](Bytes b) { b[4 * 176 + 39] = 0x7f; }),
       "has its data outside CONST");
  says(saidOfBytes(format::Locations, [](Bytes b) { b[4] = 0xff; }),
       "LOC names instruction 255 of queue");
}

TEST(HostileFile, the_build_id_is_checked) {
  // Resealing would make it right; so only the checksums are.
  std::vector<uint8_t> file = smallFile();
  Prefix prefix;
  std::memcpy(&prefix, file.data(), sizeof prefix);
  for (uint32_t i = 0; i != prefix.sectionCount; ++i) {
    uint8_t *at = file.data() + sizeof prefix + i * sizeof(SectionEntry);
    SectionEntry entry;
    std::memcpy(&entry, at, sizeof entry);
    if (entry.type == format::Hash) {
      file[entry.offset] ^= 1;
      entry.crc = crc32c({file.data() + entry.offset, size_t(entry.size)});
    }
    std::memcpy(at, &entry, sizeof entry);
  }
  prefix.tableCrc = crc32c({file.data() + sizeof prefix,
                            prefix.sectionCount * sizeof(SectionEntry)});
  std::memcpy(file.data(), &prefix, sizeof prefix);
  prefix.prefixCrc = crc32c({file.data(), sizeof prefix - 4});
  std::memcpy(file.data(), &prefix, sizeof prefix);
  Diagnostics diags;
  EXPECT_FALSE(readProgram(file, "f", diags));
  EXPECT_EQ(messages(diags),
            "f:0:0: the build id is not that of the required sections\n");
}
