//===- TransferTiming.cpp - how a transfer falls into packets -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Cuts the rows of a transfer into the packets its DMA engines move. A packet is
// one run that is contiguous at both ends:
//
//   dst sbuf [128 rows, 512 x bf16]  <-  src hbm, rows of 512 adjacent elements
//     -> 128 rows of one packet of 1024 bytes, 8 rows on each of 16 engines
//   the same with every second element of src -> 512 packets of 2 bytes per row
//
// so short rows and strides cost what they cost on the machine: a fixed time per
// packet.
//
//===----------------------------------------------------------------------===//

#include "facet/Isa/Timing.h"

#include <numeric>

using namespace facet;

/// Elements from the innermost dimensions outwards that lie side by side.
static uint64_t contiguousRun(const Access &access) {
  uint64_t run = 1;
  for (unsigned d = access.rank; d-- > 0;) {
    if (access.count[d] == 1)
      continue;
    if (access.step[d] != int64_t(run))
      break;
    run *= access.count[d];
  }
  return run;
}

TransferCost Timing::transfer(const Program &program, unsigned queue,
                              const Instruction &instruction) const {
  const DmaUnit &dma = machine.dma;
  const Access &dst = *program.access(instruction, 0);
  const Access &src = *program.access(instruction, 1);
  TransferCost cost;

  Ticks issue = issueTime(program, instruction);
  if (program.queues[queue].engine == Engine::Gpsimd) {
    cost.issue = issue + base.fromPs(dma.softwareIssuePs);
    cost.spacing = issue + base.fromPs(dma.softwareSpacingPs);
    cost.wake = base.fromPs(dma.softwareWakePs);
    cost.firstData = issue + base.fromPs(dma.softwareFirstPs);
  } else {
    cost.issue = issue + base.fromPs(dma.directIssuePs);
    cost.spacing = cost.issue;
    cost.firstData = issue + base.fromPs(dma.directFirstPs);
  }

  cost.rows = dst.partitions;
  cost.readsHbm = src.space == Space::Hbm;
  cost.writesHbm = dst.space == Space::Hbm;
  if (cost.readsHbm) {
    cost.lag = base.fromPs(machine.hbm.readLatencyPs);
    cost.open = base.fromPs(machine.hbm.readOpenPs);
  }
  uint64_t run = contiguousRun(dst);
  if (instruction.op() == Opcode::DmaTranspose)
    cost.ratePercent = cost.readsHbm || cost.writesHbm
                           ? dma.transposePercent
                           : dma.transposeChipPercent;
  else
    run = std::gcd(run, contiguousRun(src));

  uint64_t bytes = run * std::max(dtypeBytes(dst.dtype), dtypeBytes(src.dtype));
  uint64_t runs = dst.elements() / run;
  uint64_t longest = uint64_t(dma.packetBytes);
  if (bytes <= longest) {
    cost.row.full = runs;
    cost.row.fullBytes = bytes;
  } else {
    cost.row.full = runs * (bytes / longest);
    cost.row.fullBytes = longest;
    cost.row.tails = bytes % longest ? runs : 0;
    cost.row.tailBytes = bytes % longest;
  }
  return cost;
}

Ticks Timing::packetNext(uint64_t bytes, int64_t ratePercent) const {
  return base.fromPs(machine.dma.packetGapPs) +
         base.fromBytes(
             int64_t(bytes),
             std::max<int64_t>(1, machine.dma.rateMBs * ratePercent / 100));
}

Ticks Timing::packetDone(uint64_t bytes, int64_t ratePercent) const {
  return base.fromPs(machine.dma.packetLatencyPs) +
         base.fromBytes(
             int64_t(bytes),
             std::max<int64_t>(1, machine.dma.rateMBs * ratePercent / 100));
}
