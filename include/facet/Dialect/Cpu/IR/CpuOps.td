//===- CpuOps.td - the micro-kernel ---------------------------*- tablegen -*-//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_DIALECT_CPU_IR_CPUOPS_TD
#define FACET_DIALECT_CPU_IR_CPUOPS_TD

include "facet/Dialect/Cpu/IR/CpuAttrs.td"
include "mlir/Dialect/LLVMIR/LLVMOpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Cpu_MicroKernelOp : Cpu_Op<"micro_kernel", [
    AttrSizedOperandSegments, MemoryEffects<[MemRead]>]> {
  let summary = "multiplies a few rows by a few vectors, keeping the sums in registers";
  let description = [{
    For `rows` × `vectors` accumulators of `lanes` elements each,

      acc[r, v] = init[r, v] + Σ over s < steps of a[r, s] · b[s, v]

    `a` points to one group of operands per (row, step): one element for f32, f64 and
    i32, a pair for bf16 and i16, four for u8s8 and s8u8. Strides are in groups: row r, step s
    of a is at `a + r·a_row + s·a_step`; vector v of step s of b starts at
    `b + s·b_step + v·lanes`, one group per lane. With a mask, the last vector of
    every step is read under it (f32, f64, i32 only): an unpacked b is never read
    outside of its row. Every step asks for the lines `ahead` bytes
    in front of its own of b, into the second-level cache.

    The order of steps is kept: one accumulator adds its products by ascending s.
    Made by `convert-kernel-to-cpu`, gone after `convert-cpu-to-llvm`, which verifies
    that the function's target has the instruction.

    ```mlir
    func.func @tile(%a: !llvm.ptr, %b: !llvm.ptr, %lda: i64, %ldb: i64, %k: i64,
                    %z: vector<16xf32>) -> (vector<16xf32>, vector<16xf32>) {
      %one = arith.constant 1 : i64
      %acc:2 = cpu.micro_kernel f32 rows 2 vectors 1 lanes 16
          a(%a, %lda, %one) b(%b, %ldb) steps %k inits(%z, %z : vector<16xf32>, vector<16xf32>)
          : vector<16xf32>, vector<16xf32>
      return %acc#0, %acc#1 : vector<16xf32>, vector<16xf32>
    }
    ```
  }];
  let arguments = (ins Cpu_Dot:$dot,
                       ConfinedAttr<I64Attr, [IntMinValue<1>]>:$rows,
                       ConfinedAttr<I64Attr, [IntMinValue<1>]>:$vectors,
                       ConfinedAttr<I64Attr, [IntMinValue<1>]>:$lanes,
                       LLVM_PointerInAddressSpace<0>:$a, I64:$a_row, I64:$a_step,
                       LLVM_PointerInAddressSpace<0>:$b, I64:$b_step,
                       I64:$steps,
                       Optional<VectorOfRankAndType<[1], [I1]>>:$mask,
                       Variadic<VectorOfRankAndType<[1], [F32, F64, I32]>>:$inits,
                       Variadic<I64>:$ahead);
  let results = (outs Variadic<VectorOfRankAndType<[1], [F32, F64, I32]>>:$results);
  let assemblyFormat = [{
    $dot `rows` $rows `vectors` $vectors `lanes` $lanes
    `a` `(` $a `,` $a_row `,` $a_step `)` `b` `(` $b `,` $b_step `)` `steps` $steps
    (`mask` $mask^ `:` type($mask))? (`ahead` `(` $ahead^ `)`)? `inits` `(` $inits `:` type($inits) `)` attr-dict `:` type($results)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// How many elements of a's type one group holds.
    static int64_t groupSize(Dot dot) {
      if (dot == Dot::U8S8 || dot == Dot::S8U8)
        return 4;
      return dot == Dot::BF16 || dot == Dot::I16 ? 2 : 1;
    }
  }];
}

#endif
