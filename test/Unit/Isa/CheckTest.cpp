//===- CheckTest.cpp - every rule of a program, broken once ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rules that text can break are broken in text, so that the place is tested too;
// those that only a program in memory can break are broken there.
//
//===----------------------------------------------------------------------===//

#include "RandomProgram.h"

#include "facet/Isa/Assembler.h"
#include "facet/Isa/Builder.h"
#include "facet/Isa/Check.h"

#include "gtest/gtest.h"

#include <fstream>
#include <functional>

using namespace facet;
using namespace facet::test;

namespace {
struct Row {
  std::string lines;
  std::string messages;
};
} // namespace

/// What a row gives starts in line 8 (or 1 + the lines of `before` further down).
static const char *const head =
    ".machine \"trn2\"\n"
    ".buffer x in hbm.bf16[128, 512] at 0 bytes 131072\n"
    ".buffer y out hbm.f32[128, 512] at 0x20000 bytes 262144\n"
    ".buffer k const hbm.i32[128] at 0x60000 bytes 512\n"
    ".semaphore go\n"
    ".semaphore s1\n"
    ".semaphore s2\n";

static std::string said(const std::string &text) {
  Diagnostics diags;
  std::optional<Program> program = assemble(text, "p.s", diags);
  EXPECT_EQ(bool(program), !diags.hasErrors());
  return messages(diags);
}

static void expectSaid(std::initializer_list<Row> rows,
                       const std::string &before = "") {
  for (const Row &row : rows) {
    std::string expected =
        row.messages.empty() ? "" : "p.s:" + row.messages + "\n";
    EXPECT_EQ(said(head + before + row.lines + "\n"), expected) << row.lines;
  }
}

TEST(Check, buffers_and_semaphores) {
  expectSaid({
      {"", ""},
      {".buffer x in hbm.f32[1] at 0x70000 bytes 4",
       "0:0: buffer 'x': declared twice"},
      {".buffer z in hbm.f32[-1] at 0x70000 bytes 4",
       "0:0: buffer 'z': a negative size"},
      {".buffer z in hbm.f32[1] strides[70368744177665] at 0x70000 bytes 4",
       "0:0: buffer 'z': a size or stride is out of every memory"},
      {".buffer z in hbm.f32[1] strides[] at 0x70000 bytes 4",
       "0:0: buffer 'z': the shape has 1 axes and 0 strides, allowed are up to "
       "8 of each"},
      {".buffer z in hbm.f8e4m3fn[1] at 0x70000 bytes 4",
       "0:0: buffer 'z': machine 'trn2' has no f8e4m3fn"},
      {".buffer z data hbm.f32[1] at 0x70000 bytes 4",
       "0:0: buffer 'z': data has 0 bytes, wanted 4"},
      {".buffer z in hbm.f32[1] at 0x70001 bytes 4",
       "0:0: buffer 'z': address 458753 is not a multiple of 64"},
      {".buffer z in hbm.f32[1] at 0x70000 bytes 12884901888",
       "0:0: buffer 'z': bytes 458752 to 458752 + 12884901888 do not fit hbm, "
       "which has "
       "12884901888"},
      {".buffer z in hbm.f32[1] at 64 bytes 4",
       "0:0: buffers 'x' and 'z' overlap in hbm"},
      {".buffer z in hbm.f32[1] at 0x70000 bytes 4 partitions 0:4",
       "0:0: buffer 'z': hbm has no partitions"},
      {".buffer z in sbuf.f32[1] at 0 bytes 4 partitions 0:4",
       "0:0: buffer 'z': only hbm holds in buffers"},
      {".buffer z scratch sbuf.f32[1] at 229372 bytes 8 partitions 0:4",
       "0:0: buffer 'z': bytes 229372 to 229372 + 8 do not fit a partition of "
       "sbuf, which "
       "has 229376"},
      {".buffer z scratch psum.f32[1] at 0 bytes 20000 partitions 0:4",
       "0:0: buffer 'z': bytes 0 to 0 + 20000 do not fit a partition of psum, "
       "which has "
       "16384"},
      {".buffer z scratch sbuf.f32[1] at 0 bytes 4 partitions 100:129",
       "0:0: buffer 'z': partitions 100 to 100 + 29, there are 128"},
      {".buffer z scratch sbuf.f32[1] at 0 bytes 4 partitions 0:1 live 3:2",
       "0:0: buffer 'z': its live range ends before it begins"},
  });
  std::string many = head;
  for (int i = 3; i != 257; ++i)
    many += ".semaphore s" + std::to_string(i) + "\n";
  EXPECT_EQ(said(many),
            "p.s:0:0: the program has 257 semaphores, the machine 256\n");
}

