//===- Explain.cpp - what a plan says of itself ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Headline, bounds, and for every stage its choices, the reason of each in figures of
// the machine, and the time predicted for each engine:
//
//   1  c  bf16[M, N]  sum over k for m, n, on the tensor engine: 1.78 ms
//        stationary  a            its rows are partitions of PSUM, b streams past
//        block       m = 512, …   4 of 8 banks; …
//        busy        mostly tensor   tensor 1.77 ms, DMA 675 us, …
//
//===----------------------------------------------------------------------===//

#include "Explain.h"
#include "Bound.h"
#include "Choices.h"
#include "CostModel.h"
#include "facet/Dialect/Kernel/IR/LiveOps.h"
#include "facet/Dialect/Kernel/IR/Operations.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace facet;
using namespace facet::engine;
using kernel::Explanation;
using kernel::printBytes;
using kernel::printSeconds;
using kernel::StructuredOpInterface;
using llvm::divideCeil;

namespace {

class Explainer {
public:
  Explainer(PlanAttr plan, kernel::FuncOp kernel, const Machine &machine)
      : plan(plan), kernel(kernel), machine(machine), ops(numberedOps(kernel)) {
    // What differs from the planner's own choices is a schedule's.
    for (const PlanLimits &limits : planLimits()) {
      FailureOr<PlanAttr> made = planKernel(kernel, machine, limits);
      if (failed(made) || (!planned.empty() && *made != plan))
        continue;
      for (StageAttr stage : made->getStages())
        planned[stage.getOps().front()] = stage;
      if (*made == plan)
        break;
    }
  }
  Explanation explain();

private:
  std::string headline();
  void addBounds(Explanation &to);
  Explanation::Stage describe(StageAttr stage);
  void describeChoices(const Problem &problem, ContractionAttr choices,
                       ContractionAttr own, Explanation::Stage &to);
  void addLets(Explanation &to);
  void addApart(Explanation &to);

  PlanAttr plan;
  kernel::FuncOp kernel;
  const Machine &machine;
  SmallVector<StructuredOpInterface> ops;
  llvm::DenseMap<int64_t, StageAttr> planned; ///< by the first op
};

} // namespace

static std::string number(int64_t value) { return std::to_string(value); }
static std::string nanoseconds(double ns) { return printSeconds(ns * 1e-9); }

/// `3 banks`, `1 bank`
static std::string counted(int64_t count, StringRef what) {
  return number(count) + " " + what.str() + (count == 1 ? "" : "s");
}

std::string Explainer::headline() {
  std::string text =
      ("kernel '" + kernel.getSymName() + "' on " + machine.name).str();
  for (Attribute size : kernel.getSizes())
    if (std::optional<int64_t> value =
            kernel.getFixedSize(cast<StringAttr>(size).getValue()))
      text += ", " + cast<StringAttr>(size).str() + " = " + number(*value);
  return text;
}

void Explainer::addBounds(Explanation &to) {
  double tensor = 0;
  for (StageAttr stage : plan.getStages())
    if (stage.getForm() == Form::Contraction)
      tensor +=
          tensorBound(*Problem::of(*contractionOf(stage, kernel)), machine);
  double bytes = compulsoryBytes(kernel);
  double rate = double(machine.dma.sustainedMBs);
  if (tensor > 0)
    to.bounds.push_back({"tensor", tensor * 1e-9,
                         "whole tiles of the better orientation at " +
                             number(machine.tensor.clockMHz) + " MHz"});
  if (rate > 0)
    to.bounds.push_back({"memory", bytes / (rate * 1e6),
                         printBytes(bytes) + " of arguments and results at " +
                             number(int64_t(rate / 1e3)) + " GB/s"});
  if (to.bounds.size() == 2 && to.bounds[0].seconds < to.bounds[1].seconds)
    std::swap(to.bounds[0], to.bounds[1]);
}

