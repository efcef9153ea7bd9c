//===- PlanModel.cpp - #cpu.plan to driver, explain and tuner -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PlanAttrInterface for #cpu.plan, attached from outside: what a plan means is known
// to the planner, and the dialect knows no planner.
//
//===----------------------------------------------------------------------===//

#include "facet/Planner/Cpu/Planner.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace facet;
using namespace facet::cpu;

namespace {

class PlanModel
    : public kernel::PlanAttrInterface::ExternalModel<PlanModel, PlanAttr> {
public:
  LogicalResult verify(Attribute, kernel::FuncOp &kernel,
                       const Machine *) const {
    return success();
  }
  void explain(Attribute, kernel::FuncOp &kernel, const Machine *,
               raw_ostream &os) const;
  void printSchedule(Attribute, kernel::FuncOp &kernel, raw_ostream &os) const;
  FailureOr<kernel::PlanAttrInterface>
  parseSchedule(Attribute, kernel::FuncOp &, const Machine *,
                ArrayRef<kernel::ScheduleEntry>, Diagnostics &) const;
  void enumerate(Attribute plan, kernel::FuncOp &, const Machine *,
                 function_ref<bool(kernel::PlanAttrInterface)> visit) const {
    visit(cast<kernel::PlanAttrInterface>(plan));
  }
  std::string key(Attribute) const;
};

} // namespace

void PlanModel::explain(Attribute plan, kernel::FuncOp &kernel, const Machine *,
                        raw_ostream &os) const {
  os << "kernel '" << kernel.getSymName() << "' in vectors for "
     << cast<PlanAttr>(plan).getMachine() << "\n";
}

void PlanModel::printSchedule(Attribute plan, kernel::FuncOp &kernel,
                              raw_ostream &os) const {
  os << "schedule " << kernel.getSymName() << " on \""
     << cast<PlanAttr>(plan).getMachine() << "\" {}\n";
}

FailureOr<kernel::PlanAttrInterface>
PlanModel::parseSchedule(Attribute plan, kernel::FuncOp &, const Machine *,
                         ArrayRef<kernel::ScheduleEntry> entries,
                         Diagnostics &diagnostics) const {
  for (const kernel::ScheduleEntry &entry : entries)
    diagnostics.error(entry.place,
                      "target '" + cast<PlanAttr>(plan).getMachine() +
                          "' has no words for schedules; '" + entry.statement +
                          "' can have no clauses");
  if (!entries.empty())
    return failure();
  return cast<kernel::PlanAttrInterface>(plan);
}

std::string PlanModel::key(Attribute attribute) const {
  auto plan = cast<PlanAttr>(attribute);
  std::string text;
  llvm::raw_string_ostream os(text);
  attribute.print(os);
  return ("cpu." + plan.getMachine() + "." +
          llvm::utohexstr(llvm::xxh3_64bits(text), /*LowerCase=*/true, 16))
      .str();
}

void cpu::registerPlanModel(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, CpuDialect *) {
    PlanAttr::attachInterface<PlanModel>(*context);
  });
}
