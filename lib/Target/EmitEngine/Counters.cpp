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
// A program of many stages may run out all the same, its registers scattered over many
// depths. It is done again with depths that are powers of two, and then with as few
// slots as make a pipeline, so that rings of different stages meet in few depths; each
// depth gets registers side by side, as many as the stage needs that needs most of it.
//
//===----------------------------------------------------------------------===//

#include "Rings.h"
#include "facet/Target/EmitEngine.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallSet.h"
#include "llvm/ADT/bit.h"

#include <map>
#include <tuple>

using namespace mlir;
using namespace facet;
using namespace facet::engine;

namespace {

/// What goes before what, each thriftier than the one before. From Saves on registers
/// that served before come before fresh ones, which may still get any depth.
enum class Thrift { Fresh, Saves, Powers, Few };

class Counters {
public:
  Counters(const Machine &machine, unsigned reserved, Thrift thrift)
      : machine(machine), thrift(thrift), semaphores(machine.semaphore.count),
        used(reserved) {
    for (unsigned i = 0; i < reserved && i < semaphores.size(); ++i)
      semaphores[i].freeFrom = INT_MAX;
  }
  /// Divides the registers between depths, from Powers on.
  LogicalResult divide(const Rings &rings);
  LogicalResult giveSemaphores(Ring &ring);
  LogicalResult giveRegisters(Ring &ring);
  unsigned numSemaphores() const { return used; }

private:
  FailureOr<Row> takeRow(Ring &ring, int64_t perRound);
  int64_t wantedDepth(const Ring &ring) const;
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
  Thrift thrift;
  std::vector<Semaphore> semaphores;
  std::array<std::array<RingRegister, numRings>, numEngines> registers;
  /// By depth, the first register and how many there are.
  std::array<std::map<int64_t, std::pair<size_t, size_t>>, numEngines> shares;
  unsigned used;
};

} // namespace

static bool needsRegisters(const Ring &ring) {
  return ring.rounds >= 2 && (ring.slots() > 1 || ring.needsSemaphores());
}

