//===- ReferencePlan.cpp - the one plan of the reference road -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The smallest implementation of PlanAttrInterface: a road that has nothing to
// choose. `explain` lists what it does:
//
//   kernel 'linear' by the reference road: 2 stages, each stored whole, in order
//   1  linear.sum  f32[M, N]   sum over k for m, n
//   2  y           bf16[M, N]  map for m, n
//
//===----------------------------------------------------------------------===//

#include "facet/Dialect/Kernel/IR/Operations.h"
#include "facet/Dialect/Kernel/IR/Plan.h"

using namespace mlir;
using namespace facet;
using namespace facet::kernel;

#include "facet/Dialect/Kernel/IR/PlanInterface.cpp.inc"

LogicalResult ReferencePlanAttr::verify(FuncOp &kernel, const Machine *) const {
  for (Operation &op : kernel.getBody().front())
    if (op.getNumRegions() != 0 && !isa<StructuredOpInterface, RequireOp>(op))
      return op.emitError() << "'" << op.getName() << "' stands in kernel '"
                            << kernel.getSymName()
                            << "'; the reference road takes statements as the "
                               "frontend makes them";
  return success();
}

void ReferencePlanAttr::explain(FuncOp &kernel, const Machine *,
                                Explanation &explanation) const {
  Explanation::Variant &variant = explanation.variants.emplace_back();
  for (auto op : kernel.getBody().getOps<StructuredOpInterface>())
    variant.stages.push_back({op.getName().value_or("-").str(),
                              describeType(op),
                              describeIterators(op),
                              {},
                              std::nullopt});
  size_t count = variant.stages.size();
  explanation.headline =
      ("kernel '" + kernel.getSymName() +
       "' by the reference road: " + Twine(count) +
       (count == 1 ? " stage" : " stages") + ", each stored whole, in order")
          .str();
}

void ReferencePlanAttr::printSchedule(FuncOp &kernel, raw_ostream &os) const {
  os << "schedule " << kernel.getSymName() << " on \"reference\" {\n}\n";
}

FailureOr<PlanAttrInterface>
ReferencePlanAttr::parseSchedule(FuncOp &, const Machine *,
                                 ArrayRef<ScheduleEntry> entries,
                                 Diagnostics &diagnostics) const {
  bool known = true;
  for (const ScheduleEntry &entry : entries) {
    for (const ScheduleClause &clause : entry.clauses) {
      diagnostics.error(
          clause.place,
          "the reference road has one plan; it knows no clause '" +
              clause.name + "'");
      known = false;
    }
  }
  if (!known)
    return failure();
  return cast<PlanAttrInterface>(*this);
}

void ReferencePlanAttr::enumerate(
    FuncOp &, const Machine *,
    function_ref<bool(PlanAttrInterface)> visit) const {
  visit(cast<PlanAttrInterface>(*this));
}

std::string ReferencePlanAttr::key() const { return "reference"; }