void Explainer::describeChoices(const Problem &problem, ContractionAttr plan,
                                ContractionAttr own, Explanation::Stage &to) {
  StageCost cost = costOf(problem, plan, machine);
  Choices choices(plan);
  std::optional<Choices> planned;
  if (own)
    planned.emplace(own);
  auto add = [&](StringRef what, std::string value, std::string because,
                 bool isPlanned) {
    if (!isPlanned)
      because = "asked for by the schedule; " + because;
    to.choices.push_back({what.str(), std::move(value), std::move(because)});
  };
  auto same = [&](auto member) {
    return planned && choices.*member == (*planned).*member;
  };
  auto sameBySide = [&](auto member) {
    return planned && (choices.*member).values == ((*planned).*member).values;
  };
  StructuredOpInterface op = problem.contraction.op();
  auto word = [](Side side) { return stringifySide(side).str(); };
  auto sizes = [&](const BySide<int64_t> &of, int64_t k) {
    SmallVector<std::string> parts;
    for (Side side : {Side::A, Side::B})
      if (std::optional<unsigned> i = problem.factor(side).iterator)
        parts.push_back((op.getIteratorName(*i) + " = ").str() +
                        number(of[side]));
    if (k)
      parts.push_back((op.getIteratorName(problem.k) + " = ").str() +
                      number(k));
    return llvm::join(parts, ", ");
  };
  Side moving = otherSide(choices.stationary);
  Side outer = choices.outer, inner = otherSide(outer);
  add("stationary", word(choices.stationary),
      "its rows become partitions of PSUM, " + word(moving) + " streams past" +
          (moving == problem.last ? "" : "; results leave element by element"),
      same(&Choices::stationary));
  int64_t outerBlocks =
      divideCeil(problem.factor(outer).extent, choices.block[outer]);
  auto whole = [&](Side side) {
    const Factor &factor = problem.factor(side);
    return double(factor.extent * problem.depth * factor.bytes());
  };
  int64_t innerBlocks =
      divideCeil(problem.factor(inner).extent, choices.block[inner]);
  auto passes = [&](Side side, int64_t times) {
    return word(side) + "'s " + printBytes(whole(side)) + " pass " +
           (times == 1 ? "once" : number(times) + " times");
  };
  add("order", word(outer) + " outside, " + word(inner) + " inside",
      passes(outer, choices.stays ? 1 : innerBlocks) + ", " +
          passes(inner, outerBlocks),
      same(&Choices::outer));
  double kept = double(choices.block[outer] * problem.depth *
                       problem.factor(outer).bytes());
  add("stays", choices.stays ? word(outer) : "none",
      choices.stays
          ? "a block over all of k is " + printBytes(kept) + " of SBUF's " +
                printBytes(double(machine.sbuf.partitionBytes *
                                  machine.core.partitions))
          : "both are loaded for every block of sums",
      same(&Choices::stays));
  add("tile", sizes(choices.tile, 0),
      "at most " + number(machine.tensor.columns) + " rows by " +
          number(
              std::min(machine.tensor.movingMax, machine.psum.bankBytes / 4)) +
          " sums of a bank",
      sameBySide(&Choices::tile));
  int64_t groups = divideCeil(problem.depth, choices.depthBlock);
  add("block", sizes(choices.block, choices.depthBlock),
      counted(choices.blockTiles(), "tile") + " of sums; k in " +
          counted(groups, "part") + "; rows of " +
          printBytes(double(choices.block[Side::A] * problem.a.bytes())) +
          " and " +
          printBytes(double(choices.block[Side::B] * problem.b.bytes())) +
          " in the DMA",
      sameBySide(&Choices::block) && same(&Choices::depthBlock));
  add("slots",
      "a " + number(choices.slots[Side::A]) + ", b " +
          number(choices.slots[Side::B]) + ", sums " +
          number(choices.sumSlots) + ", results " + number(choices.resultSlots),
      plan.getWhole() ? "all of k of " + word(outer) + " stays in one slot"
      : choices.stays
          ? counted(groups, "part") + " of " + word(outer) + " stay, " +
                counted(choices.slots[outer] - groups, "slot") +
                " for the next block"
          : "each part is read once",
      sameBySide(&Choices::slots) && same(&Choices::sumSlots) &&
          same(&Choices::resultSlots));
  auto loadReason = [&](Side side) {
    if (choices.load[side] == Load::Transpose)
      return word(side) + " has k in its rows: turned around by the DMA";
    if (problem.factor(side).kIsDense)
      return word(side) + " has k in its rows: moved element by element";
    return word(side) + " has k across its rows: moved row by row";
  };
  add("load",
      ("a " + stringifyLoad(choices.load[Side::A]) + ", b " +
       stringifyLoad(choices.load[Side::B]))
          .str(),
      loadReason(Side::A) + "; " + loadReason(Side::B),
      sameBySide(&Choices::load));
  add("evict", stringifyQueueKind(choices.evict).str(),
      "vector is busy for " + nanoseconds(cost.vector) + ", scalar for " +
          nanoseconds(cost.scalar),
      same(&Choices::evict));
  add("unroll", counted(choices.unroll, "step"),
      "a loop's way back takes " +
          nanoseconds(double(machine.core.loopBackPs) * 1e-3),
      same(&Choices::unroll));
  SmallVector<std::string> edges;
  std::string k = op.getIteratorName(problem.k).str();
  if (plan.getBatchBlock() > 1)
    edges.push_back(number(plan.getBatchBlock()) + " of the batch at once");
  if (plan.getDoubleRow())
    edges.push_back("two steps at once");
  if (plan.getKRuns())
    edges.push_back("runs along " + k);
  if (plan.getFirstDepth())
    edges.push_back("first " + k + " = " + number(plan.getFirstDepth()));
  if (plan.getLastDepth())
    edges.push_back("last " + k + " = " + number(plan.getLastDepth()));
  if (plan.getEndDepth())
    edges.push_back("at the very end " + k + " = " +
                    number(plan.getEndDepth()));
  if (plan.getKeepsResults())
    edges.push_back("results wait for the last loads");
  if (plan.getWarmUp())
    edges.push_back(number(plan.getWarmUp()) + " x zeros first");
  if (plan.getScalarTiles())
    edges.push_back("scalar empties " + counted(plan.getScalarTiles(), "tile"));
  if (plan.getStoreTiles() > 1)
    edges.push_back(counted(plan.getStoreTiles(), "tile") + " leave at once");
  if (plan.getGpsimdStores())
    edges.push_back("gpsimd stores vector's");
  to.choices.push_back({"edges",
                        edges.empty() ? "none" : llvm::join(edges, ", "),
                        "follow from the choices above"});
  if (plan.getSumDepth())
    to.choices.push_back(
        {"integers",
         (op.getIteratorName(problem.k) + " = ").str() +
             number(plan.getSumDepth()) + " at once",
         "as many products f32 sums exactly; gpsimd adds the parts"});
  std::string busy;
  for (auto [name, time] : {std::pair("tensor ", cost.tensor),
                            {", DMA ", cost.dma},
                            {", vector ", cost.vector},
                            {", scalar ", cost.scalar},
                            {", gpsimd ", cost.gpsimd},
                            {", sync ", cost.sync}})
    busy += name + nanoseconds(time);
  to.choices.push_back({"busy", "mostly " + cost.limit().str(),
                        busy + "; beginning " + nanoseconds(cost.begin) +
                            ", waiting " + nanoseconds(cost.waiting) +
                            ", end " + nanoseconds(cost.end)});
  // Rows that an index chooses are laid out before: the model does not count that.
  bool gathers = op.getAccess(problem.a.input).hasGather() ||
                 op.getAccess(problem.b.input).hasGather();
  if (!gathers)
    to.seconds = cost.total() * 1e-9;
}

