//===- PlanModel.cpp - #engine.plan to driver, explain and tuner ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PlanAttrInterface for #engine.plan, attached from outside: what a plan means is
// known to the planner, and the dialect knows no planner.
//
//===----------------------------------------------------------------------===//

#include "Explain.h"
#include "Schedule.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace facet;
using namespace facet::engine;

namespace {

class PlanModel
    : public kernel::PlanAttrInterface::ExternalModel<PlanModel, PlanAttr> {
public:
  LogicalResult verify(Attribute plan, kernel::FuncOp &kernel,
                       const Machine *machine) const {
    return verifyPlan(cast<PlanAttr>(plan), kernel, *machine);
  }
  void explain(Attribute plan, kernel::FuncOp &kernel, const Machine *machine,
               kernel::Explanation &explanation) const {
    explanation = engine::explain(cast<PlanAttr>(plan), kernel, *machine);
  }
  void printSchedule(Attribute plan, kernel::FuncOp &kernel,
                     raw_ostream &os) const {
    engine::printSchedule(cast<PlanAttr>(plan), kernel, os);
  }
  FailureOr<kernel::PlanAttrInterface>
  parseSchedule(Attribute plan, kernel::FuncOp &kernel, const Machine *machine,
                ArrayRef<kernel::ScheduleEntry> entries,
                Diagnostics &diagnostics) const {
    FailureOr<PlanAttr> result = applySchedule(cast<PlanAttr>(plan), kernel,
                                               *machine, entries, diagnostics);
    if (failed(result))
      return failure();
    return cast<kernel::PlanAttrInterface>(*result);
  }
  void enumerate(Attribute plan, kernel::FuncOp &, const Machine *,
                 function_ref<bool(kernel::PlanAttrInterface)> visit) const {
    visit(cast<kernel::PlanAttrInterface>(plan));
  }
  std::string key(Attribute plan) const {
    std::string text;
    llvm::raw_string_ostream os(text);
    plan.print(os);
    return ("engine." + cast<PlanAttr>(plan).getMachine() + "." +
            llvm::utohexstr(llvm::xxh3_64bits(text), /*LowerCase=*/true, 16))
        .str();
  }
};

} // namespace

void engine::registerPlanModel(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, EngineDialect *) {
    PlanAttr::attachInterface<PlanModel>(*context);
  });
}
