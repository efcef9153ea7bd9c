//===- KernelToEngine.cpp - kernels become engine programs ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Stage by stage of the plan, each ended by a barrier: a contraction with the
// map behind it, or a map or reduction by itself. What passes from one stage to the
// next lies in a scratch buffer of HBM.
//
//   y[m, n] = gelu(sum[k](x[m, k] * w[k, n]) + b[n])      one stage
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "Stages.h"
#include "facet/Conversion/Passes.h"
#include "facet/Planner/Engine/Planner.h"

namespace facet {
#define GEN_PASS_DEF_CONVERTKERNELTOENGINEPASS
#include "facet/Conversion/Passes.h.inc"
} // namespace facet

using namespace mlir;
using namespace facet;
using namespace facet::engine;
using kernel::StructuredOpInterface;

namespace {
class Conversion {
public:
  Conversion(kernel::FuncOp kernel, PlanAttr plan, ProgramOp program,
             const Machine &machine)
      : kernel(kernel), plan(plan), lowering(kernel, program, machine) {}
  LogicalResult run();

private:
  FailureOr<SmallVector<int64_t>> shapeOf(kernel::ParamAttr param);
  LogicalResult declareParams();
  LogicalResult declareResults();
  LogicalResult declareScratch(StructuredOpInterface op);

  kernel::FuncOp kernel;
  PlanAttr plan;
  Lowering lowering;
};
} // namespace

FailureOr<SmallVector<int64_t>> Conversion::shapeOf(kernel::ParamAttr param) {
  SmallVector<int64_t> shape;
  for (Attribute dim : param.getDims()) {
    if (auto number = dyn_cast<IntegerAttr>(dim)) {
      shape.push_back(number.getInt());
      continue;
    }
    StringRef name = cast<StringAttr>(dim).getValue();
    FailureOr<int64_t> size = lowering.sizeOf(name);
    if (failed(size))
      return failure();
    shape.push_back(*size);
  }
  if (llvm::is_contained(shape, 0))
    return kernel.emitError("parameter '")
           << param.getName().getValue()
           << "' has no elements; a program for a matrix engine needs some";
  return shape;
}

LogicalResult Conversion::declareParams() {
  for (auto [i, argument] : llvm::enumerate(kernel.getBody().getArguments())) {
    kernel::ParamAttr param = kernel.getParam(i);
    FailureOr<SmallVector<int64_t>> shape = shapeOf(param);
    if (failed(shape))
      return failure();
    Type element = cast<RankedTensorType>(argument.getType()).getElementType();
    if (!dtypeOf(lowering.storedType(element)))
      return kernel.emitError("parameter '")
             << param.getName().getValue() << "' has elements of " << element
             << ", which the matrix engine has not; compile for a CPU";
    BufferUse use =
        param.getMode() == kernel::ParamMode::Const   ? BufferUse::Const
        : param.getMode() == kernel::ParamMode::Inout ? BufferUse::Inout
                                                      : BufferUse::In;
    lowering.declare(argument, param.getName().getValue(), use, *shape);
  }
  return success();
}

LogicalResult Conversion::declareResults() {
  auto yield = cast<kernel::ReturnOp>(kernel.getBody().front().getTerminator());
  SmallVector<unsigned> inouts = kernel.getInoutParams();
  for (auto [i, value] : llvm::enumerate(yield.getValues())) {
    if (!value.getDefiningOp<StructuredOpInterface>() ||
        lowering.hasBuffer(value))
      return kernel.emitError(
          "a result that is a parameter, or another result, as "
          "it is needs a copy that this road does not make "
          "yet; compile for a CPU");
    if (i < inouts.size()) {
      // Old contents are read by the assignment itself alone, each element before
      // it is written: the language says so.
      lowering.alias(value, kernel.getBody().getArgument(inouts[i]));
      continue;
    }
    kernel::ParamAttr param = kernel.getOutput(i - inouts.size());
    FailureOr<SmallVector<int64_t>> shape = shapeOf(param);
    if (failed(shape))
      return failure();
    Type element = cast<RankedTensorType>(value.getType()).getElementType();
    if (!dtypeOf(lowering.storedType(element)))
      return kernel.emitError("result '")
             << param.getName().getValue() << "' has elements of " << element
             << ", which the matrix engine has not; compile for a CPU";
    lowering.declare(value, param.getName().getValue(), BufferUse::Out, *shape);
  }
  return success();
}

