//===- RewriteTest.cpp - rewrites keep every element ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random kernels, run by the interpreter before and after tiling each of their ops,
// simplifying, and decomposing softmax: every result element has the same bits. What
// a sweep must have met is counted, so that it cannot become empty unnoticed.
//
//===----------------------------------------------------------------------===//

#include "Interpreter.h"

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

  void run(FuncOp kernel, std::unique_ptr<Pass> pass) {
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
} // namespace
