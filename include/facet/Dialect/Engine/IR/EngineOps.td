//===- EngineOps.td - buffers, rings, loops, instructions -----*- tablegen -*-//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_DIALECT_ENGINE_IR_ENGINEOPS_TD
#define FACET_DIALECT_ENGINE_IR_ENGINEOPS_TD

include "facet/Dialect/Engine/IR/EngineAttrs.td"
include "facet/Dialect/Engine/IR/EngineTypes.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Engine_ProgramOp : Engine_Op<"program", [IsolatedFromAbove, Symbol, SingleBlock, NoTerminator]> {
  let summary = "a program for one machine";
  let description = [{
    Made from one kernel by `convert-kernel-to-engine`, read by `emitEngine`. Buffers
    and rings stand in its body, outside of loops.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrAttr:$machine);
  let regions = (region SizedRegion<1>:$bodyRegion);
  let assemblyFormat = "$sym_name `machine` $machine attr-dict-with-keyword $bodyRegion";
}

def Engine_BufferOp : Engine_Op<"buffer", [HasParent<"ProgramOp">,
      DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "declares a buffer in HBM";
  let description = [{
    Dense, in the dimensions of its type. `in`, `out`, `inout` and `const` are the
    kernel's own; a `scratch` buffer holds a tensor between two stages.
  }];
  let arguments = (ins StrAttr:$name, Engine_BufferUse:$use);
  let results = (outs Engine_TileType:$result);
  let assemblyFormat = "$name $use attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Engine_RingOp : Engine_Op<"ring", [HasParent<"ProgramOp">,
      DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "declares a row of tiles on chip and the order of its use";
  let description = [{
    One writer: either one engine or transfers triggered by one queue. Any number of
    readers. Where it lies is chosen when the program is emitted; rings that no barrier
    separates never overlap.
  }];
  let arguments = (ins StrAttr:$name);
  let results = (outs Engine_RingType:$result);
  let assemblyFormat = "$name attr-dict `:` type($result)";
  let hasVerifier = 1;
}

class Engine_OpenOp<string mnemonic> : Engine_Op<mnemonic,
    [TypesMatchWith<"the ring's tile", "ring", "result",
                    "::llvm::cast<::facet::engine::RingType>($_self).getTile()">]> {
  let arguments = (ins Engine_RingType:$ring);
  let results = (outs Engine_TileType:$result);
  let assemblyFormat = "$ring attr-dict `:` custom<Ring>(type($ring))";
}
class Engine_CloseOp<string mnemonic> : Engine_Op<mnemonic> {
  let arguments = (ins Engine_RingType:$ring);
  let assemblyFormat = "$ring attr-dict `:` custom<Ring>(type($ring))";
}

def Engine_AcquireOp : Engine_OpenOp<"acquire"> {
  let summary = "takes the next free slot of a ring to write it";
  let description = [{
    Holds the writer until every reader has released what the slot held before.
    Several slots may be open at once; `commit` closes the oldest.
  }];
}
def Engine_CommitOp : Engine_CloseOp<"commit"> {
  let summary = "gives the oldest acquired slot to the readers";
  let description = "What the writer did to the slot before is visible to who waits for it.";
}
def Engine_WaitOp : Engine_OpenOp<"wait"> {
  let summary = "takes the next committed slot of a ring to read it";
  let description = [{
    Holds every reader until the slot is committed; `release` closes the oldest slot
    that is open.
  }];
}
def Engine_ReleaseOp : Engine_CloseOp<"release"> {
  let summary = "gives the oldest slot waited for back to the writer";
  let description = "Reads of the slot before this are done before the writer may have it.";
}

def Engine_ForOp : Engine_Op<"for", [SingleBlock, NoTerminator]> {
  let summary = "repeats its body";
  let description = [{
    The counter runs from 0 to trips − 1. What is acquired or waited for inside is
    committed or released inside. Becomes a counted loop in every queue that has an
    instruction in it.
  }];
  let arguments = (ins ConfinedAttr<I64Attr, [IntMinValue<1>]>:$trips);
  let regions = (region SizedRegion<1>:$bodyRegion);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let builders = [OpBuilder<(ins "int64_t":$trips)>];
  let extraClassDeclaration = [{
    ::mlir::Value getCounter() { return getBody()->getArgument(0); }
  }];
}

