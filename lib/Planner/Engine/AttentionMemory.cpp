//===- AttentionMemory.cpp - whether an attention fits the machine --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What AttentionStage holds on chip, as upper bounds that are told before anything is
// lowered: an attention that would not fit is not planned as one.
//
//   of a head      queries, keys, values; under conditions what its values are as well
//   on the way     tiles of scores and weights between engines, in rings
//   of a body      tiles of what a map or a condition computes, and the ring registers
//                  of values that go from one engine to another
//
//===----------------------------------------------------------------------===//

#include "facet/Dialect/Engine/IR/Engine.h"
#include "facet/Planner/Engine/Attention.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace facet;
using namespace facet::engine;
using kernel::StructuredOpInterface;
using kernel::Subscript;

SmallVector<HalfPlane> Attention::plane() {
  SmallVector<HalfPlane> halves;
  for (const Inequality &inequality : filter)
    halves.push_back({inequality.coefficients[rows],
                      inequality.coefficients[keys()], inequality.constant});
  return halves;
}

SmallVector<RowBand> engine::attentionBands(Attention &attention,
                                            const Machine &machine) {
  // Enough that a triangle of 4096 x 4096 is cut at each tile of 128.
  constexpr int64_t maxBands = 32;
  int64_t rows = attention.extents[attention.rows];
  return divideRows(
      rows, attention.extents[attention.keys()], attention.plane(),
      std::min(rows, machine.tensor.columns), machine.tensor.rows,
      std::min<int64_t>(machine.tensor.movingMax, machine.psum.bankBytes / 4),
      maxBands);
}

/// Of each partition, for one head.
static int64_t headBytes(Attention &attention, const Machine &machine) {
  auto bytes = [&](int64_t rows, int64_t columns, Type type) -> int64_t {
    return llvm::divideCeil(rows, machine.tensor.rows) * columns *
           dtypeBytes(*dtypeOf(type));
  };
  int64_t depth = attention.depthExtent, columns = attention.columnExtent;
  int64_t rows = attention.extents[attention.rows],
          keys = attention.extents[attention.keys()];
  // Values may come as they lie, to be transposed.
  int64_t held = bytes(depth, rows, attention.queryType()) +
                 bytes(depth, keys, attention.keyType()) +
                 bytes(keys, columns, attention.valueType()) +
                 bytes(columns, keys, attention.valueType());
  // Under conditions they are kept a second time, beside what is no number of them.
  constexpr int64_t planes = 5, narrow = 2;
  if (!attention.conditions.empty())
    held +=
        bytes(keys, columns, attention.valueType()) +
        llvm::divideCeil(keys, machine.tensor.rows) * columns * planes * narrow;
  return held;
}

namespace {
/// What a body computed on tiles takes at most (TileBody.cpp has the rings).
struct BodyNeeds {
  int64_t tiles = 0;
  /// Ring registers of queues.
  int64_t onVector = 0, onScalar = 0, onGpsimd = 0;
};
} // namespace

