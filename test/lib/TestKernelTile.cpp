//===- TestKernelTile.cpp - tiles a kernel op by iterator names -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `--test-kernel-tile="op=acc sizes=m:4,k:8"` tiles the op named "acc" with
// scf::tileUsingSCF; `fuse` also pulls its producers into the loops. Exists only
// to test TilingInterface of the kernel dialect.
//
//===----------------------------------------------------------------------===//

#include "TestPasses.h"

#include "facet/Dialect/Kernel/IR/Kernel.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/TileUsingInterface.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;
using namespace facet::kernel;

namespace {
struct TestKernelTile : PassWrapper<TestKernelTile, OperationPass<FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TestKernelTile)

  TestKernelTile() = default;
  TestKernelTile(const TestKernelTile &other) : PassWrapper(other) {}

  StringRef getArgument() const final { return "test-kernel-tile"; }
  StringRef getDescription() const final {
    return "tiles one kernel op by iterator names";
  }
  void getDependentDialects(DialectRegistry &registry) const final {
    registry.insert<affine::AffineDialect, scf::SCFDialect>();
  }

  /// The size of each iterator, 0 for those that are not tiled.
  FailureOr<SmallVector<OpFoldResult>> tileSizes(StructuredOpInterface op) {
    Builder builder(op.getContext());
    SmallVector<OpFoldResult> result(op.getNumIterators(),
                                     builder.getIndexAttr(0));
    for (const std::string &entry : sizes) {
      auto [name, text] = StringRef(entry).split(':');
      int64_t number;
      if (text.getAsInteger(10, number) || number < 0)
        return op->emitError() << "'" << entry << "' is no NAME:SIZE";
      unsigned i = 0;
      while (i != op.getNumIterators() && op.getIteratorName(i) != name)
        ++i;
      if (i == op.getNumIterators())
        return op->emitError() << "has no iterator '" << name << "'";
      result[i] = builder.getIndexAttr(number);
    }
    return result;
  }

  LogicalResult tile(StructuredOpInterface op) {
    FailureOr<SmallVector<OpFoldResult>> sizesOfOp = tileSizes(op);
    if (failed(sizesOfOp))
      return failure();
    IRRewriter rewriter(op);
    scf::SCFTilingOptions options;
    options.setTileSizes(*sizesOfOp);
    options.setLoopType(forall ? scf::SCFTilingOptions::LoopType::ForallOp
                               : scf::SCFTilingOptions::LoopType::ForOp);
    auto target = cast<TilingInterface>(op.getOperation());
    if (!fuse) {
      FailureOr<scf::SCFTilingResult> tiled =
          scf::tileUsingSCF(rewriter, target, options);
      if (failed(tiled))
        return failure();
      rewriter.replaceOp(op, tiled->replacements);
      return success();
    }
    scf::SCFTileAndFuseOptions fuseOptions;
    fuseOptions.setTilingOptions(options);
    FailureOr<scf::SCFTileAndFuseResult> fused =
        scf::tileConsumerAndFuseProducersUsingSCF(rewriter, target,
                                                  fuseOptions);
    if (failed(fused))
      return failure();
    for (OpResult result : op->getResults())
      if (Value replacement = fused->replacements.lookup(result))
        rewriter.replaceAllUsesWith(result, replacement);
    return success();
  }

  void runOnOperation() final {
    SmallVector<StructuredOpInterface> targets;
    getOperation().walk([&](StructuredOpInterface candidate) {
      if (candidate.getName() && *candidate.getName() == op)
        targets.push_back(candidate);
    });
    for (StructuredOpInterface target : targets)
      if (failed(tile(target)))
        return signalPassFailure();
  }

  Option<std::string> op{*this, "op", llvm::cl::desc("name of the op to tile")};
  ListOption<std::string> sizes{*this, "sizes",
                                llvm::cl::desc("NAME:SIZE, ...")};
  Option<bool> fuse{*this, "fuse", llvm::cl::desc("also fuse producers"),
                    llvm::cl::init(false)};
  Option<bool> forall{*this, "forall", llvm::cl::desc("make an scf.forall"),
                      llvm::cl::init(false)};
};
} // namespace

void facet::test::registerKernelTilePass() {
  PassRegistration<TestKernelTile>();
}
