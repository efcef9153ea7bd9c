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

#include "facet/Dialect/Kernel/IR/Plan.h"

#include "llvm/Support/Format.h"

using namespace mlir;
using namespace facet;
using namespace facet::kernel;

#include "facet/Dialect/Kernel/IR/PlanInterface.cpp.inc"

/// The stages: every structured op that stands in the body itself.
static SmallVector<StructuredOpInterface> stagesOf(FuncOp kernel) {
  return llvm::to_vector(kernel.getBody().getOps<StructuredOpInterface>());
}

LogicalResult ReferencePlanAttr::verify(FuncOp &kernel, const Machine *) const {
  for (Operation &op : kernel.getBody().front())
    if (op.getNumRegions() != 0 && !isa<StructuredOpInterface, RequireOp>(op))
      return op.emitError() << "'" << op.getName() << "' stands in kernel '"
                            << kernel.getSymName()
                            << "'; the reference road takes statements as the "
                               "frontend makes them";
  return success();
}

/// An extent as the text writes it: the name of its size, or a number.
static std::string nameOfExtent(OpFoldResult extent) {
  if (auto value = dyn_cast<Value>(extent)) {
    auto size = value.getDefiningOp<SizeOp>();
    return size ? size.getName().str() : "?";
  }
  return std::to_string(cast<IntegerAttr>(cast<Attribute>(extent)).getInt());
}

/// `f32[M, N]`
static std::string typeOf(StructuredOpInterface op) {
  std::string text;
  llvm::raw_string_ostream os(text);
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  os << type.getElementType();
  SmallVector<OpFoldResult> extents = op.getMixedExtents();
  extents.truncate(type.getRank());
  if (!extents.empty()) {
    os << '[';
    llvm::interleaveComma(
        extents, os, [&](OpFoldResult extent) { os << nameOfExtent(extent); });
    os << ']';
  }
  return text;
}

/// `sum over k for m, n`
static void explainIterators(StructuredOpInterface op, raw_ostream &os) {
  auto list = [&](StringRef word, unsigned begin, unsigned end) {
    if (begin == end)
      return;
    os << ' ' << word << ' ';
    llvm::interleaveComma(llvm::seq(begin, end), os,
                          [&](unsigned i) { os << op.getIteratorName(i); });
  };
  if (auto reduce = dyn_cast<ReduceOp>(op.getOperation()))
    os << stringifyReduceKind(reduce.getKind());
  else
    os << (isa<SoftmaxOp>(op) ? "softmax" : "map");
  list("over", op.getNumParallel(), op.getNumIterators());
  list("for", 0, op.getNumParallel());
  if (!op.getFilter().empty())
    os << ", filtered";
}

void ReferencePlanAttr::explain(FuncOp &kernel, const Machine *,
                                raw_ostream &os) const {
  SmallVector<StructuredOpInterface> stages = stagesOf(kernel);
  os << "kernel '" << kernel.getSymName()
     << "' by the reference road: " << stages.size()
     << (stages.size() == 1 ? " stage" : " stages")
     << ", each stored whole, in order\n";
  size_t nameWidth = 0, typeWidth = 0;
  for (StructuredOpInterface op : stages) {
    nameWidth = std::max(nameWidth, op.getName().value_or("-").size());
    typeWidth = std::max(typeWidth, typeOf(op).size());
  }
  for (auto [i, op] : llvm::enumerate(stages)) {
    os << llvm::format_decimal(i + 1, 3) << "  "
       << llvm::left_justify(op.getName().value_or("-"), nameWidth) << "  "
       << llvm::left_justify(typeOf(op), typeWidth) << "  ";
    explainIterators(op, os);
    os << '\n';
  }
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
