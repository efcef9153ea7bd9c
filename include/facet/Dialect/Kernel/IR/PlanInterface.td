//===- PlanInterface.td - how a kernel is computed, as data ---*- tablegen -*-//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_DIALECT_KERNEL_IR_PLANINTERFACE_TD
#define FACET_DIALECT_KERNEL_IR_PLANINTERFACE_TD

include "mlir/IR/OpBase.td"

def Kernel_PlanAttrInterface : AttrInterface<"PlanAttrInterface"> {
  let cppNamespace = "::facet::kernel";
  let description = [{
    A plan says how a kernel is computed on a machine: which `let`s and results form a
    stage, its loops and blocks, where things rest. A planner makes it, a schedule
    block overrides it, the tuner searches it, a lowering obeys it and decides nothing
    itself. Driver, `explain`, tuner and editor know plans by this interface alone; each
    target brings one attribute.

    `machine` is null where the target is not a machine: the reference road. `kernel` is
    a reference only because attributes are declared before ops.
  }];
  let methods = [
    InterfaceMethod<[{
        Checks that the plan fits this kernel and machine: names, blocks, capacities.
        Errors are reported at the kernel and say what to change.
      }],
      "::llvm::LogicalResult", "verify",
      (ins "::facet::kernel::FuncOp &":$kernel, "const ::facet::Machine *":$machine)>,
    InterfaceMethod<[{
        Tells, in an empty `explanation`, what will be done and why, and how long it
        should take: `facet explain`.
      }],
      "void", "explain",
      (ins "::facet::kernel::FuncOp &":$kernel, "const ::facet::Machine *":$machine,
           "::facet::kernel::Explanation &":$explanation)>,
    InterfaceMethod<[{
        Prints the plan as a schedule block of the language. Reading it back with
        parseSchedule gives an equal plan.
      }],
      "void", "printSchedule",
      (ins "::facet::kernel::FuncOp &":$kernel, "::llvm::raw_ostream &":$os)>,
    InterfaceMethod<[{
        This plan as the entries of a schedule block override it. Words that the target
        does not know, and values that it cannot take, are errors at their places.
      }],
      "::mlir::FailureOr<::facet::kernel::PlanAttrInterface>", "parseSchedule",
      (ins "::facet::kernel::FuncOp &":$kernel, "const ::facet::Machine *":$machine,
           "::llvm::ArrayRef<::facet::kernel::ScheduleEntry>":$entries,
           "::facet::Diagnostics &":$diagnostics)>,
    InterfaceMethod<[{
        Visits the plans that a search may try, the planner's own first, until `visit`
        returns false. Every one passes verify.
      }],
      "void", "enumerate",
      (ins "::facet::kernel::FuncOp &":$kernel, "const ::facet::Machine *":$machine,
           "::llvm::function_ref<bool(::facet::kernel::PlanAttrInterface)>":$visit)>,
    InterfaceMethod<[{
        A short text, without blanks, that two plans of one target share when they
        make the same code: part of the artefact's info and of cache keys.
      }],
      "::std::string", "key", (ins)>
  ];
}

#endif
