//===- assembler-fuzzer.cpp - text that may be anything -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the assembler accepts must be readable as a file and print to a text that
// gives the same file.
//
//===----------------------------------------------------------------------===//

#include "facet/Isa/Assembler.h"
#include "facet/Isa/Container.h"

#include "llvm/Support/raw_ostream.h"

#include <cstdlib>

using namespace facet;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  llvm::StringRef text(reinterpret_cast<const char *>(data), size);
  // A data buffer of many zeros is a short text; memory is not what is tested.
  if (text.count('\n') > 500)
    return 0;
  Diagnostics diags;
  std::optional<Program> program = assemble(text, "t", diags);
  if (bool(program) == diags.hasErrors())
    std::abort();
  if (!program)
    return 0;
  std::vector<uint8_t> file = writeProgram(*program);
  if (!readProgram(file, "f", diags))
    std::abort();
  std::string printed;
  llvm::raw_string_ostream os(printed);
  disassemble(*program, os);
  std::optional<Program> again = assemble(printed, "p", diags);
  if (!again || writeProgram(*again) != file)
    std::abort();
  return 0;
}
