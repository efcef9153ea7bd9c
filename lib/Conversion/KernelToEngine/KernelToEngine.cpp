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
  LogicalResult checkElement(mlir::Location loc, const Twine &what,
                             Type element);
  LogicalResult checkWritten(mlir::Location loc, const Twine &what,
                             Type element);
  LogicalResult declareParams();
  LogicalResult declareResults();
  LogicalResult declareScratch(StructuredOpInterface op);
  void unpackParams();
  LogicalResult gatherInputs(StructuredOpInterface op);
  /// A barrier, but before the first stage.
  void separateStages();

  kernel::FuncOp kernel;
  PlanAttr plan;
  Lowering lowering;
  bool isFirst = true;
  /// Arguments of four bits: as they come, and what they are spread out into.
  SmallVector<std::pair<Value, Value>> packed;
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
  return shape;
}

/// `what` is "parameter 'x' has", say.
LogicalResult Conversion::checkElement(mlir::Location loc, const Twine &what,
                                       Type element) {
  if (element.isF64())
    return emitError(loc) << what
                          << " elements of 'f64'; the matrix engine computes "
                             "in f32: make them f32, or compile for a CPU";
  if (isa<Float8E4M3FNType>(element) && !lowering.machine.tensor.f8e4m3fn)
    return emitError(loc) << what << " elements of " << element
                          << ", which machine '" << lowering.machine.name
                          << "' has not: make them f8e4m3, whose largest "
                             "value is 240, or compile for a machine that "
                             "has it or a CPU";
  if (dtypeOf(storedType(element)))
    return success();
  return emitError(loc) << what << " elements of " << element
                        << ", which the matrix engine has not; compile for a "
                           "CPU";
}

LogicalResult Conversion::checkWritten(mlir::Location loc, const Twine &what,
                                       Type element) {
  if (!element.isInteger(4))
    return success();
  return emitError(loc) << what << " elements of " << element
                        << ", which this road reads and does not write; make "
                           "them a byte each, or compile for a CPU";
}

LogicalResult Conversion::declareParams() {
  for (auto [i, argument] : llvm::enumerate(kernel.getBody().getArguments())) {
    kernel::ParamAttr param = kernel.getParam(i);
    FailureOr<SmallVector<int64_t>> shape = shapeOf(param);
    if (failed(shape))
      return failure();
    Type element = cast<RankedTensorType>(argument.getType()).getElementType();
    if (failed(checkElement(
            kernel.getLoc(),
            "parameter '" + param.getName().getValue() + "' has", element)))
      return failure();
    BufferUse use =
        param.getMode() == kernel::ParamMode::Const   ? BufferUse::Const
        : param.getMode() == kernel::ParamMode::Inout ? BufferUse::Inout
                                                      : BufferUse::In;
    StringRef name = param.getName().getValue();
    if (!element.isInteger(4)) {
      lowering.declare(argument, name, use, *shape);
      continue;
    }
    if (use == BufferUse::Inout)
      return checkWritten(kernel.getLoc(), "parameter '" + name + "' has",
                          element);
    SmallVector<int64_t> bytes(*shape);
    bytes.back() /= 2; // even, says the language
    Value whole = lowering.buffer(
        name, bytes, lowering.builder.getIntegerType(8, /*isSigned=*/false),
        use);
    Value spread = lowering.scratch((name + "_elements").str(), *shape,
                                    storedType(element));
    lowering.place(argument, spread);
    if (whole)
      packed.push_back({whole, spread});
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
    std::string what =
        ("result '" + param.getName().getValue() + "' has").str();
    if (failed(checkElement(kernel.getLoc(), what, element)) ||
        failed(checkWritten(kernel.getLoc(), what, element)))
      return failure();
    lowering.declare(value, param.getName().getValue(), BufferUse::Out, *shape);
  }
  return success();
}

LogicalResult Conversion::declareScratch(StructuredOpInterface op) {
  FailureOr<SmallVector<int64_t>> extents = lowering.extentsOf(op);
  if (failed(extents))
    return failure();
  for (Value result : op->getResults()) {
    if (result.use_empty())
      continue; // the value beside a place, say
    Type element = cast<RankedTensorType>(result.getType()).getElementType();
    if (failed(checkElement(op->getLoc(), "makes", element)) ||
        failed(checkWritten(op->getLoc(), "makes", element)))
      return failure();
    if (!lowering.hasBuffer(result))
      lowering.declare(
          result, op.getName().value_or("tmp"), BufferUse::Scratch,
          ArrayRef<int64_t>(*extents).take_front(op.getNumParallel()));
  }
  return success();
}

void Conversion::separateStages() {
  if (!isFirst)
    BarrierOp::create(lowering.builder, lowering.location);
  isFirst = false;
}

void Conversion::unpackParams() {
  for (auto [whole, spread] : packed) {
    separateStages();
    emitUnpack(lowering, whole, spread);
  }
}

/// Lays out what the statement reads through indices. An index that is itself read
/// through one stands before what it indexes.
LogicalResult Conversion::gatherInputs(StructuredOpInterface op) {
  for (unsigned i = 0; i < op.getInputs().size(); ++i) {
    if (!op.getAccess(i).hasGather())
      continue;
    separateStages();
    if (failed(emitGather(lowering, op, i)))
      return failure();
  }
  return success();
}

LogicalResult Conversion::run() {
  if (failed(declareParams()) || failed(declareResults()))
    return failure();
  unpackParams();
  SmallVector<StructuredOpInterface> ops = numberedOps(kernel);
  llvm::DenseMap<Operation *, StageAttr> stages; // by the op each stands at
  llvm::DenseSet<Operation *> inside; // of a stage that stands elsewhere
  for (StageAttr stage : plan.getStages()) {
    stages[ops[stage.getOps().back()]] = stage;
    for (int64_t number : stage.getOps().drop_back())
      inside.insert(ops[number]);
  }
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
    FailureOr<SmallVector<int64_t>> extents = lowering.extentsOf(op);
    if (failed(extents))
      return failure();
    if (llvm::is_contained(ArrayRef(*extents).take_front(op.getNumParallel()),
                           0))
      continue; // nothing to compute
    lowering.location = statement.getLoc();
    for (int64_t number : stage.getOps())
      if (failed(gatherInputs(ops[number])))
        return failure();
    separateStages();
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
        separateFactors(kernel);
        separateFilters(kernel, *found);
        separateIntegers(kernel);
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
