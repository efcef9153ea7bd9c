//===- Dis.cpp - facet-sim dis: program to text ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   facet-sim dis p.engine > p.s
//
// Text is taken as well, so that dis also brings a text into canonical form.
//
//===----------------------------------------------------------------------===//

#include "Verbs.h"

#include "facet/Isa/Assembler.h"

#include "llvm/Support/raw_ostream.h"

using namespace facet;

int sim::runDis(const Verb &verb, llvm::ArrayRef<llvm::StringRef> args) {
  FileArguments files;
  if (int code = parseFiles(verb, args, 1, files))
    return code;
  Diagnostics diags;
  std::optional<Program> program = readProgramOrText(files.files[0], diags);
  if (!program)
    return report(diags);
  std::string text;
  llvm::raw_string_ostream os(text);
  disassemble(*program, os);
  (void)writeFile(files.output, text, diags);
  return report(diags);
}
