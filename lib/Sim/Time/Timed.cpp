//===- Timed.cpp - instructions, as far as time goes ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Looks at each instruction of a queue once, so that its visits only have to look
// at flags:
//
//   end                                   control, silent
//   nop wait(full >= 16)                  control
//   tensor_tensor dst=sbuf, a=psum, b=    reads 2 and 1, writes 0; in psum
//
//===----------------------------------------------------------------------===//

#include "Timed.h"

#include "../Memory.h"
#include "../Race/Footprint.h"

#include <tuple>

using namespace facet;
using namespace facet::sim;

static bool isControl(Opcode op) {
  switch (op) {
  case Opcode::Nop:
  case Opcode::Loop:
  case Opcode::End:
  case Opcode::Advance:
  case Opcode::SetSemaphore:
  case Opcode::Drain:
    return true;
  default:
    return false;
  }
}

std::vector<Timed> sim::timedCode(const Program &program, unsigned queue) {
  std::vector<Timed> code;
  for (const Instruction &i : program.queues[queue].code) {
    Timed &t = code.emplace_back();
    t.isTransfer = i.isTransfer();
    t.isControl = isControl(i.op());
    t.isSilent = t.isControl && i.op() != Opcode::SetSemaphore &&
                 i.op() != Opcode::Drain;
    for (unsigned n = 0; n != 2; ++n)
      if (i.waits[n].ref.present() || i.updates[n].ref.present())
        t.isSilent = false;
    t.needsTable =
        i.op() == Opcode::Activate && Timing::needsTable(Function(i.sub[0]));
    if (t.isControl || t.isTransfer ||
        program.queues[queue].engine == Engine::Tensor)
      continue;
    for (const Touch &touch : touchesOf(program, i)) {
      uint8_t bit = uint8_t(1u << touch.operand->slot);
      t.reads |= touch.reads ? bit : 0;
      t.writes |= touch.writes ? bit : 0;
      t.inPsum |= touch.access->space == Space::Psum;
    }
  }
  return code;
}

ByteRange sim::byteRange(const Stream &stream, const Access &access) {
  ByteRange range;
  range.space = access.space;
  range.firstPartition = access.partition;
  range.lastPartition = access.partition + access.partitions - 1;
  std::tie(range.begin, range.end) =
      rowSpan(access, access.offset + int64_t(stream.value(access.affine)));
  return range;
}
