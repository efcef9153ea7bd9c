//===- ScalarOps.td - what bodies need beside arith and math --*- tablegen -*-//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_DIALECT_KERNEL_IR_SCALAROPS_TD
#define FACET_DIALECT_KERNEL_IR_SCALAROPS_TD

include "facet/Dialect/Kernel/IR/KernelAttrs.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Kernel_Scalar : AnyTypeOf<[AnyInteger, AnyFloat]>;

def Kernel_IndexOp : Kernel_Op<"index", [Pure,
      DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "reads the value of an iterator of the enclosing op";
  let description = [{
    The position in the whole, also in a tile: tiling adds the tile's offset behind it.
  }];
  let arguments = (ins StrAttr:$iterator);
  let results = (outs I64:$result);
  let assemblyFormat = "$iterator attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Kernel_CastOp : Kernel_Op<"cast", [Pure]> {
  let summary = "converts a scalar between element types";
  let description = [{
    Storage types appear as bf16, f16, f8E4M3, f8E4M3FN, f8E5M2, tf32, i16, i8, ui8,
    i4, ui4 and are read by an `exact` cast to f32 or i32; i1 is bool.

    | mode | from → to |
    | --- | --- |
    | exact | storage → f32/i32, f32 → f64, i32 → i64, i1 → number |
    | round | float → narrower float, integer → float |
    | round_sat | float → storage float, clamped to its largest finite value |
    | wrap | integer → integer, modulo 2^n |
    | sat | integer → narrower integer, float → integer (nearest even, NaN → 0) |
  }];
  let arguments = (ins Kernel_CastMode:$mode, Kernel_Scalar:$value);
  let results = (outs Kernel_Scalar:$result);
  let assemblyFormat = "$mode $value attr-dict `:` type($value) `to` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Kernel_ApplyOp : Kernel_Op<"apply", [Pure, SameOperandsAndResultType]> {
  let summary = "applies a function of the language that arith and math lack";
  let description = [{
    relu (also of integers), sigmoid, silu, gelu (erf form), gelu_tanh. Each is one op
    so that each road may compute it as precisely and as fast as it can.
  }];
  let arguments = (ins Kernel_Function:$function, AnyTypeOf<[F32, F64, I32, I64]>:$value);
  let results = (outs AnyTypeOf<[F32, F64, I32, I64]>:$result);
  let assemblyFormat = "$function $value attr-dict `:` type($value)";
  let hasVerifier = 1;
}

#endif
