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
    I32EnumAttrCase<"S8U8", 6, "s8u8">, // quads, b unsigned: vpdpbusd
    // The same groups in tile registers: tdpbf16ps, tdpbusd, tdpbsud, tdpbssd, tdpbuud.
    I32EnumAttrCase<"TileBF16", 7, "tile_bf16">,
    I32EnumAttrCase<"TileU8S8", 8, "tile_u8s8">,
    I32EnumAttrCase<"TileS8U8", 9, "tile_s8u8">,
    I32EnumAttrCase<"TileS8S8", 10, "tile_s8s8">,
    I32EnumAttrCase<"TileU8U8", 11, "tile_u8u8">]> {
  let cppNamespace = "::facet::cpu";
}

#endif