TEST(Check, words_of_an_instruction) {
  expectSaid(
      {
          {"activate dst=sbuf.f32[0:1, 0], src=sbuf.f32[0:1, 0]",
           "10:1: activate does not run on vector; it runs on scalar"},
          {"copy dst=sbuf.f32[0:1, 0]", "10:1: lacks its operand src"},
          {"loop trips=2147483648\nend",
           "10:1: trips is 2147483648, allowed are 0 to 2147483647"},
          {"advance ring=r3", "10:1: ring r3 is not declared for this queue"},
          {"advance ring=r0, steps=0",
           "10:1: steps is 0, allowed are 1 to 65535"},
          {"loop trips=1\nloop trips=1\nloop trips=1\nloop trips=1\nloop "
           "trips=1\nloop "
           "trips=1\nloop trips=1\nloop trips=1\nloop "
           "trips=1\nend\nend\nend\nend\nend\nend\nend\nend\nend",
           "18:1: more than 8 loops are nested"},
          {"loop trips=1, if(1 == 0)\nend",
           "10:1: carries a predicate; put it on the instructions inside"},
          {"loop trips=1\nend wait(go >= 1)",
           "11:1: carries waits or updates; put them on a nop"},
          {"nop wait(go[r3] >= 1)",
           "10:1: a wait uses ring r3, which is not declared for this queue"},
          {"nop wait(s1[r0] >= 1)",
           "10:1: a wait uses semaphore s3, declared are 3"},
          {"nop update(s1[r0] += 1)",
           "10:1: an update uses semaphore s3, declared are 3"},
          {"nop if(i0 == 0)", "10:1: the predicate uses counter i0, but only 0 "
                              "loops are around the instruction"},
          {"nop if(r3 == 0)", "10:1: the predicate uses ring r3, which is not "
                              "declared for this queue"},
          {"loop trips=2147483647\nnop if(35184372088832*i0 >= 0)\nend",
           "11:1: the predicate leaves the range of addresses in these loops"},
      },
      ".queue vector\n  .ring r0 depth=3\n");
}

