//===- AssemblerErrorTest.cpp - what the assembler says -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Texts with one mistake each, and the message with its place. First the grammar
// (Assembler.cpp), then the rules of a program (Check.cpp, CheckOperands.cpp).
//
//===----------------------------------------------------------------------===//

#include "RandomProgram.h"

#include "facet/Isa/Assembler.h"
#include "facet/Isa/Check.h"

#include "gtest/gtest.h"

using namespace facet;
using namespace facet::test;

namespace {
struct Row {
  std::string lines;
  std::string messages;
};
} // namespace

/// Line 1 to 6 of every text below; what a row gives starts in line 7.
static const char *const head =
    ".machine \"trn2\"\n"
    ".buffer x in hbm.bf16[128, 512] at 0 bytes 131072\n"
    ".buffer y out hbm.f32[128, 512] at 0x20000 bytes 262144\n"
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

TEST(AssemblerError, directives) {
  expectSaid({
      {"", ""},
      {".program 2",
       "7:10: the version of the text form is 2, allowed are 1 to 1"},
      {".machine \"trn2\"", "7:10: a second machine"},
      {".machin \"trn2\"",
       "7:1: no directive is called '.machin'; did you mean '.machine'?"},
      {".note \"a\"",
       "7:10: want a value in quotes here, found the end of the line"},
      {".note \"a",
       "7:7: the string has no end on its line, a bad escape or is not UTF-8"},
      {".note \"\\q\" \"\"",
       "7:7: the string has no end on its line, a bad escape or is not UTF-8"},
      {".note \"\\xff\" \"\"",
       "7:7: the string has no end on its line, a bad escape or is not UTF-8"},
      {".note \"a\" \"b\" c", "7:15: want the end of the line here, found 'c'"},
      {".buffer",
       "7:8: want the buffer's name here, found the end of the line"},
      {".buffer z into hbm.f32[1] at 0 bytes 4",
       "7:11: no kind of buffer is called 'into'; did you mean 'in'?"},
      {".buffer z in dram.f32[1] at 0 bytes 4",
       "7:14: no memory is called 'dram'; there are sbuf, psum, hbm"},
      {".buffer z in hbm.f33[1] at 0 bytes 4",
       "7:14: no element type is called 'f33'; did you mean 'f32'?"},
      {".buffer z in hbm.f32 at 0 bytes 4", "7:22: want '[' here, found 'at'"},
      {".buffer z in hbm.f32[1] bytes 4",
       "7:25: want 'at ADDRESS' here, found 'bytes'"},
      {".buffer z in hbm.f32[1] at 0",
       "7:29: want 'bytes NUMBER' here, found the end of the line"},
      {".buffer z in hbm.f32[1] at -1 bytes 4",
       "7:28: the address is -1, allowed are 0 to 9223372036854775807"},
      {".bytes \"00\"", "7:8: data comes after a buffer of kind data"},
      {".buffer z data hbm.u8[2] at 0x80000 bytes 2\n.bytes \"0\"",
       "8:11: want an even number of hex digits"},
      {".buffer z data hbm.u8[2] at 0x80000 bytes 2\n.bytes \"000000\"",
       "8:16: buffer 'z' has 2 bytes, this goes beyond them"},
      {".buffer z data hbm.u8[2] at 0x80000 bytes 2\n.zeros 3",
       "8:9: buffer 'z' has 2 bytes, this goes beyond them"},
      {".buffer z data hbm.u8[2] at 0x80000 bytes 10000000000\n.zeros "
       "10000000000",
       "8:19: data buffers hold more than 268435456 bytes"},
      {".semaphore s4", "7:12: a semaphore without a name is called s3 here"},
      {".semaphore go", "7:12: semaphore 'go' is declared twice"},
      {".semaphore a initial=-1",
       "7:22: the initial value is -1, allowed are 0 to 2147483647"},
      {".queue tensr",
       "7:8: no engine is called 'tensr'; did you mean 'tensor'?"},
      {".queue sync\n.queue sync", "8:8: queue sync is opened twice"},
      {".queue sync\nloop trips=2\n.queue scalar",
       "9:8: the queue before has a loop without end"},
      {".ring r0 depth=2",
       "7:7: a ring belongs to a queue; open one with .queue first"},
      {".queue sync\n.ring r16 depth=2", "8:7: want r0 to r15, found 'r16'"},
      {".queue sync\n.ring r01 depth=2", "8:7: want r0 to r15, found 'r01'"},
      {".queue sync\n.ring r1",
       "8:9: want 'depth=NUMBER' here, found the end of the line"},
      {".queue sync\n.ring r1 depth=0",
       "8:16: the depth is 0, allowed are 1 to 65535"},
      {".queue sync\n.ring r1 depth=2\n.ring r1 depth=2",
       "9:7: ring r1 is declared twice"},
      {"nop",
       "7:1: an instruction belongs to a queue; open one with .queue first"},
      {".queue sync\n=", "8:1: want an instruction here, found '='"},
      {".queue sync\ngröße", "8:1: no instruction is called 'gr'"},
  });
  EXPECT_EQ(said(""),
            "p.s:0:0: no machine; start with .machine \"trn2\", say\n");
  EXPECT_EQ(said(".machine \"trn9\"\n"),
            ":0:0: no machine is called 'trn9'; did you mean 'trn1'?\n"
            "p.s:1:16: machine 'trn9' cannot be used\n");
  EXPECT_EQ(said(".machine \"x86-64-v2\"\n"),
            "p.s:0:0: machine 'x86-64-v2' is a cpu; programs are for matrix "
            "engines\n");
  EXPECT_EQ(said(".machine \"a\" {\n"),
            "p.s:2:1: the machine's '{' is not closed\n");
  EXPECT_EQ(said(".machine \"a\" {\n  core.rows 1\n}\n"),
            "p.s:1:15: the machine's 'core.partitions' is missing or not a "
            "value it can have\n");
  EXPECT_EQ(said(std::string("a\0b", 3)), "p.s:1:2: a NUL byte\n");
  EXPECT_EQ(said("\n\xc3("), "p.s:2:1: not UTF-8 here\n");
}

