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

CpuForm::CpuForm(kernel::FuncOp kernel, loops::Functions &functions,
                 PlanAttr plan, const CpuFeatures &features)
    : OwnForm(kernel, functions), lanes(features.vectorBytes / 4) {
  llvm::SmallVector<StructuredOpInterface> ops = numberedOps(kernel);
  for (StageAttr stage : plan.getVariants().front().getStages()) {
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
    takesExec |= choices.getSplit() != Split::None;
    if (op.getNumGuardAtoms()) {
      FilteredStage sum{
          *matchFilteredContraction(reduce), epilogue, choices, {}};
      addFilteredScratch(sum, workspace);
      filtered.insert({op, std::move(sum)});
      continue;
    }
    ContractionStage contraction;
    contraction.contraction = *matchContraction(reduce);
    contraction.epilogue = epilogue;
    contraction.plan = choices;
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
  takesExec |= result.plan.getGrain() != 0;
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

LogicalResult facet::convertKernelToCpu(kernel::FuncOp kernel,
                                        cpu::PlanAttr plan,
                                        const CpuFeatures &features) {
  auto module = kernel->getParentOfType<ModuleOp>();
  if (!module || kernel->getParentOp() != module)
    return kernel.emitOpError("stands in no module");
  LaneFunctions functions(module, features);
  if (failed(CpuForm(kernel, functions, plan, features).run()))
    return failure();
  return lowerMicroKernels(module, features);
}
