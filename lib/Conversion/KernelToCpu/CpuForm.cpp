//===- CpuForm.cpp - a kernel computed in vectors -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decides, op by op, how it is computed: a contraction with the map behind it, an
// op in lanes, or, where elements are needed only in part (gathers) or share a
// byte, a plain loop. Where tensors rest and how indices are checked is OwnForm's.
//
//===----------------------------------------------------------------------===//

#include "CpuForm.h"

using namespace facet;
using namespace facet::cpu;
using namespace mlir;
using kernel::StructuredOpInterface;

CpuForm::CpuForm(kernel::FuncOp kernel, loops::Functions &functions,
                 const CpuTarget &target)
    : OwnForm(kernel, functions), target(target),
      lanes(target.features.vectorBytes / 4) {
  // An epilogue is computed where its contraction stands: nothing it reads may be
  // made in between.
  for (StructuredOpInterface op : demand.ops()) {
    auto reduce = dyn_cast<kernel::ReduceOp>(*op);
    if (!reduce || demand.isTracked(op))
      continue;
    std::optional<Contraction> contraction = matchContraction(reduce);
    if (!contraction)
      continue;
    if (kernel::MapOp map = contraction->epilogue)
      if (demand.isTracked(map) || fused.contains(map) ||
          !canFuse(*contraction))
        contraction->epilogue = nullptr;
    if (contraction->epilogue)
      fused.insert(contraction->epilogue);
    contractions.insert({op, std::move(*contraction)});
  }
  for (auto &[op, contraction] : contractions)
    choosePlan(contraction);
}

/// The map may be computed when the contraction is: all it reads exists by then.
bool CpuForm::canFuse(const Contraction &contraction) {
  kernel::MapOp map = contraction.epilogue;
  kernel::ReduceOp reduce = contraction.reduce;
  if (isNibble(map.getResult(0)))
    return false;
  // The map may write an inout in place: who reads its old contents comes first.
  for (Operation *between = reduce->getNextNode(); between && between != map;
       between = between->getNextNode())
    for (Value operand : between->getOperands())
      if (auto parameter = dyn_cast<BlockArgument>(operand))
        if (kernel.getParam(parameter.getArgNumber()).getMode() ==
            facet::kernel::ParamMode::Inout)
          return false;
  for (auto [k, input] : llvm::enumerate(map.getInputs())) {
    Operation *def = input.getDefiningOp();
    if (k == contraction.epilogueInput || !def)
      continue;
    if (!def->isBeforeInBlock(reduce) || fused.contains(def))
      return false;
  }
  return true;
}

std::optional<int64_t> CpuForm::knownExtent(StructuredOpInterface op,
                                            unsigned iterator) {
  OpFoldResult extent = op.getMixedExtents()[iterator];
  if (auto attribute = dyn_cast<Attribute>(extent))
    return cast<IntegerAttr>(attribute).getInt();
  if (auto size = cast<Value>(extent).getDefiningOp<kernel::SizeOp>())
    return loops::fixedSize(kernel, *kernel.getSizeIndex(size.getName()));
  return std::nullopt;
}

bool CpuForm::isNibble(Value tensor) {
  Type element = loops::elementType(tensor);
  return element.isInteger() && element.getIntOrFloatBitWidth() == 4;
}

bool CpuForm::hasHome(Value value) {
  auto it = contractions.find(value.getDefiningOp());
  return it == contractions.end() || !it->second.epilogue;
}

void CpuForm::emitOp(StructuredOpInterface op) {
  b.setLoc(op.getLoc());
  if (fused.contains(op))
    return;
  if (auto it = contractions.find(op); it != contractions.end())
    return emitContraction(it->second);
  bool plain = demand.isTracked(op) ||
               llvm::any_of(op->getResults(),
                            [&](Value value) { return isNibble(value); }) ||
               op.getNumIterators() == 0;
  for (Value init : op.getInits())
    plain |= isa<kernel::ReduceOp>(*op) &&
             frame.tensors[init].kind == Storage::Nothing;
  if (plain)
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
                                        const CpuTarget &target) {
  auto module = kernel->getParentOfType<ModuleOp>();
  if (!module || kernel->getParentOp() != module)
    return kernel.emitOpError("stands in no module");
  loops::Functions functions(module);
  if (failed(CpuForm(kernel, functions, target).run()))
    return failure();
  return lowerMicroKernels(module, target.features);
}