TEST(Check, operands) {
  expectSaid(
      {
          {"copy dst=hbm.f32[y, 1, 0], src=sbuf.f32[0:1, 0]",
           "9:1: dst is in hbm, allowed are sbuf, psum"},
          {"copy dst=sbuf.i64[0:1, 0], src=sbuf.f32[0:1, 0]",
           "9:1: dst is i64, allowed are f32, tf32, bf16, f16, f8e4m3, f8e5m2, "
           "f8e4m3fn, "
           "i32, i16, i8, u8"},
          {"copy dst=sbuf.f32[0:1, 0, 4@0], src=sbuf.f32[0:1, 0, 4]",
           "9:1: dst writes an element more than once (step 0)"},
          {"copy dst=sbuf.f32[1:2, 0], src=sbuf.f32[0:1, 0]",
           "9:1: dst has 1 partitions from 1; that many start at a multiple of "
           "32"},
          {"copy dst=sbuf.f32[32:96, 0], src=sbuf.f32[0:64, 0]",
           "9:1: dst has 64 partitions from 32; that many start at a multiple "
           "of 64"},
          {"copy dst=sbuf.f32[0:129, 0], src=sbuf.f32[0:129, 0]",
           "0:0: access 1: partitions 0 to 0 + 129, there are 128"},
          {"copy dst=sbuf.f32[0:1, 2], src=sbuf.f32[0:1, 0]",
           "9:1: dst is not at a multiple of 4 bytes"},
          {"loop trips=2\ncopy dst=sbuf.f32[0:1, 2*i0], src=sbuf.f32[0:1, "
           "0]\nend",
           "10:1: dst is not at a multiple of 4 bytes"},
          {"copy dst=sbuf.f32[0:1, 229376], src=sbuf.f32[0:1, 0]",
           "9:1: dst reaches byte 229379 of a partition of sbuf, which has "
           "229376 bytes"},
          {"copy dst=sbuf.f32[0:1, 0, 4@-1], src=sbuf.f32[0:1, 0, 4]",
           "9:1: dst reaches byte -12 of a partition of sbuf"},
          {"loop trips=8\ncopy dst=psum.f32[0:1, 2048*i0, 513], "
           "src=sbuf.f32[0:1, 0, "
           "513]\nend",
           "10:1: dst reaches byte 16387 of a partition of psum, which has "
           "16384 bytes"},
          {"loop trips=0\ncopy dst=psum.f32[0:1, 20000], src=sbuf.f32[0:1, "
           "0]\nend",
           ""},
          {"loop trips=9\ncopy dst=psum.f32[0:1, 2048*i0], src=sbuf.f32[0:1, "
           "0], if(i0 - 8 "
           "!= 0)\nend",
           ""},
          {"copy dst=sbuf.f32[0:1, 0, 4], src=sbuf.f32[0:1, 0, 5]",
           "9:1: dst has 4 elements per row, src has 5"},
          {"copy dst=sbuf.f32[0:2, 0], src=sbuf.f32[0:1, 0]",
           "9:1: dst has 2 rows, src has 1"},
          {"copy dst=sbuf.f8e4m3fn[0:1, 0], src=sbuf.f32[0:1, 0]",
           "0:0: access 1: machine 'trn2' has no f8e4m3fn"},
          {"copy dst=sbuf.f32[0:1, 0], src=sbuf.f32[0:1, 0, 9@70368744177665]",
           "0:0: access 2: step 70368744177665 is out of every memory"},
          {"copy dst=sbuf.f32[0:1, 0], src=sbuf.f32[0:1, 70368744177665]",
           "0:0: access 2: offset 70368744177665 or row step 0 is out of every "
           "memory"},
          {"tensor_scalar dst=sbuf.f32[0:1, 0], src=sbuf.f32[0:1, 0], "
           "s0=sbuf.f32[0:1, 0, 2]",
           "9:1: s0 has 2 elements per row, wanted 1"},
          {"tensor_scalar dst=sbuf.f32[0:1, 0], src=sbuf.f32[0:1, 0], "
           "s0=sbuf.f32[0:1, 0], "
           "imm0=1.0",
           "9:1: imm0 and an operand in its place are both given"},
          {"tensor_scalar dst=sbuf.f32[0:1, 0], src=sbuf.f32[0:1, 0], op0=and",
           "9:1: op0 is and, which is for integers, dst is f32\n"
           "p.s:9:1: op0 is and, which is for integers, src is f32"},
          {"tensor_scalar dst=sbuf.i32[0:1, 0], src=sbuf.i32[0:1, 0], op0=and, "
           "op1=sqrt",
           "9:1: op1 is sqrt, which is for floats, the inputs are integers"},
          {"tensor_scalar dst=sbuf.i32[0:1, 0], src=sbuf.i32[0:1, 0], "
           "op0=floordiv",
           "9:1: op0 is floordiv, which gpsimd does on integers only"},
          {"tensor_scalar dst=sbuf.f32[0:1, 0], src=sbuf.f32[0:1, 0], "
           "acc_op=add",
           "9:1: acc_op or carry without acc"},
          {"tensor_scalar dst=sbuf.f32[0:1, 0], src=sbuf.f32[0:1, 0], "
           "acc=sbuf.f32[0:1, 0], "
           "acc_op=sub",
           "9:1: acc_op is sub, allowed are add, mul, max, min"},
          {"tensor_scalar dst=sbuf.f32[0:1, 0], src=sbuf.f32[0:1, 0], "
           "acc=sbuf.i32[0:1, 0], "
           "acc_op=add",
           "9:1: acc is i32, the result is computed in f32"},
          {"reduce dst=sbuf.f32[0:1, 0], src=sbuf.f32[0:1, 0, 4], op=add",
           "9:1: axes is 0, src has 1 dimensions"},
          {"reduce dst=sbuf.f32[0:1, 0], src=sbuf.f32[0:1, 0, 4], op=sub, "
           "axes=1",
           "9:1: op is sub, allowed are add, mul, max, min, abs_max, abs_min, "
           "and, or, xor"},
          {"reduce dst=sbuf.f32[0:1, 0], src=sbuf.f32[0:1, 0, 3, 4], op=add, "
           "axes=1",
           "9:1: dst has 1 elements per row, src has 3 outside its reduced "
           "dimensions"},
          {"block_transpose dst=sbuf.f32[0:32, 0, 32], src=sbuf.i32[0:32, 0, "
           "32]",
           "9:1: dst is f32, src is i32"},
          {"block_transpose dst=sbuf.f32[0:32, 0, 33], src=sbuf.f32[0:32, 0, "
           "33]",
           "9:1: src is 32 x 33, wanted multiples of 32"},
      },
      ".queue vector\n");
  expectSaid(
      {{"copy dst=psum.f32[0:1, 0], src=sbuf.f32[0:1, 0]",
        "9:1: dst is in psum, allowed are sbuf"},
       {"affine_select dst=sbuf.f32[0:1, 0], src=sbuf.f32[0:1, 0], "
        "index=index.i32[1, 0], cmp=add",
        "9:1: cmp is no comparison; allowed are eq, ne, lt, le, gt, ge"}},
      ".queue gpsimd\n");
  expectSaid(
      {{"tensor_scalar dst=sbuf.f32[0:1, 0], src=sbuf.f32[0:1, 0], op0=abs",
        "9:1: op0 is abs, scalar has bypass, add, sub, mul, max, min"},
       {"activate dst=sbuf.f32[0:1, 0], src=sbuf.f32[0:1, 0], "
        "bias=sbuf.f32[0:1, 0], imm_bias=1.0",
        "9:1: imm_bias and an operand in its place are both given"}},
      ".queue scalar\n");
}

