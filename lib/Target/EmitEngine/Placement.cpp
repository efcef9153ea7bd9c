//===- Placement.cpp - where rings lie on chip ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every ring is one stretch of every partition: `depth` slots, side by side. Rings
// used in the same stage lie apart; those of different stages may share bytes, as
// the barrier between orders them. Largest first, each at the lowest place that is
// free: for the few rings of a program this wastes next to nothing.
//
//===----------------------------------------------------------------------===//

#include "Rings.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace facet;
using namespace facet::engine;

/// On chip, slots start at multiples of this: a DMA element of any kind.
static constexpr int64_t sbufAlign = 64;

static bool meet(const Ring &a, const Ring &b) {
  return a.firstStage <= b.lastStage && b.firstStage <= a.lastStage;
}

static int64_t bytesOf(const Ring &ring) { return ring.stride * ring.slots(); }

/// `a: 3 x 8192 bytes`, all that lie together with `ring`.
static std::string listOfRings(ArrayRef<Ring *> placed, const Ring &ring) {
  std::string list;
  for (Ring *other : placed)
    if (meet(*other, ring))
      list += (list.empty() ? "" : ", ") + other->op.getName().str() + ": " +
              std::to_string(other->slots()) + " x " +
              std::to_string(other->stride) + " bytes";
  return list;
}

static LogicalResult placeIn(Memory memory, int64_t capacity, Rings &rings) {
  SmallVector<Ring *> order, placed;
  for (auto &[key, ring] : rings)
    if (ring.type().getTile().getMemory() == memory && ring.firstStage >= 0)
      order.push_back(&ring);
  // In the order of the text where they are equal.
  std::vector<std::pair<int64_t, size_t>> bySize;
  for (auto [i, ring] : llvm::enumerate(order))
    bySize.push_back({-bytesOf(*ring), i});
  llvm::sort(bySize);
  for (auto [size, index] : bySize) {
    Ring *ring = order[index];
    int64_t address = 0;
    for (bool moved = true; moved;) {
      moved = false;
      for (Ring *other : placed)
        if (meet(*ring, *other) && address < other->address + bytesOf(*other) &&
            other->address < address + bytesOf(*ring)) {
          address = other->address + bytesOf(*other);
          moved = true;
        }
    }
    if (address + bytesOf(*ring) > capacity) {
      InFlightDiagnostic error = ring->op.emitOpError("does not fit ")
                                 << stringifyMemory(memory) << ": "
                                 << ring->slots() << " x " << ring->stride
                                 << " bytes of each partition's " << capacity;
      std::string others = listOfRings(placed, *ring);
      if (!others.empty())
        error.attachNote() << "beside it: " << others;
      return error;
    }
    ring->address = address;
    placed.push_back(ring);
  }
  return success();
}

LogicalResult engine::placeRings(Rings &rings, const Machine &machine) {
  for (auto &[key, ring] : rings) {
    TileType tile = ring.type().getTile();
    bool inPsum = tile.getMemory() == Memory::Psum;
    ring.stride = llvm::alignTo(tile.getRowBytes(),
                                inPsum ? machine.psum.bankBytes : sbufAlign);
    if (tile.getRows() > machine.core.partitions)
      return ring.op.emitOpError("has ")
             << tile.getRows() << " rows; machine '" << machine.name << "' has "
             << machine.core.partitions << " partitions";
  }
  return success(
      succeeded(placeIn(Memory::Sbuf, machine.sbuf.partitionBytes, rings)) &&
      succeeded(placeIn(Memory::Psum,
                        machine.psum.banks * machine.psum.bankBytes, rings)));
}
