//===- Passes.td - passes that prepare a module for emission --*- tablegen -*-//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_TARGET_PASSES_TD
#define FACET_TARGET_PASSES_TD

include "mlir/Pass/PassBase.td"

def EmitInterfacePass : Pass<"emit-interface", "::mlir::ModuleOp"> {
  let summary = "replaces kernels by the C functions around their code";
  let description = [{
    Needs `NAME.impl` and `NAME.workspace` beside each `kernel.func @NAME`, as the
    conversions of the roads leave them. Afterwards no `kernel.func` is left: the
    module holds func.func over arith, cf, scf and the LLVM dialect, of which only the
    functions that the header declares are visible outside of the object. Does
    nothing where there is no kernel.
  }];
  let options = [
    Option<"nameSpace", "namespace", "std::string", "\"\"",
           "set in front of every C name, with an underscore">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect",
    "::mlir::func::FuncDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::scf::SCFDialect"
  ];
}

#endif
