//===- Counters.cpp - semaphores and ring registers of rings --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A barrier ends every stage, so a semaphore or a ring register that served one stage
// can serve in the next. Neither is ever set back: both only count on, and what they
// have counted so far is known here, so that what waits for them is moved instead:
//
//   stage 0  ring "x", 2 slots, filled 5 times: full = 3, 2; register at slot 1, round 2
//   stage 1  ring "y" takes them: one more to full[1], one step (slot 0, round 3), and
//            wait(full[r] >= 1 + 1*round) becomes wait(full[r] >= 3 + 1 - 3 + 1*round)
//
// Fresh ones go first; a program that needs no more than there are shares none. The
// depth of a register is the same for all rings that it serves: where none of the right
// depth is left, a ring gets fewer slots, down to those that the order of the text needs.
//
//===----------------------------------------------------------------------===//

#include "Rings.h"

#include "llvm/ADT/STLExtras.h"

#include <tuple>

using namespace mlir;
using namespace facet;
using namespace facet::engine;

namespace {

class Counters {
public:
  /// `saves`: registers that served before come before fresh ones, which may still
  /// get any depth.
  Counters(const Machine &machine, unsigned reserved, bool saves)
      : machine(machine), saves(saves), semaphores(machine.semaphore.count),
        used(reserved) {
    for (unsigned i = 0; i < reserved && i < semaphores.size(); ++i)
      semaphores[i].freeFrom = INT_MAX;
  }
  LogicalResult giveSemaphores(Ring &ring);
  LogicalResult giveRegisters(Ring &ring);
  unsigned numSemaphores() const { return used; }

private:
  FailureOr<Row> takeRow(Ring &ring, int64_t perRound);
  /// A run of registers for each queue of a ring of `depth` slots; false: there are
  /// none on `missing`.
  bool takeRegisters(Ring &ring, int64_t depth, Engine &missing);

  struct Semaphore {
    int64_t value = 0; ///< after the stages of the rings it served
    int freeFrom = -1; ///< first stage in which nothing uses it; -1: fresh
  };
  struct RingRegister {
    int64_t depth = 0, steps = 0;
    int freeFrom = -1;
  };
  const Machine &machine;
  bool saves;
  std::vector<Semaphore> semaphores;
  std::array<std::array<RingRegister, numRings>, numEngines> registers;
  unsigned used;
};

} // namespace

/// The row that takes the fewest additions, of fresh ones where it can be.
FailureOr<Row> Counters::takeRow(Ring &ring, int64_t perRound) {
  size_t slots = ring.slots();
  int64_t most = perRound * ring.fillsOf(0, ring.rounds);
  int64_t limit = std::min<int64_t>(machine.semaphore.maxValue, INT32_MAX);
  auto isFree = [&](const Semaphore &s) {
    return s.freeFrom <= ring.firstStage;
  };
  std::optional<std::tuple<size_t, bool, size_t>> best;
  for (size_t first = 0; first + slots <= semaphores.size(); ++first) {
    auto row = ArrayRef(semaphores).slice(first, slots);
    if (!llvm::all_of(row, isFree))
      continue;
    int64_t base = 0;
    for (const Semaphore &s : row)
      base = std::max(base, s.value);
    if (base + most > limit)
      continue;
    // An update adds 16 bits.
    if (llvm::any_of(row, [&](const Semaphore &s) {
          return base - s.value > INT16_MAX;
        }))
      continue;
    size_t additions = llvm::count_if(
        row, [&](const Semaphore &s) { return s.value != base; });
    bool again =
        llvm::any_of(row, [](const Semaphore &s) { return s.freeFrom >= 0; });
    std::tuple<size_t, bool, size_t> key(additions, again, first);
    if (!best || key < *best)
      best = key;
  }
  if (!best) {
    size_t taken = semaphores.size() - llvm::count_if(semaphores, isFree);
    return ring.op.emitOpError("finds no ")
           << slots << " semaphores side by side: machine '" << machine.name
           << "' has " << semaphores.size() << ", of which others take "
           << taken << " in its stages. fewer slots in rings take fewer";
  }
  Row row;
  row.first = unsigned(std::get<2>(*best));
  auto own = MutableArrayRef(semaphores).slice(row.first, slots);
  for (const Semaphore &s : own)
    row.base = std::max(row.base, s.value);
  for (const Semaphore &s : own)
    row.missing.push_back(row.base - s.value);
  if (llvm::all_equal(own.size() ? ArrayRef(row.missing) : ArrayRef<int64_t>()))
    row.missing.clear();
  for (auto [slot, s] : llvm::enumerate(own)) {
    s.value = row.base + perRound * ring.fillsOf(slot, ring.rounds);
    s.freeFrom = ring.lastStage + 1;
  }
  used = std::max(used, unsigned(row.first + slots));
  return row;
}

