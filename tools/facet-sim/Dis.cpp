//===- Dis.cpp - facet-sim dis: program to text ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   facet-sim dis p.engine > p.s
//
// Text is taken as well, so that dis also brings a text into canonical form.
// --source adds the kernel's lines as comments.
//
//===----------------------------------------------------------------------===//

#include "SourceListing.h"
#include "Verbs.h"

#include "facet/Isa/Assembler.h"

#include "llvm/Support/raw_ostream.h"

using namespace facet;

int sim::runDis(const Verb &verb, llvm::ArrayRef<llvm::StringRef> args) {
  FileArguments files;
  bool withSource = false;
  auto option = [&](llvm::StringRef arg) {
    return withSource |= arg == "--source";
  };
  if (int code = parseFiles(verb, args, 1, files, option))
    return code;
  Diagnostics diags;
  std::optional<Program> program = readProgramOrText(files.files[0], diags);
  if (!program)
    return report(diags);
  std::string text;
  llvm::raw_string_ostream os(text);
  if (withSource)
    printWithSource(*program, files.files[0], os, diags);
  else
    disassemble(*program, os);
  (void)writeFile(files.output, text, diags, files.files);
  return report(diags);
}
