//===- KernelGeneratorTest.cpp - generated kernels are legal --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "facet/Generate/KernelGenerator.h"
#include "facet/Frontend/EmitKernel.h"
#include "facet/Frontend/Frontend.h"
#include "mlir/IR/Verifier.h"
#include "gtest/gtest.h"

using namespace facet;

static std::string rendered(const Diagnostics &diagnostics) {
  std::string text;
  llvm::raw_string_ostream os(text);
  renderDiagnostics(diagnostics, DiagnosticFormat::Text, /*colour=*/false, os);
  return text;
}

TEST(KernelGenerator, TheCheckerAcceptsEveryKernelAndItsDialectFormVerifies) {
  mlir::MLIRContext context;
  context.loadDialect<kernel::KernelDialect>();
  for (uint64_t seed = 0; seed < 1500; ++seed) {
    GeneratedKernel generated = generateKernel(seed);
    Diagnostics diagnostics;
    auto checked =
        parseAndCheck("generated.facet", generated.source, {}, diagnostics);
    ASSERT_TRUE(checked) << generated.source << rendered(diagnostics);
    mlir::OwningOpRef<mlir::ModuleOp> module =
        mlir::ModuleOp::create(mlir::UnknownLoc::get(&context));
    emitKernel(*module, *checked->kernels.front());
    ASSERT_TRUE(mlir::succeeded(mlir::verify(*module))) << generated.source;
  }
}

TEST(KernelGenerator, ASeedMeansOneKernel) {
  GeneratedKernel a = generateKernel(42), b = generateKernel(42);
  EXPECT_EQ(a.source, b.source);
  EXPECT_EQ(a.runs, b.runs);
  EXPECT_NE(a.source, generateKernel(43).source);
}

/// What a seed means must not change with the compiler that built us: gcc and
/// clang order the operands of `+` differently. FNV-1a over 500 kernels.
TEST(KernelGenerator, SeedsMeanTheSameWithEveryCompiler) {
  uint64_t hash = 0xcbf29ce484222325;
  for (uint64_t seed = 0; seed < 500; ++seed)
    for (unsigned char c : generateKernel(seed).source)
      hash = (hash ^ c) * 0x100000001b3;
  EXPECT_EQ(hash, 0xa79b9bf910dc74aull);
}

TEST(KernelGenerator, RunsGiveEverySizeAValueAndTheFirstIsNotEmpty) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    GeneratedKernel generated = generateKernel(seed);
    ASSERT_FALSE(generated.runs.empty());
    for (const auto &[size, value] : generated.runs.front()) {
      EXPECT_GT(value, 0) << size;
      EXPECT_NE(generated.source.find(size), std::string::npos);
    }
  }
}
