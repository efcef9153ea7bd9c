//===- PlanModel.cpp - #cpu.plan to driver, explain and tuner -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PlanAttrInterface for #cpu.plan, attached from outside: what a plan means is known
// to the planner, and the dialect knows no planner.
//
//===----------------------------------------------------------------------===//

#include "ChooseStream.h"
#include "CostModel.h"
#include "Explain.h"
#include "Schedule.h"
#include "Stages.h"

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
                       const Machine *machine) const;
  void explain(Attribute plan, kernel::FuncOp &kernel, const Machine *machine,
               kernel::Explanation &explanation) const {
    explanation = cpu::explain(cast<PlanAttr>(plan), kernel, *machine);
  }
  void printSchedule(Attribute plan, kernel::FuncOp &kernel,
                     raw_ostream &os) const {
    cpu::printSchedule(cast<PlanAttr>(plan), kernel, os);
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
  std::string key(Attribute) const;
};

} // namespace

/// The softmax of a stream's ops.
static kernel::SoftmaxOp softmaxOf(const Stages &stages, StageAttr stage) {
  for (int64_t number : stage.getOps())
    if (auto softmax = dyn_cast<kernel::SoftmaxOp>(*stages.op(number)))
      return softmax;
  return {};
}

static std::optional<std::string>
checkStream(const Stages &stages, StageAttr stage, const Machine &machine) {
  kernel::SoftmaxOp softmax = softmaxOf(stages, stage);
  std::string reason = "it has no softmax";
  std::optional<Stream> stream =
      softmax ? stages.streamOf(softmax, reason) : std::nullopt;
  if (!stream)
    return "its softmax cannot be streamed: " + reason;
  StreamAttr plan = stage.getStream();
  llvm::DenseSet<Operation *> joined;
  StageAttr expected = streamStage(stages, *stream, plan, joined);
  ArrayRef<int64_t> ops = stage.getOps();
  if (!llvm::equal(ops, expected.getOps()))
    return std::string("a stream takes all ops between its two sums, and the "
                       "map behind them");
  if (plan.getLanes() != machine.cpu.vectorBytes / 4)
    return "vectors of " + std::to_string(plan.getLanes()) +
           " elements; the machine's have " +
           std::to_string(machine.cpu.vectorBytes / 4);
  auto isGood = [&](Dot dot, const Contraction &c) {
    return dot == c.dot || dot == chooseDot(c, machine);
  };
  if (!isGood(plan.getKeyDot(), stream->scores) ||
      !isGood(plan.getValueDot(), stream->values))
    return std::string("another dot product does not compute the same");
  return std::nullopt;
}

