//===- Planner.cpp - a plan for the CPU road ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   let t[m, n] = sum[k](x[m, k] * w[k, n])     op 0 ┐ contraction [0, 1]
//   y[m, n] = bf16(relu(t[m, n] + b[n]))        op 1 ┘
//   s[m] = sum[n](f32(y[m, n]))                 op 2 ─ lanes [2]
//
// Every live op is in one stage. A softmax between two sums of products takes all that
// lies between into one. A sum of products is a contraction, and the map
// behind it joins its stage when all it reads exists by then: its sums are never in
// memory then.
//
// Where the number of rows is open, few of them get a variant of their own, which the
// call chooses: one plan for M = 1 and M = 1000 would serve one of them badly. A packed
// array is the same for all of them.
//
//===----------------------------------------------------------------------===//

#include "facet/Planner/Cpu/Planner.h"
#include "ChooseBlocks.h"
#include "ChooseStream.h"
#include "Stages.h"
#include "facet/Dialect/Kernel/IR/Operations.h"

using namespace facet;
using namespace facet::cpu;
using namespace mlir;
using kernel::StructuredOpInterface;

/// Up to so many rows, summing in lanes along memory is faster than turning b around
/// for a panel: 4096·4096 f32 takes 2.6 ms per row, the panel 50 ms.
constexpr int64_t fewestRows = 8;

/// Variants for few rows are worth their code in kernels of so many stages.
constexpr size_t mostStages = 2;

/// Few rows times a b whose neighbours in memory are neighbours in the sum, w[n, k].
static bool runsAlongSum(const Contraction &contraction, const Calls &calls) {
  kernel::ReduceOp reduce = contraction.reduce;
  auto op = cast<StructuredOpInterface>(reduce.getOperation());
  int64_t rows = 1;
  for (unsigned i : contraction.m) {
    std::optional<int64_t> extent = kernel::knownExtent(op, i);
    if (!extent && !calls.size.empty() && openRows(contraction) == calls.size)
      extent = calls.most;
    if (!extent || *extent > fewestRows)
      return false;
    rows *= *extent;
  }
  auto isLastOfSome = [&](unsigned iterator) {
    kernel::Subscript wanted{kernel::Subscript::Iterator, iterator};
    for (unsigned k = 0; k < op.getInputs().size(); ++k) {
      auto subscripts = op.getAccess(k).getSubscripts();
      if (!subscripts.empty() && subscripts.back() == wanted)
        return true;
    }
    return false;
  };
  return rows <= fewestRows && isLastOfSome(contraction.k.back()) &&
         !isLastOfSome(contraction.n.back());
}

/// A filtered sum packs both operands: not for a few rows.
static bool packingPays(const Contraction &contraction) {
  constexpr int64_t fewest = 4;
  kernel::ReduceOp reduce = contraction.reduce;
  auto op = cast<StructuredOpInterface>(reduce.getOperation());
  int64_t rows = 1;
  for (unsigned i : contraction.m) {
    std::optional<int64_t> extent = kernel::knownExtent(op, i);
    if (!extent)
      return true;
    rows *= *extent;
  }
  return rows >= fewest;
}

namespace {

class Planner {
public:
  Planner(kernel::FuncOp kernel, const Machine &machine,
          const llvm::DenseMap<Operation *, bool> &streamed)
      : machine(machine), context(kernel.getContext()), stages(kernel),
        streamed(streamed) {}

  PlanAttr plan(StringRef name);

private:
  /// The stages of every call that `calls` describes. With `layouts`, of the packed
  /// call: they hold that of each constant, and get those of more.
  SmallVector<StageAttr> planStages(const Calls &calls,
                                    SmallVectorImpl<LayoutAttr> *layouts);
  /// Variants for few rows, where the sum of the first stage asks for them.
  void addFewRows(ArrayRef<StageAttr> general,
                  SmallVectorImpl<VariantAttr> &variants);

