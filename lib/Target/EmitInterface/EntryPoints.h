//===- EntryPoints.h - the functions of a kernel, one emitter each --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_TARGET_EMITINTERFACE_ENTRYPOINTS_H
#define FACET_LIB_TARGET_EMITINTERFACE_ENTRYPOINTS_H

#include "Function.h"

namespace facet::interface {

/// What all emitters of one kernel share.
struct Emission {
  kernel::FuncOp kernel;
  const Signature &signature;
  const InterfaceOptions &options;
  Constants &constants;
  mlir::func::FuncOp implementation; ///< NAME.impl
  mlir::func::FuncOp requirement;    ///< NAME.workspace
  bool takesExec; ///< NAME.impl has a facet_exec behind the error

  /// NAME.impl and NAME.workspace hold several levels, and take the one to use as
  /// their last argument.
  bool takesLevel() const { return options.levels.size() > 1; }
  /// The object runs on some CPUs only.
  bool hasLevels() const { return options.levels.front() != FACET_LEVEL_ANY; }

  mlir::Location loc() const { return kernel->getLoc(); }
};

mlir::LogicalResult emitCall(Emission &emission); // Call.cpp
void emitWorkspace(Emission &emission);           // Call.cpp
void emitPacking(Emission &emission);             // Packing.cpp
void emitTensors(Emission &emission);             // Tensors.cpp
void emitInfo(Emission &emission);                // Info.cpp

/// The level at which the call runs whose exec `f` has opened: one of the object's,
/// or 0 where it has none for this CPU at or below max_level (Levels.cpp).
mlir::Value chooseLevel(Function &f, Emission &emission);
/// That, as the function behind facet_info.level; returns its symbol.
std::string emitLevelQuery(Emission &emission);

/// One run's arithmetic, as the function behind facet_info.flops (Flops.cpp).
/// Returns its symbol.
std::string emitFlops(Emission &emission);

} // namespace facet::interface

#endif // FACET_LIB_TARGET_EMITINTERFACE_ENTRYPOINTS_H
