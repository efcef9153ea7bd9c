//===- LiveOps.cpp - which ops of a kernel are computed, and how fully ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A walk backwards from what the kernel returns, then one forwards:
//
//   let u[t] = table[id[t]]                        partial: id[t] may be anything
//   let v[t] = exp(u[t])                           partial: it reads u
//   y[n] = sum[t | t < len[n]](v[t])               whole: a result
//
// Planner and lowerings ask the same question, so it is answered here.
//
//===----------------------------------------------------------------------===//

#include "facet/Dialect/Kernel/IR/LiveOps.h"

using namespace facet;
using namespace facet::kernel;
using namespace mlir;

bool kernel::isReturned(Operation *op) {
  return llvm::any_of(op->getUsers(),
                      [](Operation *user) { return isa<ReturnOp>(user); });
}

bool kernel::mayLeaveRange(StructuredOpInterface op, unsigned k) {
  auto type = cast<RankedTensorType>(op.getInputs()[k].getType());
  for (auto [dim, subscript] : llvm::enumerate(op.getAccess(k).getSubscripts()))
    if (subscript.kind == Subscript::Element ||
        (subscript.kind == Subscript::Constant && type.isDynamicDim(dim)))
      return true;
  return false;
}

LiveOps::LiveOps(FuncOp kernel, bool everywhere) {
  llvm::SmallPtrSet<Operation *, 16> used;
  for (Operation &op : llvm::reverse(kernel.getBody().front())) {
    auto structured = dyn_cast<StructuredOpInterface>(op);
    if (!structured || !(isReturned(&op) || used.contains(&op)))
      continue;
    ops.push_back(structured);
    for (Value operand : op.getOperands())
      if (Operation *def = operand.getDefiningOp())
        used.insert(def);
  }
  std::reverse(ops.begin(), ops.end());

  // An op that reads a demand-driven let must itself know what it needs.
  llvm::SmallPtrSet<Operation *, 8> driven;
  for (StructuredOpInterface op : ops) {
    bool reads = llvm::any_of(op.getInputs(), [&](Value input) {
      return input.getDefiningOp() && driven.contains(input.getDefiningOp());
    });
    bool leaves =
        llvm::any_of(llvm::seq<unsigned>(op.getInputs().size()),
                     [&](unsigned k) { return mayLeaveRange(op, k); });
    bool returned = isReturned(op);
    if (!everywhere && !reads && !leaves)
      continue;
    if (!returned)
      driven.insert(op);
    if (everywhere || !returned)
      partial.insert(op);
  }
}
