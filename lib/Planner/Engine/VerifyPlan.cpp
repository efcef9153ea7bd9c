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

bool engine::canDoubleRow(const Problem &problem, const Machine &machine) {
  return machine.tensor.doubleRow && problem.a.bytes() == 1 &&
         problem.b.bytes() == 1 && problem.depth >= 2 * machine.tensor.rows;
}

int64_t engine::sumTiles(ContractionAttr plan, const Machine &machine) {
  int64_t tiles = plan.getRowTiles() * plan.getColumnTiles();
  int64_t batch = plan.getBatchBlock();
  return batch == 1
             ? tiles
             : divideCeil(batch,
                          std::max<int64_t>(1, machine.psum.bankBytes / 4 /
                                                   plan.getColumnTile()));
}

/// Slots that a ring register each holds open in the tensor engine's queue: the
/// tiles of sums, the parts of what stays, and one of what passes.
static int64_t openSlots(const Problem &problem, ContractionAttr plan,
                         const Machine &machine) {
  int64_t groups = plan.getGroups(problem.depth, machine.tensor.rows).size();
  return sumTiles(plan, machine) +
         (plan.getStays() && !plan.getWhole() ? groups : 1) + 1;
}

std::optional<std::string> engine::misfitOf(const Problem &problem,
                                            ContractionAttr plan,
                                            const Machine &machine,
                                            int64_t registers) {
  const Factor &rows = problem.factor(plan.getStationary());
  const Factor &columns = problem.factor(plan.getMoving());
  if (plan.getRowTile() > machine.tensor.columns)
    return "a tile of " + text(plan.getRowTile()) + " rows; the array of " +
           machine.name + " has " + text(machine.tensor.columns) + " columns";
  if (plan.getColumnTile() > widestTile(machine))
    return "a tile of " + text(plan.getColumnTile()) + " columns; " +
           machine.name + " has " + text(widestTile(machine)) +
           " in one bank of sums";
  for (int64_t depth :
       {plan.getDepthBlock(), plan.getFirstDepth(), plan.getLastDepth(),
        plan.getSumDepth(), plan.getEndDepth()})
    if (depth % machine.tensor.rows != 0)
      return "a block of " + text(depth) +
             " steps is no whole number of the array's " +
             text(machine.tensor.rows) + " rows";
  if (plan.getDoubleRow() && !canDoubleRow(problem, machine))
    return "two steps at once take 8-bit factors, at least " +
           text(2 * machine.tensor.rows) +
           " elements of k and a machine with tensor.double_row";
  if (int64_t most = problem.sumDepth(machine);
      most && (!plan.getSumDepth() || plan.getSumDepth() > most))
    return "integers are summed over " +
           text(plan.getSumDepth() ? plan.getSumDepth() : problem.terms()) +
           " elements of k at once; f32 sums these exactly over " + text(most);
  if (plan.getSumDepth() && !problem.contraction.exactTerms)
    return std::string("sum_depth is for sums of integers");
  if (plan.getSumDepth() && plan.getBatchBlock() > 1)
    return std::string("products of a batch are not taken together where sums "
                       "of integers have several parts");
  if (plan.getSumSlots() > machine.psum.banks)
    return text(plan.getSumSlots()) + " tiles of sums; PSUM has " +
           text(machine.psum.banks) + " banks";
  if (plan.getStays() && !problem.outer.empty())
    return std::string("a factor stays, but a loop over a second axis of the "
                       "sum stands around its blocks");
  SmallVector<int64_t> parts =
      plan.getGroups(problem.depth, machine.tensor.rows);
  int64_t groups = parts.size();
  if (plan.getGpsimdStores() &&
      (!plan.getScalarTiles() || plan.getEvict() != QueueKind::Vector ||
       plan.getSumDepth() || !problem.contraction.isOnlyRounded()))
    return std::string("gpsimd stores what vector copies only where scalar "
                       "copies some tiles as well");
  if (plan.getWhole() && !plan.getStays())
    return std::string("a factor is loaded whole that does not stay");
  if (plan.getEndDepth() &&
      (!problem.outerComesOnce(plan) || plan.getSumDepth()))
    return std::string(
        "end_depth is for sums of one block of the outer factor, "
        "without a batch or parts");
  if (plan.getBatchBlock() > 1 &&
      (problem.batch.empty() || !problem.contraction.isOnlyRounded() ||
       rows.extent > plan.getRowTile() ||
       columns.extent > plan.getColumnTile()))
    return std::string("products of a batch are taken together only where each "
                       "has one tile of sums, which are stored as they are");
  if (int64_t tiles = sumTiles(plan, machine); tiles > plan.getSumSlots())
    return text(plan.getBatchBlock()) + " products of the batch take " +
           text(tiles) + " tiles of sums; there are " +
           text(plan.getSumSlots());
  if (plan.getStays() && !plan.getWhole() &&
      plan.getSlots(plan.getOuter()) < groups)
    return text(plan.getSlots(plan.getOuter())) +
           " slots of what stays; all of k takes " + text(groups);
  if (int64_t open = openSlots(problem, plan, machine); open > registers)
    return text(open) + " slots are held open at once; a queue has " +
           text(registers) + " ring registers for them";
  for (Side side : {Side::A, Side::B})
    if (plan.getLoad(side) == Load::Transpose &&
        !problem.factor(side).canTranspose())
      return std::string(stringifySide(side)) +
             " is not transposed by the DMA: it turns around 2 or 4 bytes that "
             "stay as they are, where k is dense";
  auto ring = [&](const Factor &factor, Side side, int64_t block) {
    int64_t steps = plan.getWhole() && side == plan.getOuter()
                        ? problem.steps(machine)
                        : *llvm::max_element(parts);
    return plan.getSlots(side) * plan.getBatchBlock() * steps * block *
           factor.bytes();
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
