//===- Function.cpp - a kernel from one function on tensors ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   func.func @layer(%x: tensor<?x64xf32>, …) -> tensor<?x32xf32>     kernel layer(x0: f32[D0, 64], …) -> y: f32[D0, 32]
//
// Op by op, from what the results need: structured ops of linalg (Linalg.cpp), StableHLO
// (StableHloOps.cpp), TOSA by MLIR's own passes from it to linalg. Functions that are called
// are written where they are called.
//
//===----------------------------------------------------------------------===//

#include "Function.h"
#include "StableHlo.h"
#include "facet/Frontend/Frontend.h"
#include "facet/Import/ImportLinalg.h"

#include "mlir/Conversion/TosaToArith/TosaToArith.h"
#include "mlir/Conversion/TosaToLinalg/TosaToLinalg.h"
#include "mlir/Conversion/TosaToTensor/TosaToTensor.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace facet;
using namespace facet::import;

LogicalResult Function::checkSignature() {
  auto check = [&](Type type, const Twine &what) -> LogicalResult {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (scalarType(tensor ? tensor.getElementType() : type))
      return success();
    return function.emitError("the language has no type for ")
           << what.str() << ", " << type;
  };
  for (auto [i, type] : llvm::enumerate(function.getArgumentTypes()))
    if (failed(check(type, "argument " + Twine(i))))
      return failure();
  for (auto [i, type] : llvm::enumerate(function.getResultTypes()))
    if (failed(check(type, "result " + Twine(i))))
      return failure();
  if (!function.getBody().hasOneBlock())
    return function.emitError("a function of one block is needed");
  if (!function.getNumResults())
    return function.emitError("the function has no result");
  return success();
}

std::vector<std::string> Function::axesOf(mlir::Value value) {
  std::vector<std::string> axes;
  if (ShapedType shape = shapeOf(value))
    for (unsigned axis = 0; axis != shape.getRank(); ++axis) {
      if (!shape.isDynamicDim(axis)) {
        axes.push_back(std::to_string(shape.getDimSize(axis)));
        continue;
      }
      std::string &name = names[classes.getLeaderValue({value, axis})];
      if (name.empty())
        name = text.size("D" + std::to_string(text.sizeCount()));
      axes.push_back(name);
    }
  return axes;
}

LogicalResult Function::set(Operation &op, import::Value value) {
  mlir::Value result = op.getResult(0);
  if (!result.hasOneUse())
    value = text.keep(value, "t");
  if (value.depth > KernelText::deepest)
    value = text.keep(value, "t", /*always=*/true);
  values[result] = std::move(value);
  return success();
}

/// A splat, or one number.
std::optional<import::Value> Function::constant(Operation &op,
                                                Attribute attribute) {
  size_t rank = 0;
  Type type = op.getResult(0).getType();
  if (auto dense = dyn_cast<DenseElementsAttr>(attribute)) {
    if (!dense.isSplat()) {
      op.emitError("a constant of more than one value; make it an argument of "
                   "the function");
      return std::nullopt;
    }
    attribute = dense.getSplatValue<Attribute>();
    rank = dense.getType().getRank();
    type = dense.getElementType();
  }
  if (!isa<FloatAttr, IntegerAttr>(attribute) || !scalarType(type)) {
    op.emitError("the language has no such constant");
    return std::nullopt;
  }
  import::Value value =
      KernelText::literal(literalText(attribute).text, *scalarType(type), rank);
  value.axes = axesOf(op.getResult(0));
  return value;
}

LogicalResult Function::stableHlo(Operation &op) {
  std::vector<import::Value> operands;
  unsigned depth = 0;
  for (mlir::Value operand : op.getOperands()) {
    auto found = values.find(operand);
    if (found == values.end())
      return op.emitError("an operand is made by nothing that is known here");
    operands.push_back(found->second);
    depth = std::max(depth, found->second.depth + 1);
  }
  std::optional<import::Value> value;
  auto content = op.getAttrOfType<ElementsAttr>("value");
  if (content && content.getType() == op.getResult(0).getType())
    value = constant(op, content);
  else
    value = makeStableHlo(op, operands, text);
  if (!value)
    return failure();
  value->depth = depth;
  return set(op, *value);
}

