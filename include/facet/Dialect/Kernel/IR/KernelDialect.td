//===- KernelDialect.td - the kernel dialect ------------------*- tablegen -*-//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_DIALECT_KERNEL_IR_KERNELDIALECT_TD
#define FACET_DIALECT_KERNEL_IR_KERNELDIALECT_TD

include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/OpBase.td"

def KernelDialect : Dialect {
  let name = "kernel";
  let cppNamespace = "::facet::kernel";
  let summary = "what a kernel computes, with its axes named";
  let description = [{
    A `kernel.func` is one kernel of the language after checking. Its body is a
    straight line of structured ops over builtin tensors: `kernel.map`,
    `kernel.reduce`, `kernel.softmax`. Each carries named iterators, one access per
    input (an index, a number, or an element of another input: a gather, per
    dimension), guards (the conditions under which an input is read or a point of a
    reduction exists) and a scalar body. How it is computed is no concern of this
    dialect.
  }];
  let useDefaultAttributePrinterParser = 1;
  let extraClassDeclaration = "void registerAttributes();";
  let hasConstantMaterializer = 1;
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
    "::mlir::tensor::TensorDialect"
  ];
}

class Kernel_Op<string mnemonic, list<Trait> traits = []>
    : Op<KernelDialect, mnemonic, traits>;

#endif
