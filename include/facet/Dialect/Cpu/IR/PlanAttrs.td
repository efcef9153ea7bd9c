//===- PlanAttrs.td - how a kernel is computed on a CPU -------*- tablegen -*-//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_DIALECT_CPU_IR_PLANATTRS_TD
#define FACET_DIALECT_CPU_IR_PLANATTRS_TD

include "facet/Dialect/Cpu/IR/CpuAttrs.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

def Cpu_Form : I32EnumAttr<"Form", "how the ops of a stage are computed", [
    I32EnumAttrCase<"Loops", 0, "loops">,            // one element after the other
    I32EnumAttrCase<"Lanes", 1, "lanes">,            // the innermost loop in vectors
    I32EnumAttrCase<"Contraction", 2, "contraction">, // panels and the micro-kernel
    I32EnumAttrCase<"Stream", 3, "stream"> // a softmax between two contractions
    ]> {
  let cppNamespace = "::facet::cpu";
  let genSpecializedAttr = 0;
}

def Cpu_Pack : I32EnumAttr<"Pack", "which operands are copied into panels", [
    I32EnumAttrCase<"None", 0, "none">, I32EnumAttrCase<"A", 1, "a">,
    I32EnumAttrCase<"B", 2, "b">, I32EnumAttrCase<"AB", 3, "ab">]> {
  let cppNamespace = "::facet::cpu";
  let genSpecializedAttr = 0;
}

def Cpu_Split : I32EnumAttr<"Split", "which axis tasks share out between them", [
    I32EnumAttrCase<"None", 0, "none">, I32EnumAttrCase<"M", 1, "m">,
    I32EnumAttrCase<"N", 2, "n">]> {
  let cppNamespace = "::facet::cpu";
  let genSpecializedAttr = 0;
}

class Cpu_PlanPart<string name, string attrMnemonic> : AttrDef<CpuDialect, name> {
  let mnemonic = attrMnemonic;
  let genVerifyDecl = 1;
}

def Cpu_ContractionAttr : Cpu_PlanPart<"Contraction", "contraction"> {
  let summary = "the choices for one sum of products";
  let description = [{
    `Σ_k a[m, k] · b[k, n]`, in tiles of `rows` × `vectors` sums that stay in registers.

    | parameter | meaning |
    | --- | --- |
    | `rows`, `vectors` | the tile: rows of a by vectors of b |
    | `lanes` | elements of a vector, in the type of the sums |
    | `row_block` | rows of a whose panel is packed at once; a multiple of `rows` |
    | `column_block` | columns of b whose panel is packed at once; a multiple of `vectors · lanes` |
    | `depth_block` | elements of the outermost axis of k that panels hold at once; 0: all. Between blocks the sums rest in the result, or in a scratch where a map follows |
    | `pack` | `none`, `a`, `b` or `ab`: what is copied into panels; the rest is read where it is |
    | `dot` | how one step multiplies and adds; groups of several elements (bf16, i16, u8s8, s8u8) need both packed |
    | `split` | `m` or `n`: tasks share out the rows or the columns, in whole tiles, and each packs for itself; `none`: one task |
    | `grain` | multiply-adds that a task has at least; there are never more tasks than threads |
    | `constant` | b is read from its packed array, in the plan's layout of it; `pack` then says nothing of b |
    | `prefetch` | how many bytes in front of the present step one tile of rows asks for b, into the second-level cache; several ask for the next panel instead; 0: neither |

    Rows left over go to tiles of fewer rows, columns to one of fewer vectors.
  }];
  let parameters = (ins "int64_t":$rows, "int64_t":$vectors, "int64_t":$lanes,
                        "int64_t":$row_block, "int64_t":$column_block,
                        EnumParameter<Cpu_Pack>:$pack, EnumParameter<Cpu_Dot>:$dot,
                        DefaultValuedParameter<"int64_t", "0">:$depth_block,
                        DefaultValuedParameter<"::facet::cpu::Split", "::facet::cpu::Split::None">:$split,
                        DefaultValuedParameter<"int64_t", "0">:$grain,
                        DefaultValuedParameter<"bool", "false">:$constant,
                        DefaultValuedParameter<"int64_t", "0">:$prefetch);
  let assemblyFormat = "`<` struct(params) `>`";
  let extraClassDeclaration = [{
    bool packsA() const { return uint32_t(getPack()) & uint32_t(Pack::A); }
    bool packsB() const { return uint32_t(getPack()) & uint32_t(Pack::B); }
    /// Elements of a row of the tile.
    int64_t getColumns() const { return getVectors() * getLanes(); }
  }];
}

def Cpu_StreamAttr : Cpu_PlanPart<"Stream", "streamed"> {
  let summary = "the choices for a softmax between two sums of products";
  let description = [{
    `Σ_j softmax_j(Σ_d q[i, d] · k[j, d]) · v[j, n]`: a block of rows i meets one block of
    keys j after the other; of the softmax only what the tile at hand needs exists.

    | parameter | meaning |
    | --- | --- |
    | `rows` | of a tile, in both products |
    | `key_vectors`, `value_vectors` | vectors of a tile: of keys in the first product, of n in the second |
    | `lanes` | elements of a vector |
    | `row_block`, `key_block` | rows and keys that meet at a time; multiples of the tile's |
    | `key_dot`, `value_dot` | how one step of each product multiplies and adds |
    | `grain` | multiply-adds that a task has at least; 0: one task |
  }];
  let parameters = (ins "int64_t":$rows, "int64_t":$key_vectors, "int64_t":$value_vectors,
                        "int64_t":$lanes, "int64_t":$row_block, "int64_t":$key_block,
                        EnumParameter<Cpu_Dot>:$key_dot, EnumParameter<Cpu_Dot>:$value_dot,
                        DefaultValuedParameter<"int64_t", "0">:$grain);
  let assemblyFormat = "`<` struct(params) `>`";
  let extraClassDeclaration = [{
    /// Keys of one panel.
    int64_t getKeys() const { return getKeyVectors() * getLanes(); }
  }];
}

