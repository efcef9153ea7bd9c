//===- Linalg.cpp - kernels from functions on tensors ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   %0 = linalg.matmul ins(%x, %w : tensor<?x64xf32>, tensor<64x32xf32>) outs(%zero …)
//
// Named, contract and generic ops are one thing here: loops, a map from them to the
// subscripts of each operand, and scalar code. With parallel loops only, the result's
// subscripts are the loops and the code is the expression. With reduction loops the code
// ends in `acc + e`, max or min, and the result is that reduction of e, combined with the
// initial value unless that is the neutral one.
//
// Two `?` that the same loop runs over are one size, found before anything is written.
// StableHLO comes in op by op (StableHloOps.cpp), TOSA by MLIR's own passes from it to linalg.
//
// A sum whose accumulator is bf16 or f16 is taken in f32 and rounded once.
//
//===----------------------------------------------------------------------===//

#include "LinalgBody.h"
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
#include "mlir/IR/Matchers.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace facet;
using namespace facet::import;
using import::Text;

namespace {

/// An axis of a tensor.
using Axis = std::pair<mlir::Value, unsigned>;

class Function {
public:
  explicit Function(func::FuncOp function) : function(function) {}
  std::optional<std::string> kernel();

private:
  LogicalResult checkSignature();
  LogicalResult unify();
  std::vector<std::string> axesOf(mlir::Value value);
  LogicalResult define(Operation &op);
  LogicalResult structured(linalg::LinalgOp op);
  LogicalResult stableHlo(Operation &op);
  LogicalResult inlined(func::CallOp call);
  LogicalResult defineAll(Block &block);
  std::optional<import::Value> constant(Operation &op, Attribute attribute);
  LogicalResult set(Operation &op, import::Value value);

  func::FuncOp function;
  KernelText text;
  llvm::EquivalenceClasses<Axis> classes;
  llvm::DenseMap<mlir::Value, import::Value> values;
  llvm::DenseMap<Axis, std::string> names; ///< by the leader of a class
  unsigned calls = 0;                      ///< around what is being defined
};

} // namespace

static ShapedType shapeOf(mlir::Value value) {
  return dyn_cast<RankedTensorType>(value.getType());
}

/// The operand's axis of each axis of the result, -1 for a new one, of a reshape that puts
/// in or leaves out axes of 1.
static std::optional<std::vector<int>> unitReshape(Operation &op) {
  auto expand = dyn_cast<tensor::ExpandShapeOp>(op);
  auto collapse = dyn_cast<tensor::CollapseShapeOp>(op);
  if (!expand && !collapse)
    return std::nullopt;
  ShapedType longer = shapeOf(expand ? op.getResult(0) : op.getOperand(0));
  std::vector<int> from(shapeOf(op.getResult(0)).getRank(), -1);
  for (auto [shorter, group] :
       llvm::enumerate(expand ? expand.getReassociationIndices()
                              : collapse.getReassociationIndices())) {
    int kept = -1;
    for (int64_t axis : group) {
      if (longer.getDimSize(axis) == 1)
        continue;
      if (kept >= 0)
        return std::nullopt; // split or joined
      kept = int(axis);
    }
    if (kept >= 0)
      from[expand ? kept : int(shorter)] = expand ? int(shorter) : kept;
  }
  return from;
}

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

