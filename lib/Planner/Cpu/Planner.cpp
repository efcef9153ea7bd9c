//===- Planner.cpp - a plan for the CPU road ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   let t[m, n] = sum[k](x[m, k] * w[k, n])     op 0 ┐ contraction [0, 1]
//   y[m, n] = bf16(relu(t[m, n] + b[n]))        op 1 ┘
//   s[m] = sum[n](f32(y[m, n]))                 op 2 ─ lanes [2]
//
// Every live op is in one stage. A sum of products is a contraction, and the map
// behind it joins its stage when all it reads exists by then: its sums are never in
// memory then.
//
//===----------------------------------------------------------------------===//

#include "facet/Planner/Cpu/Planner.h"
#include "ChooseBlocks.h"
#include "Stages.h"

using namespace facet;
using namespace facet::cpu;
using namespace mlir;
using kernel::StructuredOpInterface;

PlanAttr cpu::planKernel(kernel::FuncOp kernel, const Machine &machine) {
  MLIRContext *context = kernel.getContext();
  Stages stages(kernel);
  llvm::DenseSet<Operation *> joined;
  SmallVector<StageAttr> result;
  for (StructuredOpInterface op : stages.live()) {
    if (joined.contains(op))
      continue;
    SmallVector<int64_t> ops{stages.numberOf(op)};
    std::optional<Contraction> contraction = stages.contractionOf(op);
    if (!contraction) {
      result.push_back(StageAttr::get(context, stages.formOf(op), ops, {}));
      continue;
    }
    std::string reason;
    if (std::optional<Epilogue> epilogue =
            stages.epilogueOf(contraction->reduce, joined, reason)) {
      joined.insert(epilogue->map);
      ops.push_back(stages.numberOf(epilogue->map));
    }
    result.push_back(StageAttr::get(context, Form::Contraction, ops,
                                    chooseBlocks(*contraction, machine)));
  }
  return PlanAttr::get(context, machine.name,
                       VariantAttr::get(context, result));
}