TEST(AssemblerError, instructions) {
  expectSaid(
      {
          {"copi",
           "8:1: no instruction is called 'copi'; did you mean 'copy'?"},
          {"nop 5", "8:5: want an operand, a field or a flag here, found '5'"},
          {"nop wait(go >= 1),", "8:19: want an operand, a field or a flag "
                                 "here, found the end of the line"},
          {"nop dst=sbuf.f32[0:1, 0]", "8:5: no part of nop is called 'dst'; "
                                       "there are if, wait, update, loc"},
          {"fill dst=sbuf.f32[0:1, 0], dts=1",
           "8:28: no part of fill is called 'dts'; did you mean 'dst'?"},
          {"fill dst=sbuf.f32[0:1, 0], dst=sbuf.f32[0:1, 0]",
           "8:28: 'dst' is given twice"},
          {"copy dst=sbuf.f32[0:1, 0], src=sbuf.f32[0:1, 0], sat, sat",
           "8:55: 'sat' is given twice"},
          {"fill dst=sbuff.f32[0:1, 0]",
           "8:10: no memory is called 'sbuff'; did you mean 'sbuf'?"},
          {"fill dst=sbuf.f32[5:5, 0]",
           "8:21: one past the last partition is 5, allowed are 6 to 65536"},
          {"fill dst=sbuf.f32[0, 0]", "8:20: want ':' here, found ','"},
          {"fill dst=sbuf.f32[0:1, 0, 0]",
           "8:27: a number of elements is 0, allowed are 1 to 4294967295"},
          {"fill dst=sbuf.f32[0:1, 0, 1, 1, 1, 1, 1]",
           "8:39: more than 4 dimensions"},
          {"fill dst=sbuf.f32[0:1, 0, 4294967295, 4294967295]",
           "8:49: more than 2^40 elements in a row"},
          {"fill dst=sbuf.f32[0:1, x]",
           "8:24: want a number, i0 to i7 or r0 to r15, found 'x'"},
          {"fill dst=sbuf.f32[0:1, 4*]",
           "8:26: want a number, i0 to i7 or r0 to r15 here, found ']'"},
          {"fill dst=sbuf.f32[0:1, r0 + r1]", "8:29: an address uses one ring"},
          {"fill dst=sbuf.f32[0:1, 9999999999999999999]",
           "8:43: a number beyond 2^62"},
          {"fill dst=sbuf.f32[0:1, 4611686018427387904 + 4611686018427387904]",
           "8:65: the sum leaves 64 bits"},
          {"fill dst=sbuf.f32[0:1, 0",
           "8:25: want ']' here, found the end of the line"},
          {"fill dst=sbuf.f32[0:1, 0], value=x",
           "8:35: value is 'x', want an f32"},
          {"fill dst=sbuf.f32[0:1, 0], value=1.5.5",
           "8:39: value is '1.5.5', want an f32"},
          {"fill dst=sbuf.i32[0:1, 0], value=1.5",
           "8:37: value is '1.5', want an i32"},
          {"fill dst=sbuf.i32[0:1, 0], value=2147483648",
           "8:44: value is '2147483648', want an i32"},
          {"fill dst=sbuf.i32[0:1, 0], value=(",
           "8:34: want a number for value, found '('"},
          {"nop wait(go > 1)", "8:13: want >= or == here, found '>'"},
          {"nop wait(og >= 1)",
           "8:10: no semaphore is called 'og'; did you mean 'go'?"},
          {"nop wait(s3 >= 1)",
           "8:10: no semaphore is called 's3'; did you mean 'go'?"},
          {"nop wait(go >= 2147483648)",
           "8:16: the value is 2147483648, allowed are -2147483648 to "
           "2147483647"},
          {"nop wait(go >= 1 + 1*round)",
           "8:27: rounds are those of a ring; write the semaphore with one, as "
           "s0[r0]"},
          {"nop wait(go >= 1 + 2)", "8:21: want '*round' here, found ')'"},
          {"nop wait(go[r99] >= 1)", "8:13: want r0 to r15, found 'r99'"},
          {"nop wait(go >= 1), wait(go >= 1), wait(go >= 1)",
           "8:39: more than 2 waits; put the others on a nop before"},
          {"nop update(go += 1), update(go += 1), update(go += 1)",
           "8:45: more than 2 updates; put the others on a nop after"},
          {"nop update(go ++ 1)", "8:15: want += or -= here, found '+'"},
          {"nop update(go += 0)",
           "8:18: the amount is 0, allowed are 1 to 32767"},
          {"nop update(go += 32768)",
           "8:18: the amount is 32768, allowed are 1 to 32767"},
          {"nop if(i0 = 0)", "8:11: want == != < <= > >= here, found '='"},
          {"nop if(1 == 1)",
           "8:13: the right side of a condition is 1, allowed are 0 to 0"},
          {"nop if(1 == 0), if(1 == 0)",
           "8:19: a second if; list the conditions in one"},
          {"nop if(1 == 0, 1 == 0, 1 == 0, 1 == 0, 1 == 0)",
           "8:46: more than 4 conditions"},
          {"nop loc(3)", "8:9: want a file in quotes here, found '3'"},
          {"end", "8:1: end without a loop"},
          {"loop trips=2", "8:1: a loop without end"},
          {"loop trips=4294967296\nend",
           "8:12: trips is 4294967296, allowed are 0 to 4294967295"},
          {"advance ring=16", "8:14: want r0 to r15 here, found '16'"},
      },
      ".queue vector\n");
}