LogicalResult Counters::divide(const Rings &rings) {
  // By queue, depth and stage.
  std::array<std::map<int64_t, std::map<int, size_t>>, numEngines> wanted;
  RingOp last;
  for (const auto &entry : rings) {
    const Ring &ring = entry.second;
    if (!needsRegisters(ring))
      continue;
    last = ring.op;
    llvm::SmallSet<std::pair<unsigned, bool>, 4> sides;
    auto add = [&](Agent agent, bool writes) {
      if (!sides.insert({unsigned(agent.queue), writes}).second)
        return;
      for (int stage = ring.firstStage; stage <= ring.lastStage; ++stage)
        wanted[unsigned(agent.queue)][wantedDepth(ring)][stage] +=
            ring.window[!writes];
    };
    if (ring.writer)
      add(*ring.writer, true);
    for (const Reader &reader : ring.readers)
      add(reader.agent, false);
  }
  for (unsigned queue = 0; queue < numEngines; ++queue) {
    size_t first = 0;
    for (auto &[depth, stages] : wanted[queue]) {
      size_t most = 0;
      for (auto &[stage, count] : stages)
        most = std::max(most, count);
      shares[queue][depth] = {first, most};
      first += most;
    }
    if (first > numRings)
      return last.emitOpError("and the others of its program take ")
             << first << " ring registers on " << engineName(Engine(queue))
             << ", which has " << numRings
             << ". fewer statements in a kernel, or fewer slots in rings, take "
                "fewer";
  }
  return success();
}

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
  if (llvm::all_equal(own.empty() ? ArrayRef<int64_t>()
                                  : ArrayRef(row.missing)))
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
    size_t begin = 0, end = all.size();
    if (thrift >= Thrift::Powers) {
      auto [first, share] = shares[unsigned(queue)].at(depth);
      begin = first;
      end = first + share;
    }
    std::optional<std::pair<size_t, size_t>> best;
    for (size_t first = begin; first + count <= end; ++first) {
      auto run = all.slice(first, count);
      if (!llvm::all_of(run, isFree))
        continue;
      size_t again = llvm::count_if(run, [&](const RingRegister &r) {
        return thrift != Thrift::Fresh ? r.freeFrom < 0 : r.freeFrom >= 0;
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

/// Where to begin to look for a depth.
int64_t Counters::wantedDepth(const Ring &ring) const {
  int64_t least =
      std::max<int64_t>({ring.least, ring.window[0], ring.window[1]});
  int64_t wanted = ring.slots();
  if (thrift == Thrift::Few)
    wanted = std::min(wanted, 2 * least);
  if (thrift >= Thrift::Powers)
    wanted = int64_t(llvm::bit_floor(uint64_t(wanted)));
  return std::max(wanted, std::min(least, ring.slots()));
}

LogicalResult Counters::giveRegisters(Ring &ring) {
  if (!needsRegisters(ring))
    return success();
  int64_t window = std::max(ring.window[0], ring.window[1]);
  // A ring that is filled less often than it has slots gets one for each time.
  int64_t least = std::min(std::max(ring.least, window), ring.slots());
  Engine missing = Engine::Tensor;
  auto before = registers;
  int64_t wanted = wantedDepth(ring);
  // Where registers are divided, there are some of this depth.
  if (thrift >= Thrift::Powers)
    least = wanted;
  for (int64_t depth = wanted; depth >= least; --depth) {
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
       thrift < Thrift::Powers && depth <= ring.rounds &&
       tile.getMemory() == Memory::Sbuf &&
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
                                 unsigned &numSemaphores, Thrift thrift) {
  int lastStage = -1;
  for (auto &[key, ring] : rings)
    lastStage = std::max(lastStage, ring.lastStage);
  Counters counters(machine, numSemaphores, thrift);
  if (thrift >= Thrift::Powers && failed(counters.divide(rings)))
    return failure();
  for (int stage = 0; stage <= lastStage; ++stage)
    for (auto &[key, ring] : rings)
      if (ring.firstStage == stage && (failed(counters.giveRegisters(ring)) ||
                                       failed(counters.giveSemaphores(ring))))
        return failure();
  numSemaphores = counters.numSemaphores();
  return success();
}

double engine::lossOf(const Rings &rings) {
  double loss = 0;
  for (const auto &entry : rings) {
    const Ring &ring = entry.second;
    double wanted = double(std::min(ring.depth(), ring.rounds)),
           given = double(ring.slots());
    if (!needsRegisters(ring) || given >= wanted)
      continue;
    loss += (wanted - given) / wanted;
    double twice = 2.0 * double(ring.least);
    if (given < twice && wanted >= twice)
      loss += brokenPipeline;
  }
  return loss;
}

LogicalResult engine::giveCounters(Rings &rings, const Machine &machine,
                                   unsigned &numSemaphores) {
  if (rings.empty())
    return success();
  std::optional<Rings> best;
  unsigned used = numSemaphores;
  for (Thrift thrift :
       {Thrift::Fresh, Thrift::Saves, Thrift::Powers, Thrift::Few}) {
    ScopedDiagnosticHandler quiet(rings.begin()->second.op.getContext(),
                                  [](mlir::Diagnostic &) { return success(); });
    Rings attempt = rings;
    unsigned usedHere = numSemaphores;
    if (failed(tryCounters(attempt, machine, usedHere, thrift)) ||
        (best && lossOf(attempt) >= lossOf(*best)))
      continue;
    best = std::move(attempt);
    used = usedHere;
    if (lossOf(*best) == 0)
      break;
  }
  if (!best)
    return tryCounters(rings, machine, numSemaphores, Thrift::Few);
  rings = std::move(*best);
  numSemaphores = used;
  return success();
}
