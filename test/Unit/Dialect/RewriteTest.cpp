//===- RewriteTest.cpp - rewrites keep every element ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random kernels, run by the interpreter before and after tiling each of their ops,
// simplifying, decomposing softmax, and what takes sums apart for matrix engines, each
// alone: every result element has the same bits. What a sweep must have met is counted,
// so that it cannot become empty unnoticed.
//
//===----------------------------------------------------------------------===//

#include "Interpreter.h"

#include "facet/Conversion/KernelToEngine.h"
#include "facet/Dialect/Kernel/Transforms/Passes.h"
#include "facet/Frontend/EmitKernel.h"
#include "facet/Frontend/Frontend.h"
#include "facet/Generate/KernelGenerator.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/TileUsingInterface.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

#include "gtest/gtest.h"

#include <filesystem>
#include <fstream>
#include <random>

using namespace mlir;
using namespace facet;
using namespace facet::kernel;
using namespace facet::test;

namespace {
class RewriteTest : public testing::Test {
protected:
  using Sizes = std::map<std::string, int64_t>;

  RewriteTest() {
    context
        .loadDialect<KernelDialect, scf::SCFDialect, affine::AffineDialect>();
  }

  /// The kernel of `source` as IR; fails the test when it is not legal.
  FuncOp emit(const std::string &source) {
    facet::Diagnostics diagnostics;
    auto checked = parseAndCheck("generated.facet", source, {}, diagnostics);
    if (!checked)
      return {};
    module = ModuleOp::create(UnknownLoc::get(&context));
    return emitKernel(*module, *checked->kernels.front());
  }

  Attribute randomElement(Type type) {
    if (auto number = dyn_cast<FloatType>(type)) {
      double value = int64_t(random() % 65) / 8.0 - 4;
      if (random() % 16 == 0)
        value = std::array{double(INFINITY), -double(INFINITY), double(NAN),
                           -0.0}[random() % 4];
      APFloat rounded(value);
      bool losesInfo;
      rounded.convert(number.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                      &losesInfo);
      return FloatAttr::get(type, rounded);
    }
    // Small, since it may be a subscript.
    return IntegerAttr::get(type,
                            APInt(type.getIntOrFloatBitWidth(), random() % 2));
  }

  std::vector<Tensor> randomArguments(FuncOp kernel, const Sizes &sizes) {
    std::vector<Tensor> arguments;
    for (BlockArgument argument : kernel.getBody().getArguments()) {
      SmallVector<int64_t> shape;
      for (Attribute dim : kernel.getParam(argument.getArgNumber()).getDims())
        shape.push_back(isa<StringAttr>(dim)
                            ? sizes.at(cast<StringAttr>(dim).str())
                            : cast<IntegerAttr>(dim).getInt());
      arguments.emplace_back(shape);
      for (Attribute &element : arguments.back().elements)
        element = randomElement(getElementTypeOrSelf(argument.getType()));
    }
    return arguments;
  }

  /// Expects `kernel` to verify and to give `want`.
  void expectResults(FuncOp kernel, const Sizes &sizes,
                     const std::vector<Tensor> &arguments,
                     const std::vector<Tensor> &want, const std::string &what) {
    std::string text;
    llvm::raw_string_ostream os(text);
    kernel.print(os);
    ASSERT_TRUE(succeeded(mlir::verify(kernel))) << what << '\n' << text;
    Interpreter interpreter(sizes);
    auto got = interpreter.run(kernel, arguments);
    ASSERT_TRUE(got) << what << ": " << interpreter.error << '\n' << text;
    ASSERT_EQ(got->size(), want.size());
    for (size_t i = 0; i != want.size(); ++i)
      ASSERT_TRUE((*got)[i] == want[i]) << what << ", result " << i << '\n'
                                        << text;
  }

  /// Draws kernels and calls `check` with each, the arguments and the results of a run.
  void sweep(unsigned count,
             llvm::function_ref<
                 void(FuncOp, const Sizes &, const std::vector<Tensor> &,
                      const std::vector<Tensor> &, const std::string &)>
                 check) {
    GeneratorOptions options;
    options.maxPoints = 200;
    for (uint64_t seed = 0; seed != count && !HasFatalFailure(); ++seed) {
      GeneratedKernel generated = generateKernel(seed, options);
      FuncOp kernel = emit(generated.source);
      ASSERT_TRUE(kernel) << generated.source;
      random.seed(seed);
      const Sizes &sizes = generated.runs.front();
      std::vector<Tensor> arguments = randomArguments(kernel, sizes);
      Interpreter interpreter(sizes);
      auto want = interpreter.run(kernel, arguments);
      ASSERT_TRUE(want) << interpreter.error << '\n' << generated.source;
      for (const Tensor &result : *want)
        for (Attribute element : result.elements)
          numElements[!!element]++;
      check(kernel, sizes, arguments, *want, generated.source);
    }
    // Most elements have a value: the comparison is about something.
    EXPECT_GT(numElements[true], 10 * numElements[false]);
  }

