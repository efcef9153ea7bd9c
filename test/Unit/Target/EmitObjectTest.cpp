//===- EmitObjectTest.cpp - objects, text and code in memory --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "facet/Pipelines/Pipelines.h"
#include "facet/Target/Jit.h"

#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace facet;

namespace {

class EmitObject : public testing::Test {
protected:
  EmitObject() { registerReferenceDialects(registry); }

  mlir::OwningOpRef<mlir::ModuleOp> parse(llvm::StringRef text) {
    context.appendDialectRegistry(registry);
    return mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  }
  mlir::OwningOpRef<mlir::ModuleOp> add() {
    return parse("llvm.func @add(%a: i32, %b: i32) -> i32 {\n"
                 "  %c = llvm.add %a, %b : i32\n"
                 "  llvm.return %c : i32\n"
                 "}\n");
  }
  /// The bytes, or the reason why there are none.
  std::string emit(ObjectKind kind, const ObjectOptions &options) {
    auto module = add();
    llvm::SmallVector<char, 0> out;
    std::string error;
    if (!emitObject(*module, kind, options, out, error))
      return "error: " + error;
    return std::string(out.data(), out.size());
  }

  mlir::DialectRegistry registry;
  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
};

} // namespace

TEST_F(EmitObject, RunsInMemory) {
  std::string error;
  auto module = add();
  auto jit = Jit::create(*module, {}, error);
  ASSERT_TRUE(jit) << error;
  auto *function = jit->lookup<int32_t(int32_t, int32_t)>("add");
  ASSERT_TRUE(function);
  EXPECT_EQ(function(40, 2), 42);
  EXPECT_EQ(jit->lookup("subtract"), nullptr);
}

TEST_F(EmitObject, GivesTheSameBytesAgain) {
  EXPECT_EQ(emit(ObjectKind::Object, {}), emit(ObjectKind::Object, {}));
}

TEST_F(EmitObject, WritesTextForTheTripleAsked) {
  ObjectOptions options;
  options.triple = "aarch64-unknown-linux-gnu";
  EXPECT_NE(
      emit(ObjectKind::LLVMText, options).find("aarch64-unknown-linux-gnu"),
      std::string::npos);
  std::string assembly = emit(ObjectKind::Assembly, options);
  EXPECT_NE(assembly.find("add\tw0"), std::string::npos) << assembly;
}

TEST_F(EmitObject, TakesTheBaselineUnlessTold) {
  ObjectOptions options;
  options.triple = "x86_64-unknown-linux-gnu";
  EXPECT_NE(
      emit(ObjectKind::LLVMText, options).find("\"target-cpu\"=\"x86-64-v2\""),
      std::string::npos);
}

TEST_F(EmitObject, SaysWhatItDoesNotKnow) {
  ObjectOptions options;
  options.triple = "abacus-unknown-none";
  EXPECT_EQ(emit(ObjectKind::Object, options)
                .find("error: no code generator for triple"),
            0u);
  options.triple = "x86_64-unknown-linux-gnu";
  options.cpu = "skylak";
  EXPECT_EQ(
      emit(ObjectKind::Object, options),
      "error: unknown CPU 'skylak' for triple 'x86_64-unknown-linux-gnu'");
}

TEST_F(EmitObject, SurvivesAnErrorInsideCodeGeneration) {
  // An instruction that the baseline does not have cannot be selected.
  auto module = parse(
      "llvm.func @conflicts(%a: vector<16xi32>) -> vector<16xi32> {\n"
      "  %c = llvm.call_intrinsic \"llvm.x86.avx512.conflict.d.512\"(%a) : "
      "(vector<16xi32>) -> vector<16xi32>\n"
      "  llvm.return %c : vector<16xi32>\n"
      "}\n");
  ASSERT_TRUE(module);
  ObjectOptions options;
  options.triple = "x86_64-unknown-linux-gnu";
  llvm::SmallVector<char, 0> out;
  std::string error;
  EXPECT_FALSE(emitObject(*module, ObjectKind::Object, options, out, error));
  EXPECT_NE(error, "");
  // And goes on working.
  EXPECT_EQ(emit(ObjectKind::Object, {}), emit(ObjectKind::Object, {}));
}

