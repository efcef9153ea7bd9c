//===- Passes.td - conversions between dialects ---------------*- tablegen -*-//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_CONVERSION_PASSES_TD
#define FACET_CONVERSION_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertKernelToLoopsPass : Pass<"convert-kernel-to-loops", "::mlir::ModuleOp"> {
  let summary = "add to each kernel its functions as plain loops";
  let description = [{
    In front of every `kernel.func @NAME` two functions are added: `NAME.impl` and
    `NAME.workspace`, or with `judge` `NAME.judge` and `NAME.judge.workspace`
    (facet/Conversion/KernelToLoops.h says what they take). The kernel stays.
    Needs a kernel that verifies; promises loops over raw memory in scf, arith, llvm
    and func, without reference to any library.
  }];
  let options = [Option<"judge", "judge", "bool", "false",
                        "carry f64 values and error bounds instead of computing in the kernel's types">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
                           "::mlir::scf::SCFDialect", "::mlir::LLVM::LLVMDialect"];
}

def ConvertKernelToEnginePass : Pass<"convert-kernel-to-engine", "::mlir::ModuleOp"> {
  let summary = "turn each kernel into a program of a matrix engine";
  let description = [{
    Replaces every `kernel.func` by an `engine.program` of its name. Needs kernels whose
    sizes are all fixed and whose softmaxes are decomposed; what the machine cannot do
    is an error at the statement.
  }];
  let options = [Option<"machine", "machine", "std::string", "\"trn2\"",
                        "name or path of the engine machine">];
  let dependentDialects = ["::facet::engine::EngineDialect"];
}

#endif
