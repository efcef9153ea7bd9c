//===- Planner.cpp - the stages of a kernel -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   let t[m, n] = sum[k](x[m, k] * w[k, n])     op 0 ┐ contraction [0, 1]
//   y[m, n] = bf16(relu(t[m, n] + b[n]))        op 1 ┘
//   s[m] = sum[n](f32(y[m, n]))                 op 2 ─ lanes [2]
//
// Every live op is in one stage. A sum of products is a contraction; the map behind
// it joins its stage when all it reads exists by then, and its sums are never in
// memory. What is needed in part only, or shares a byte with its neighbour, is
// computed element by element; everything else in lanes.
//
//===----------------------------------------------------------------------===//

#include "facet/Planner/Cpu/Planner.h"
#include "ChooseBlocks.h"
#include "facet/Dialect/Kernel/IR/LiveOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace facet;
using namespace facet::cpu;
using namespace mlir;
using kernel::StructuredOpInterface;

SmallVector<StructuredOpInterface> cpu::numberedOps(kernel::FuncOp kernel) {
  return llvm::to_vector(kernel.getBody().getOps<StructuredOpInterface>());
}

namespace {

class Planner {
public:
  Planner(kernel::FuncOp kernel, const Machine &machine)
      : kernel(kernel), machine(machine), live(kernel) {
    for (auto [i, op] : llvm::enumerate(numberedOps(kernel)))
      numbers[op] = i;
  }

  PlanAttr plan();

private:
  StageAttr contractionStage(const Contraction &contraction);
  bool joins(const Contraction &contraction, const Epilogue &epilogue);
  Form formOf(StructuredOpInterface op);

  kernel::FuncOp kernel;
  const Machine &machine;
  kernel::LiveOps live;
  llvm::DenseMap<Operation *, int64_t> numbers;
  llvm::DenseSet<Operation *> joined; // epilogues
};

} // namespace

static bool isNibble(Value tensor) {
  Type element = cast<RankedTensorType>(tensor.getType()).getElementType();
  return element.isInteger(4);
}

/// Elements without values: nothing can start from them.
static bool isUninitialised(Value tensor) {
  return tensor.getDefiningOp<tensor::EmptyOp>() != nullptr;
}

/// The map may be computed when its sums are: all it reads exists by then.
bool Planner::joins(const Contraction &contraction, const Epilogue &epilogue) {
  kernel::ReduceOp reduce = contraction.reduce;
  kernel::MapOp map = epilogue.map;
  if (live.partial.contains(map) || joined.contains(map) ||
      isNibble(map.getResult(0)))
    return false;
  // The map may write an inout in place: who reads its old contents comes first.
  for (Operation *between = reduce->getNextNode(); between && between != map;
       between = between->getNextNode())
    for (Value operand : between->getOperands())
      if (auto parameter = dyn_cast<BlockArgument>(operand))
        if (kernel.getParam(parameter.getArgNumber()).getMode() ==
            kernel::ParamMode::Inout)
          return false;
  for (auto [k, input] : llvm::enumerate(map.getInputs())) {
    Operation *def = input.getDefiningOp();
    if (k == epilogue.sumsInput || !def)
      continue;
    if (!def->isBeforeInBlock(reduce) || joined.contains(def))
      return false;
  }
  return true;
}

StageAttr Planner::contractionStage(const Contraction &contraction) {
  kernel::ReduceOp reduce = contraction.reduce;
  SmallVector<int64_t> ops{numbers[reduce]};
  std::optional<Epilogue> epilogue = matchEpilogue(reduce);
  if (epilogue && joins(contraction, *epilogue)) {
    joined.insert(epilogue->map);
    ops.push_back(numbers[epilogue->map]);
  }
  return StageAttr::get(kernel.getContext(), Form::Contraction, ops,
                        chooseBlocks(contraction, machine));
}

Form Planner::formOf(StructuredOpInterface op) {
  bool byElement = live.partial.contains(op) || op.getNumIterators() == 0 ||
                   llvm::any_of(op->getResults(), isNibble) ||
                   (isa<kernel::ReduceOp>(*op) &&
                    llvm::any_of(op.getInits(), isUninitialised));
  return byElement ? Form::Loops : Form::Lanes;
}

PlanAttr Planner::plan() {
  MLIRContext *context = kernel.getContext();
  SmallVector<StageAttr> stages;
  for (StructuredOpInterface op : live.ops) {
    if (joined.contains(op))
      continue;
    auto reduce = dyn_cast<kernel::ReduceOp>(*op);
    std::optional<Contraction> contraction;
    if (reduce && formOf(op) == Form::Lanes)
      contraction = matchContraction(reduce);
    stages.push_back(
        contraction ? contractionStage(*contraction)
                    : StageAttr::get(context, formOf(op), numbers[op], {}));
  }
  return PlanAttr::get(context, machine.name,
                       VariantAttr::get(context, stages));
}

PlanAttr cpu::planKernel(kernel::FuncOp kernel, const Machine &machine) {
  return Planner(kernel, machine).plan();
}