TEST(Check, tensor_engine) {
  expectSaid(
      {
          {"matmul dst=psum.f32[0:1, 0], moving=sbuf.bf16[0:1, 0]",
           "9:1: no load_weights comes before it in the queue"},
          {"load_weights weights=sbuf.i32[0:1, 0]",
           "9:1: weights is i32, allowed are f32, tf32, bf16, f16, f8e4m3, "
           "f8e5m2, f8e4m3fn"},
          {"load_weights weights=sbuf.bf16[0:128, 0, 129]",
           "9:1: weights have 129 columns, the array has 128"},
          {"load_weights weights=sbuf.bf16[0:128, 0, 128], pass=low",
           "9:1: only f32 has passes, the operand is bf16"},
          {"load_weights weights=sbuf.bf16[0:128, 0, 2, 64], double_row",
           "9:1: double_row takes 8-bit types, weights is bf16"},
          {"load_weights weights=sbuf.f8e4m3[0:128, 0, 128], double_row",
           "9:1: double_row takes dimensions [2, n], weights has another "
           "shape"},
      },
      ".queue tensor\n");
  expectSaid(
      {
          {"matmul dst=psum.f32[0:64, 0, 512], moving=sbuf.bf16[0:128, 0, 512]",
           ""},
          {"matmul dst=psum.bf16[0:64, 0, 512], moving=sbuf.bf16[0:128, 0, "
           "512]",
           "10:1: dst is bf16, allowed are f32"},
          {"matmul dst=psum.f32[0:32, 0, 512], moving=sbuf.bf16[0:128, 0, 512]",
           "10:1: dst has 32 partitions, the weights loaded before have 64 "
           "columns"},
          {"matmul dst=psum.f32[0:64, 0, 256], moving=sbuf.bf16[0:128, 0, 512]",
           "10:1: dst has 256 elements per row, moving has 512 columns"},
          {"matmul dst=psum.f32[0:64, 0, 513], moving=sbuf.bf16[0:128, 0, 513]",
           "10:1: moving has 513 columns, allowed are 1 to 512\n"
           "p.s:10:1: dst reaches byte 2051 of its first psum bank; one matmul "
           "writes 1 bank "
           "of 2048"},
          {"matmul dst=psum.f32[0:64, 4, 512], moving=sbuf.bf16[0:128, 0, 512]",
           "10:1: dst reaches byte 2051 of its first psum bank; one matmul "
           "writes 1 bank of "
           "2048"},
          {"loop trips=7\nmatmul dst=psum.f32[0:64, 4 + 2048*i0, 512], "
           "moving=sbuf.bf16[0:128, 0, 512]\nend",
           "11:1: dst reaches byte 2051 of its first psum bank; one matmul "
           "writes 1 bank of "
           "2048"},
          {"matmul dst=psum.f32[0:64, 0, 512], moving=sbuf.bf16[0:64, 0, 512]",
           "10:1: moving has partitions 0:64, the weights loaded before 0:128"},
          {"matmul dst=psum.f32[0:64, 0, 512], moving=sbuf.f32[0:128, 0, 512]",
           "10:1: moving is f32, the weights loaded before are bf16"},
          {"matmul dst=psum.f32[0:64, 0, 64], moving=sbuf.f8e4m3[0:128, 0, 2, "
           "64], double_row",
           "10:1: double_row here and on the load_weights before differ"},
          {"transpose dst=psum.bf16[0:64, 0, 128]", ""},
          {"transpose dst=psum.f32[0:64, 0, 128]",
           "10:1: dst is f32, the weights loaded before are bf16"},
          {"transpose dst=psum.bf16[0:64, 0, 64]",
           "10:1: dst has 64 elements per row, the weights loaded before have "
           "128 rows"},
          {"transpose dst=sbuf.bf16[0:64, 0, 128]",
           "10:1: dst is in sbuf, allowed are psum"},
      },
      ".queue tensor\nload_weights weights=sbuf.bf16[0:128, 0, 64]\n");
  expectSaid(
      {{"matmul dst=psum.f32[0:64, 0, 512], moving=sbuf.f32[0:128, 0, 512], "
        "pass=high",
        "10:1: pass here and on the load_weights before differ"}},
      ".queue tensor\nload_weights weights=sbuf.f32[0:128, 0, 64], pass=low\n");
  expectSaid(
      {{"transpose dst=psum.bf16[0:64, 0, 128]",
        "10:1: the weights loaded before are double_row"}},
      ".queue tensor\nload_weights weights=sbuf.f8e4m3[0:128, 0, 2, 64], "
      "double_row\n");
  EXPECT_EQ(
      said(".machine \"trn1\"\n.queue tensor\n"
           "load_weights weights=sbuf.f8e4m3[0:128, 0, 2, 64], double_row\n"),
      "p.s:3:1: machine 'trn1' has no double_row\n");
  EXPECT_EQ(
      said(
          ".machine \"trn3\"\n.queue tensor\n"
          "load_weights weights=sbuf.f8e4m3fn[0:128, 0, 64]\n"
          "matmul dst=psum.f32[0:64, 0, 8], moving=sbuf.f8e4m3[0:128, 0, 8]\n"),
      "p.s:4:1: moving is f8e4m3, the weights loaded before are f8e4m3fn\n");
}

