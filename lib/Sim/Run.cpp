//===- Run.cpp - which instruction comes next -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Goes round the queues and lets each issue one instruction when its waits hold:
//
//   sync    dma_copy ..., update(full += 1)       round 1: runs, full = 16
//   tensor  load_weights ..., wait(full >= 16)    round 1: runs
//   vector  copy ..., wait(summed >= 1)           waits until tensor has got on
//
// An instruction's effect and its updates happen at once. That is one of the
// orders the semaphores allow, and a program without races has the same result
// in all of them (Orders.cpp tries). A round in which nobody could go on is a
// deadlock: semaphores change by instructions only.
//
//===----------------------------------------------------------------------===//

#include "Core.h"
#include "Deadlock.h"

#include "facet/Sim/Race.h"

#include <algorithm>

using namespace facet;
using namespace facet::sim;
using llvm::Twine;

/// A matmul has at most so many blocks of columns on the machines we know.
constexpr unsigned mostThreads = 16;

static unsigned threadsOf(const RunOptions &options) {
  if (options.threads)
    return options.threads;
  return std::min(std::thread::hardware_concurrency(), mostThreads);
}

Core::Core(const Program &program, const RunOptions &options, RunResult &result)
    : program(program), machine(program.machine), options(options),
      result(result), memory(program, options.checks),
      workers(threadsOf(options)), packed(workers.threads()) {
  for (unsigned q = 0; q != program.queues.size(); ++q)
    streams.emplace_back(program, q);
  for (const SemaphoreInfo &s : program.semaphores)
    semaphores.push_back(s.initial);
  if (options.checks)
    groups.resize(size_t(machine.core.partitions * machine.psum.banks *
                         machine.psum.bankBytes / 4));
  result.queues.resize(program.queues.size());
}

static bool isGiven(BufferKind kind) {
  return kind == BufferKind::In || kind == BufferKind::InOut ||
         kind == BufferKind::Const;
}

/// Most of what this costs is the host's finding of pages.
static void copyBytes(Workers &workers, const uint8_t *from, size_t bytes,
                      uint8_t *to) {
  constexpr size_t part = size_t(1) << 21;
  workers.run((bytes + part - 1) / part, [&](size_t n, size_t) {
    size_t begin = n * part, end = std::min(bytes, begin + part);
    std::copy(from + begin, from + end, to + begin);
  });
}

bool Core::load(const std::vector<std::vector<uint8_t>> &given) {
  if (!memory.allocated()) {
    findInProgram("SIM-MEMORY", "this host has not the memory to hold the "
                                "buffers of the program");
    return false;
  }
  for (unsigned b = 0; b != program.buffers.size(); ++b) {
    const Buffer &buffer = program.buffers[b];
    bool data = buffer.kind == BufferKind::Data;
    if (buffer.space != Space::Hbm || !(data || isGiven(buffer.kind)))
      continue;
    const std::vector<uint8_t> &bytes = data ? buffer.data : given[b];
    if (bytes.size() != buffer.bytes) {
      findInProgram("SIM-INPUT", "buffer '" + buffer.name + "' is given " +
                                     Twine(bytes.size()) + " bytes, it has " +
                                     Twine(buffer.bytes));
      return false;
    }
    Line line = memory.hbm(b);
    copyBytes(workers, bytes.data(), bytes.size(), line.data);
    if (line.written)
      Memory::markWritten(line, 0, line.size);
  }
  return true;
}

void Core::store(std::vector<std::vector<uint8_t>> &taken) {
  for (unsigned b = 0; b != program.buffers.size(); ++b) {
    const Buffer &buffer = program.buffers[b];
    if (buffer.space != Space::Hbm ||
        (buffer.kind != BufferKind::Out && buffer.kind != BufferKind::InOut))
      continue;
    Line line = memory.hbm(b);
    taken[b].resize(size_t(line.size));
    copyBytes(workers, line.data, size_t(line.size), taken[b].data());
  }
}

//===----------------------------------------------------------------------===//
// Semaphores
//===----------------------------------------------------------------------===//

bool Core::ready(unsigned q, const Wait &wait) const {
  return !wait.ref.present() ||
         streams[q].holds(wait, semaphores[streams[q].semaphore(wait.ref)]);
}

bool Core::ready(unsigned q) const {
  const Instruction &i = streams[q].now();
  return ready(q, i.waits[0]) && ready(q, i.waits[1]);
}

void Core::add(unsigned s, int64_t amount) {
  // Each DMA engine performs the updates of a transfer once.
  int64_t times = current->isTransfer() ? machine.dma.engines : 1;
  int64_t value = semaphores[s] + amount * times;
  if (value < 0 || value > machine.semaphore.maxValue) {
    find("SIM-SEMAPHORE",
         "brings semaphore " + semaphoreName(program, s) + " from " +
             Twine(semaphores[s]) + " to " + Twine(value) +
             ", allowed are 0 to " + Twine(machine.semaphore.maxValue),
         /*fatal=*/true);
    return;
  }
  semaphores[s] = int32_t(value);
}

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

/// The instruction's effect; its regions are worked out.
void Core::execute() {
  keepWeights();
  switch (current->op()) {
  case Opcode::Nop:
  case Opcode::Loop:
  case Opcode::End:
  case Opcode::Advance:
  case Opcode::Drain:
    return;
  case Opcode::SetSemaphore:
    semaphores[current->imm[0]] = int32_t(current->imm[1]);
    return;
  case Opcode::LoadWeights:
    return loadWeights();
  case Opcode::Matmul:
    return matmul();
  case Opcode::Transpose:
    return transpose();
  case Opcode::BlockTranspose:
    return blockTranspose();
  case Opcode::DmaCopy:
    return transferCopy();
  case Opcode::DmaTranspose:
    return transferTranspose();
  case Opcode::DmaGather:
    return transferGather();
  default:
    return elementwise();
  }
}

