//===- Work.h - what one execution of an instruction amounts to -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_SIM_REPORT_WORK_H
#define FACET_LIB_SIM_REPORT_WORK_H

#include "facet/Isa/Timing.h"

namespace facet::sim {

/// The classes of the energy table.
enum class MacType : uint8_t { F8, Bits16, F32 };

/// One execution of an instruction, whatever it waits for.
struct Work {
  uint64_t multiplyAdds = 0;
  MacType type = MacType::Bits16;
  DType dtype = DType::BF16;
  /// Cycles that they would take on a full array.
  double idealCycles = 0;
  /// Elements of a vector, scalar or gpsimd instruction.
  uint64_t elements = 0;
  /// Of a transfer.
  uint64_t bytes = 0, rows = 0;
};

Work workOf(const Program &program, const Timing &timing, unsigned queue,
            const Instruction &instruction);

/// Multiply-adds per second of a full array for an element type.
double peakRate(const Machine &machine, DType dtype);

/// The ring of the DMA engines that a transfer uses.
unsigned ringOf(const Instruction &instruction);

} // namespace facet::sim

#endif // FACET_LIB_SIM_REPORT_WORK_H