Explanation::Stage Explainer::describe(StageAttr stage) {
  StructuredOpInterface first = ops[stage.getOps().front()];
  StructuredOpInterface last = ops[stage.getOps().back()];
  Explanation::Stage result;
  result.statement = kernel::statementOf(last).str();
  if (result.statement.empty())
    result.statement = "-";
  result.type = kernel::describeType(last);
  result.does = kernel::describeIterators(first);
  if (stage.getForm() == Form::Tiles) {
    result.does += ", tile by tile on vector and scalar";
    return result;
  }
  if (stage.getForm() == Form::Attention) {
    result.does = "attention: " + kernel::describeIterators(first) +
                  ", its softmax and what it weighs, in blocks of keys";
    std::optional<Attention> attention = attentionOf(stage, kernel);
    if (attention && attention->transform)
      result.does += "; the map behind the products on each block";
    if (attention && !attention->conditions.empty())
      result.does += "; the filter computed for each block";
    return result;
  }
  result.does += ", on the tensor engine";
  if (stage.getOps().size() == 2)
    result.does += "; the map behind it on the sums";
  StageAttr own = planned.lookup(stage.getOps().front());
  describeChoices(*Problem::of(*contractionOf(stage, kernel)),
                  stage.getContraction(),
                  own ? own.getContraction() : ContractionAttr(), result);
  return result;
}