TEST(Check, transfers) {
  expectSaid(
      {
          {"dma_copy dst=hbm.f32[y, 128, 0, 512], src=sbuf.f32[0:128, 0, 512]",
           ""},
          {"dma_copy dst=hbm.bf16[x, 128, 0, 512], src=sbuf.bf16[0:128, 0, "
           "512]",
           "9:1: dst writes buffer 'x', which is in"},
          {"dma_copy dst=hbm.i32[k, 128, 0], src=sbuf.i32[0:128, 0]",
           "9:1: dst writes buffer 'k', which is const"},
          {"dma_copy dst=hbm.f32[y, 128@0, 0, 512], src=sbuf.f32[0:128, 0, "
           "512]",
           "9:1: dst writes a row more than once (row step 0)"},
          {"dma_copy dst=hbm.f32[y, 129, 0, 512], src=hbm.bf16[x, 129@0, 0, "
           "512]",
           "9:1: dst reaches byte 264191 of buffer 'y', which has 262144 "
           "bytes"},
          {"dma_copy dst=sbuf.f32[3:5, 0], src=sbuf.f32[70:72, 0]", ""},
          {"dma_copy dst=sbuf.f32[0:1, 0], src=sbuf.f64[0:1, 0]",
           "9:1: dst is f32, src is f64, and 64-bit types are only moved"},
          {"dma_copy dst=sbuf.f32[0:1, 0], src=sbuf.f32[0:1, 0], ring=16",
           "9:1: ring is 16, allowed are 0 to 15"},
          {"dma_transpose dst=sbuf.f32[0:4, 0, 8], src=sbuf.f32[0:8, 0, 5]",
           "9:1: dst is 4 x 8, src is 8 x 5"},
          {"dma_transpose dst=sbuf.f32[0:4, 0, 8], src=sbuf.i32[0:8, 0, 4]",
           "9:1: dst is f32, src is i32, and bits are kept"},
          {"dma_gather dst=sbuf.bf16[0:8, 0, 512], src=hbm.bf16[x, 128, 0, "
           "512], "
           "index=sbuf.i32[0:8, 0]",
           ""},
          {"dma_gather dst=sbuf.bf16[0:8, 0, 512], src=hbm.bf16[x, 128, 0, "
           "512], "
           "index=sbuf.i32[0:7, 0]",
           "9:1: dst has 8 rows, index has 7"},
          {"dma_gather dst=sbuf.bf16[0:8, 0, 512], src=hbm.bf16[x, 128, 0, "
           "512], "
           "index=sbuf.i32[0:8, 0, 2]",
           "9:1: index has 2 elements per row, wanted 1"},
          {"dma_gather dst=sbuf.bf16[0:8, 0, 512], src=hbm.bf16[x, 128, 0, "
           "512], "
           "index=sbuf.f32[0:8, 0]",
           "9:1: index is f32, allowed are i32"},
      },
      ".queue sync\n");
}

