//===- Check.h - the rules a program keeps, seen without running it -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Structure (indices, nesting, members an opcode does not use), operands (space,
// type, shape, partition and bank rules), bounds over all values of counters and
// rings, and fields. What needs running (races, uninitialised reads, deadlock,
// open groups) is the simulator's.
//
//===----------------------------------------------------------------------===//

#ifndef FACET_ISA_CHECK_H
#define FACET_ISA_CHECK_H

#include "facet/Isa/Program.h"

#include <functional>

namespace facet {

/// Where to say something about an instruction; `pc` is -1 for the queue itself.
using PlaceOfInstruction = std::function<Place(unsigned queue, int pc)>;

/// Adds an error per broken rule and returns whether there was none. Without
/// `placeOf` the place is `file` and the message names queue and index. The
/// user's source, when known, is added as a note.
bool checkProgram(const Program &program, Diagnostics &diags,
                  llvm::StringRef file = "",
                  PlaceOfInstruction placeOf = nullptr);

/// The loops around an instruction, outermost first: indices of their `loop`.
std::vector<unsigned> enclosingLoops(const Queue &queue, unsigned pc);

/// Least and greatest value of an affine form (0: none) at an instruction, over
/// all counters and slots; {0, -1} when a loop around it runs no time.
struct Range {
  int64_t min = 0, max = 0;
  bool empty() const { return max < min; }
};
Range affineRange(const Program &program, unsigned queue, unsigned pc,
                  uint32_t affine);

} // namespace facet

#endif // FACET_ISA_CHECK_H
