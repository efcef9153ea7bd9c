//===- Target.h - what a target is, and the list of them ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A target is one planner, one conversion and one pipeline. Each has a function
// that describes it and one line in lib/Pipelines/Targets.cpp; driver, help and
// completion know nothing else of it.
//
// An object is made for a list of targets: one of any kind, or several levels of one
// architecture, of which each call takes the highest that its CPU has.
//
//===----------------------------------------------------------------------===//

#ifndef FACET_TARGET_TARGET_H
#define FACET_TARGET_TARGET_H

#include "facet/Target/EmitInterface.h"
#include "facet/Target/Levels.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <memory>
#include <string>

namespace facet {

struct Machine;
class Diagnostics;

struct Target {
  /// What `--target=` takes.
  std::string name;
  /// One line for `facet targets`.
  std::string description;
  /// The planner: how to compute `kernel` on `machine`, which is null for a target
  /// that is no machine. The attribute knows the words of schedules on this target.
  kernel::PlanAttrInterface (*plan)(kernel::FuncOp kernel,
                                    const Machine *machine);
  /// Computes `kernel`, which has its plan for `machine`: adds NAME.impl and
  /// NAME.workspace, in upstream dialects, beside it (Conversion/KernelToLoops.h).
  /// Diagnostics go to the module's context.
  llvm::LogicalResult (*convert)(kernel::FuncOp kernel, const Machine *machine);
  /// Turns a module of such functions into the LLVM dialect.
  llvm::LogicalResult (*convertToLLVM)(mlir::ModuleOp module);
  /// The machine it plans for, a name for loadMachine; empty: none.
  std::string machine = {};
  /// The level of CPUs that can run it; null: any machine, and little optimisation.
  const Level *level = nullptr;
  /// The machine itself, of a target that is made from one.
  std::shared_ptr<const Machine> given = nullptr;
};

/// A target of the list below, or one that was made from a machine.
using TargetRef = std::shared_ptr<const Target>;

/// A target and its machine, null where it has none.
struct TargetOnMachine {
  const Target *target;
  const Machine *machine;
};

/// Gives the plan of a kernel on one target, or null with an error.
using PlanFunction = llvm::function_ref<kernel::PlanAttrInterface(
    kernel::FuncOp kernel, const TargetOnMachine &target)>;

/// Turns every `kernel.func` of the module into functions of upstream dialects, the
/// emitted interface included: what `--emit=mlir` prints. Several targets are levels,
/// lowest first. Sets the plan and the levels of `options`.
llvm::LogicalResult lowerKernels(mlir::ModuleOp module,
                                 llvm::ArrayRef<TargetOnMachine> targets,
                                 PlanFunction plan, InterfaceOptions options);

/// The target that plans for `machine`, a CPU, and uses the instructions of the level
/// that it names. An error, at its place in the machine's file, when there is no such
/// level or the machine has more than its level's instructions.
std::optional<Target> targetOnMachine(Machine machine,
                                      Diagnostics &diagnostics);

/// All targets, in the order of `facet targets`.
llvm::ArrayRef<Target> targets();

/// The target of that name in the list, or null.
TargetRef findTarget(llvm::StringRef name);

} // namespace facet

#endif // FACET_TARGET_TARGET_H