def Cpu_StageAttr : Cpu_PlanPart<"Stage", "stage"> {
  let summary = "ops that are computed together";
  let description = [{
    `#cpu.stage<lanes [3]>`: an op by its number among the structured ops of the kernel.
    `#cpu.stage<contraction [0, 1] by <rows = 8, …>>`: the sum first, then the map
    that is computed on it in registers. `#cpu.stage<stream [0, 1, 2, 3] in <rows = 6, …>>`:
    the ops of a stream, and the map behind its values if that joins it.
  }];
  let parameters = (ins EnumParameter<Cpu_Form>:$form, ArrayRefParameter<"int64_t">:$ops,
                        OptionalParameter<"::facet::cpu::ContractionAttr">:$contraction,
                        OptionalParameter<"::facet::cpu::StreamAttr">:$stream);
  let assemblyFormat = "`<` $form `[` $ops `]` (`by` $contraction^)? (`in` $stream^)? `>`";
  let builders = [AttrBuilder<(ins "::facet::cpu::Form":$form, "::llvm::ArrayRef<int64_t>":$ops,
                                   "::facet::cpu::ContractionAttr":$contraction), [{
    return $_get($_ctxt, form, ops, contraction, StreamAttr());
  }]>];
}

def Cpu_GuardAttr : Cpu_PlanPart<"Guard", "guard"> {
  let summary = "which calls a variant is for";
  let description = [{
    `#cpu.guard<"M" most 4>`: those whose size M is 4 at most.
  }];
  let parameters = (ins StringRefParameter<>:$size, "int64_t":$most);
  let assemblyFormat = "`<` $size `most` $most `>`";
}

def Cpu_LayoutAttr : Cpu_PlanPart<"Layout", "layout"> {
  let summary = "what NAME_pack_w makes of a constant array";
  let description = [{
    `#cpu.layout<1 by <columns = 48, lanes = 16, dot = bf16>>` of argument 1: for every
    batch and outer n one region of panels,

      [n / columns][group of k][columns][k within the group]

    the last panel as many whole vectors of `lanes` wide as it needs. A word is a
    group of operands of `dot`, 0 behind the last k and the last column. All of k
    is in a panel, so that every variant may cut it as it likes. Where the dot
    product takes a shifted, Σ_k b of every column stands behind all panels.
  }];
  let parameters = (ins "int64_t":$argument, "int64_t":$columns, "int64_t":$lanes,
                        EnumParameter<Cpu_Dot>:$dot);
  let assemblyFormat = "`<` $argument `by` `<` struct($columns, $lanes, $dot) `>` `>`";
  let extraClassDeclaration = [{
    /// The number that packed arrays carry; 0 is dense rows.
    int32_t getTag() const;
  }];
}

def Cpu_VariantAttr : Cpu_PlanPart<"Variant", "variant"> {
  let summary = "the stages of a kernel, in order, for some calls";
  let description = [{
    `#cpu.variant<[…]>`, `#cpu.variant<when [<"M" most 4>] […]>`: all guards hold.
    `#cpu.variant<packed […]>`: of NAME_packed.
  }];
  let parameters = (ins DefaultValuedParameter<"bool", "false">:$packed,
                        OptionalArrayRefParameter<"::facet::cpu::GuardAttr">:$guards,
                        ArrayRefParameter<"::facet::cpu::StageAttr">:$stages);
  let hasCustomAssemblyFormat = 1;
  let builders = [AttrBuilder<(ins "::llvm::ArrayRef<::facet::cpu::StageAttr>":$stages), [{
    return $_get($_ctxt, false, ::llvm::ArrayRef<::facet::cpu::GuardAttr>(), stages);
  }]>];
}

def Cpu_PlanAttr : Cpu_PlanPart<"Plan", "plan"> {
  let summary = "how a kernel is computed on one machine";
  let description = [{
    ```
    #cpu.plan<"x86-64-v4", <[<contraction [0, 1] by <rows = 8, vectors = 3, lanes = 16,
              row_block = 96, column_block = 768, pack = ab, dot = f32>>, <lanes [2]>]>>
    ```

    The machine's name, the variants and, where there are any, the layouts of
    constant arrays. A call takes the first variant whose guards hold, NAME_packed
    among those that are `packed`; the last of each kind has no guard. In each,
    every live op of the kernel is in one stage.
    Made by the planner, overridden by a schedule, obeyed by the lowering, which
    finds it as the attribute `kernel.plan` of the kernel. The planner's library
    attaches PlanAttrInterface to it.
  }];
  let parameters = (ins StringRefParameter<>:$machine,
                        ArrayRefParameter<"::facet::cpu::VariantAttr">:$variants,
                        OptionalArrayRefParameter<"::facet::cpu::LayoutAttr">:$layouts);
  let assemblyFormat = "`<` $machine `,` $variants (`layouts` $layouts^)? `>`";
  let builders = [AttrBuilder<(ins "::llvm::StringRef":$machine,
                                   "::llvm::ArrayRef<::facet::cpu::VariantAttr>":$variants), [{
    return $_get($_ctxt, machine, variants, ::llvm::ArrayRef<::facet::cpu::LayoutAttr>());
  }]>];
  let extraClassDeclaration = [{
    /// The variant for calls without a guard that holds.
    ::facet::cpu::VariantAttr getGeneral(bool packed = false) const;
    /// The layout of an argument, or null: dense rows.
    ::facet::cpu::LayoutAttr getLayout(int64_t argument) const;
  }];
}

#endif