/// Gives every axis that one loop runs over one class.
LogicalResult Function::unify() {
  auto insert = [&](mlir::Value value) {
    if (ShapedType shape = shapeOf(value))
      for (unsigned axis = 0; axis != shape.getRank(); ++axis)
        classes.insert({value, axis});
  };
  for (mlir::Value argument : function.getArguments())
    insert(argument);
  for (Operation &op : function.getBody().front()) {
    for (mlir::Value result : op.getResults())
      insert(result);
    if (isa<tensor::CastOp>(op) && shapeOf(op.getOperand(0)))
      for (unsigned axis = 0; axis != shapeOf(op.getOperand(0)).getRank();
           ++axis)
        classes.unionSets({op.getOperand(0), axis}, {op.getResult(0), axis});
    if (std::optional<std::vector<int>> reshape = unitReshape(op))
      for (auto [axis, from] : llvm::enumerate(*reshape))
        if (from >= 0)
          classes.unionSets({op.getOperand(0), unsigned(from)},
                            {op.getResult(0), unsigned(axis)});
    auto structured = dyn_cast<linalg::LinalgOp>(op);
    if (!structured)
      continue;
    llvm::SmallDenseMap<unsigned, Axis> loops;
    for (OpOperand &operand : op.getOpOperands()) {
      if (!shapeOf(operand.get()))
        continue;
      AffineMap map = structured.getMatchingIndexingMap(&operand);
      for (auto [axis, expr] : llvm::enumerate(map.getResults()))
        if (auto loop = dyn_cast<AffineDimExpr>(expr)) {
          Axis here{operand.get(), unsigned(axis)};
          auto [known, isNew] = loops.try_emplace(loop.getPosition(), here);
          if (!isNew)
            classes.unionSets(known->second, here);
        }
    }
    for (auto [init, result] :
         llvm::zip(structured.getDpsInits(), op.getResults()))
      if (ShapedType shape = shapeOf(init))
        for (unsigned axis = 0; axis != shape.getRank(); ++axis)
          classes.unionSets({init, axis}, {result, axis});
  }
  // A number anywhere in a class is the extent of all of it.
  for (const auto *member : classes) {
    if (!member->isLeader())
      continue;
    std::string name;
    for (const Axis &axis : classes.members(*member)) {
      int64_t extent = shapeOf(axis.first).getDimSize(axis.second);
      if (ShapedType::isDynamic(extent))
        continue;
      std::string number = std::to_string(extent);
      if (!name.empty() && name != number)
        return function.emitError("one loop runs over axes of ")
               << name << " and of " << number;
      name = number;
    }
    names[member->getData()] = name;
  }
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

/// What the op's code does to the accumulator: the reduction, and the value that it
/// takes in. Nothing, with an error, when that is another thing.
static std::optional<std::pair<StringRef, mlir::Value>>
reductionOf(linalg::LinalgOp op, mlir::Value yielded,
            BlockArgument accumulator) {
  Operation *last = yielded.getDefiningOp();
  StringRef name =
      !last                                                        ? ""
      : isa<arith::AddFOp, arith::AddIOp>(last)                    ? "sum"
      : isa<arith::MaximumFOp, arith::MaxSIOp>(last)               ? "max"
      : isa<arith::MinimumFOp, arith::MinSIOp>(last)               ? "min"
      : isa<arith::OrIOp>(last) && yielded.getType().isInteger(1)  ? "any"
      : isa<arith::AndIOp>(last) && yielded.getType().isInteger(1) ? "all"
                                                                   : "";
  if (!name.empty())
    for (unsigned side : {0u, 1u})
      if (last->getOperand(side) == accumulator && accumulator.hasOneUse())
        return std::make_pair(name, last->getOperand(1 - side));
  op->emitError("its reduction is none of acc + e, max(acc, e), min(acc, e)");
  return std::nullopt;
}

LogicalResult Function::structured(linalg::LinalgOp op) {
  if (op->getNumResults() != 1)
    return op->emitError(
        "a structured op on tensors with one result is needed");
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  for (AffineMap map : maps)
    for (AffineExpr expr : map.getResults())
      if (!isa<AffineDimExpr, AffineConstantExpr>(expr))
        return op->emitError("a subscript of an operand is computed; a loop or "
                             "a number is needed");
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  OpOperand *init = op.getDpsInitOperand(0);
  AffineMap outMap = op.getMatchingIndexingMap(init);
  if (!outMap.isProjectedPermutation())
    return op->emitError("the result's subscripts are not distinct loops");
  SmallVector<unsigned> reductions;
  for (auto [loop, iterator] : llvm::enumerate(iterators)) {
    bool inResult = outMap.isFunctionOfDim(loop);
    if (iterator == utils::IteratorType::reduction)
      reductions.push_back(loop);
    if (inResult == (iterator == utils::IteratorType::reduction))
      return op->emitError("loop ")
             << loop << " is neither one of the result nor a reduction";
  }

  Block *block = op.getBlock();
  mlir::Value yielded = block->getTerminator()->getOperand(0);
  BlockArgument accumulator = op.getMatchingBlockArgument(init);
  StringRef reduction;
  mlir::Value element = yielded;
  if (!reductions.empty()) {
    auto found = reductionOf(op, yielded, accumulator);
    if (!found)
      return failure();
    std::tie(reduction, element) = *found;
  }
  if (!isExpression(element, block))
    return failure();

  // What the loops run over, for those that need a range.
  SmallVector<std::string> extents(iterators.size());
  for (OpOperand &operand : op->getOpOperands()) {
    std::vector<std::string> axes = axesOf(operand.get());
    for (auto [axis, expr] :
         llvm::enumerate(op.getMatchingIndexingMap(&operand).getResults()))
      if (auto loop = dyn_cast<AffineDimExpr>(expr); loop && axis < axes.size())
        extents[loop.getPosition()] = axes[axis];
  }

  struct Input {
    BlockArgument argument;
    import::Value value;
    AffineMap map;
  };
  std::vector<Input> inputs;
  unsigned depth = 0;
  for (OpOperand &operand : op->getOpOperands()) {
    BlockArgument argument = op.getMatchingBlockArgument(&operand);
    bool isInit = &operand == init;
    if (!isInit && argument.use_empty())
      continue;
    if (isInit && reductions.empty() && argument.use_empty())
      continue;
    auto found = values.find(operand.get());
    if (found == values.end())
      return op->emitError("operand ")
             << operand.getOperandNumber()
             << " is made by nothing that is known here";
    import::Value value = found->second;
    if (!reductions.empty() && !isInit)
      value = text.keep(value, "t");
    depth = std::max(depth, value.depth + 1);
    inputs.push_back({argument, value, op.getMatchingIndexingMap(&operand)});
  }
  std::optional<ScalarType> type =
      scalarType(getElementTypeOrSelf(op->getResult(0).getType()));
  if (!type)
    return op->emitError("the language has no type for ")
           << op->getResult(0).getType();

  unsigned loops = iterators.size();
  KernelText &kernel = text;
  import::Value value;
  value.type = *type;
  value.axes = axesOf(op->getResult(0));
  value.depth = depth;
  value.converts = arithmeticType(*type) != *type && !reductions.empty();
  // A transposition or a stretched operand is another way to read it.
  if (reductions.empty() && isa<BlockArgument>(element))
    for (const Input &input : inputs)
      if (input.argument == element)
        value.work = input.value.work;
  value.raw = [=, &kernel](const Subscripts &subscripts) {
    Subscripts indices(loops, "0");
    for (auto [axis, expr] : llvm::enumerate(outMap.getResults()))
      if (auto loop = dyn_cast<AffineDimExpr>(expr))
        indices[loop.getPosition()] = subscripts[axis];
    auto readAll = [&](bool withInit) {
      llvm::DenseMap<mlir::Value, Text> known;
      for (const Input &input : inputs) {
        if (input.argument == accumulator && !withInit)
          continue;
        Subscripts own;
        for (AffineExpr expr : input.map.getResults()) {
          auto loop = dyn_cast<AffineDimExpr>(expr);
          own.push_back(
              loop ? indices[loop.getPosition()]
                   : std::to_string(cast<AffineConstantExpr>(expr).getValue()));
        }
        known[input.argument] = input.value.at(own);
      }
      return known;
    };
    if (reductions.empty())
      return expression(element, readAll(true), indices);
    std::vector<std::string> over;
    for (unsigned loop : reductions)
      over.push_back(extents[loop]);
    Text all = kernel.reduce(reduction, over, [&](const Subscripts &k) {
      for (auto [loop, index] : llvm::zip(reductions, k))
        indices[loop] = index;
      return expression(element, readAll(false), indices);
    });
    return combined(reduction, readAll(true)[accumulator], all);
  };
  return set(*op.getOperation(), value);
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
