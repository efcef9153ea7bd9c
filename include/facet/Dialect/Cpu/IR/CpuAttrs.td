//===- CpuAttrs.td - kinds of dot products --------------------*- tablegen -*-//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_DIALECT_CPU_IR_CPUATTRS_TD
#define FACET_DIALECT_CPU_IR_CPUATTRS_TD

include "facet/Dialect/Cpu/IR/CpuDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

def Cpu_Dot : I32EnumAttr<"Dot", "how one step multiplies and adds", [
    I32EnumAttrCase<"F32", 0, "f32">,    // f32·f32: fused multiply-add where it exists
    I32EnumAttrCase<"F64", 1, "f64">,
    I32EnumAttrCase<"I32", 2, "i32">,    // i32·i32, wrapping
    I32EnumAttrCase<"BF16", 3, "bf16">,  // pairs: vdpbf16ps
    I32EnumAttrCase<"U8S8", 4, "u8s8">,  // quads, a unsigned: vpdpbusd, no saturation
    I32EnumAttrCase<"I16", 5, "i16">,    // pairs: vpdpwssd, or vpmaddwd and an add
    I32EnumAttrCase<"S8U8", 6, "s8u8">]> { // quads, b unsigned: vpdpbusd
  let cppNamespace = "::facet::cpu";
}

#endif