TEST(Check, arrays_and_banks_of_other_machines) {
  std::string machine = testing::TempDir() + "/facet-small-array.yaml";
  std::ofstream(machine) << "format: facet-machine-1\nname: small\nbase: trn3\n"
                            "tensor:\n  rows: 32\n  columns: 32\n";
  std::string small = ".machine \"" + machine + "\"\n.queue tensor\n";
  EXPECT_EQ(said(small + "load_weights weights=sbuf.bf16[0:64, 0, 32]\n"),
            "p.s:3:1: weights have 64 rows, the array has 32\n");
  // trn3 may write 8 banks, but not beyond the last.
  std::string head = ".machine \"trn3\"\n.queue tensor\n"
                     "load_weights weights=sbuf.bf16[0:128, 0, 64]\n";
  EXPECT_EQ(
      said(head +
           "matmul dst=psum.f32[0:64, 0, 4096], moving=sbuf.bf16[0:128, 0, "
           "4096], start\n"),
      "");
  std::ofstream(machine) << "format: facet-machine-1\nname: pair\nbase: trn3\n"
                            "psum:\n  matmul_banks: 2\n";
  std::string pair = ".machine \"" + machine +
                     "\"\n.queue tensor\n"
                     "load_weights weights=sbuf.bf16[0:128, 0, 64]\n";
  EXPECT_EQ(
      said(pair +
           "matmul dst=psum.f32[0:64, 0, 1025], moving=sbuf.bf16[0:128, 0, "
           "1025], start\n"),
      "p.s:4:1: dst reaches byte 4099 of its first psum bank; one matmul "
      "writes 2 "
      "banks of 2048\n");
  EXPECT_EQ(said(".machine \"systolic\"\n.queue tensor\n"
                 "load_weights weights=sbuf.bf16[0:128, 0, 64]\n"
                 "matmul dst=psum.f32[0:64, 0, 2@300000], "
                 "moving=sbuf.bf16[0:128, 0, 2]\n"),
            "p.s:4:1: dst spans more than 262144 bytes of psum\n");
}

TEST(Check, predicates_beyond_what_an_instruction_can_name) {
  ProgramBuilder b(shippedMachine("trn2"));
  for (int n = 0; n != 65536; ++n) {
    AffineForm form;
    form.base = n;
    Predicate p;
    p.conditions = 1;
    p.forms[0] = b.affine(form) - 1;
    b.predicate(p);
  }
  Diagnostics diags;
  EXPECT_FALSE(checkProgram(b.get(), diags, "f"));
  EXPECT_EQ(messages(diags), "f:0:0: more than 65535 predicates\n");
}

//===----------------------------------------------------------------------===//
// Programs that only code can make
//===----------------------------------------------------------------------===//

/// A correct program: one copy and one loop.
static Program correct() {
  ProgramBuilder b(shippedMachine("trn2"));
  b.semaphore({"go", 0, -1});
  Access a;
  a.rank = 1;
  a.count[0] = 4;
  a.step[0] = 1;
  b.ring(Engine::Vector, 0, 2);
  b.loop(Engine::Vector, 3);
  Instruction copy = ProgramBuilder::make(Opcode::Copy);
  copy.operands[0] = copy.operands[1] = b.access(a);
  copy.waits[0] = {SemaphoreRef::get(0), 0, 1};
  copy.updates[0] = {SemaphoreRef::get(0), 1};
  Predicate p;
  p.conditions = 1;
  p.forms[0] = b.affine({}) - 1;
  copy.predicate = b.predicate(p);
  b.add(Engine::Vector, copy);
  b.end(Engine::Vector);
  return b.finish();
}

