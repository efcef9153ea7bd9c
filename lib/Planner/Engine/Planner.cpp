//===- Planner.cpp - a plan for the engine road ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   let t[m, n] = sum[k](x[m, k] * w[k, n])     op 0 ┐ contraction [0, 1]
//   y[m, n] = bf16(relu(t[m, n] + b[n]))        op 1 ┘
//   s[m] = sum[n](f32(y[m, n]))                 op 2 ─ tiles [2]
//
// Every op is in one stage. A softmax between two contractions is one with all its
// parts, where the last of them stood. A sum of products that the array can make is a
// contraction, and the map that alone reads it is computed on the sums as they leave
// PSUM: the stage stands where the map stood.
//
//===----------------------------------------------------------------------===//

#include "facet/Planner/Engine/Planner.h"
#include "ChooseBlocks.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace facet;
using namespace facet::engine;
using kernel::StructuredOpInterface;

SmallVector<StructuredOpInterface> engine::numberedOps(kernel::FuncOp kernel) {
  return llvm::to_vector(kernel.getBody().getOps<StructuredOpInterface>());
}

ArrayRef<PlanLimits> engine::planLimits() {
  static constexpr PlanLimits limits[] = {{},      {16, 6}, {16, 5}, {12, 6},
                                          {10, 5}, {10, 3}, {7, 2}};
  return limits;
}

/// Nothing to multiply.
static bool isEmpty(StructuredOpInterface op) {
  for (unsigned i = 0; i < op.getNumIterators(); ++i)
    if (kernel::knownExtent(op, i) == 0)
      return true;
  return false;
}

FailureOr<PlanAttr> engine::planKernel(kernel::FuncOp kernel,
                                       const Machine &machine,
                                       const PlanLimits &limits) {
  Wishes wishes;
  wishes.registers = limits.registers;
  wishes.sbufEighths = limits.sbufEighths;
  SmallVector<std::string> open, wanted;
  for (auto size : kernel.getSizes().getAsRange<StringAttr>())
    if (!kernel.getFixedSize(size)) {
      open.push_back(size.str());
      wanted.push_back(("-D " + size.getValue() + "=NUMBER").str());
    }
  if (!open.empty())
    return kernel.emitError("size")
           << (open.size() > 1 ? "s " : " ") << llvm::join(open, ", ")
           << (open.size() > 1 ? " are not one number each"
                               : " is not one number")
           << "; a program for a matrix engine is made for fixed sizes: give "
           << llvm::join(wanted, " ");
  MLIRContext *context = kernel.getContext();
  SmallVector<StructuredOpInterface> ops = numberedOps(kernel);
  llvm::DenseMap<Operation *, int64_t> numbers;
  for (auto [i, op] : llvm::enumerate(ops))
    numbers[op] = int64_t(i);
  // By the op that a stage stands at.
  llvm::DenseMap<Operation *, StageAttr> together;
  llvm::DenseSet<Operation *> inside; // of a stage that stands elsewhere
  for (StructuredOpInterface op : ops) {
    auto reduce = dyn_cast<kernel::ReduceOp>(*op);
    std::optional<Attention> attention =
        reduce ? matchAttention(reduce, &machine) : std::nullopt;
    if (!attention || !attentionFits(*attention, machine) ||
        llvm::any_of(attention->members, [](Operation *member) {
          return isEmpty(cast<StructuredOpInterface>(member));
        }))
      continue;
    SmallVector<int64_t> members;
    for (Operation *member : attention->members)
      members.push_back(numbers[member]);
    llvm::sort(members);
    for (int64_t member : ArrayRef(members).drop_back())
      inside.insert(ops[member]);
    together[ops[members.back()]] =
        StageAttr::get(context, Form::Attention, members, {});
  }
  for (StructuredOpInterface op : ops) {
    if (inside.contains(op) || together.contains(op))
      continue;
    auto reduce = dyn_cast<kernel::ReduceOp>(*op);
    std::optional<Contraction> contraction =
        reduce ? matchContraction(reduce, &machine) : std::nullopt;
    if (!contraction || isEmpty(op))
      continue;
    // An i64 is put together from two words by a stage of its own.
    if (contraction->epilogue &&
        cast<RankedTensorType>(
            contraction->epilogue->map.getResult(0).getType())
            .getElementType()
            .isInteger(64))
      contraction->epilogue.reset();
    // Of several sums that one map reads, the first is still in PSUM.
    if (contraction->epilogue && together.contains(contraction->epilogue->map))
      contraction->epilogue.reset();
    if (!suitsTensorEngine(*contraction))
      continue;
    FailureOr<Problem> problem = Problem::of(*contraction);
    if (failed(problem))
      continue; // an extent that is no size: the lowering says so
    std::string misfit;
    ContractionAttr choices = chooseBlocks(*problem, machine, wishes, &misfit);
    if (!choices)
      return op->emitError("has no plan on machine '")
             << machine.name << "': " << misfit;
    SmallVector<int64_t> members{numbers[op]};
    Operation *at = op;
    if (contraction->epilogue) {
      at = contraction->epilogue->map;
      members.push_back(numbers[at]);
      inside.insert(op);
    }
    together[at] = StageAttr::get(context, Form::Contraction, members, choices);
  }
  SmallVector<StageAttr> stages;
  for (StructuredOpInterface op : ops) {
    if (inside.contains(op))
      continue;
    StageAttr stage = together.lookup(op);
    stages.push_back(
        stage ? stage : StageAttr::get(context, Form::Tiles, numbers[op], {}));
  }
  return PlanAttr::get(context, machine.name, stages);
}

std::optional<Attention> engine::attentionOf(StageAttr stage,
                                             kernel::FuncOp kernel) {
  SmallVector<StructuredOpInterface> ops = numberedOps(kernel);
  for (int64_t number : stage.getOps()) {
    auto reduce = dyn_cast<kernel::ReduceOp>(*ops[number]);
    std::optional<Attention> attention =
        reduce ? matchAttention(reduce) : std::nullopt;
    if (attention && attention->members.size() == stage.getOps().size() &&
        llvm::all_of(stage.getOps(), [&](int64_t member) {
          return attention->members.contains(ops[member]);
        }))
      return attention;
  }
  return std::nullopt;
}

std::optional<Contraction> engine::contractionOf(StageAttr stage,
                                                 kernel::FuncOp kernel) {
  SmallVector<StructuredOpInterface> ops = numberedOps(kernel);
  auto reduce = dyn_cast<kernel::ReduceOp>(*ops[stage.getOps().front()]);
  std::optional<Contraction> contraction =
      reduce ? matchContraction(reduce) : std::nullopt;
  if (!contraction)
    return std::nullopt;
  if (stage.getOps().size() == 1)
    contraction->epilogue.reset();
  else if (!contraction->epilogue ||
           contraction->epilogue->map != ops[stage.getOps().back()])
    return std::nullopt;
  return contraction;
}
