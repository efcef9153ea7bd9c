//===- StructuredOps.td - map, reduce, softmax ----------------*- tablegen -*-//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_DIALECT_KERNEL_IR_STRUCTUREDOPS_TD
#define FACET_DIALECT_KERNEL_IR_STRUCTUREDOPS_TD

include "facet/Dialect/Kernel/IR/KernelAttrs.td"
include "facet/Dialect/Kernel/IR/KernelInterfaces.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/TilingInterface.td"

/// Regions are not isolated: bodies may use sizes (`kernel.size`), constants and
/// tile offsets from above, nothing else. Constants stand inside, unless CSE found
/// one outside; `kernel-simplify` brings them back in.
class Kernel_StructuredOp<string mnemonic, list<Trait> traits = []>
    : Kernel_Op<mnemonic, !listconcat([
        AttrSizedOperandSegments, Pure, DestinationStyleOpInterface,
        Kernel_StructuredOpInterface,
        DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface, ["reifyResultShapes"]>,
        DeclareOpInterfaceMethods<TilingInterface,
            ["getLoopIteratorTypes", "getIterationDomain", "getTiledImplementation",
             "getResultTilePosition", "generateResultTileValue"]>,
        DeclareOpInterfaceMethods<OpAsmOpInterface,
            ["getAsmResultNames", "getAsmBlockArgumentNames"]>], traits)> {
  let arguments = (ins OptionalAttr<StrAttr>:$name,
                       StrArrayAttr:$iterator_names,
                       I64Attr:$num_parallel,
                       DenseI64ArrayAttr:$static_extents,
                       ArrayAttr:$accesses,      // #kernel.access per input
                       ArrayAttr:$input_guards,  // array<i64> per input: guard atoms
                       DenseI64ArrayAttr:$filter,
                       Variadic<Index>:$extents,
                       Variadic<AnyRankedTensor>:$inputs,
                       Variadic<AnyRankedTensor>:$inits);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region MaxSizedRegion<1>:$guards, SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  code structuredDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getInitsMutable(); }
  }];
  let extraClassDeclaration = structuredDeclaration;
}

def Kernel_MapOp : Kernel_StructuredOp<"map"> {
  let summary = "computes each element of a tensor on its own";
  let description = [{
    All iterators are parallel; iterator i is dimension i of the result. For each
    point the guard atoms are computed, then the inputs whose atoms hold are read,
    then the body yields the element. An input whose guard does not hold is not read;
    its block argument has no value that the body may use. Body arguments: one per
    input (its element type), then one i1 per guard atom.
    The filter is empty: a map has a value everywhere. Init contents are ignored.

    ```mlir
    // y[t] = where(t > 2, table[id[t], 3], 0)
    kernel.func @pick sizes [E, T] (table = %table: tensor<?x8xf32> [E, 8],
        id = %id: tensor<?xi32> [T]) -> (y: tensor<?xf32> [T]) {
      %T = kernel.size "T" : index
      %e = tensor.empty(%T) : tensor<?xf32>
      %y = kernel.map "y" [t: %T]
          ins(%id[t] as %row if(%late) : tensor<?xi32>,
              %table[%row, 3] as %x if(%late) : tensor<?x8xf32>)
          outs(%e : tensor<?xf32>) guards(%late) {
        %t = kernel.index "t" : i64
        %two = arith.constant 2 : i64
        %gt = arith.cmpi sgt, %t, %two : i64
        kernel.yield %gt : i1
      } {
        %zero = arith.constant 0.0 : f32
        %v = arith.select %late, %x, %zero : f32
        kernel.yield %v : f32
      } -> tensor<?xf32>
      kernel.return %y : tensor<?xf32>
    }
    ```
  }];
}

def Kernel_ReduceOp : Kernel_StructuredOp<"reduce"> {
  let summary = "combines the values of the reduction iterators";
  let description = [{
    `result = init ⊕ body` over the points of the reduction iterators for which every
    atom of `filter` holds; at other points nothing is read or evaluated. One init, of
    an arithmetic type; `argmax` and `argmin` have two (value, i64 index) and their body
    yields both, so that tiles add their offset; −1 in the index init means "nothing
    yet". Sums of f32 accumulate in f32, in any order. Lowest index wins a tie, NaN wins.

    ```mlir
    // y[m] = sum[k | k <= m](l[m, k] * b[k])
    kernel.func @trmv sizes [M] (l = %l: tensor<?x?xbf16> [M, M], b = %b: tensor<?xf32> [M])
        -> (y: tensor<?xf32> [M]) {
      %M = kernel.size "M" : index
      %zero = arith.constant 0.0 : f32
      %init = tensor.splat %zero[%M] : tensor<?xf32>
      %y = kernel.reduce sum "y" [m: %M] over [k: %M]
          ins(%l[m, k] as %x : tensor<?x?xbf16>, %b[k] as %w : tensor<?xf32>)
          outs(%init : tensor<?xf32>) guards(%live) {
        %m = kernel.index "m" : i64
        %k = kernel.index "k" : i64
        %le = arith.cmpi sle, %k, %m : i64
        kernel.yield %le : i1
      } filter(%live) {
        %xf = kernel.cast exact %x : bf16 to f32
        %p = arith.mulf %xf, %w : f32
        kernel.yield %p : f32
      } -> tensor<?xf32>
      kernel.return %y : tensor<?xf32>
    }
    ```
  }];
  let arguments = (ins Kernel_ReduceKind:$kind,
                       OptionalAttr<StrAttr>:$name,
                       StrArrayAttr:$iterator_names,
                       I64Attr:$num_parallel,
                       DenseI64ArrayAttr:$static_extents,
                       ArrayAttr:$accesses,
                       ArrayAttr:$input_guards,
                       DenseI64ArrayAttr:$filter,
                       Variadic<Index>:$extents,
                       Variadic<AnyRankedTensor>:$inputs,
                       Variadic<AnyRankedTensor>:$inits);
}

def Kernel_SoftmaxOp : Kernel_StructuredOp<"softmax"> {
  let summary = "normalises exponentials over some iterators";
  let description = [{
    All iterators are dimensions of the result, in order; `num_parallel` of them are
    parallel, it normalises over the others, at the points where the filter holds.
    The value elsewhere is 0. `exp(e − max e) / sum exp(e − max e)`; f32 or f64.
    Init contents are ignored. Lives until a plan streams it or
    `kernel-decompose-softmax` writes it as max, exp, sum and division.

    ```mlir
    kernel.func @rows sizes [B, T] (s = %s: tensor<?x?xf32> [B, T]) -> (p: tensor<?x?xf32> [B, T]) {
      %B = kernel.size "B" : index
      %T = kernel.size "T" : index
      %e = tensor.empty(%B, %T) : tensor<?x?xf32>
      %p = kernel.softmax "p" [b: %B] over [j: %T] ins(%s[b, j] as %x : tensor<?x?xf32>)
          outs(%e : tensor<?x?xf32>) {
        %y = kernel.apply gelu %x : f32
        kernel.yield %y : f32
      } -> tensor<?x?xf32>
      kernel.return %p : tensor<?x?xf32>
    }
    ```
  }];
}

def Kernel_YieldOp : Kernel_Op<"yield", [Pure, Terminator,
      ParentOneOf<["MapOp", "ReduceOp", "SoftmaxOp", "RequireOp"]>]> {
  let summary = "ends a guard, body or require region";
  let description = [{
    From guards: one i1 per atom. From a body: one element per init. From a promise:
    one i1.
  }];
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

#endif