  void expectTilingKeeps(FuncOp kernel, const Sizes &sizes,
                         const std::vector<Tensor> &arguments,
                         const std::vector<Tensor> &want,
                         const std::string &source);

  /// Fixes the sizes, as the road to an engine asks.
  void fixSizes(FuncOp kernel, const Sizes &sizes) {
    Builder builder(&context);
    SmallVector<NamedAttribute> fixed;
    for (auto name : kernel.getSizes().getAsRange<StringAttr>())
      fixed.push_back(builder.getNamedAttr(
          name, builder.getDenseI64ArrayAttr({sizes.at(name.str())})));
    kernel.setFixedAttr(builder.getDictionaryAttr(fixed));
  }

  /// A sum of products whose factors are computed, drawn by `random`.
  std::string computedProduct(Sizes &sizes);
  /// A sum of products of integers with what quantised products have around it, drawn by
  /// `random`; some of so many terms that its sums are no longer exact in f32.
  std::string integerProduct(Sizes &sizes);

  void run(FuncOp kernel, std::unique_ptr<mlir::Pass> pass) {
    PassManager manager(&context, FuncOp::getOperationName());
    manager.addPass(std::move(pass));
    ASSERT_TRUE(succeeded(manager.run(kernel)));
  }

  MLIRContext context{MLIRContext::Threading::DISABLED};
  OwningOpRef<ModuleOp> module;
  std::mt19937_64 random;
  std::map<bool, size_t> numElements;  // with a value, without
  std::map<std::string, unsigned> met; // by tiling
};

/// Tiles copies of `kernel`, one per op, by random sizes, and expects the results to
/// stay; counts in `met` what was tiled.
void RewriteTest::expectTilingKeeps(FuncOp kernel, const Sizes &sizes,
                                    const std::vector<Tensor> &arguments,
                                    const std::vector<Tensor> &want,
                                    const std::string &source) {
  unsigned numOps = llvm::range_size(kernel.getOps<StructuredOpInterface>());
  for (unsigned position = 0; position != numOps && !HasFatalFailure();
       ++position) {
    auto copy = cast<FuncOp>(kernel->clone());
    auto op =
        *std::next(copy.getOps<StructuredOpInterface>().begin(), position);
    SmallVector<OpFoldResult> tileSizes;
    for (unsigned i = 0; i != op.getNumIterators(); ++i) {
      bool whole = isa<SoftmaxOp>(op) && i >= op.getNumParallel();
      // 0: not tiled. Large extents get large tiles.
      int64_t size = whole ? 0 : random() % 4;
      if (!ShapedType::isDynamic(op.getStaticExtents()[i]) &&
          op.getStaticExtents()[i] > 32)
        size *= 20;
      tileSizes.push_back(IntegerAttr::get(IndexType::get(&context), size));
    }
    met[op->getName().getStringRef().str()]++;
    met["filter"] += !op.getFilter().empty();
    met["two inits"] += op.getInits().size() == 2;
    for (unsigned i = 0; i != op.getInputs().size(); ++i)
      met["gather"] += op.getAccess(i).hasGather();
    IRRewriter rewriter(op);
    scf::SCFTilingOptions options;
    options.setTileSizes(tileSizes);
    auto tiled = scf::tileUsingSCF(
        rewriter, cast<TilingInterface>(op.getOperation()), options);
    ASSERT_TRUE(succeeded(tiled)) << source;
    rewriter.replaceOp(op, tiled->replacements);
    expectResults(copy, sizes, arguments, want, source);
    copy->erase();
  }
}

TEST_F(RewriteTest, TilingKeepsEveryElement) {
  sweep(150, [&](FuncOp kernel, const Sizes &sizes,
                 const std::vector<Tensor> &arguments,
                 const std::vector<Tensor> &want, const std::string &source) {
    expectTilingKeeps(kernel, sizes, arguments, want, source);
  });
  for (const char *kind : {"kernel.map", "kernel.reduce", "kernel.softmax",
                           "filter", "two inits", "gather"})
    EXPECT_GT(met[kind], 5u) << kind;
}

/// The kernels of examples/, at sizes of 2, or of 1 where numbers make them large.
TEST_F(RewriteTest, ExamplesKeepEveryElement) {
  namespace fs = std::filesystem;
  unsigned numKernels = 0;
  for (const fs::directory_entry &entry :
       fs::recursive_directory_iterator(FACET_EXAMPLES)) {
    // Files are read one by one here: those of examples/build import each other.
    fs::path inside = entry.path().lexically_relative(FACET_EXAMPLES);
    if (entry.path().extension() != ".facet" || *inside.begin() == "build" ||
        HasFatalFailure())
      continue;
    std::ifstream file(entry.path());
    std::string source{std::istreambuf_iterator<char>(file), {}};
    FuncOp kernel = emit(source);
    ASSERT_TRUE(kernel) << entry.path();
    Sizes sizes;
    bool large = false;
    for (auto op : kernel.getOps<StructuredOpInterface>()) {
      int64_t points = 1;
      for (int64_t extent : op.getStaticExtents())
        points *= ShapedType::isDynamic(extent) ? 2 : extent;
      large |= points > 4096;
    }
    for (Attribute size : kernel.getSizes())
      sizes[cast<StringAttr>(size).str()] = large ? 1 : 2;
    std::vector<Tensor> arguments = randomArguments(kernel, sizes);
    Interpreter interpreter(sizes);
    auto want = interpreter.run(kernel, arguments);
    ASSERT_TRUE(want) << interpreter.error << entry.path();
    ++numKernels;
    if (!large)
      expectTilingKeeps(kernel, sizes, arguments, *want, source);
    run(kernel, createSimplifyKernelPass());
    expectResults(kernel, sizes, arguments, *want, source);
    run(kernel, createDecomposeSoftmaxPass());
    expectResults(kernel, sizes, arguments, *want, source);
  }
  EXPECT_GE(numKernels, 37u);
}

TEST_F(RewriteTest, SimplifyingKeepsEveryElement) {
  unsigned opsBefore = 0, opsAfter = 0;
  sweep(300, [&](FuncOp kernel, const Sizes &sizes,
                 const std::vector<Tensor> &arguments,
                 const std::vector<Tensor> &want, const std::string &source) {
    opsBefore += llvm::range_size(kernel.getOps<StructuredOpInterface>());
    run(kernel, createSimplifyKernelPass());
    opsAfter += llvm::range_size(kernel.getOps<StructuredOpInterface>());
    expectResults(kernel, sizes, arguments, want, source);
  });
  EXPECT_LT(opsAfter, opsBefore);
}

TEST_F(RewriteTest, DecomposingSoftmaxKeepsEveryElement) {
  unsigned decomposed = 0;
  sweep(300, [&](FuncOp kernel, const Sizes &sizes,
                 const std::vector<Tensor> &arguments,
                 const std::vector<Tensor> &want, const std::string &source) {
    auto softmaxes = kernel.getOps<SoftmaxOp>();
    if (softmaxes.empty())
      return;
    ++decomposed;
    run(kernel, createDecomposeSoftmaxPass());
    expectResults(kernel, sizes, arguments, want, source);
    run(kernel, createSimplifyKernelPass());
    expectResults(kernel, sizes, arguments, want, source);
    run(kernel, createCSEPass());
    expectResults(kernel, sizes, arguments, want, source);
  });
  EXPECT_GT(decomposed, 10u);
}

std::string RewriteTest::integerProduct(Sizes &sizes) {
  auto oneOf = [&](std::initializer_list<const char *> words) {
    return std::string(words.begin()[random() % words.size()]);
  };
  sizes = {{"M", 1 + random() % 3},
           {"K", std::array{1 + random() % 9, 300ul, 1100ul}[random() % 3]},
           {"N", 1 + random() % 4}};
  std::string a = oneOf({"u8", "i8"}), b = oneOf({"u8", "i8"});
  bool turnsA = random() % 2, turnsB = random() % 2;
  std::string behind =
      oneOf({"s[m, n]", "s[m, n] + i32(bc[n]) * 3",
             "f32(s[m, n]) * (as * ws[n])", "f32(s[m, n]) * exp(ws[n]) + as"});
  return "kernel f(a: " + a + (turnsA ? "[K, M]" : "[M, K]") + ", b: " + b +
         (turnsB ? "[N, K]" : "[K, N]") + ", az: " + a + ", ar: " + a +
         "[M], bz: " + b + ", bc: " + b + "[N], as: f32, ws: f32[N]) -> c: " +
         (behind[0] == 'f' ? "f32" : "i32") +
         "[M, N] {\n  let s[m, n] = sum[k]((i32(" +
         (turnsA ? "a[k, m]" : "a[m, k]") + ")" +
         oneOf({"", " - i32(az)", " - i32(ar[m])"}) + ") * (i32(" +
         (turnsB ? "b[n, k]" : "b[k, n]") + ")" +
         oneOf({"", " - i32(bz)", " - i32(bc[n])"}) +
         "))\n  c[m, n] = " + behind + "\n}\n";
}

std::string RewriteTest::computedProduct(Sizes &sizes) {
  auto oneOf = [&](std::initializer_list<const char *> words) {
    return std::string(words.begin()[random() % words.size()]);
  };
  sizes = {
      {"M", 1 + random() % 4}, {"K", random() % 9}, {"N", 1 + random() % 4}};
  std::string type = oneOf({"f32", "bf16", "i8"});
  std::string a = oneOf({"x[m, k]", "f32(bf16(x[m, k] * r[m]))",
                         "x[m, k] * c[k]",
                         "where(x[m, k] > 0, x[m, k], r[m])"}),
              b = oneOf({"f32(w[k, n])", "f32(w[k, n]) * c[k]",
                         "(f32(w[k, n]) - z[n]) * c[k]",
                         "exp(min(f32(w[k, n]), z[n]))"});
  std::string product =
      random() % 2 ? "(" + a + ") * (" + b + ")" : "(" + b + ") * (" + a + ")";
  return "kernel f(x: f32[M, K], r: f32[M], w: " + type +
         "[K, N], c: f32[K], z: f32[N]) -> y: f32[M, N] {\n  y[m, n] = " +
         oneOf({"", "z[n] + "}) + "sum[k](" + product + ")\n}\n";
}

// What the road to an engine rewrites before it plans, each alone. The kernels are of the
// form that it is about, which the generator hardly ever finds.

TEST_F(RewriteTest, SeparatingFactorsKeepsEveryElement) {
  unsigned separated = 0;
  for (uint64_t seed = 0; seed != 300 && !HasFatalFailure(); ++seed) {
    random.seed(seed);
    Sizes sizes;
    std::string source = computedProduct(sizes);
    FuncOp kernel = emit(source);
    ASSERT_TRUE(kernel) << source;
    std::vector<Tensor> arguments = randomArguments(kernel, sizes);
    Interpreter interpreter(sizes);
    auto want = interpreter.run(kernel, arguments);
    ASSERT_TRUE(want) << interpreter.error << '\n' << source;
    run(kernel, createSimplifyKernelPass());
    unsigned before = llvm::range_size(kernel.getOps<MapOp>());
    engine::separateFactors(kernel);
    separated += llvm::range_size(kernel.getOps<MapOp>()) != before;
    expectResults(kernel, sizes, arguments, *want, source);
    run(kernel, createSimplifyKernelPass());
    expectResults(kernel, sizes, arguments, *want, source);
  }
  EXPECT_GT(separated, 100u);
}

TEST_F(RewriteTest, SeparatingIntegersKeepsEveryElement) {
  unsigned separated = 0, hoisted = 0;
  for (uint64_t seed = 0; seed != 90 && !HasFatalFailure(); ++seed) {
    random.seed(seed);
    Sizes sizes;
    std::string source = integerProduct(sizes);
    FuncOp kernel = emit(source);
    ASSERT_TRUE(kernel) << source;
    fixSizes(kernel, sizes);
    std::vector<Tensor> arguments = randomArguments(kernel, sizes);
    // All values of a byte, the largest often.
    for (Tensor &argument : arguments)
      for (Attribute &element : argument.elements)
        if (auto number = dyn_cast<IntegerAttr>(element))
          element = IntegerAttr::get(
              number.getType(),
              APInt(8, random() % 2 ? random() % 256 : 0x7f + random() % 2));
    Interpreter interpreter(sizes);
    auto want = interpreter.run(kernel, arguments);
    ASSERT_TRUE(want) << interpreter.error << '\n' << source;
    run(kernel, createSimplifyKernelPass());
    separated += engine::separateIntegers(kernel);
    expectResults(kernel, sizes, arguments, *want, source);
    run(kernel, createSimplifyKernelPass());
    expectResults(kernel, sizes, arguments, *want, source);
    unsigned before = llvm::range_size(kernel.getOps<MapOp>());
    engine::hoistTerms(kernel);
    hoisted += llvm::range_size(kernel.getOps<MapOp>()) != before;
    expectResults(kernel, sizes, arguments, *want, source);
  }
  EXPECT_GT(separated, 40u);
  EXPECT_GT(hoisted, 5u);
}
} // namespace