static void addNeeds(BodyNeeds &needs, Attention &attention,
                     StructuredOpInterface op, Region &region,
                     std::optional<unsigned> sumsInput) {
  auto readsAny = [&](Value value, auto &&self) -> bool {
    if (isa<BlockArgument>(value))
      return true;
    return llvm::any_of(value.getDefiningOp()->getOperands(),
                        [&](Value operand) { return self(operand, self); });
  };
  llvm::StringSet<> indices;
  for (Operation &inner : region.front().without_terminator()) {
    if (inner.hasTrait<OpTrait::ConstantLike>() || isa<kernel::SizeOp>(inner))
      continue;
    if (auto index = dyn_cast<kernel::IndexOp>(inner)) {
      if (indices.insert(index.getIterator()).second) {
        needs.tiles += 2;
        ++needs.onVector;
        ++needs.onGpsimd;
      }
      continue;
    }
    needs.tiles += 2;
    StringRef dialect = inner.getName().getDialectNamespace();
    // Functions are scalar's.
    if (dialect == "math" || isa<kernel::ApplyOp>(inner)) {
      needs.tiles += 2;
      needs.onVector += 2;
      needs.onScalar += 2;
    }
    // Integers that f32 may not hold are gpsimd's, from vector and back.
    bool integers = llvm::any_of(inner.getOperandTypes(), [](Type type) {
      return isa<IntegerType>(type) && !type.isInteger(1);
    });
    if (integers && !isa<kernel::CastOp>(inner) &&
        llvm::any_of(inner.getOperands(), [&](Value operand) {
          return readsAny(operand, readsAny);
        })) {
      needs.tiles += 6;
      needs.onVector += isa<arith::CmpIOp>(inner) ? 2 : 1;
      needs.onGpsimd += 2;
    }
  }
  Block &guards = region.front();
  SmallVector<Type> held; // numbers of a head, by type
  for (unsigned i = 0; i < op.getInputs().size(); ++i) {
    if (sumsInput == i || guards.getArgument(i).use_empty())
      continue;
    auto reads = [&](unsigned iterator) {
      return llvm::is_contained(op.getAccess(i).getSubscripts(),
                                Subscript{Subscript::Iterator, iterator});
    };
    bool plain = llvm::all_of(op.getAccess(i).getSubscripts(),
                              [](const Subscript &subscript) {
                                return subscript.kind != Subscript::Element;
                              });
    Type type =
        cast<RankedTensorType>(op.getInputs()[i].getType()).getElementType();
    bool varies = !plain || reads(attention.rows) || reads(attention.keys());
    if (!varies && llvm::is_contained(held, type))
      continue;
    if (!varies)
      held.push_back(type);
    needs.tiles += varies ? 3 : 0;
    ++needs.onVector;
    needs.onGpsimd += isa<IntegerType>(type);
  }
}

/// Of the map behind the products and of the conditions.
static BodyNeeds bodyNeeds(Attention &attention) {
  BodyNeeds needs;
  if (attention.transform) {
    auto op = cast<StructuredOpInterface>(attention.transform.getOperation());
    addNeeds(needs, attention, op, op.getBody(), attention.sumsInput);
    if (op.getNumGuardAtoms())
      addNeeds(needs, attention, op, op.getGuards(), attention.sumsInput);
  }
  if (!attention.conditions.empty()) {
    auto op =
        cast<StructuredOpInterface>(attention.maxima.front().getOperation());
    addNeeds(needs, attention, op, op.getGuards(), std::nullopt);
  }
  return needs;
}

/// The queues have ring registers for what the engines hand each other.
static bool registersSuffice(Attention &attention, int64_t masked) {
  if (!attention.computesScores())
    return true;
  BodyNeeds needs = bodyNeeds(attention);
  bool conditional = !attention.conditions.empty();
  int64_t columns = llvm::count_if(
      attention.maxima, [&](auto op) { return attention.leaves(op); });
  // Those of AttentionStage.cpp and AttentionScores.cpp, of which none is spared.
  int64_t vector = (conditional ? 8 : 5) + (masked > 0) + (columns > 0) +
                   (attention.transform != nullptr);
  int64_t scalar = conditional ? 12 : 10;
  int64_t gpsimd = (conditional ? 7 : 4) + 2 * (masked > 0) + 2 * (columns > 0);
  return vector + needs.onVector <= int64_t(numRings) &&
         scalar + needs.onScalar <= int64_t(numRings) &&
         gpsimd + needs.onGpsimd <= int64_t(numRings);
}