void Core::issue(unsigned q) {
  queue = q;
  engine = program.queues[q].engine;
  current = &streams[q].now();
  pc = int(streams[q].at());
  if (++steps > options.maxSteps) {
    find("SIM-STEPS",
         "the program is not at its end after " + Twine(options.maxSteps) +
             " instructions",
         /*fatal=*/true);
    return;
  }
  bool enabled = streams[q].enabled();
  ++(enabled ? result.queues[q].executed : result.queues[q].skipped);
  if (enabled && resolve()) {
    if (options.order && current->isTransfer()) {
      Transfer t{q, pc, current, {}, {}, streams[q].describe()};
      std::copy(std::begin(regions), std::end(regions), t.regions);
      for (unsigned u = 0; u != 2; ++u)
        t.semaphores[u] = streams[q].semaphore(current->updates[u].ref);
      transfers.push_back(std::move(t));
    } else {
      execute();
      noteWritten();
      for (const Update &u : current->updates)
        if (u.ref.present() && !stopped)
          add(streams[q].semaphore(u.ref), u.amount);
    }
  }
  if (!stopped)
    streams[q].step(enabled);
}

void Core::run() {
  if (options.order)
    runOtherwise();
  else
    runUsual();
  result.semaphores = semaphores;
  if (result.completed && options.checks)
    checkEnd();
}

void Core::runUsual() {
  for (bool left = true; left && !stopped;) {
    bool moved = left = false;
    for (unsigned q = 0; q != streams.size() && !stopped; ++q) {
      if (streams[q].done())
        continue;
      left = true;
      if (streams[q].enabled() && !ready(q))
        continue;
      moved = true;
      issue(q);
    }
    if (left && !moved)
      return reportDeadlock();
  }
  result.completed = !stopped;
}

//===----------------------------------------------------------------------===//
// The end
//===----------------------------------------------------------------------===//

void Core::reportDeadlock() {
  result.findings.push_back(
      deadlockOf(program, streams, [&](unsigned q, const Wait &wait) {
        return semaphores[streams[q].semaphore(wait.ref)];
      }));
}

/// Calls visit(byte) for each element of a buffer as the kernel declares it.
template <typename Visit>
static void forEachElement(const Buffer &buffer, Visit visit) {
  int64_t size = dtypeBytes(buffer.dtype);
  std::vector<int64_t> index(buffer.shape.size());
  for (int64_t extent : buffer.shape)
    if (extent == 0)
      return;
  for (;;) {
    __int128 at = 0;
    for (size_t d = 0; d != index.size(); ++d)
      at += __int128(index[d]) * buffer.strides[d] * size;
    if (at < 0 || at + size > __int128(buffer.bytes) || !visit(int64_t(at)))
      return; // a shape that leaves the bytes is a document only
    size_t d = index.size();
    while (d != 0 && ++index[d - 1] == buffer.shape[d - 1])
      index[--d] = 0;
    if (d == 0)
      return;
  }
}

void Core::checkOutput(unsigned b) {
  const Buffer &buffer = program.buffers[b];
  Line line = memory.hbm(b);
  if (Memory::firstUnwritten(line, 0, line.size) < 0)
    return;
  uint64_t missing = 0;
  int64_t first = -1;
  int64_t size = dtypeBytes(buffer.dtype);
  forEachElement(buffer, [&](int64_t at) {
    if (Memory::firstUnwritten(line, at, at + size) >= 0) {
      first = first < 0 ? at : first;
      ++missing;
    }
    return true;
  });
  if (missing)
    findInProgram("SIM-OUTPUT", "nothing wrote " + Twine(missing) +
                                    (missing == 1 ? " element" : " elements") +
                                    " of output '" + buffer.name +
                                    "', the first at byte " + Twine(first));
}

void Core::checkEnd() {
  for (unsigned b = 0; b != program.buffers.size(); ++b)
    if (program.buffers[b].space == Space::Hbm &&
        program.buffers[b].kind == BufferKind::Out)
      checkOutput(b);
  for (unsigned s = 0; s != semaphores.size(); ++s)
    if (int32_t final = program.semaphores[s].final;
        final >= 0 && semaphores[s] != final)
      findInProgram("SIM-FINAL", "semaphore " + semaphoreName(program, s) +
                                     " ends at " + Twine(semaphores[s]) +
                                     ", declared is " + Twine(final));
  if (!openGroups.empty())
    findInProgram("SIM-GROUP",
                  Twine(openGroups.size()) +
                      (openGroups.size() == 1 ? " group is" : " groups are") +
                      " still open at the end; a matmul with "
                      "`stop` closes one");
}

RunResult sim::runProgram(const Program &program,
                          std::vector<std::vector<uint8_t>> &memory,
                          const RunOptions &options) {
  RunResult result;
  memory.resize(program.buffers.size());
  Core core(program, options, result);
  if (!core.load(memory))
    return result;
  // Behind load: what cannot be run is not looked at.
  if (options.checks && options.races)
    result.findings = proveRaceFree(program, options.maxSteps);
  core.run();
  core.store(memory);
  return result;
}