  const Machine &machine;
  MLIRContext *context;
  Stages stages;
  const llvm::DenseMap<Operation *, bool> &streamed; // what a schedule asks for
};

} // namespace

SmallVector<StageAttr>
Planner::planStages(const Calls &calls, SmallVectorImpl<LayoutAttr> *layouts) {
  llvm::DenseSet<Operation *> joined;
  llvm::DenseMap<Operation *, StageAttr> streams; // by first op
  for (StructuredOpInterface op : stages.live()) {
    std::string reason;
    auto softmax = dyn_cast<kernel::SoftmaxOp>(*op);
    std::optional<Stream> stream =
        softmax ? stages.streamOf(softmax, reason) : std::nullopt;
    auto asked = streamed.find(op);
    if (stream &&
        (asked == streamed.end() ? streamingPays(*stream) : asked->second))
      streams[stream->ops().front()] =
          streamStage(stages, *stream, chooseStream(*stream, machine), joined);
  }
  SmallVector<StageAttr> result;
  for (StructuredOpInterface op : stages.live()) {
    if (StageAttr stream = streams.lookup(op)) {
      result.push_back(stream);
      continue;
    }
    if (joined.contains(op))
      continue;
    SmallVector<int64_t> ops{stages.numberOf(op)};
    std::optional<Contraction> contraction = stages.contractionOf(op);
    LayoutAttr layout;
    if (contraction && layouts)
      layout = chooseLayout(*contraction, machine);
    if (layout)
      layouts->push_back(layout);
    if (!contraction || (!layout && runsAlongSum(*contraction, calls)) ||
        (isFiltered(*contraction) && !packingPays(*contraction))) {
      result.push_back(StageAttr::get(context, stages.formOf(op), ops, {}));
      continue;
    }
    std::string reason;
    if (std::optional<Epilogue> epilogue =
            stages.epilogueOf(contraction->reduce, joined, reason)) {
      joined.insert(epilogue->map);
      ops.push_back(stages.numberOf(epilogue->map));
    }
    result.push_back(
        StageAttr::get(context, Form::Contraction, ops,
                       chooseBlocks(*contraction, machine, calls, layout)));
  }
  return result;
}

void Planner::addFewRows(ArrayRef<StageAttr> general,
                         SmallVectorImpl<VariantAttr> &variants) {
  if (general.size() > mostStages ||
      general.front().getForm() != Form::Contraction)
    return;
  std::optional<Contraction> contraction =
      stages.contractionOf(stages.op(general.front().getOps().front()));
  StringRef rows = openRows(*contraction);
  if (rows.empty())
    return;
  SmallVector<int64_t> limits(fewRowsOf(*contraction, machine));
  if (limits.empty() && runsAlongSum(*contraction, {rows, fewestRows}))
    limits.push_back(fewestRows);
  for (int64_t most : limits) {
    GuardAttr guard = GuardAttr::get(context, rows, most);
    variants.push_back(VariantAttr::get(context, /*packed=*/false, guard,
                                        planStages({rows, most}, nullptr)));
  }
}

PlanAttr Planner::plan(StringRef name) {
  SmallVector<VariantAttr> variants;
  SmallVector<LayoutAttr> layouts;
  SmallVector<StageAttr> general = planStages({}, nullptr);
  if (!general.empty())
    addFewRows(general, variants);
  variants.push_back(VariantAttr::get(context, general));
  SmallVector<StageAttr> packed = planStages({}, &layouts);
  if (!layouts.empty())
    variants.push_back(VariantAttr::get(context, /*packed=*/true,
                                        ArrayRef<GuardAttr>(), packed));
  return PlanAttr::get(context, name, variants, layouts);
}

PlanAttr cpu::planKernel(kernel::FuncOp kernel, const Machine &machine,
                         const llvm::DenseMap<Operation *, bool> &streamed) {
  return Planner(kernel, machine, streamed).plan(machine.name);
}