TEST(Check, programs_from_code) {
  using Break = std::function<void(Program &, Instruction &)>;
  struct Damage {
    Break damage;
    const char *message;
  };
  const char *at = "queue vector, instruction 1 (copy): ";
  const Damage rows[] = {
      {[](Program &, Instruction &i) { i.reserved = 1; },
       "sets bits that copy does not use"},
      {[](Program &, Instruction &i) { i.flags = 2; },
       "sets bits that copy does not use"},
      {[](Program &, Instruction &i) { i.imm[1] = 2; },
       "sets bits that copy does not use"},
      {[](Program &, Instruction &i) { i.sub[3] = 2; },
       "sets bits that copy does not use"},
      {[](Program &, Instruction &i) { i.operands[4] = 1; },
       "sets bits that copy does not use"},
      {[](Program &, Instruction &i) { i.operands[0] = 2; },
       "dst names access 2, there are 1"},
      {[](Program &, Instruction &i) { i.predicate = 2; },
       "predicate 2 does not exist"},
      {[](Program &, Instruction &i) { i.waits[0].ref.bits = 1; },
       "an absent wait is not all zero"},
      {[](Program &, Instruction &i) { i.waits[0].ref.bits |= 31 << 10; },
       "a wait uses ring r30"},
      {[](Program &, Instruction &i) { i.waits[0].perRound = 1; },
       "a wait without a ring counts rounds"},
      {[](Program &, Instruction &i) { i.updates[1].amount = 1; },
       "an absent update is not all zero"},
      {[](Program &, Instruction &i) { i.updates[0].amount = 0; },
       "an update adds 0"},
      {[](Program &, Instruction &i) { i.updates[0].ref.bits |= 0x200; },
       "an update is not one"},
      {[](Program &, Instruction &i) { std::swap(i.waits[0], i.waits[1]); },
       "uses its second wait or update before its first"},
  };
  Program whole = correct();
  Diagnostics none;
  ASSERT_TRUE(checkProgram(whole, none)) << messages(none);
  for (const Damage &row : rows) {
    Program program = whole;
    row.damage(program, program.queues[0].code[1]);
    Diagnostics diags;
    EXPECT_FALSE(checkProgram(program, diags, "f")) << row.message;
    EXPECT_EQ(messages(diags),
              std::string("f:0:0: ") + at + row.message + "\n");
  }
  const Damage tables[] = {
      {[](Program &, Instruction &i) { i.opcode = 0x99; },
       "queue vector, instruction 1 (?): opcode 153 is not an instruction"},
      {[](Program &p, Instruction &) { p.queues[0].code[0].imm[1] = 1; },
       "queue vector, instruction 0 (loop): has no matching end"},
      {[](Program &p, Instruction &) { p.queues[0].code[2].imm[1] = 1; },
       "queue vector, instruction 0 (loop): has no matching end"},
      {[](Program &p, Instruction &) {
         p.queues[0].code.pop_back();
         p.queues[0].locations.pop_back();
       },
       "queue vector, instruction 0 (loop): has no matching end"},
      {[](Program &p, Instruction &) {
         p.queues[0].code.erase(p.queues[0].code.begin());
         p.queues[0].locations.pop_back();
       },
       "queue vector, instruction 1 (end): has no matching loop"},
      {[](Program &p, Instruction &) { p.queues[0].core = 1; },
       "queues: want at most one per engine of core 0, in the order tensor, "
       "vector, "
       "scalar, gpsimd, sync"},
      {[](Program &p, Instruction &) { p.queues[0].locations.clear(); },
       "queue vector: 0 locations for 3 instructions"},
      {[](Program &p, Instruction &) { p.rings[0].ring = 16; },
       "ring '': no such register"},
      {[](Program &p, Instruction &) { p.rings.push_back(p.rings[0]); },
       "ring '': declared twice"},
      {[](Program &p, Instruction &) {
         p.rings.push_back(p.rings[0]);
         p.rings[0].ring = 1;
       },
       "ring '': rings are declared in the order of queue and register"},
      {[](Program &p, Instruction &) { p.rings[0].depth = 0; },
       "ring '': depth is 0, allowed are 1 to 65535"},
      {[](Program &p, Instruction &) { p.rings[0].name = "r3"; },
       "ring 'r3': a name is letters, digits, _ and ., and starts with no "
       "digit"},
      {[](Program &p, Instruction &) { p.semaphores[0].name = "s0"; },
       "semaphore 0: a name is letters, digits, _ and ., and starts with no "
       "digit"},
      {[](Program &p, Instruction &) { p.semaphores.push_back({"go", 0, -1}); },
       "semaphore 1: 'go' is declared twice"},
      {[](Program &p, Instruction &) { p.semaphores[0].initial = -1; },
       "semaphore 0: starts at -1, allowed are 0 to 2147483647"},
      {[](Program &p, Instruction &) { p.semaphores[0].final = -2; },
       "semaphore 0: ends at -2, allowed are 0 to 2147483647"},
      {[](Program &p, Instruction &) {
         p.buffers.push_back({});
         p.buffers[0].name = "b";
         p.buffers[0].kind = BufferKind::Data;
         p.buffers[0].bytes = maxDataBytes + 1;
         p.buffers[0].data.resize(maxDataBytes + 1);
       },
       "data buffers hold 268435457 bytes, allowed are 268435456"},
      {[](Program &p, Instruction &) { p.buffers.push_back({}); },
       "buffer '': a name is letters, digits, _ and ., and starts with no "
       "digit"},
      {[](Program &p, Instruction &) {
         p.buffers.push_back({});
         p.buffers[0].name = "b";
         p.buffers[0].space = Space::Index;
       },
       "buffer 'b': lies in no memory\nf:0:0: buffer 'b': partitions 0 to 0 + "
       "0, there are "
       "128"},
      {[](Program &p, Instruction &) {
         p.affines[0].ring = 0;
         p.affines[0].reserved = 1;
       },
       "affine form 1: not a form"},
      {[](Program &p, Instruction &) { p.predicates[0].conditions = 0; },
       "predicate 1: not a predicate"},
      {[](Program &p, Instruction &) { p.predicates[0].forms[0] = 7; },
       "predicate 1: not a predicate"},
      {[](Program &p, Instruction &) { p.accesses[0].space = Space(7); },
       "access 1: not an access"},
      {[](Program &p, Instruction &) { p.accesses[0].count[2] = 1; },
       "access 1: dimension 2 is beyond its rank"},
      {[](Program &p, Instruction &) { p.accesses[0].count[0] = 0; },
       "access 1: dimension 0 has no elements"},
      {[](Program &p, Instruction &) { p.accesses[0].count[0] = 1; },
       "access 1: dimension 0 of one element has a step"},
      {[](Program &p, Instruction &) {
         p.accesses[0].rank = 2;
         p.accesses[0].count[0] = p.accesses[0].count[1] = 100000;
       },
       "access 1: more than 2^32 elements in a row"},
      {[](Program &p, Instruction &) { p.accesses[0].partitions = 0; },
       "access 1: no rows"},
      {[](Program &p, Instruction &) { p.accesses[0].affine = 9; },
       "access 1: affine form 9 does not exist"},
      {[](Program &p, Instruction &) { p.accesses[0].buffer = 1; },
       "access 1: names a buffer, but is not in hbm"},
      {[](Program &p, Instruction &) { p.accesses[0].rowStep = 1; },
       "access 1: has a row step, but is on chip"},
      {[](Program &p, Instruction &) { p.accesses[0].space = Space::Hbm; },
       "access 1: buffer 0 does not exist"},
      {[](Program &p, Instruction &) {
         p.accesses[0].space = Space::Index;
         p.accesses[0].partition = 1;
       },
       "access 1: has a partition, but is not on chip"},
      {[](Program &p, Instruction &) {
         p.accesses[0].space = Space::Index;
         p.accesses[0].rowStep = 1;
       },
       "access 1: one row has a row step"},
  };
  for (const Damage &row : tables) {
    Program program = whole;
    row.damage(program, program.queues[0].code[1]);
    Diagnostics diags;
    EXPECT_FALSE(checkProgram(program, diags, "f")) << row.message;
    EXPECT_EQ(messages(diags), std::string("f:0:0: ") + row.message + "\n");
  }
}

