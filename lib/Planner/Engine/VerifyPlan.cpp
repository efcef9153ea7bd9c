//===- VerifyPlan.cpp - whether a plan fits a kernel and machine ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A plan may come from a file: what the lowering takes for granted is checked here,
// with the limit that is broken.
//
//   row_tile = 256  ->  a tile of 256 rows; the array of trn2 has 128 columns
//
//===----------------------------------------------------------------------===//

#include "VerifyPlan.h"
#include "facet/Planner/Engine/Planner.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace facet;
using namespace facet::engine;
using llvm::divideCeil;

static std::string text(int64_t number) { return std::to_string(number); }

int64_t engine::widestTile(const Machine &machine) {
  return std::min(machine.tensor.movingMax, machine.psum.bankBytes / 4);
}

/// Slots that a ring register each holds open in the tensor engine's queue: the
/// tiles of sums, the parts of what stays, and one of what passes.
static int64_t openSlots(const Problem &problem, ContractionAttr plan) {
  int64_t groups = divideCeil(problem.depth, plan.getDepthBlock());
  return plan.getRowTiles() * plan.getColumnTiles() +
         (plan.getStays() ? groups : 1) + 1;
}

std::optional<std::string> engine::misfitOf(const Problem &problem,
                                            ContractionAttr plan,
                                            const Machine &machine) {
  const Factor &rows = problem.factor(plan.getStationary());
  const Factor &columns = problem.factor(plan.getMoving());
  if (plan.getRowTile() > machine.tensor.columns)
    return "a tile of " + text(plan.getRowTile()) + " rows; the array of " +
           machine.name + " has " + text(machine.tensor.columns) + " columns";
  if (plan.getColumnTile() > widestTile(machine))
    return "a tile of " + text(plan.getColumnTile()) + " columns; " +
           machine.name + " has " + text(widestTile(machine)) +
           " in one bank of sums";
  if (plan.getDepthBlock() % machine.tensor.rows != 0)
    return "a block of " + text(plan.getDepthBlock()) +
           " steps is no whole number of the array's " +
           text(machine.tensor.rows) + " rows";
  if (plan.getSumSlots() > machine.psum.banks)
    return text(plan.getSumSlots()) + " tiles of sums; PSUM has " +
           text(machine.psum.banks) + " banks";
  if (plan.getStays() && !problem.outer.empty())
    return std::string("a factor stays, but a loop over a second axis of the "
                       "sum stands around its blocks");
  int64_t groups = divideCeil(problem.depth, plan.getDepthBlock());
  if (plan.getStays() && plan.getSlots(plan.getOuter()) < groups)
    return text(plan.getSlots(plan.getOuter())) +
           " slots of what stays; all of k takes " + text(groups);
  if (int64_t open = openSlots(problem, plan); open > int64_t(numRings))
    return text(open) + " slots are held open at once; a queue has " +
           text(numRings) + " ring registers";
  for (Side side : {Side::A, Side::B})
    if (plan.getLoad(side) == Load::Transpose &&
        !problem.factor(side).canTranspose())
      return std::string(stringifySide(side)) +
             " is not transposed by the DMA: it turns around 2 or 4 bytes that "
             "stay as they are, where k is dense";
  int64_t parts = plan.getDepthBlock() / machine.tensor.rows;
  auto ring = [&](const Factor &factor, Side side, int64_t block) {
    return plan.getSlots(side) * parts * block * factor.bytes();
  };
  int64_t bytes = ring(rows, plan.getStationary(), plan.getRowBlock()) +
                  ring(columns, plan.getMoving(), plan.getColumnBlock());
  if (bytes > machine.sbuf.partitionBytes)
    return "the factors' rings take " + text(bytes) + " bytes of the " +
           text(machine.sbuf.partitionBytes) + " of each partition of SBUF";
  return std::nullopt;
}

/// What is wrong with a stage whose ops exist.
static std::optional<std::string>
misfitOfStage(StageAttr stage, kernel::FuncOp kernel, const Machine &machine) {
  if (stage.getForm() == Form::Tiles)
    return std::nullopt; // what cannot be computed is refused at its statement
  if (stage.getForm() == Form::Attention) {
    std::optional<Attention> attention = attentionOf(stage, kernel);
    if (!attention || !attentionFits(*attention, machine))
      return "ops " + text(stage.getOps().front()) + " to " +
             text(stage.getOps().back()) +
             " are no attention that fits the machine";
    return std::nullopt;
  }
  std::optional<Contraction> contraction = contractionOf(stage, kernel);
  if (!contraction || !matchContraction(contraction->reduce, &machine) ||
      !suitsTensorEngine(*contraction))
    return "op " + text(stage.getOps().front()) +
           (stage.getOps().size() == 1
                ? " is no sum of products that the array makes"
                : " is no sum of products that the array makes with op " +
                      text(stage.getOps().back()) + " behind it");
  FailureOr<Problem> problem = Problem::of(*contraction);
  if (failed(problem))
    return std::string("a size is not fixed to one number");
  return misfitOf(*problem, stage.getContraction(), machine);
}

LogicalResult engine::verifyPlan(PlanAttr plan, kernel::FuncOp kernel,
                                 const Machine &machine) {
  auto refuse = [&](const Twine &reason) {
    return kernel.emitError("the plan does not fit kernel '")
           << kernel.getSymName() << "': " << reason;
  };
  if (plan.getMachine() != machine.name)
    return kernel.emitError("the plan is for ")
           << plan.getMachine() << ", not for " << machine.name;
  SmallVector<kernel::StructuredOpInterface> ops = numberedOps(kernel);
  SmallVector<unsigned> seen(ops.size());
  int64_t before = -1;
  for (StageAttr stage : plan.getStages()) {
    for (int64_t number : stage.getOps()) {
      if (number < 0 || number >= int64_t(ops.size()))
        return refuse("it has no op " + Twine(number));
      ++seen[number];
    }
    if (std::optional<std::string> wrong =
            misfitOfStage(stage, kernel, machine))
      return refuse(*wrong);
    // A stage needs what the stages before it made.
    if (stage.getOps().back() <= before)
      return refuse("op " + Twine(stage.getOps().back()) + " comes after op " +
                    Twine(before));
    before = stage.getOps().back();
  }
  for (auto [i, times] : llvm::enumerate(seen))
    if (times != 1)
      return refuse("it computes op " + Twine(i) + " " + Twine(times) +
                    " times");
  return success();
}