LogicalResult Conversion::declareScratch(StructuredOpInterface op) {
  FailureOr<SmallVector<int64_t>> extents = lowering.extentsOf(op);
  if (failed(extents))
    return failure();
  for (Value result : op->getResults()) {
    Type element = cast<RankedTensorType>(result.getType()).getElementType();
    if (!dtypeOf(lowering.storedType(element)))
      return op->emitError("makes elements of ")
             << element
             << ", which the matrix engine has not; compile for a CPU";
    if (!lowering.hasBuffer(result))
      lowering.declare(
          result, op.getName().value_or("tmp"), BufferUse::Scratch,
          ArrayRef<int64_t>(*extents).take_front(op.getNumParallel()));
  }
  return success();
}

LogicalResult Conversion::run() {
  if (failed(declareParams()) || failed(declareResults()))
    return failure();
  SmallVector<StructuredOpInterface> ops = numberedOps(kernel);
  llvm::DenseMap<Operation *, StageAttr> stages; // by the op each stands at
  llvm::DenseSet<Operation *> inside; // of a stage that stands elsewhere
  for (StageAttr stage : plan.getStages()) {
    stages[ops[stage.getOps().back()]] = stage;
    for (int64_t number : stage.getOps().drop_back())
      inside.insert(ops[number]);
  }
  bool first = true;
  for (Operation &statement : kernel.getBody().front()) {
    auto op = dyn_cast<StructuredOpInterface>(statement);
    if (!op) {
      if (isa<kernel::SizeOp, kernel::RequireOp, kernel::ReturnOp,
              arith::ConstantOp, tensor::EmptyOp, tensor::SplatOp>(statement))
        continue;
      return statement.emitError("'")
             << statement.getName() << "' is not lowered by the engine road";
    }
    if (inside.contains(op))
      continue; // with the last op of its stage
    StageAttr stage = stages.lookup(op);
    std::optional<Attention> attention;
    if (stage.getForm() == Form::Attention)
      attention = attentionOf(stage, kernel);
    for (StructuredOpInterface made :
         attention ? attention->results() : SmallVector{op})
      if (failed(declareScratch(made)))
        return failure();
    if (!first)
      BarrierOp::create(lowering.builder, lowering.location);
    first = false;
    lowering.location = statement.getLoc();
    if (failed(attention ? emitAttention(lowering, *attention)
               : stage.getForm() == Form::Contraction
                   ? emitContraction(lowering, *contractionOf(stage, kernel),
                                     stage.getContraction())
                   : emitElementwise(lowering, op)))
      return failure();
  }
  return success();
}

FailureOr<ProgramOp> facet::convertKernelToEngine(kernel::FuncOp kernel,
                                                  PlanAttr plan,
                                                  const Machine &machine) {
  if (failed(verifyPlan(plan, kernel, machine)))
    return failure();
  OpBuilder builder(kernel->getContext());
  builder.setInsertionPointAfter(kernel);
  auto program = ProgramOp::create(builder, kernel.getLoc(),
                                   kernel.getSymName(), machine.name);
  program.getBodyRegion().emplaceBlock();
  if (succeeded(Conversion(kernel, plan, program, machine).run()))
    return program;
  program.erase();
  return failure();
}

namespace {
struct ConvertKernelToEnginePass
    : facet::impl::ConvertKernelToEnginePassBase<ConvertKernelToEnginePass> {
  using ConvertKernelToEnginePassBase::ConvertKernelToEnginePassBase;

  void runOnOperation() override {
    Diagnostics diagnostics;
    std::optional<Machine> found = loadMachine(machine, diagnostics);
    if (!found || !found->isEngine()) {
      getOperation().emitError("machine '")
          << machine << "' is no matrix engine that can be read";
      return signalPassFailure();
    }
    for (auto kernel :
         llvm::make_early_inc_range(getOperation().getOps<kernel::FuncOp>())) {
      auto plan = kernel->getAttrOfType<PlanAttr>("kernel.plan");
      if (!plan) {
        FailureOr<PlanAttr> planned = planKernel(kernel, *found);
        if (failed(planned))
          return signalPassFailure();
        plan = *planned;
      }
      if (failed(convertKernelToEngine(kernel, plan, *found)))
        return signalPassFailure();
      kernel.erase();
    }
  }
};
} // namespace
