//===- ReferencePlanTest.cpp - the plan interface on its first plan -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "facet/Dialect/Kernel/IR/Plan.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace facet;
using namespace facet::kernel;

namespace {
class ReferencePlanTest : public testing::Test {
protected:
  ReferencePlanTest() {
    context.loadDialect<KernelDialect, scf::SCFDialect>();
    plan = ReferencePlanAttr::get(&context);
  }

  FuncOp parse(StringRef text) {
    module = parseSourceString<ModuleOp>(text, &context);
    return *module->getOps<FuncOp>().begin();
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  PlanAttrInterface plan;
};

constexpr StringRef twoStages = R"(
kernel.func @f sizes [M, N] (x = %x: tensor<?x?xbf16> [M, N]) -> (y: tensor<?x4xf32> [M, 4]) {
  %M = kernel.size "M" : index
  %N = kernel.size "N" : index
  %zero = arith.constant 0.0 : f32
  %z = tensor.splat %zero[%M] : tensor<?xf32>
  %e = tensor.empty(%M) : tensor<?x4xf32>
  %s = kernel.reduce sum "row" [m: %M] over [n: %N] ins(%x[m, n] as %a : tensor<?x?xbf16>)
      outs(%z : tensor<?xf32>) guards(%g) {
    %t = arith.constant true
    kernel.yield %t : i1
  } filter(%g) {
    %w = kernel.cast exact %a : bf16 to f32
    kernel.yield %w : f32
  } -> tensor<?xf32>
  %y = kernel.map "y" [m: %M, q: 4] ins(%s[m] as %a : tensor<?xf32>) outs(%e : tensor<?x4xf32>) {
    kernel.yield %a : f32
  } -> tensor<?x4xf32>
  kernel.return %y : tensor<?x4xf32>
})";

TEST_F(ReferencePlanTest, ExplainsEveryStageInOrder) {
  FuncOp kernel = parse(twoStages);
  std::string text;
  llvm::raw_string_ostream os(text);
  Explanation explanation;
  plan.explain(kernel, /*machine=*/nullptr, explanation);
  explanation.print(os);
  EXPECT_EQ(text, "kernel 'f' by the reference road: 2 stages, each stored "
                  "whole, in order\n"
                  "  1  row  f32[M]     sum over n for m, filtered\n"
                  "  2  y    f32[M, 4]  map for m, q\n");
}

TEST_F(ReferencePlanTest, AcceptsWhatTheFrontendMakes) {
  FuncOp kernel = parse(twoStages);
  EXPECT_TRUE(succeeded(plan.verify(kernel, nullptr)));
}

TEST_F(ReferencePlanTest, RefusesLoops) {
  FuncOp kernel = parse(R"(
kernel.func @f () {
  %c = arith.constant 1 : index
  scf.for %i = %c to %c step %c {}
  kernel.return
})");
  std::string message;
  ScopedDiagnosticHandler handler(
      &context, [&](mlir::Diagnostic &d) { message = d.str(); });
  EXPECT_TRUE(failed(plan.verify(kernel, nullptr)));
  EXPECT_EQ(
      message,
      "'scf.for' stands in kernel 'f'; the reference road takes statements "
      "as the frontend makes them");
}

TEST_F(ReferencePlanTest, PrintsAScheduleWithoutClauses) {
  FuncOp kernel = parse(twoStages);
  std::string text;
  llvm::raw_string_ostream os(text);
  plan.printSchedule(kernel, os);
  EXPECT_EQ(text, "schedule f on \"reference\" {\n}\n");
  Diagnostics diagnostics;
  FailureOr<PlanAttrInterface> same =
      plan.parseSchedule(kernel, nullptr, {}, diagnostics);
  ASSERT_TRUE(succeeded(same));
  EXPECT_EQ(*same, plan);
}

TEST_F(ReferencePlanTest, RefusesEachClauseAtItsPlace) {
  FuncOp kernel = parse(twoStages);
  ScheduleClause block{"block", Place{"f.facet", 3, 8}, std::nullopt, {}};
  ScheduleClause fuse{"fuse", Place{"f.facet", 3, 20}, std::nullopt, {}};
  ScheduleEntry entry{"row", Place{"f.facet", 3, 3}, {block, fuse}};
  Diagnostics diagnostics;
  EXPECT_TRUE(failed(plan.parseSchedule(kernel, nullptr, entry, diagnostics)));
  ASSERT_EQ(diagnostics.errorCount(), 2u);
  EXPECT_EQ(diagnostics.all()[1].message,
            "the reference road has one plan; it knows no clause 'fuse'");
  EXPECT_EQ(diagnostics.all()[1].place.column, 20u);
}

TEST_F(ReferencePlanTest, IsAloneInItsSearchSpace) {
  FuncOp kernel = parse(twoStages);
  SmallVector<PlanAttrInterface> visited;
  plan.enumerate(kernel, nullptr, [&](PlanAttrInterface other) {
    visited.push_back(other);
    return true;
  });
  ASSERT_EQ(visited.size(), 1u);
  EXPECT_EQ(visited.front(), plan);
  EXPECT_EQ(plan.key(), "reference");
}

TEST_F(ReferencePlanTest, IsWrittenInIR) {
  EXPECT_EQ(parseAttribute("#kernel.reference_plan", &context), plan);
}
} // namespace
