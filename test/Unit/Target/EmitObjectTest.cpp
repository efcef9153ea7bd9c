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
