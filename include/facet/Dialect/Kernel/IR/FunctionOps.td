//===- FunctionOps.td - the kernel as a function --------------*- tablegen -*-//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_DIALECT_KERNEL_IR_FUNCTIONOPS_TD
#define FACET_DIALECT_KERNEL_IR_FUNCTIONOPS_TD

include "facet/Dialect/Kernel/IR/KernelAttrs.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Kernel_FuncOp : Kernel_Op<"func", [IsolatedFromAbove, Symbol, SingleBlock,
      DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>]> {
  let summary = "defines a kernel";
  let description = [{
    Sizes are properties; `kernel.size` reads them. Every parameter is a ranked
    tensor (rank 0 for a scalar), with one dimension per subscript: a group is
    several dimensions here and one axis in `params`. The body ends in
    `kernel.return` with the new value of every `inout` parameter, in parameter
    order, then every result.

    `fixed` holds, for a size that the command line fixed, the values allowed, as an
    `array<i64: …>`. A parameter is written `NAME = %value: TYPE [AXES]`, with `const`
    or `inout` in front of its name; a result is written `NAME: TYPE [AXES]`.

    ```mlir
    kernel.func @scale sizes [M] (a = %a: tensor<?xf32> [M], f = %f: tensor<f32> [])
        -> (y: tensor<?xbf16> [M]) {
      %M = kernel.size "M" : index
      %e = tensor.empty(%M) : tensor<?xbf16>
      %y = kernel.map "y" [m: %M] ins(%a[m] as %x : tensor<?xf32>, %f[] as %s : tensor<f32>)
          outs(%e : tensor<?xbf16>) {
        %p = arith.mulf %x, %s : f32
        %r = kernel.cast round %p : f32 to bf16
        kernel.yield %r : bf16
      } -> tensor<?xbf16>
      kernel.return %y : tensor<?xbf16>
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrArrayAttr:$sizes,
                       ArrayAttr:$params,  // #kernel.param, one per block argument
                       ArrayAttr:$outputs, // #kernel.param, mode out
                       TypeArrayAttr:$output_types,
                       OptionalAttr<DictionaryAttr>:$fixed,
                       OptionalAttr<StrAttr>:$documentation);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::facet::kernel::ParamAttr getParam(unsigned i) {
      return ::llvm::cast<::facet::kernel::ParamAttr>(getParams()[i]);
    }
    ::facet::kernel::ParamAttr getOutput(unsigned i) {
      return ::llvm::cast<::facet::kernel::ParamAttr>(getOutputs()[i]);
    }
    /// Position of a size, or nullopt.
    ::std::optional<unsigned> getSizeIndex(::llvm::StringRef name);
    /// The value of a size that the command line fixed to one; nullopt for others.
    ::std::optional<int64_t> getFixedSize(::llvm::StringRef name);
    /// How it is computed: the attribute `kernel.plan`, which a target's planner makes
    /// and its lowering reads; null before that.
    ::facet::kernel::PlanAttrInterface getPlan();
    void setPlan(::facet::kernel::PlanAttrInterface plan);
    /// Indices of the inout parameters, in order: the first operands of kernel.return.
    ::llvm::SmallVector<unsigned> getInoutParams();
  }];
}

def Kernel_SizeOp : Kernel_Op<"size", [Pure,
      DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "reads a size of the kernel";
  let description = [{
    `index` where it is an extent, `i64` where a body computes with it.
  }];
  let arguments = (ins StrAttr:$name);
  let results = (outs AnyTypeOf<[Index, I64]>:$result);
  let assemblyFormat = "$name attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Kernel_RequireOp : Kernel_Op<"require", []> {
  let summary = "states a promise of the caller, checked at every call";
  let description = [{
    The region computes an i1 from sizes and from the scalar arguments in `inputs`
    (its block arguments are their elements). `text` is the promise as written.
    Made by the frontend; becomes a check in the emitted interface, and planners may
    rely on it.

    ```mlir
    kernel.func @f sizes [K] (x = %x: tensor<?xf32> [K], n = %n: tensor<i32> []) {
      kernel.require "K % n == 0" ins(%n as %v : tensor<i32>) {
        %K = kernel.size "K" : i64
        %w = kernel.cast exact %v : i32 to i64
        %r = arith.remsi %K, %w : i64
        %zero = arith.constant 0 : i64
        %ok = arith.cmpi eq, %r, %zero : i64
        kernel.yield %ok : i1
      }
      kernel.return
    }
    ```
  }];
  let arguments = (ins StrAttr:$text, Variadic<AnyRankedTensor>:$inputs);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Kernel_ReturnOp : Kernel_Op<"return", [Terminator, HasParent<"FuncOp">]> {
  let summary = "ends a kernel with its inout and result values";
  let description = [{
    The new value of every `inout` parameter, in parameter order, then every result.
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
  let hasVerifier = 1;
}

#endif