LogicalResult Counters::giveSemaphores(Ring &ring) {
  for (Reader &reader : ring.readers) {
    if (ring.inOrder(reader.agent))
      continue;
    if (!ring.full) {
      FailureOr<Row> row = takeRow(ring, ring.perRound);
      if (failed(row))
        return failure();
      ring.full = *row;
    }
    // A slot that is filled once is never waited for, except that a barrier must
    // know when transfers out of it have ended.
    if (ring.rounds > ring.slots() || reader.agent.transfers) {
      FailureOr<Row> row = takeRow(ring, reader.perRound);
      if (failed(row))
        return failure();
      reader.free = *row;
    }
  }
  return success();
}

bool Counters::takeRegisters(Ring &ring, int64_t depth, Engine &missing) {
  // What a wait counts per round goes back by the rounds made before.
  int64_t perRound = ring.perRound;
  for (const Reader &reader : ring.readers)
    perRound = std::max(perRound, reader.perRound);
  auto isFree = [&](const RingRegister &r) {
    return r.freeFrom < 0 ||
           (r.depth == depth && r.freeFrom <= ring.firstStage &&
            perRound * (r.steps / depth + 1) <= INT32_MAX);
  };
  ring.cursors.clear();
  auto take = [&](Engine queue, bool writes) {
    if (ring.cursor(queue, writes))
      return true;
    size_t count = ring.window[!writes];
    MutableArrayRef<RingRegister> all(registers[unsigned(queue)]);
    std::optional<std::pair<size_t, size_t>> best;
    for (size_t first = 0; first + count <= all.size(); ++first) {
      auto run = all.slice(first, count);
      if (!llvm::all_of(run, isFree))
        continue;
      size_t again = llvm::count_if(run, [&](const RingRegister &r) {
        return saves ? r.freeFrom < 0 : r.freeFrom >= 0;
      });
      if (!best || std::pair(again, first) < *best)
        best = {again, first};
    }
    if (!best) {
      missing = queue;
      return false;
    }
    Cursor cursor;
    cursor.queue = queue;
    cursor.writes = writes;
    for (auto [i, r] : llvm::enumerate(all.slice(best->second, count))) {
      Register own;
      own.number = unsigned(best->second + i);
      own.steps = (int64_t(i) % depth + depth - r.steps % depth) % depth;
      own.rounds = (r.steps + own.steps - int64_t(i)) / depth;
      r.depth = depth;
      r.steps += own.steps + ring.rounds;
      r.freeFrom = ring.lastStage + 1;
      cursor.registers.push_back(own);
    }
    ring.cursors.push_back(std::move(cursor));
    return true;
  };
  if (ring.writer && !take(ring.writer->queue, true))
    return false;
  return llvm::all_of(ring.readers, [&](const Reader &reader) {
    return take(reader.agent.queue, false);
  });
}

LogicalResult Counters::giveRegisters(Ring &ring) {
  if (ring.rounds < 2 || (ring.slots() == 1 && !ring.needsSemaphores()))
    return success();
  int64_t window = std::max(ring.window[0], ring.window[1]);
  Engine missing = Engine::Tensor;
  auto before = registers;
  for (int64_t depth = ring.slots(); depth >= std::max(ring.least, window);
       --depth) {
    if (takeRegisters(ring, depth, missing)) {
      ring.most = depth;
      return success();
    }
    registers = before;
  }
  // More slots than asked for, where they are small.
  constexpr int64_t smallBytes = 16384;
  TileType tile = ring.type().getTile();
  for (int64_t depth = ring.slots() + 1;
       depth <= ring.rounds && tile.getMemory() == Memory::Sbuf &&
       depth * tile.getRowBytes() <= smallBytes;
       ++depth) {
    if (takeRegisters(ring, depth, missing)) {
      ring.most = depth;
      return success();
    }
    registers = before;
  }
  return ring.op.emitOpError("finds no ")
         << window << " ring registers side by side on " << engineName(missing)
         << ": of its " << numRings
         << " others are taken in its stages or by rings of other depths";
}

static LogicalResult tryCounters(Rings &rings, const Machine &machine,
                                 unsigned &numSemaphores, bool saves) {
  int lastStage = -1;
  for (auto &[key, ring] : rings)
    lastStage = std::max(lastStage, ring.lastStage);
  Counters counters(machine, numSemaphores, saves);
  for (int stage = 0; stage <= lastStage; ++stage)
    for (auto &[key, ring] : rings)
      if (ring.firstStage == stage && (failed(counters.giveRegisters(ring)) ||
                                       failed(counters.giveSemaphores(ring))))
        return failure();
  numSemaphores = counters.numSemaphores();
  return success();
}

LogicalResult engine::giveCounters(Rings &rings, const Machine &machine,
                                   unsigned &numSemaphores) {
  if (rings.empty())
    return success();
  {
    ScopedDiagnosticHandler quiet(rings.begin()->second.op.getContext(),
                                  [](mlir::Diagnostic &) { return success(); });
    Rings first = rings;
    unsigned used = numSemaphores;
    if (succeeded(tryCounters(first, machine, used, /*saves=*/false))) {
      rings = std::move(first);
      numSemaphores = used;
      return success();
    }
  }
  return tryCounters(rings, machine, numSemaphores, /*saves=*/true);
}
