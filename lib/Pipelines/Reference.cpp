//===- Reference.cpp - the target `reference` -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   kernel.func ─ KernelToLoops ─ EmitInterface ─▶ func, scf, arith ─▶ LLVM dialect
//
// Nothing is planned: one loop nest per statement, in the order of the text. What
// it computes is what the others are held against.
//
//===----------------------------------------------------------------------===//

#include "Targets.h"
#include "facet/Conversion/KernelToLoops.h"
#include "facet/Pipelines/Pipelines.h"

using namespace mlir;
using namespace facet;

static LogicalResult convert(kernel::FuncOp kernel, const Machine *) {
  return convertKernelToLoops(kernel, {});
}

static kernel::PlanAttrInterface plan(kernel::FuncOp kernel, const Machine *) {
  return kernel::ReferencePlanAttr::get(kernel.getContext());
}

Target facet::referenceTarget() {
  return {"reference", "plain loops in the order of the text: right, not fast",
          plan, convert, lowerToLLVM};
}