void Explainer::addLets(Explanation &to) {
  auto add = [&](StructuredOpInterface op, bool isSum, std::string inside,
                 StringRef where) {
    if (kernel::isReturned(op))
      return;
    std::string statement = kernel::statementOf(op).str();
    Explanation::Let let;
    let.name = op.getName() ? statement
               : isSum      ? "sum of " + statement
                            : "part of " + statement;
    let.isStored = inside.empty();
    let.where = "inside " + inside + ", " + where.str();
    if (let.isStored) {
      Type element =
          cast<RankedTensorType>(op->getResult(0).getType()).getElementType();
      double bytes = std::max(1.0, double(element.getIntOrFloatBitWidth()) / 8);
      for (unsigned i = 0; i < op.getNumParallel(); ++i)
        bytes *= double(kernel::knownExtent(op, i).value_or(1));
      let.where = "stored in HBM, " + printBytes(bytes);
    }
    to.lets.push_back(std::move(let));
  };
  for (StageAttr stage : plan.getStages()) {
    std::string last = kernel::statementOf(ops[stage.getOps().back()]).str();
    bool isOne = stage.getForm() == Form::Attention;
    for (int64_t member : stage.getOps().drop_back())
      add(ops[member], stage.getForm() == Form::Contraction, last,
          isOne ? "on chip" : "in PSUM");
    add(ops[stage.getOps().back()],
        stage.getForm() == Form::Contraction && stage.getOps().size() == 1, "",
        "");
  }
}

/// Says which softmax between two products is no stage of its own.
void Explainer::addApart(Explanation &to) {
  for (StageAttr stage : plan.getStages()) {
    if (stage.getForm() == Form::Attention)
      continue;
    auto reduce = dyn_cast<kernel::ReduceOp>(*ops[stage.getOps().front()]);
    std::optional<Attention> attention =
        reduce ? matchAttention(reduce, &machine) : std::nullopt;
    if (!attention)
      continue;
    std::string misfit = attentionMisfit(*attention, machine);
    if (!misfit.empty())
      to.notes.push_back("the attention behind '" +
                         kernel::statementOf(attention->result()).str() +
                         "' has its scores and weights in HBM: " + misfit);
  }
}

Explanation Explainer::explain() {
  Explanation result;
  result.headline = headline();
  addBounds(result);
  Explanation::Variant &variant = result.variants.emplace_back();
  double total = 0;
  bool isKnown = true;
  for (StageAttr stage : plan.getStages()) {
    variant.stages.push_back(describe(stage));
    isKnown &= variant.stages.back().seconds.has_value();
    total += variant.stages.back().seconds.value_or(0);
  }
  if (isKnown && total > 0)
    variant.seconds = total;
  else
    result.notes.push_back("times are predicted for sums of products only, "
                           "without rows chosen by an index");
  addLets(result);
  addApart(result);
  return result;
}

Explanation engine::explain(PlanAttr plan, kernel::FuncOp kernel,
                            const Machine &machine) {
  return Explainer(plan, kernel, machine).explain();
}