/// Defines the ops that the block's results need: a softmax written as ops needs its
/// scores alone, and what lies between is left out.
LogicalResult Function::defineAll(Block &block) {
  llvm::DenseMap<Operation *, SoftmaxOps> softmaxes;
  llvm::DenseSet<mlir::Value> needed(block.getTerminator()->operand_begin(),
                                     block.getTerminator()->operand_end());
  llvm::DenseSet<Operation *> live;
  for (Operation &op : llvm::reverse(block.without_terminator())) {
    if (llvm::none_of(op.getResults(), [&](mlir::Value result) {
          return needed.contains(result);
        }))
      continue;
    live.insert(&op);
    if (std::optional<SoftmaxOps> softmax = matchSoftmax(op)) {
      softmaxes.try_emplace(&op, *softmax);
      needed.insert(softmax->scores);
      continue;
    }
    needed.insert(op.operand_begin(), op.operand_end());
    // Scalar code uses values of the block too.
    op.walk([&](Operation *inner) {
      needed.insert(inner->operand_begin(), inner->operand_end());
    });
  }
  for (Operation &op : block.without_terminator()) {
    if (!live.contains(&op))
      continue;
    auto found = softmaxes.find(&op);
    if (found == softmaxes.end()) {
      if (failed(define(op)))
        return failure();
      continue;
    }
    auto scores = values.find(found->second.scores);
    if (scores == values.end())
      return op.emitError("an operand is made by nothing that is known here");
    ScalarType type =
        *scalarType(getElementTypeOrSelf(op.getResult(0).getType()));
    if (failed(set(op, softmax(text.keep(scores->second, "t"),
                               found->second.axis, type))))
      return failure();
  }
  return success();
}

/// JAX puts functions of its library into functions of the module.
LogicalResult Function::inlined(func::CallOp call) {
  auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
      call, call.getCalleeAttr());
  constexpr unsigned deepest = 20;
  if (!callee || !callee.getBody().hasOneBlock() || calls == deepest)
    return call.emitError("a call of a function of one block in this file is "
                          "needed, not of itself");
  for (auto [parameter, operand] :
       llvm::zip(callee.getArguments(), call.getOperands())) {
    auto found = values.find(operand);
    if (found == values.end())
      return call.emitError("an operand is made by nothing that is known here");
    import::Value value = found->second;
    if (!parameter.hasOneUse())
      value = text.keep(value, "t");
    values[parameter] = value;
  }
  ++calls;
  Block &body = callee.getBody().front();
  if (failed(defineAll(body)))
    return failure();
  --calls;
  for (auto [result, operand] :
       llvm::zip(call.getResults(), body.getTerminator()->getOperands())) {
    auto found = values.find(operand);
    if (found == values.end())
      return call.emitError("a result is made by nothing that is known here");
    import::Value value = found->second;
    if (!result.hasOneUse())
      value = text.keep(value, "t");
    values[result] = value;
  }
  return success();
}

LogicalResult Function::define(Operation &op) {
  if (auto literal = dyn_cast<arith::ConstantOp>(op)) {
    if (literal.getType().isIndex() || literal->use_empty())
      return success();
    std::optional<import::Value> value = constant(op, literal.getValue());
    if (!value)
      return failure();
    values[literal.getResult()] = *value;
    return success();
  }
  // Sizes are the kernel's own; what computes them is not needed.
  if (isa<tensor::EmptyOp, tensor::DimOp, tosa::ConstShapeOp>(op) ||
      llvm::all_of(op.getResultTypes(),
                   [](Type type) { return type.isIndex(); }))
    return success();
  if (isa<tensor::CastOp>(op)) {
    auto found = values.find(op.getOperand(0));
    if (found == values.end() || !shapeOf(op.getOperand(0)))
      return op.emitError("its operand is made by nothing that is known here");
    values[op.getResult(0)] = import::Value(found->second);
    return success();
  }
  if (isStableHlo(op))
    return stableHlo(op);
  if (auto call = dyn_cast<func::CallOp>(op))
    return inlined(call);
  if (auto structuredOp = dyn_cast<linalg::LinalgOp>(op))
    return structured(structuredOp);
  if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op)) {
    std::optional<std::vector<int>> reshape = unitReshape(op);
    auto found = values.find(op.getOperand(0));
    if (!reshape || found == values.end())
      return op.emitError(
          "axes are split or joined; that is not known here but for axes of 1");
    import::Value value = reseen(found->second, *reshape);
    ++value.depth;
    return set(op, value);
  }
  if (op.getNumResults() && !shapeOf(op.getResult(0)))
    return op.emitError("a number computed outside the structured op that uses "
                        "it is not known here; pass it as an "
                        "argument");
  return op.emitError("'") << op.getName()
                           << "' is not among the ops that import knows";
}

