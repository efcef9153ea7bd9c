//===- CpuDialect.td - the cpu dialect ------------------------*- tablegen -*-//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_DIALECT_CPU_IR_CPUDIALECT_TD
#define FACET_DIALECT_CPU_IR_CPUDIALECT_TD

include "mlir/IR/OpBase.td"

def CpuDialect : Dialect {
  let name = "cpu";
  let cppNamespace = "::facet::cpu";
  let summary = "how a CPU computes it: plans, and the innermost kernel";
  let description = [{
    `#cpu.plan` says how a kernel is computed; `cpu.micro_kernel` is the one piece of
    code whose instructions we choose ourselves. Everything between the two is
    builtin: scf loops over raw memory, vectors of native width.
  }];
  // The micro-kernel's pointers are LLVM's, which its text does not name.
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
  let useDefaultAttributePrinterParser = 1;
  let extraClassDeclaration = "void registerAttributes();";
}

class Cpu_Op<string mnemonic, list<Trait> traits = []>
    : Op<CpuDialect, mnemonic, traits>;

#endif
