//===- Prices.h - what the instructions of a stage cost -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_PLANNER_ENGINE_PRICES_H
#define FACET_LIB_PLANNER_ENGINE_PRICES_H

#include "facet/Dialect/Engine/IR/Engine.h"
#include "facet/Isa/Timing.h"
#include "facet/Planner/Engine/Problem.h"

namespace facet::engine {

/// An instruction of an engine, in ns after its start.
struct Work {
  double port = 0; ///< the next one may start
  double done = 0; ///< its result is visible
};

/// A transfer, in ns.
struct Move {
  double busy =
      0; ///< of the DMA engine with most of it, or its share of the rate
  double issue = 0;   ///< between two triggers of a queue
  double latency = 0; ///< from the trigger to the first data
  double bytes = 0;
  /// From the trigger until all is there when nothing else moves.
  double alone() const { return latency + busy; }
};

/// Prices of single instructions, as Isa/Timing gives them to the simulator as well.
class Prices {
public:
  explicit Prices(const Machine &machine) : machine(machine), timing(machine) {}

  Work loadWeights(mlir::Type type, int64_t columns) const;
  /// `slow`: in a slow window of the tensor clock.
  Work matmul(mlir::Type type, int64_t rows, int64_t columns,
              bool slow = false) const;
  /// One pass of vector or scalar over a tile of f32 in PSUM.
  Work evict(QueueKind queue, mlir::Type to, int64_t columns) const;
  /// The sum of two tiles of i32 on gpsimd.
  Work addIntegers(int64_t columns) const;
  /// `steps` steps along k of `width` elements of `factor`, into SBUF.
  Move load(const Factor &factor, Load how, QueueKind queue, int64_t depth,
            int64_t steps, int64_t width) const;
  /// A tile of what a map reads beside the sums; `dense`: as for store.
  Move loadTile(mlir::Type type, int64_t rows, int64_t columns,
                bool dense) const;
  /// A tile of results; `dense`: its columns are neighbours in HBM.
  Move store(mlir::Type type, int64_t rows, int64_t columns, bool dense,
             QueueKind queue = QueueKind::Scalar) const;
  /// From a result to the start of what waits for it.
  double hop(bool fromTransfer) const;

private:
  double ns(Ticks ticks) const { return timing.time().toNs(ticks); }
  Work price(Engine engine, const Instruction &instruction,
             llvm::ArrayRef<Access> accesses, bool slow = false) const;
  Move price(QueueKind queue, Opcode opcode, const Access &dst,
             const Access &src) const;

  const Machine &machine;
  Timing timing;
};

} // namespace facet::engine

#endif // FACET_LIB_PLANNER_ENGINE_PRICES_H
