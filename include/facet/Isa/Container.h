//===- Container.h - programs as .engine files ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A `.engine` file is a prefix that never changes, a table of sections, and the
// sections (docs/Container.md). Writing is canonical: one program has one file.
// Reading treats the file as hostile: whatever the bytes, the result is a program
// that keeps every structural rule below, or an error.
//
//===----------------------------------------------------------------------===//

#ifndef FACET_ISA_CONTAINER_H
#define FACET_ISA_CONTAINER_H

#include "facet/Isa/Program.h"

namespace facet {

/// The bytes of a program. Tables are put into the order of first use, unused
/// entries are dropped, and `program` is changed to match, build id included.
/// The program must pass checkProgram.
std::vector<uint8_t> writeProgram(Program &program);

/// Reads a file's bytes. The result keeps all structural rules (indices in
/// range, unused members 0, tables canonical, loops closed) and has passed
/// checkProgram. `file` is the name for messages.
std::optional<Program> readProgram(llvm::ArrayRef<uint8_t> bytes,
                                   llvm::StringRef file, Diagnostics &diags);

/// True when the bytes begin with the magic of a `.engine` file.
bool isProgramFile(llvm::ArrayRef<uint8_t> bytes);

/// CRC-32C (Castagnoli), as in the section table.
uint32_t crc32c(llvm::ArrayRef<uint8_t> bytes, uint32_t crc = 0);

/// One entry of the section table, for `facet-sim info`.
struct SectionInfo {
  std::string name; // "ARCH", "Q.0.tensor"
  bool required = true;
  uint64_t offset = 0, size = 0;
  uint32_t count = 0, entrySize = 0, crc = 0;
};
std::vector<SectionInfo> listSections(llvm::ArrayRef<uint8_t> bytes);

} // namespace facet

#endif // FACET_ISA_CONTAINER_H