/// Of each partition, for what is on the way between engines (AttentionStage.cpp and
/// AttentionScores.cpp have the rings), rounded up; `met`: blocks of a tile of rows.
static int64_t wayBytes(Attention &attention, const Machine &machine,
                        int64_t masked, int64_t met) {
  int64_t block =
      std::min<int64_t>(machine.tensor.movingMax, machine.psum.bankBytes / 4);
  block = std::min<int64_t>(
      block,
      llvm::alignTo(attention.extents[attention.keys()], machine.tensor.rows));
  int64_t weight = dtypeBytes(*dtypeOf(attention.weightType()));
  int64_t value = dtypeBytes(*dtypeOf(attention.valueType()));
  int64_t columns = attention.columnExtent;
  constexpr int64_t slots = 5, rest = 8192;
  int64_t bytes = 4 * slots * block * weight + slots * columns * 4 + rest;
  if (masked) {
    int64_t chunks = llvm::divideCeil(block, machine.tensor.rows);
    constexpr int64_t planes = 5, narrow = 2, maskSlots = 24;
    bytes += slots * chunks * columns * (planes * narrow + value) +
             (2 * masked + 1) * block * 4 + maskSlots * block * narrow;
  }
  if (attention.computesScores()) {
    // Scores of two tiles of rows, and what is computed on the way to them.
    constexpr int64_t mapped = 2, narrow = 2, late = 7, conditions = 5;
    bytes += (2 * met + 1 + mapped + bodyNeeds(attention).tiles) * block * 4;
    if (!attention.conditions.empty())
      bytes += (2 * met + late + conditions) * block * narrow;
  }
  return bytes;
}

/// Most blocks that a tile of rows meets, and most of them that are masked.
static std::pair<int64_t, int64_t> mostBlocks(Attention &attention,
                                              const Machine &machine) {
  int64_t most = 0, mostMasked = 0;
  for (const RowBand &band : attentionBands(attention, machine)) {
    int64_t count = 0, masked = 0;
    for (const ColumnRun &run : band.columns) {
      count += run.count;
      masked += run.masked ? run.count : 0;
    }
    most = std::max(most, count);
    mostMasked = std::max(mostMasked, masked);
  }
  return {most, mostMasked};
}

int64_t engine::headsHeld(Attention &attention, const Machine &machine) {
  int64_t planes = 1;
  for (unsigned i : attention.outer)
    planes *= attention.extents[i];
  auto [met, masked] = mostBlocks(attention, machine);
  int64_t way = wayBytes(attention, machine, masked, met);
  bool two =
      2 * headBytes(attention, machine) + way <= machine.sbuf.partitionBytes;
  return planes > 1 && two ? 2 : 1;
}

std::string engine::attentionMisfit(Attention &attention,
                                    const Machine &machine) {
  int64_t columns = attention.columnExtent + !attention.conditions.empty();
  constexpr int64_t fewestBanks = 4;
  if (machine.psum.banks < fewestBanks)
    return "it takes 4 banks of PSUM";
  int64_t mostColumns =
      std::min<int64_t>(machine.psum.bankBytes / 4, machine.tensor.movingMax);
  if (columns > mostColumns)
    return ("its results have " + std::to_string(columns) +
            " columns, a bank of PSUM " + std::to_string(mostColumns));
  // Scores that are masked or computed are held for two tiles at once, each in a slot
  // with semaphores of its own.
  constexpr int64_t maxHeld = 10;
  auto [met, masked] = mostBlocks(attention, machine);
  int64_t held = attention.computesScores() ? met : masked;
  if (held > maxHeld)
    return ("a tile of queries holds scores of " + std::to_string(held) +
            " blocks of keys, at most " + std::to_string(maxHeld) +
            " have slots: split the keys");
  if (!registersSuffice(attention, masked))
    return ("what its scores and conditions compute takes more ring "
            "registers than the " +
            std::to_string(numRings) + " of a queue");
  int64_t bytes =
      headBytes(attention, machine) + wayBytes(attention, machine, masked, met);
  if (bytes > machine.sbuf.partitionBytes)
    return ("it takes up to " + std::to_string(bytes) +
            " bytes of each partition of SBUF, which has " +
            std::to_string(machine.sbuf.partitionBytes) + ": split the keys");
  // A row without keys is 0, not 0 / 0.
  if (!everyRowExists(attention.extents[attention.rows],
                      attention.extents[attention.keys()], attention.plane()))
    return "its filter leaves some query without keys";
  return "";
}
