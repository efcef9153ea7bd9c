//===- Checker.h - what the parts of checkProgram share -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_ISA_CHECKER_H
#define FACET_LIB_ISA_CHECKER_H

#include "facet/Isa/Check.h"

namespace facet {

/// Walks a program once. Check.cpp holds the structure rules, CheckOperands.cpp
/// what an instruction's operands must be.
class Checker {
public:
  Checker(const Program &program, Diagnostics &diags, llvm::StringRef file,
          PlaceOfInstruction placeOf)
      : program(program), machine(program.machine), diags(diags),
        file(file.str()), placeOf(std::move(placeOf)) {}

  bool run();

private:
  // Structure (Check.cpp).
  bool checkTables();
  void checkBuffers();
  void checkOverlaps();
  void checkSemaphores();
  bool checkRings();
  bool checkAccess(const Access &access, size_t index);
  bool checkForms();
  void checkQueue();
  bool checkNesting();
  bool checkWord();
  bool checkFields();
  void checkSynchronisation();
  void checkSemaphore(unsigned base, int ring, const llvm::Twine &what);
  void checkFormUse(uint32_t affine, const llvm::Twine &what);

  // Operands (CheckOperands.cpp).
  void checkOperands();
  void checkOperand(const OperandInfo &info, const Access &access);
  void checkBounds(const OperandInfo &info, const Access &access);
  void checkTensor();
  void checkElementwise();
  void checkArithmetic();
  void checkTransfer();
  void checkBlockTranspose();
  void checkReduce();
  bool sameRows(const char *a, const Access &x, const char *b, const Access &y);
  bool sameElements(const char *a, const Access &x, const char *b,
                    const Access &y);

  /// Says something about the instruction being looked at.
  void error(const llvm::Twine &message);
  /// About the program as a whole.
  void fileError(const llvm::Twine &message) { diags.error({file}, message); }
  const Access *operand(unsigned slot) const {
    return program.access(*current, slot);
  }
  const Queue &queueNow() const { return program.queues[queue]; }

  const Program &program;
  const Machine &machine;
  Diagnostics &diags;
  std::string file;
  PlaceOfInstruction placeOf;

  // The instruction being looked at.
  unsigned queue = 0, pc = 0;
  const Instruction *current = nullptr;
  const OpcodeInfo *info = nullptr;
  /// Indices of the loops around it.
  std::vector<unsigned> loops;
  /// The load_weights before it in the queue, or null.
  const Instruction *weights = nullptr;
};

/// As affineRange, for a caller that knows the loops around the instruction.
Range affineRangeIn(const Program &program, unsigned queue,
                    llvm::ArrayRef<unsigned> loops, uint32_t affine);

/// Least and greatest element offset of an access inside one row, in elements.
Range elementRange(const Access &access);

} // namespace facet

#endif // FACET_LIB_ISA_CHECKER_H
