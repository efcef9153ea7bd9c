//===- CpuForm.cpp - a kernel computed in vectors -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Obeys the plan, stage by stage: a contraction with the map behind it, a softmax
// between two, an op in lanes, or a plain loop. Where tensors rest and how indices are checked is
// OwnForm's.
//
//===----------------------------------------------------------------------===//

#include "CpuForm.h"
#include "LaneFunctions.h"

using namespace facet;
using namespace facet::cpu;
using namespace mlir;
using kernel::StructuredOpInterface;

/// Whether any call runs in tasks: all variants take the same arguments.
static bool hasTasks(PlanAttr plan) {
  for (VariantAttr variant : plan.getVariants())
    for (StageAttr stage : variant.getStages())
      if ((stage.getContraction() &&
           stage.getContraction().getSplit() != Split::None) ||
          (stage.getStream() && stage.getStream().getGrain() != 0))
        return true;
  return false;
}

CpuForm::CpuForm(kernel::FuncOp kernel, loops::Functions &functions,
                 PlanAttr plan, VariantAttr variant,
                 const CpuFeatures &features)
    : OwnForm(kernel, functions), lanes(features.vectorBytes / 4) {
  takesExec = hasTasks(plan);
  llvm::SmallVector<StructuredOpInterface> ops = numberedOps(kernel);
  for (StageAttr stage : variant.getStages()) {
    StructuredOpInterface op = ops[stage.getOps().front()];
    forms[op] = stage.getForm();
    if (stage.getForm() == Form::Stream)
      addStream(stage, ops);
    if (stage.getForm() != Form::Contraction)
      continue;
    auto reduce = cast<kernel::ReduceOp>(*op);
    ContractionAttr choices = stage.getContraction();
    std::optional<Epilogue> epilogue;
    if (stage.getOps().size() == 2) {
      epilogue = matchUnguardedEpilogue(reduce);
      fused.insert(epilogue->map);
      homeless.insert(reduce.getResult(0));
    }
    if (op.getNumGuardAtoms()) {
      FilteredStage sum{
          *matchFilteredContraction(reduce), epilogue, choices, {}};
      addFilteredScratch(sum, workspace);
      filtered.insert({op, std::move(sum)});
      continue;
    }
    ContractionStage contraction;
    Contraction &c = contraction.contraction;
    c = *matchContraction(reduce);
    contraction.epilogue = epilogue;
    contraction.plan = choices;
    contraction.shiftsA = shiftsA(c, choices.getDot());
    if (choices.getConstant())
      contraction.constant.emplace(
          c, plan.getLayout(constantOf(c).getArgNumber()));
    addPanels(contraction);
    contractions.insert({op, std::move(contraction)});
  }
}

/// A stream is computed where its values are; by-products come out with them.
void CpuForm::addStream(StageAttr stage,
                        llvm::ArrayRef<StructuredOpInterface> ops) {
  StreamStage result;
  std::string reason;
  for (int64_t number : stage.getOps())
    if (auto softmax = dyn_cast<kernel::SoftmaxOp>(*ops[number]))
      result.stream = *matchStream(softmax, reason);
  Stream &stream = result.stream;
  result.plan = stage.getStream();
  llvm::SmallVector<Operation *> inner = stream.ops();
  if (stage.getOps().size() > inner.size()) {
    result.epilogue = matchUnguardedEpilogue(stream.values.reduce);
    fused.insert(result.epilogue->map);
    homeless.insert(stream.values.reduce.getResult(0));
  }
  for (Operation *op : inner) {
    if (op == stream.values.reduce)
      continue;
    fused.insert(op);
    if (op != stream.max && op != stream.sum)
      homeless.insert(op->result_begin(), op->result_end());
  }
  addStreamScratch(result, workspace);
  streams.insert({stream.values.reduce, std::move(result)});
}

bool CpuForm::hasHome(Value value) { return !homeless.contains(value); }

void CpuForm::emitOp(StructuredOpInterface op) {
  b.setLoc(op.getLoc());
  if (fused.contains(op))
    return;
  if (auto it = contractions.find(op); it != contractions.end())
    return emitContraction(it->second);
  if (auto it = filtered.find(op); it != filtered.end())
    return emitFiltered(frame, it->second, placed);
  if (auto it = streams.find(op); it != streams.end())
    return emitStream(frame, it->second, placed);
  if (forms.lookup(op) == Form::Loops)
    return OwnForm::emitOp(op);
  if (auto map = dyn_cast<kernel::MapOp>(*op))
    return emitLaneMap(map);
  if (auto reduce = dyn_cast<kernel::ReduceOp>(*op))
    return emitLaneReduce(reduce);
  if (auto softmax = dyn_cast<kernel::SoftmaxOp>(*op))
    return emitLaneSoftmax(softmax);
  OwnForm::emitOp(op);
}
