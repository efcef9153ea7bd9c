//===- Linalg.cpp - structured ops of linalg ------------------------------===//
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
// A sum whose accumulator is bf16 or f16 is taken in f32 and rounded once.
//
//===----------------------------------------------------------------------===//

#include "Function.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace facet;
using namespace facet::import;
using import::Text;

std::optional<std::vector<int>> facet::import::unitReshape(Operation &op) {
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

/// Arguments of other blocks than `block`, of its function, that `yielded` is computed
/// from.
static llvm::SetVector<BlockArgument> numbersOutside(mlir::Value yielded,
                                                     Block *block) {
  llvm::SetVector<BlockArgument> numbers;
  llvm::SetVector<mlir::Value> work;
  work.insert(yielded);
  for (unsigned i = 0; i != work.size(); ++i) {
    if (auto argument = dyn_cast<BlockArgument>(work[i])) {
      if (argument.getOwner() != block)
        numbers.insert(argument);
    } else {
      work.insert_range(work[i].getDefiningOp()->getOperands());
    }
  }
  return numbers;
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
  for (BlockArgument number : numbersOutside(element, block)) {
    auto found = values.find(number);
    if (found == values.end() || !found->second.axes.empty())
      return op->emitError("its body reads a number that is made by nothing "
                           "that is known here");
    inputs.push_back({number, found->second,
                      AffineMap::get(op.getNumLoops(), 0, op.getContext())});
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
