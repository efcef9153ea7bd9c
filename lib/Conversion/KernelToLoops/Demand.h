//===- Demand.h - which elements of a let are needed, and index checks ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_CONVERSION_KERNELTOLOOPS_DEMAND_H
#define FACET_LIB_CONVERSION_KERNELTOLOOPS_DEMAND_H

#include "OwnPoint.h"
#include "Workspace.h"
#include "facet/Dialect/Kernel/IR/LiveOps.h"

namespace facet::loops {

/// The structured ops of a kernel that something needs, and which of them are
/// computed only where a later one needs them.
class Demand {
public:
  /// With `everywhere`, all ops are demand-driven (the judge); else those
  /// with subscripts that may be out of range, and what reads them.
  Demand(kernel::FuncOp kernel, bool everywhere);

  /// In order, dead ones left out.
  llvm::ArrayRef<kernel::StructuredOpInterface> ops() const { return live.ops; }
  /// The op keeps a byte per element of its result: is it needed?
  bool isTracked(mlir::Operation *op) const {
    return live.partial.contains(op);
  }

  /// Adds the byte arrays to `workspace` for the ops that are no output (all
  /// tracked ops with `everywhere`).
  void reserve(Workspace &workspace);
  /// The byte array of a tracked op, Nothing for others.
  Storage array(mlir::Operation *op, llvm::ArrayRef<Storage> placed) const;

  /// Emits: clear the arrays of ops that are no output, then for every op from last
  /// to first, at every needed point whose conditions hold: check subscripts (the
  /// judge leaves that to the road), mark what is read. `frame.status` says
  /// afterwards whether an index was out of range. `frame.tensors` must know the
  /// parameters; the arrays of outputs are filled by the caller.
  void emit(Frame &frame, llvm::ArrayRef<Storage> placed);
  /// i1 per op: may it be needed at all? Null: yes. Valid behind emit().
  mlir::Value isNeeded(mlir::Operation *op) const { return needed.lookup(op); }

private:
  void emitNeeded(Frame &frame);
  void emitPass(Frame &frame, kernel::StructuredOpInterface op,
                llvm::ArrayRef<Storage> placed);

  kernel::FuncOp kernel;
  bool everywhere;
  kernel::LiveOps live;
  llvm::DenseMap<mlir::Operation *, unsigned> slots;
  llvm::DenseMap<mlir::Operation *, mlir::Value> needed;
};

} // namespace facet::loops

#endif // FACET_LIB_CONVERSION_KERNELTOLOOPS_DEMAND_H