TEST_F(EmitObject, RefusesCodeThatNeedsALibrary) {
  auto module = parse("llvm.func @add(%a: f64, %b: f64) -> f64 {\n"
                      "  %c = llvm.fadd %a, %b : f64\n"
                      "  llvm.return %c : f64\n"
                      "}\n");
  ObjectOptions options;
  options.triple = "riscv64-unknown-linux-gnu";
  llvm::SmallVector<char, 0> out;
  std::string error;
  EXPECT_FALSE(emitObject(*module, ObjectKind::Object, options, out, error));
  EXPECT_EQ(error,
            "code for 'riscv64-unknown-linux-gnu' would need '__adddf3' of a "
            "runtime library; name a CPU that has the instructions");
  options.features = "+d";
  out.clear();
  error.clear();
  EXPECT_TRUE(emitObject(*module, ObjectKind::Object, options, out, error))
      << error;
}

TEST_F(EmitObject, RefusesAFileThatIsNoObject) {
  std::string error;
  EXPECT_FALSE(Jit::load({'n', 'o'}, error));
  EXPECT_NE(error, "");
}

/// A loop that adds a loaded vector to each of `sums` sums.
static std::string loopOfSums(unsigned sums) {
  std::string names, types, next;
  std::string body;
  for (unsigned i = 0; i < sums; ++i) {
    std::string n = std::to_string(i), comma = i ? ", " : "";
    names += comma + "%s" + n + ": vector<16xf32>";
    types += comma + "vector<16xf32>";
    next += comma + "%t" + n;
    body += "  %t" + n + " = llvm.fadd %s" + n + ", %v : vector<16xf32>\n";
  }
  std::string zeros = "%zero", stores;
  for (unsigned i = 1; i < sums; ++i)
    zeros += ", %zero";
  for (unsigned i = 0; i < sums; ++i)
    stores += "  %a" + std::to_string(i) + " = llvm.getelementptr %p[" +
              std::to_string(i) +
              "] : (!llvm.ptr) -> !llvm.ptr, vector<16xf32>\n"
              "  llvm.store %t" +
              std::to_string(i) + ", %a" + std::to_string(i) +
              " : vector<16xf32>, !llvm.ptr\n";
  return "llvm.func @sums(%p: !llvm.ptr, %n: i64) {\n"
         "  %zero = llvm.mlir.zero : vector<16xf32>\n"
         "  %none = llvm.mlir.constant(0 : i64) : i64\n"
         "  %one = llvm.mlir.constant(1 : i64) : i64\n"
         "  llvm.br ^loop(%none, " +
         zeros + " : i64, " + types +
         ")\n"
         "^loop(%i: i64, " +
         names +
         "):\n"
         "  %at = llvm.getelementptr %p[%i] : (!llvm.ptr, i64) -> !llvm.ptr, "
         "vector<16xf32>\n"
         "  %v = llvm.load %at : !llvm.ptr -> vector<16xf32>\n" +
         body +
         "  %j = llvm.add %i, %one : i64\n"
         "  %more = llvm.icmp \"slt\" %j, %n : i64\n"
         "  llvm.cond_br %more, ^loop(%j, " +
         next + " : i64, " + types +
         "), ^end\n"
         "^end:\n" +
         stores + "  llvm.return\n}\n";
}

TEST_F(EmitObject, CountsSumsThatRegistersDoNotHold) {
  auto spillsOf = [&](unsigned sums) {
    auto module = parse(loopOfSums(sums));
    EXPECT_TRUE(module);
    std::vector<LoopSpill> spills;
    ObjectOptions options;
    options.triple = "x86_64-unknown-linux-gnu";
    options.cpu = "x86-64-v4"; // 32 registers of this width
    options.effort = CodeEffort::Thorough;
    options.spills = &spills;
    llvm::SmallVector<char, 0> out;
    std::string error;
    EXPECT_TRUE(module &&
                emitObject(*module, ObjectKind::Object, options, out, error))
        << error;
    return spills;
  };
  EXPECT_TRUE(spillsOf(24).empty());
  std::vector<LoopSpill> spills = spillsOf(40);
  ASSERT_EQ(spills.size(), 1u);
  EXPECT_EQ(spills[0].function, "sums");
  EXPECT_EQ(spills[0].sums, 40u);
  EXPECT_GE(spills[0].stores, 8u);
  EXPECT_GE(spills[0].loads, 8u);
}

TEST_F(EmitObject, KnowsTheCpusOfAnArchitecture) {
  EXPECT_TRUE(isKnownCpu("x86_64", "znver5"));
  EXPECT_TRUE(isKnownCpu("aarch64", "neoverse-v1"));
  EXPECT_FALSE(isKnownCpu("x86_64", "neoverse-v1"));
  EXPECT_FALSE(isKnownCpu("abacus", "znver5"));
}
