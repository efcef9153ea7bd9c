//===- CpuPlan.cpp - the CPU road's plan ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The plan names the level; what follows from it and the machine file is chosen
// where it is used (KernelToCpu). It has no words for schedules.
//
//===----------------------------------------------------------------------===//

#include "facet/Dialect/Cpu/IR/Cpu.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace facet;
using namespace facet::cpu;

#define GET_ATTRDEF_CLASSES
#include "facet/Dialect/Cpu/IR/CpuAttrs.cpp.inc"

void CpuDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "facet/Dialect/Cpu/IR/CpuAttrs.cpp.inc"
      >();
}

LogicalResult PlanAttr::verify(kernel::FuncOp &, const Machine *) const {
  return success();
}

void PlanAttr::explain(kernel::FuncOp &kernel, const Machine *,
                       raw_ostream &os) const {
  os << "kernel '" << kernel.getSymName() << "' in vectors for " << getLevel()
     << "\n";
}

void PlanAttr::printSchedule(kernel::FuncOp &kernel, raw_ostream &os) const {
  os << "schedule " << kernel.getSymName() << " on \"" << getLevel()
     << "\" {}\n";
}

FailureOr<kernel::PlanAttrInterface>
PlanAttr::parseSchedule(kernel::FuncOp &, const Machine *,
                        ArrayRef<kernel::ScheduleEntry> entries,
                        Diagnostics &diagnostics) const {
  for (const kernel::ScheduleEntry &entry : entries)
    diagnostics.error(entry.place, "target '" + getLevel() +
                                       "' has no words for schedules; '" +
                                       entry.statement +
                                       "' can have no clauses");
  if (!entries.empty())
    return failure();
  return cast<kernel::PlanAttrInterface>(*this);
}

void PlanAttr::enumerate(
    kernel::FuncOp &, const Machine *,
    function_ref<bool(kernel::PlanAttrInterface)> visit) const {
  visit(cast<kernel::PlanAttrInterface>(*this));
}

std::string PlanAttr::key() const { return ("cpu." + getLevel()).str(); }
