//===- Choices.h - the choices of a contraction, some of them open --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_PLANNER_ENGINE_CHOICES_H
#define FACET_LIB_PLANNER_ENGINE_CHOICES_H

#include "facet/Dialect/Engine/IR/Engine.h"
#include "facet/Isa/Program.h"

#include <array>
#include <optional>

namespace facet::engine {

inline Side otherSide(Side side) { return side == Side::A ? Side::B : Side::A; }

/// A value for each factor.
template <typename T>
struct BySide {
  std::array<T, 2> values{};
  T &operator[](Side side) { return values[unsigned(side)]; }
  const T &operator[](Side side) const { return values[unsigned(side)]; }
};

/// What the planner chooses, by factor instead of by what the array does with it.
struct Choices {
  Side stationary = Side::A, outer = Side::A;
  bool stays = false;
  BySide<int64_t> tile, block, slots;
  int64_t depthBlock = 0, sumSlots = 0, resultSlots = 0, unroll = 0;
  int64_t sumDepth = 0;
  BySide<Load> load;
  QueueKind evict = QueueKind::Vector;

  Choices() = default;
  explicit Choices(ContractionAttr plan)
      : stationary(plan.getStationary()), outer(plan.getOuter()),
        stays(plan.getStays()), depthBlock(plan.getDepthBlock()),
        sumSlots(plan.getSumSlots()), resultSlots(plan.getResultSlots()),
        unroll(plan.getUnroll()), sumDepth(plan.getSumDepth()),
        evict(plan.getEvict()) {
    Side moving = otherSide(stationary);
    tile[stationary] = plan.getRowTile();
    tile[moving] = plan.getColumnTile();
    block[stationary] = plan.getRowBlock();
    block[moving] = plan.getColumnBlock();
    for (Side side : {Side::A, Side::B}) {
      slots[side] = plan.getSlots(side);
      load[side] = plan.getLoad(side);
    }
  }
  ContractionAttr get(mlir::MLIRContext *context) const {
    Side moving = otherSide(stationary);
    return ContractionAttr::get(
        context, stationary, outer, stays, tile[stationary], tile[moving],
        block[stationary], block[moving], depthBlock, slots[Side::A],
        slots[Side::B], sumSlots, resultSlots, unroll, load[Side::A],
        load[Side::B], evict, sumDepth);
  }
  /// Tiles of a block of sums.
  int64_t blockTiles() const {
    return block[Side::A] / tile[Side::A] * (block[Side::B] / tile[Side::B]);
  }
};

/// The choices that a schedule has made; the planner makes the others.
struct Wishes {
  std::optional<Side> stationary, outer;
  std::optional<bool> stays;
  BySide<std::optional<int64_t>> tile, block, slots;
  std::optional<int64_t> depthBlock, sumSlots, resultSlots, unroll;
  BySide<std::optional<Load>> load;
  std::optional<QueueKind> evict;
  // PlanLimits.
  int64_t registers = numRings, sbufEighths = 7;
};

} // namespace facet::engine

#endif // FACET_LIB_PLANNER_ENGINE_CHOICES_H