TEST(AssemblerError, fields) {
  expectSaid(
      {{"tensor_tensor op=ad",
        "8:18: no operation is called 'ad'; did you mean 'add'?"},
       {"tensor_tensor op=5", "8:18: want an operation here, found '5'"},
       {"set_semaphore semaphore=go[r0], value=1",
        "8:31: a ring has no place here"},
       {"set_semaphore semaphore=go, value=-1",
        "8:35: value is -1, allowed are 0 to 2147483647"},
       {"reduce axes=256", "8:13: axes is 256, allowed are 0 to 255"},
       {"copy dst=5",
        "8:10: want an operand, as sbuf.bf16[0:128, 0, 512] here, found '5'"},
       {"copy src=hbm.f32[z, 1, 0]",
        "8:18: no buffer is called 'z'; did you mean 'x'?"},
       {"copy src=hbm.f32[x, 0, 0]",
        "8:21: a number of rows is 0, allowed are 1 to 4294967295"},
       {"copy src=sbuf.f32[65536:1, 0]",
        "8:19: the first partition is 65536, allowed are 0 to 65535"},
       {"nop wait(go[r0] >= 1 + 32768*round)",
        "8:24: the value per round is 32768, allowed are 0 to 32767"}},
      ".queue vector\n");
  expectSaid(
      {{"activate func=expp",
        "8:15: no function is called 'expp'; did you mean 'exp'?"},
       {"activate imm_bias=x, func=exp", "8:30: imm_bias is 'x', want an f32"}},
      ".queue scalar\n");
  expectSaid(
      {{"load_weights pass=2", "8:19: want all, low or high here, found '2'"},
       {"load_weights pass=mid",
        "8:19: no pass is called 'mid'; there are all, low, high"}},
      ".queue tensor\n");
  std::string many = ".machine \"trn2\"\n";
  for (int i = 0; i != 513; ++i)
    many += ".semaphore s" + std::to_string(i) + "\n";
  EXPECT_EQ(said(many + ".queue sync\nnop wait(s512 >= 1)\n"),
            "p.s:516:15: semaphore s512 is beyond s511\n");
}
