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
      if (isTile(dot))
        return dot == Dot::TileBF16 ? 2 : 4;
      if (dot == Dot::U8S8 || dot == Dot::S8U8)
        return 4;
      return dot == Dot::BF16 || dot == Dot::I16 ? 2 : 1;
    }
  }];
}

def Cpu_TileShapeOp : Cpu_Op<"tile_shape", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "gives the tile registers their shapes";
  let description = [{
    For blocks of `rows` rows, 1 to 32: the first tile of sums and of a has up to 16
    of them, the second the rest. All tiles have rows of 64 bytes. What the
    registers held is lost. Made by `convert-kernel-to-cpu`, gone after
    `convert-cpu-to-llvm`; between it and `cpu.tile_release` stand `cpu.tile_kernel`s.

    ```mlir
    func.func @shape(%rows: i64) {
      cpu.tile_shape %rows
      cpu.tile_release
      return
    }
    ```
  }];
  let arguments = (ins I64:$rows);
  let assemblyFormat = "$rows attr-dict";
}

def Cpu_TileReleaseOp : Cpu_Op<"tile_release", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "gives the tile registers back";
  let assemblyFormat = "attr-dict";
}

def Cpu_TileKernelOp : Cpu_Op<"tile_kernel", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "multiplies up to 32 rows by up to 32 columns in tile registers";
  let description = [{
    `tiles` × `vectors` tiles of sums, each 16 rows (the last as many as
    `cpu.tile_shape` says) of 16 words, go from `sums` to registers, through all
    steps, and back:

      sums[r, c] += Σ over s < steps, w < 16 of a[s, r, w] · b[s, w, c]

    where a word is a group of operands, two bf16 or four bytes. `a` is packed as
    `[step][32 rows][16 words]`, word w of step s of b starts at
    `b + (16·s + w)·b_step` words, and a row of `sums` is `vectors` · 16 words.
    Both operands are 0 behind the last k.

    ```mlir
    func.func @kernel(%a: !llvm.ptr, %b: !llvm.ptr, %width: i64, %k: i64, %sums: !llvm.ptr) {
      %rows = arith.constant 32 : i64
      cpu.tile_shape %rows
      cpu.tile_kernel tile_bf16 tiles 2 vectors 2 a(%a) b(%b, %width) steps %k sums(%sums)
      cpu.tile_release
      return
    }
    ```
  }];
  let arguments = (ins Cpu_Dot:$dot,
                       ConfinedAttr<I64Attr, [IntMinValue<1>, IntMaxValue<2>]>:$tiles,
                       ConfinedAttr<I64Attr, [IntMinValue<1>, IntMaxValue<2>]>:$vectors,
                       LLVM_PointerInAddressSpace<0>:$a,
                       LLVM_PointerInAddressSpace<0>:$b, I64:$b_step, I64:$steps,
                       LLVM_PointerInAddressSpace<0>:$sums);
  let assemblyFormat = [{
    $dot `tiles` $tiles `vectors` $vectors `a` `(` $a `)` `b` `(` $b `,` $b_step `)`
    `steps` $steps `sums` `(` $sums `)` attr-dict
  }];
  let hasVerifier = 1;
}

#endif