std::optional<std::string> Function::kernel() {
  if (failed(checkSignature()) || failed(unify()))
    return std::nullopt;
  for (auto [i, argument] : llvm::enumerate(function.getArguments()))
    values[argument] =
        text.argument("x" + std::to_string(i),
                      *scalarType(getElementTypeOrSelf(argument.getType())),
                      axesOf(argument), /*isConst=*/false);
  Operation *end = function.getBody().front().getTerminator();
  std::vector<std::string> results;
  for (unsigned i = 0; i != end->getNumOperands(); ++i)
    results.push_back(text.result(
        end->getNumOperands() == 1 ? "y" : "y" + std::to_string(i)));
  if (failed(defineAll(function.getBody().front())))
    return std::nullopt;
  for (auto [name, operand] : llvm::zip(results, end->getOperands())) {
    auto found = values.find(operand);
    if (found == values.end()) {
      end->emitError("a result is made by nothing that is known here");
      return std::nullopt;
    }
    import::Value value = found->second;
    value.axes = axesOf(operand);
    text.assign(name, value);
  }
  // JAX calls the function main and the module after what it traced.
  StringRef name = function.getName();
  if (auto module = function->getParentOfType<ModuleOp>();
      name == "main" && module.getName())
    name = *module.getName();
  return text.finish(text.name(name),
                     ("From the function '" + name + "' on tensors.").str());
}

bool facet::hasTensorFunctions(ModuleOp module) {
  return llvm::any_of(module.getOps<func::FuncOp>(), [](func::FuncOp function) {
    auto isTensor = [](Type type) { return isa<TensorType>(type); };
    return llvm::any_of(function.getArgumentTypes(), isTensor) ||
           llvm::any_of(function.getResultTypes(), isTensor);
  });
}

/// TOSA's ops as linalg's; those that MLIR lowers to other things stay or are refused later.
static LogicalResult lowerTosa(ModuleOp module) {
  bool any = false;
  module->walk([&](Operation *op) {
    any |= isa_and_nonnull<tosa::TosaDialect>(op->getDialect());
  });
  if (!any)
    return success();
  PassManager passes(module.getContext());
  OpPassManager &functions = passes.nest<func::FuncOp>();
  functions.addPass(tosa::createTosaToLinalgNamed());
  functions.addPass(tosa::createTosaToLinalg());
  functions.addPass(createTosaToArithPass());
  functions.addPass(createTosaToTensorPass());
  return passes.run(module);
}

std::optional<std::string> facet::importLinalg(ModuleOp module) {
  if (failed(lowerTosa(module)))
    return std::nullopt;
  std::string all;
  for (Operation &op : *module.getBody()) {
    auto function = dyn_cast<func::FuncOp>(op);
    if (function && function.isPrivate() && !function.isExternal())
      continue; // written where it is called
    if (!function || function.isExternal()) {
      op.emitError("functions with bodies are needed here, found '")
          << op.getName() << "'";
      return std::nullopt;
    }
    std::optional<std::string> kernel = Function(function).kernel();
    if (!kernel)
      return std::nullopt;
    all += (all.empty() ? "" : "\n") + *kernel;
  }
  Diagnostics diagnostics;
  std::optional<std::string> formatted =
      formatSource("imported.facet", all, diagnostics);
  return formatted ? *formatted
                   : all; // the reader of it will say what is wrong
}

void facet::registerImportDialects(DialectRegistry &registry) {
  registry
      .insert<linalg::LinalgDialect, tensor::TensorDialect, func::FuncDialect,
              arith::ArithDialect, math::MathDialect, tosa::TosaDialect>();
  registerStableHlo(registry);
}
