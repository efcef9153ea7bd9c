//===- As.cpp - facet-sim as: text to program -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   facet-sim as p.s -o p.engine
//
//===----------------------------------------------------------------------===//

#include "Verbs.h"

#include "facet/Isa/Assembler.h"
#include "facet/Isa/Container.h"

#include "llvm/ADT/StringExtras.h"

using namespace facet;

int sim::runAs(const Verb &verb, llvm::ArrayRef<llvm::StringRef> args) {
  FileArguments files;
  if (int code = parseFiles(verb, args, 1, files))
    return code;
  Diagnostics diags;
  std::optional<std::string> text = readFile(files.files[0], diags);
  if (!text)
    return report(diags);
  llvm::StringRef kept = diags.addBuffer(files.files[0], std::move(*text));
  std::optional<Program> program = assemble(kept, files.files[0], diags);
  if (!program)
    return report(diags);
  std::vector<uint8_t> bytes = writeProgram(*program);
  (void)writeFile(files.output, llvm::toStringRef(bytes).str(), diags,
                  files.files);
  return report(diags);
}
