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
  /// NAME.packed.impl and its workspace; null: packed arrays are dense rows, and the
  /// two above take them.
  mlir::func::FuncOp packedImplementation, packedRequirement;

  /// NAME.pack.W and its kin of parameter `index`; null: dense rows.
  struct PackFunctions {
    mlir::func::FuncOp write, bytes, layout;
  };
  PackFunctions packFunctions(unsigned index) const;
  /// Calls one of them: sizes that `f` does not have are 0, `more` follows them, and
  /// `level` comes last where the object has several.
  mlir::Value callPacker(Function &f, mlir::func::FuncOp callee,
                         llvm::ArrayRef<mlir::Value> more,
                         mlir::Value level) const;
  /// NAME and NAME_packed are two doors to one local function.
  std::string callSymbol() const {
    return packedImplementation ? signature.name + ".call" : signature.cName;
  }

  /// NAME.impl and NAME.workspace hold several levels, and take the one to use as
  /// their last argument.
  bool takesLevel() const { return options.levels.size() > 1; }
  /// The object runs on some CPUs only.
  bool hasLevels() const { return options.levels.front() != FACET_LEVEL_ANY; }

  mlir::Location loc() const { return kernel->getLoc(); }
};

/// The type of NAME.impl (Conversion/KernelToLoops.h), with or without the exec of a road
/// that runs in parallel and the level of one that has several behind everything else.
mlir::FunctionType implementationType(mlir::Builder &b,
                                      const Signature &signature,
                                      bool takesExec, bool takesLevel);

mlir::LogicalResult emitCall(Emission &emission); // Call.cpp
void emitWorkspace(Emission &emission);           // Call.cpp
void emitPacking(Emission &emission);             // Packing.cpp
void emitTensors(Emission &emission);             // Tensors.cpp
void emitInfo(Emission &emission);                // Info.cpp

/// The level at which the call runs whose exec `f` has opened: one of the object's,
/// or 0 where it has none for this CPU at or below max_level (Levels.cpp).
mlir::Value chooseLevel(Function &f, Emission &emission);
/// Whether this CPU has the level of that number, one of the object's, and `highest`,
/// which it has, is not below.
mlir::Value hasLevel(Function &f, Emission &emission, mlir::Value number,
                     mlir::Value highest);
/// The highest level of the object that this CPU has, whatever a call may say; or 0.
mlir::Value highestLevel(Function &f, Emission &emission);
/// That, as the function behind facet_info.level; returns its symbol.
std::string emitLevelQuery(Emission &emission);

/// One run's arithmetic, as the function behind facet_info.flops (Flops.cpp).
/// Returns its symbol.
std::string emitFlops(Emission &emission);

} // namespace facet::interface

#endif // FACET_LIB_TARGET_EMITINTERFACE_ENTRYPOINTS_H
