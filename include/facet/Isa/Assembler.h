//===- Assembler.h - programs as text -------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The text form, of which assemble and disassemble are exact inverses:
// writeProgram(assemble(disassemble(p))) == writeProgram(p), byte for byte.
// docs/InstructionSet.md describes it; a taste:
//
//   .queue tensor
//     load_weights weights=sbuf.bf16[0:128, 0x400, 128], wait(s0 >= 16)
//     matmul dst=psum.f32[0:128, 0, 512], moving=sbuf.bf16[0:128, 0x8000, 512], start, stop, update(s1 += 1)
//
//===----------------------------------------------------------------------===//

#ifndef FACET_ISA_ASSEMBLER_H
#define FACET_ISA_ASSEMBLER_H

#include "facet/Isa/Program.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace facet {

/// Assembles a text. `.machine "name"` is resolved by loadMachine. Errors carry
/// line and column. The result has passed checkProgram and is canonical, as if
/// read back from writeProgram.
std::optional<Program> assemble(llvm::StringRef text, llvm::StringRef file,
                                Diagnostics &diags);

/// `comment` may give a comment, without its slashes, for the line before an
/// instruction; "" for none.
void disassemble(const Program &program, llvm::raw_ostream &os,
                 llvm::function_ref<std::string(unsigned queue, unsigned pc)>
                     comment = nullptr);

/// One instruction without loops' indentation, as messages and traces show it.
std::string printInstruction(const Program &program, unsigned queue,
                             unsigned pc);
std::string printAccess(const Program &program, unsigned queue,
                        const Access &access);

} // namespace facet

#endif // FACET_ISA_ASSEMBLER_H