def Engine_ViewOp : Engine_Op<"view", [Pure]> {
  let summary = "names some of the elements of a buffer or tile";
  let description = [{
    Element (r, i, …) of the result is, counted in elements,

      in HBM:   element  at(counters) + r·row_step + i·step…   of the buffer
      on chip:  row partition + r, element  at(counters) + i·step…   of that row

    `at` is an affine map of loop counters to one number. Steps are dense unless given;
    a step or row_step of 0 reads one element again and again.
  }];
  let arguments = (ins Engine_TileType:$source, Variadic<Index>:$counters, AffineMapAttr:$at,
                       DefaultValuedAttr<I64Attr, "0">:$partition,
                       DefaultValuedAttr<I64Attr, "0">:$row_step,
                       OptionalAttr<DenseI64ArrayAttr>:$steps);
  let results = (outs Engine_TileType:$result);
  let assemblyFormat = [{
    $source (`[` $counters^ `]`)? `at` $at (`partition` $partition^)? (`row_step` $row_step^)?
    (`steps` $steps^)? attr-dict `:` type($source) `to` type($result)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Steps of the dimensions inside a row, given or dense.
    ::llvm::SmallVector<int64_t> getAllSteps();
  }];
}

def Engine_IndexOp : Engine_Op<"index", [Pure]> {
  let summary = "numbers, for iota and affine_select";
  let description = [{
    Element (r, i, …) is the number at(counters) + r·row_step + i·step…; it lies in no
    memory.
  }];
  let arguments = (ins Variadic<Index>:$counters, AffineMapAttr:$at,
                       DefaultValuedAttr<I64Attr, "0">:$row_step,
                       OptionalAttr<DenseI64ArrayAttr>:$steps);
  let results = (outs Engine_TileType:$result);
  let assemblyFormat = [{
    (`[` $counters^ `]`)? `at` $at (`row_step` $row_step^)? (`steps` $steps^)? attr-dict
    `:` type($result)
  }];
  let hasVerifier = 1;
}

def Engine_IssueOp : Engine_Op<"issue", [AttrSizedOperandSegments]> {
  let summary = "one instruction of the instruction set";
  let description = [{
    Mnemonics, names of operands and of fields are those of docs/InstructionSet.md; the
    table behind that page is the only list of them. Fields that stay at their default
    are left out, flags are unit attributes. With `if`, the instruction is done only
    where the conditions hold.

        engine.issue tensor "matmul"(dst = %sums, moving = %b) {start}
            if affine_set<(k): (k == 0)>(%k)
            : !engine.tile<128x512xf32, psum>, !engine.tile<128x512xbf16, sbuf>
  }];
  let arguments = (ins Engine_Queue:$queue, StrAttr:$mnemonic, StrArrayAttr:$names,
                       Variadic<Engine_TileType>:$tiles, DictionaryAttr:$fields,
                       OptionalAttr<IntegerSetAttr>:$condition, Variadic<Index>:$counters);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let builders = [OpBuilder<(ins "::facet::engine::QueueKind":$queue, "::llvm::StringRef":$mnemonic,
      "::llvm::ArrayRef<std::pair<::llvm::StringRef, ::mlir::Value>>":$operands,
      CArg<"::llvm::ArrayRef<::mlir::NamedAttribute>", "{}">:$fields)>];
  let extraClassDeclaration = [{
    /// Done by the DMA engines: the queue only starts it.
    bool isTransfer() { return getMnemonic().starts_with("dma_"); }
    /// Slot of the instruction for a tile operand.
    unsigned getSlot(unsigned tile);
    bool writes(unsigned tile);
    bool reads(unsigned tile);
  }];
}

def Engine_BarrierOp : Engine_Op<"barrier", [HasParent<"ProgramOp">]> {
  let summary = "ends a stage";
  let description = [{
    Everything before it, transfers included, is done before anything after it starts.
    No slot is open across it. Rings used on one side only may share memory with those
    of the other.
  }];
  let assemblyFormat = "attr-dict";
}

#endif
