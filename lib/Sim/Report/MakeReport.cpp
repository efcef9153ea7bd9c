//===- MakeReport.cpp - a timed program in numbers ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gathers what the parts find out. Everything that is a count times a constant
// comes from how often each instruction was executed:
//
//   TimeResult::executed, Work      multiply-adds, elements, bytes per buffer
//   Roofline.cpp                    the least time each resource needs
//   Ladder.cpp                      from there to the time it took
//   Energy.cpp, Path.cpp
//
//===----------------------------------------------------------------------===//

#include "Parts.h"

#include <algorithm>
#include <map>

using namespace facet;
using namespace facet::sim;

InstructionLabel sim::labelOf(const Program &program, int queue, int pc) {
  InstructionLabel label;
  label.queue = queue;
  label.pc = pc;
  if (queue < 0)
    return label;
  const Queue &q = program.queues[size_t(queue)];
  label.name = (llvm::Twine(engineName(q.engine)) + " " + llvm::Twine(pc) +
                " " + opcodeInfo(q.code[size_t(pc)].opcode)->mnemonic)
                   .str();
  if (uint32_t index = q.locations[size_t(pc)]) {
    const Location &at = program.locations[index - 1];
    label.place = (llvm::Twine(at.file) + ":" + llvm::Twine(at.line) + ":" +
                   llvm::Twine(at.column))
                      .str();
    label.op = at.op;
  }
  return label;
}

/// Bytes that an operand of a transfer reads or writes in one execution.
static uint64_t bytesOf(const Program &program, const Instruction &transfer,
                        const OperandInfo &operand, const Access &access) {
  // A gather takes as many rows of its table as it writes.
  bool gathered = transfer.op() == Opcode::DmaGather && operand.slot == 1;
  uint64_t rows =
      gathered ? program.access(transfer, 0)->partitions : access.partitions;
  return rows * access.elements() * dtypeBytes(access.dtype);
}

Totals sim::totalsOf(const Program &program, const Timing &timing,
                     const TimeResult &time) {
  Totals totals;
  std::vector<Traffic> buffers(program.buffers.size());
  std::map<DType, double> cycles;
  for (unsigned q = 0; q != program.queues.size(); ++q) {
    const std::vector<Instruction> &code = program.queues[q].code;
    for (size_t pc = 0; pc != code.size(); ++pc) {
      uint64_t times = time.executed[q][pc];
      if (!times)
        continue;
      const Instruction &i = code[pc];
      Work work = workOf(program, timing, q, i);
      totals.macs[unsigned(work.type)] += times * work.multiplyAdds;
      totals.elements += times * work.elements;
      totals.movedBytes += times * work.bytes;
      totals.idealCycles += double(times) * work.idealCycles;
      if (i.op() == Opcode::Matmul)
        cycles[work.dtype] += double(times) * work.idealCycles;
      if (i.op() == Opcode::Transpose)
        totals.transposes += Ticks(times) * timing.cost(program, q, i).work;
      if (!i.isTransfer())
        continue;
      for (const OperandInfo &operand : opcodeInfo(i.opcode)->operands) {
        const Access *access = program.access(i, operand.slot);
        if (!access || access->space != Space::Hbm)
          continue;
        uint64_t bytes = times * bytesOf(program, i, operand, *access);
        totals.hbmBytes += bytes;
        Traffic &traffic = buffers[access->buffer];
        (operand.mode == OperandMode::Read ? traffic.read : traffic.written) +=
            bytes;
      }
    }
  }
  for (size_t b = 0; b != buffers.size(); ++b) {
    const Buffer &buffer = program.buffers[b];
    bool given = buffer.kind != BufferKind::Out;
    bool taken =
        buffer.kind == BufferKind::Out || buffer.kind == BufferKind::InOut;
    if (buffer.kind == BufferKind::Scratch)
      continue;
    if (given)
      totals.compulsoryBytes += std::min(buffers[b].read, buffer.bytes);
    if (taken)
      totals.compulsoryBytes += std::min(buffers[b].written, buffer.bytes);
  }
  double most = -1;
  for (auto [dtype, spent] : cycles) {
    totals.types += (totals.types.empty() ? "" : ", ");
    totals.types += dtypeName(dtype);
    if (spent > most) {
      most = spent;
      totals.dtype = dtype;
    }
  }
  return totals;
}

Report sim::makeReport(const Program &program, const TimeResult &time,
                       llvm::StringRef file) {
  const Machine &machine = program.machine;
  Timing timing(machine);
  Report report;
  report.program = file.str();
  report.machine = machine.name;
  report.machineHash = hexHash(machineHash(machine));
  report.buildId = hexHash(program.buildId);
  report.completed = time.completed;
  report.total = time.total;
  report.ticksPerNs = time.ticksPerNs;
  report.cycles = time.cycles;
  report.clockMHz = machine.tensor.clockMHz;
  report.envelopeNs =
      double(machine.core.envelopeInPs + machine.core.envelopeOutPs) / 1000;
  report.multiplyAdds = time.multiplyAdds;
  report.matmuls = time.matmuls;
  report.matmulsAtFullRate = time.matmulsAtFullRate;
  report.dma = time.dma;

  std::map<unsigned, RingLine> rings;
  for (unsigned q = 0; q != program.queues.size(); ++q) {
    report.engines.push_back(
        {q, engineName(program.queues[q].engine), time.engines[q]});
    for (size_t pc = 0; pc != program.queues[q].code.size(); ++pc) {
      const Instruction &i = program.queues[q].code[pc];
      uint64_t times = time.executed[q][pc];
      if (!times || !i.isTransfer())
        continue;
      RingLine &ring = rings[ringOf(i)];
      ring.ring = ringOf(i);
      ring.transfers += times;
      ring.bytes += times * workOf(program, timing, q, i).bytes;
    }
  }
  for (const auto &entry : rings)
    report.rings.push_back(entry.second);
  for (Space space : {Space::Hbm, Space::Sbuf, Space::Psum})
    report.traffic.push_back({spaceName(space),
                              time.engineBytes[unsigned(space)],
                              time.transferBytes[unsigned(space)]});

  Totals totals = totalsOf(program, timing, time);
  findBound(program, timing, totals, report);
  findLadder(program, timing, totals, report);
  findEnergy(program, totals, report);
  report.recorded = !time.spans.empty() || time.total == 0;
  if (report.recorded)
    findPath(program, time, report);
  return report;
}
