//===- Stages.cpp - what a stage of a plan stands for ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which ops may share a stage, and how an op is computed that has one alone:
//
//   let t[m, n] = sum[k](x[m, k] * w[k, n])     a contraction; y may join it
//   y[m, n] = bf16(relu(t[m, n] + b[n]))        a map that reads t where it computes
//   s[m] = sum[n](f32(y[m, n]))                 lanes: no product falls in two
//
// What is needed in part only, or shares a byte with its neighbour, is computed
// element by element.
//
//===----------------------------------------------------------------------===//

#include "Stages.h"
#include "facet/Dialect/Kernel/IR/Operations.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace facet;
using namespace facet::cpu;
using namespace mlir;
using kernel::StructuredOpInterface;

SmallVector<StructuredOpInterface> cpu::numberedOps(kernel::FuncOp kernel) {
  return llvm::to_vector(kernel.getBody().getOps<StructuredOpInterface>());
}

Stages::Stages(kernel::FuncOp kernel)
    : kernel(kernel), liveOps(kernel), ops(numberedOps(kernel)) {
  for (auto [i, op] : llvm::enumerate(ops))
    numbers[op] = i;
}

static bool isNibble(Value tensor) {
  Type element = cast<RankedTensorType>(tensor.getType()).getElementType();
  return element.isInteger(4);
}

/// Elements without values: nothing can start from them.
static bool isUninitialised(Value tensor) {
  return tensor.getDefiningOp<tensor::EmptyOp>() != nullptr;
}

Form Stages::formOf(StructuredOpInterface op) const {
  bool byElement = liveOps.partial.contains(op) || op.getNumIterators() == 0 ||
                   llvm::any_of(op->getResults(), isNibble) ||
                   (isa<kernel::ReduceOp>(*op) &&
                    llvm::any_of(op.getInits(), isUninitialised));
  return byElement ? Form::Loops : Form::Lanes;
}

std::optional<Contraction>
Stages::contractionOf(StructuredOpInterface op) const {
  auto reduce = dyn_cast<kernel::ReduceOp>(*op);
  if (!reduce || formOf(op) != Form::Lanes)
    return std::nullopt;
  if (std::optional<Contraction> contraction = matchContraction(reduce))
    return contraction;
  std::optional<Contraction> filtered = matchFilteredContraction(reduce);
  return filtered && filtered->k.size() == 1 ? filtered : std::nullopt;
}

/// `'t'`, or `a sum of 'y'` for an op without a name.
static std::string quoted(Operation *op) {
  auto structured = cast<StructuredOpInterface>(op);
  std::string statement = kernel::statementOf(structured).str();
  return structured.getName() ? "'" + statement + "'"
                              : "a sum of '" + statement + "'";
}

std::optional<Epilogue>
Stages::epilogueOf(kernel::ReduceOp reduce,
                   const llvm::DenseSet<Operation *> &joined,
                   std::string &reason) const {
  std::optional<Epilogue> epilogue = matchUnguardedEpilogue(reduce);
  if (!epilogue) {
    reason =
        "it is not read by one map alone, at the element that this computes";
    return std::nullopt;
  }
  kernel::MapOp map = epilogue->map;
  auto refuse = [&](std::string text) {
    reason = std::move(text);
    return std::nullopt;
  };
  if (liveOps.partial.contains(map))
    return refuse(quoted(map) + " is computed only where it is needed");
  if (joined.contains(map))
    return refuse(quoted(map) + " is computed on another sum");
  if (isNibble(map.getResult(0)))
    return refuse("two elements of " + quoted(map) + " share a byte");
  // The map may write an inout in place: who reads its old contents comes first.
  auto readsInout = [&](Operation *op) {
    return llvm::any_of(op->getOperands(), [&](Value operand) {
      auto parameter = dyn_cast<BlockArgument>(operand);
      return parameter && kernel.getParam(parameter.getArgNumber()).getMode() ==
                              kernel::ParamMode::Inout;
    });
  };
  for (Operation *between = reduce->getNextNode(); between && between != map;
       between = between->getNextNode())
    if (readsInout(between))
      return refuse("an inout is read in between, which " + quoted(map) +
                    " may overwrite");
  for (auto [k, input] : llvm::enumerate(map.getInputs())) {
    Operation *def = input.getDefiningOp();
    if (k == epilogue->sumsInput || !def)
      continue;
    if (!def->isBeforeInBlock(reduce) || joined.contains(def))
      return refuse(quoted(map) + " also reads " + quoted(def) +
                    ", which is computed later");
  }
  return epilogue;
}

std::optional<Stream> Stages::streamOf(kernel::SoftmaxOp softmax,
                                       std::string &reason) const {
  std::optional<Stream> stream = matchStream(softmax, reason);
  if (!stream)
    return std::nullopt;
  for (Operation *op : stream->ops())
    if (formOf(cast<StructuredOpInterface>(op)) != Form::Lanes) {
      reason = quoted(op) + " is computed only where it is needed";
      return std::nullopt;
    }
  return stream;
}

llvm::DenseSet<Operation *> cpu::joinedMaps(const Stages &stages,
                                            VariantAttr variant) {
  llvm::DenseSet<Operation *> joined;
  for (StageAttr stage : variant.getStages())
    if (stage.getForm() == Form::Stream)
      for (int64_t number : stage.getOps())
        joined.insert(stages.op(number));
    else if (stage.getOps().size() == 2)
      joined.insert(stages.op(stage.getOps().back()));
  return joined;
}
