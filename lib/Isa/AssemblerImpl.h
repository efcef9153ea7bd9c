//===- AssemblerImpl.h - the assembler's state and readers ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private to the assembler.
//
//===----------------------------------------------------------------------===//

#ifndef FACET_LIB_ISA_ASSEMBLERIMPL_H
#define FACET_LIB_ISA_ASSEMBLERIMPL_H

#include "AsmLexer.h"

#include "facet/Isa/Builder.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

namespace facet {

/// A sum of counters, a ring and a constant.
struct Sum {
  AffineForm form;
  bool isConstant() const {
    return form.ring < 0 &&
           llvm::all_of(form.coefficients, [](int64_t c) { return !c; });
  }
};

/// Reads one text; its parts are spread over Assembler*.cpp by what they read.
class Assembler {
public:
  Assembler(llvm::StringRef text, llvm::StringRef file, Diagnostics &diags)
      : lexer(text, file, diags), file(file), diags(diags) {}
  std::optional<Program> run();

private:
  // Every parse function returns false after an error that has been said.
  bool statement();
  bool directive();
  bool machineBlock(llvm::StringRef name);
  bool bufferDirective();
  bool dataDirective(bool zeros);
  bool semaphoreDirective();
  bool queueDirective();
  bool ringDirective();
  bool instruction();
  bool item(Instruction &i, const OpcodeInfo &info, uint32_t &location);
  bool fieldValue(Instruction &i, const FieldInfo &field);
  bool access(Access &a);
  bool dimensions(Access &a);
  bool sum(Sum &result);
  bool term(Sum &result, int64_t sign);
  bool predicate(uint16_t &number);
  bool semaphoreRef(unsigned &semaphore, int &ring);
  bool wait(Instruction &i);
  bool update(Instruction &i);
  bool location(uint32_t &number);
  bool finishLine();

  // Small readers.
  bool expect(const char *punctuation);
  bool integer(int64_t &value, int64_t min, int64_t max,
               const llvm::Twine &what);
  bool name(std::string &text, const llvm::Twine &what);
  bool string(std::string &text, const llvm::Twine &what);
  bool list(std::vector<int64_t> &values);
  bool number(llvm::StringRef word, char letter, unsigned limit,
              unsigned &value);
  bool fail(const llvm::Twine &message) {
    diags.error(lexer.place(), message);
    return false;
  }
  /// About the name taken last.
  bool failName(const llvm::Twine &message) {
    diags.error(lexer.placeOfName(), message);
    return false;
  }
  bool unknown(llvm::StringRef word, const llvm::Twine &what,
               llvm::ArrayRef<llvm::StringRef> allowed);
  Queue &queueNow() { return program.queues[queueIndex()]; }
  unsigned queueIndex() const {
    for (unsigned q = 0; q != program.queues.size(); ++q)
      if (program.queues[q].engine == engine)
        return q;
    return 0;
  }

  AsmLexer lexer;
  llvm::StringRef file;
  Diagnostics &diags;
  ProgramBuilder builder{Machine()};
  Program &program = builder.get();
  bool haveMachine = false, inQueue = false;
  Engine engine = Engine::Tensor;
  std::vector<uint32_t> openLoops;
  llvm::StringMap<unsigned> bufferNames, semaphoreNames;
  /// Where each instruction stands, per engine.
  std::vector<Place> places[numEngines];
  /// Fields whose spelling depends on the operands: read at the end of the line.
  std::vector<std::pair<const FieldInfo *, std::string>> values;
  /// Queues that have been opened, to refuse a second `.queue` of one engine.
  bool opened[numEngines] = {};
};

} // namespace facet

#endif // FACET_LIB_ISA_ASSEMBLERIMPL_H