/// One stage of a plan against the kernel; null, or what is wrong.
static std::optional<std::string> checkStage(const Stages &stages,
                                             StageAttr stage, size_t count,
                                             PlanAttr whole,
                                             const Machine &machine) {
  for (int64_t number : stage.getOps())
    if (number < 0 || number >= int64_t(count))
      return "it has no op " + std::to_string(number);
  if (stage.getForm() == Form::Stream)
    return checkStream(stages, stage, machine);
  kernel::StructuredOpInterface op = stages.op(stage.getOps().front());
  if (stage.getForm() != Form::Contraction) {
    if (stage.getForm() == Form::Lanes && stages.formOf(op) == Form::Loops)
      return "op " + std::to_string(stage.getOps().front()) +
             " cannot be computed in lanes";
    return std::nullopt;
  }
  std::optional<Contraction> c = stages.contractionOf(op);
  if (!c)
    return "op " + std::to_string(stage.getOps().front()) +
           " is no sum of products";
  ContractionAttr plan = stage.getContraction();
  int64_t lanes = machine.cpu.vectorBytes / (c->dot == Dot::F64 ? 8 : 4);
  if (plan.getLanes() != lanes)
    return "vectors of " + std::to_string(plan.getLanes()) +
           " elements; the machine's have " + std::to_string(lanes);
  if (plan.getDot() != c->dot && plan.getDot() != chooseDot(*c, machine) &&
      plan.getDot() != chooseTileDot(*c, machine))
    return ("a " + stringifyDot(plan.getDot()) +
            " dot product does not compute the same")
        .str();
  if (plan.getSplit() == Split::M && c->m.empty())
    return std::string("it has no rows to split");
  if (isFiltered(*c)) {
    if (plan.getPack() != Pack::AB || plan.getSplit() == Split::N ||
        !plan.getDepthBlock() || plan.getDepthBlock() % filterUnit != 0)
      return "a filtered sum packs a and b, in blocks of k of whole " +
             std::to_string(filterUnit) + " elements, and shares out rows";
    if (shiftsA(*c, plan.getDot()))
      return std::string("a filtered sum cannot shift a");
  }
  Problem problem(*c, machine, plan.getDot());
  if (!plan.packsA() && !problem.aInPlace)
    return std::string("a is not packed and cannot be read where it is");
  if (plan.getConstant()) {
    BlockArgument array = constantOf(*c);
    LayoutAttr layout =
        array ? whole.getLayout(array.getArgNumber()) : LayoutAttr();
    if (!layout)
      return std::string("b has no packed array with panels");
    if (layout.getColumns() != plan.getColumns() ||
        layout.getLanes() != lanes || layout.getDot() != plan.getDot())
      return std::string("b's packed array has other panels");
  } else if (!plan.packsB() && !problem.bInPlace)
    return std::string("b is not packed and cannot be read where it is");
  if (stage.getOps().size() == 2) {
    std::string reason;
    std::optional<Epilogue> epilogue = stages.epilogueOf(c->reduce, {}, reason);
    if (!epilogue || stages.numberOf(epilogue->map) != stage.getOps().back())
      return "op " + std::to_string(stage.getOps().back()) +
             " cannot be computed on the sums of op " +
             std::to_string(stage.getOps().front());
  }
  return std::nullopt;
}

LogicalResult PlanModel::verify(Attribute attribute, kernel::FuncOp &kernel,
                                const Machine *machine) const {
  auto plan = cast<PlanAttr>(attribute);
  if (!machine || plan.getMachine() != machine->name)
    return kernel.emitError() << "the plan is for " << plan.getMachine();
  Stages stages(kernel);
  size_t count = numberedOps(kernel).size();
  for (VariantAttr variant : plan.getVariants()) {
    for (GuardAttr guard : variant.getGuards())
      if (!llvm::is_contained(
              kernel.getSizes(),
              StringAttr::get(kernel.getContext(), guard.getSize())))
        return kernel.emitError()
               << "the plan does not fit kernel '" << kernel.getSymName()
               << "': it has no size " << guard.getSize();
    SmallVector<unsigned> seen(count);
    for (StageAttr stage : variant.getStages()) {
      if (std::optional<std::string> wrong =
              checkStage(stages, stage, count, plan, *machine))
        return kernel.emitError() << "the plan does not fit kernel '"
                                  << kernel.getSymName() << "': " << *wrong;
      for (int64_t number : stage.getOps())
        ++seen[number];
    }
    for (kernel::StructuredOpInterface op : stages.live())
      if (seen[stages.numberOf(op)] != 1)
        return kernel.emitError()
               << "the plan computes op " << stages.numberOf(op)
               << " of kernel '" << kernel.getSymName() << "' "
               << seen[stages.numberOf(op)] << " times";
  }
  return success();
}

std::string PlanModel::key(Attribute attribute) const {
  std::string text;
  llvm::raw_string_ostream os(text);
  attribute.print(os);
  return ("cpu." + cast<PlanAttr>(attribute).getMachine() + "." +
          llvm::utohexstr(llvm::xxh3_64bits(text), /*LowerCase=*/true, 16))
      .str();
}

void cpu::registerPlanModel(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, CpuDialect *) {
    PlanAttr::attachInterface<PlanModel>(*context);
  });
}