TEST(Check, names_the_source_line) {
  Program program = correct();
  program.locations.push_back({"k.facet", 3, 9, "matmul y"});
  program.queues[0].locations[1] = 1;
  program.queues[0].code[1].operands[1] = 0;
  Diagnostics diags;
  EXPECT_FALSE(checkProgram(program, diags, "f"));
  ASSERT_EQ(diags.all().size(), 1u);
  ASSERT_EQ(diags.all()[0].notes.size(), 1u);
  EXPECT_EQ(diags.all()[0].notes[0].place.file, "k.facet");
  EXPECT_EQ(diags.all()[0].notes[0].place.line, 3u);
  EXPECT_EQ(diags.all()[0].notes[0].message, "from 'matmul y'");
}

TEST(Check, range_of_a_form) {
  ProgramBuilder b(shippedMachine("trn2"));
  b.ring(Engine::Sync, 2, 3);
  b.loop(Engine::Sync, 8);
  b.loop(Engine::Sync, 4);
  AffineForm form;
  form.base = 5;
  form.coefficients[0] = 1024;
  form.coefficients[1] = -16;
  form.ring = 2;
  form.slotStride = 2048;
  uint32_t number = b.affine(form);
  uint32_t pc = b.add(Engine::Sync, ProgramBuilder::make(Opcode::Nop));
  b.end(Engine::Sync);
  b.end(Engine::Sync);
  Program program = b.finish();
  EXPECT_EQ(enclosingLoops(program.queues[0], pc),
            (std::vector<unsigned>{0, 1}));
  Range range = affineRange(program, 0, pc, number);
  EXPECT_EQ(range.min, 5 - 48);
  EXPECT_EQ(range.max, 5 + 7168 + 4096);
  EXPECT_EQ(affineRange(program, 0, pc, 0).max, 0);
  program.queues[0].code[1].imm[0] = 0;
  EXPECT_TRUE(affineRange(program, 0, pc, number).empty());
}
