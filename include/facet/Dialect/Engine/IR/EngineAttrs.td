//===- EngineAttrs.td - engines, kinds of buffers -------------*- tablegen -*-//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_DIALECT_ENGINE_IR_ENGINEATTRS_TD
#define FACET_DIALECT_ENGINE_IR_ENGINEATTRS_TD

include "facet/Dialect/Engine/IR/EngineDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

/// The values are those of facet::Engine.
def Engine_Queue : I32EnumAttr<"QueueKind", "an engine with an instruction queue", [
    I32EnumAttrCase<"Tensor", 0, "tensor">, I32EnumAttrCase<"Vector", 1, "vector">,
    I32EnumAttrCase<"Scalar", 2, "scalar">, I32EnumAttrCase<"Gpsimd", 3, "gpsimd">,
    I32EnumAttrCase<"Sync", 4, "sync">]> {
  let cppNamespace = "::facet::engine";
}

/// The values are those of facet::BufferKind.
def Engine_BufferUse : I32EnumAttr<"BufferUse", "what a buffer is for", [
    I32EnumAttrCase<"In", 0, "in">, I32EnumAttrCase<"Out", 1, "out">,
    I32EnumAttrCase<"Inout", 2, "inout">, I32EnumAttrCase<"Const", 3, "const">,
    I32EnumAttrCase<"Scratch", 5, "scratch">]> {
  let cppNamespace = "::facet::engine";
}

#endif
