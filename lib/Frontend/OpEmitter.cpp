//===- OpEmitter.cpp - one structured op from one expression
//---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An op is made in two walks over the same expression tree, because its inputs
// must be known before its regions: collect() finds reads, conditions and the
// nested reductions (emitting those first); emit() builds the scalar code.
//
// A `where` guards what its branches read, a filter guards everything:
// conditions become guard atoms, one per conjunct, so that `a && b` skips where
// either is false.
//
//===----------------------------------------------------------------------===//

#include "EmitScalar.h"
#include "KernelEmitter.h"

#include "llvm/ADT/SetVector.h"

using namespace facet;
using namespace facet::checked;
using mlir::Location;
using mlir::OpBuilder;
using mlir::Type;
using mlir::Value;

namespace {

using IndexSet = llvm::SetVector<const Index *>;

/// Adds the indices that `expr` uses and does not bind itself.
void collectFreeIndices(const Expr *expr, IndexSet &free) {
  auto addSubscripts = [&](const Expr *read, auto &&self) -> void {
    for (const Subscript &subscript : read->subscripts) {
      if (subscript.kind == Subscript::Index)
        free.insert(subscript.index);
      else if (subscript.kind == Subscript::Element)
        self(subscript.element, self);
    }
  };
  if (expr->kind == ExprKind::Index)
    free.insert(expr->index);
  if (expr->kind == ExprKind::Read)
    addSubscripts(expr, addSubscripts);
  for (const Expr *operand : expr->operands)
    collectFreeIndices(operand, free);
  if (expr->filter)
    collectFreeIndices(expr->filter, free);
  if (expr->kind == ExprKind::Softmax)
    for (const Index *index : expr->indices)
      free.insert(index);
  if (expr->kind == ExprKind::Reduce)
    for (const Index *index : expr->indices)
      free.remove(index);
}

/// True when evaluating `expr` reads memory, so that a guard is of use.
bool readsMemory(const Expr *expr) {
  if (expr->kind == ExprKind::Read || expr->kind == ExprKind::Reduce ||
      expr->kind == ExprKind::Softmax)
    return true;
  return llvm::any_of(expr->operands, readsMemory);
}

} // namespace

//===----------------------------------------------------------------------===//
// Scalar code in a region
//===----------------------------------------------------------------------===//

/// From storage to the type arithmetic is done in.
static Value emitLoaded(OpBuilder &builder, Location loc, Value element,
                        Type type) {
  if (element.getType() == type)
    return element;
  return kernel::CastOp::create(builder, loc, type, kernel::CastMode::Exact,
                                element);
}

Value OpEmitter::readInput(OpBuilder &builder, unsigned input,
                           ScalarType type) {
  return emitLoaded(builder, loc, current->getArgument(input),
                    kernel.type(type));
}

Value OpEmitter::emitIndexValue(OpBuilder &builder, const Index *index) {
  return kernel::IndexOp::create(builder, loc, builder.getI64Type(),
                                 index->name);
}

Value OpEmitter::emitStored(OpBuilder &builder, const Expr *expr,
                            ScalarType type) {
  Type stored = kernel.type(type);
  if (expr->kind == ExprKind::Convert && expr->storage == type &&
      expr->type != type) {
    Value value = emit(builder, expr->operands[0]);
    if (value.getType() == stored)
      return value;
    return kernel::CastOp::create(builder, kernel.location(expr->place), stored,
                                  castMode(expr->mode), value);
  }
  return emit(builder, expr);
}

Value OpEmitter::emit(OpBuilder &builder, const Expr *expr) {
  Location loc = kernel.location(expr->place);
  Type type = kernel.type(expr->type);
  switch (expr->kind) {
  case ExprKind::Constant:
    return emitConstant(builder, loc, expr, type);
  case ExprKind::Size:
    return kernel::SizeOp::create(builder, loc, type,
                                  kernel.sizeName(expr->size));
  case ExprKind::Index:
    return kernel::IndexOp::create(builder, loc, type, expr->index->name);
  case ExprKind::Read:
  case ExprKind::Softmax:
    return readInput(builder, inputOf.lookup(expr), expr->type);
  case ExprKind::Reduce: {
    Value value = readInput(builder, inputOf.lookup(expr), expr->type);
    if (expr->reduction != Reduction::Mean)
      return value;
    Value count;
    if (expr->filter) {
      count = current->getArgument(countOf.lookup(expr));
    } else {
      for (const Index *index : expr->indices) {
        Value extent;
        if (index->extent.size)
          extent = kernel::SizeOp::create(builder, loc, builder.getI64Type(),
                                          kernel.sizeName(*index->extent.size));
        else
          extent = mlir::arith::ConstantOp::create(
              builder, loc, builder.getI64IntegerAttr(index->extent.constant));
        count = count ? Value(mlir::arith::MulIOp::create(builder, loc, count,
                                                          extent))
                      : extent;
      }
    }
    count = kernel::CastOp::create(builder, loc, type, kernel::CastMode::Round,
                                   count);
    return mlir::arith::DivFOp::create(builder, loc, value, count);
  }
  case ExprKind::Unary:
    return emitUnary(builder, loc, expr->unary,
                     emit(builder, expr->operands[0]));
  case ExprKind::Binary: {
    Value a = emit(builder, expr->operands[0]);
    Value b = emit(builder, expr->operands[1]);
    return emitBinary(builder, loc, expr->binary, a, b);
  }
  case ExprKind::Select: {
    Value condition;
    if (auto it = atomsOf.find(expr); it != atomsOf.end()) {
      for (int64_t atom : it->second) {
        Value argument = current->getArgument(inputs.size() + atom);
        condition = condition ? Value(mlir::arith::AndIOp::create(
                                    builder, loc, condition, argument))
                              : argument;
      }
    } else {
      condition = emit(builder, expr->operands[0]);
    }
    Value a = emit(builder, expr->operands[1]);
    Value b = emit(builder, expr->operands[2]);
    return mlir::arith::SelectOp::create(builder, loc, condition, a, b);
  }
  case ExprKind::Convert: {
    Value value = emit(builder, expr->operands[0]);
    Type storage = kernel.type(expr->storage);
    if (value.getType() != storage)
      value = kernel::CastOp::create(builder, loc, storage,
                                     castMode(expr->mode), value);
    return emitLoaded(builder, loc, value, type);
  }
  }
  llvm_unreachable("all expressions are listed");
}

//===----------------------------------------------------------------------===//
// Inputs, guards, iterators
//===----------------------------------------------------------------------===//

int64_t OpEmitter::iteratorPosition(const Index *index) {
  auto it = llvm::find(iterators, index);
  assert(it != iterators.end() &&
         "an index is an iterator of the op that uses it");
  return it - iterators.begin();
}

unsigned OpEmitter::addInput(Input input) {
  // The same element, read under no more conditions, serves.
  auto serves = [&](const Input &known) {
    return known.tensor == input.tensor &&
           known.subscripts == input.subscripts &&
           llvm::all_of(known.guards, [&](int64_t guard) {
             return llvm::is_contained(input.guards, guard);
           });
  };
  if (auto it = llvm::find_if(inputs, serves); it != inputs.end())
    return it - inputs.begin();
  inputs.push_back(std::move(input));
  return inputs.size() - 1;
}

unsigned OpEmitter::addRead(const Expr *read, const Guards &guards) {
  Input input{kernel.tensorOf(read->variable), {}, guards};
  for (const Subscript &subscript : read->subscripts) {
    switch (subscript.kind) {
    case Subscript::Index:
      input.subscripts.push_back(
          {kernel::Subscript::Iterator, iteratorPosition(subscript.index)});
      break;
    case Subscript::Constant:
      input.subscripts.push_back(
          {kernel::Subscript::Constant, subscript.constant});
      break;
    case Subscript::Element:
      input.subscripts.push_back(
          {kernel::Subscript::Element, addRead(subscript.element, guards)});
      break;
    }
  }
  return addInput(std::move(input));
}

/// One atom per conjunct of `condition`; nested conditions are under `guards`.
void OpEmitter::addConjuncts(const Expr *condition, const Guards &guards,
                             Guards &result) {
  if (condition->kind == ExprKind::Binary &&
      condition->binary == BinaryOp::And) {
    addConjuncts(condition->operands[0], guards, result);
    addConjuncts(condition->operands[1], guards, result);
    return;
  }
  collect(condition, guards);
  result.push_back(atoms.size());
  atoms.push_back({condition, /*negated=*/false});
}

void OpEmitter::collectFilter(const Expr *condition) {
  if (condition)
    addConjuncts(condition, {}, filter);
}

void OpEmitter::collect(const Expr *expr, const Guards &guards) {
  switch (expr->kind) {
  case ExprKind::Read:
    inputOf[expr] = addRead(expr, guards);
    return;
  case ExprKind::Reduce:
  case ExprKind::Softmax: {
    IndexSet free;
    collectFreeIndices(expr, free);
    llvm::SmallVector<const Index *> dims; // in the order of our own iterators
    Input input{{}, {}, guards};
    for (auto [position, index] : llvm::enumerate(iterators))
      if (free.contains(index)) {
        dims.push_back(index);
        input.subscripts.push_back(
            {kernel::Subscript::Iterator, int64_t(position)});
      }
    if (expr->kind == ExprKind::Softmax) {
      // Its dimensions are the others first, then those it normalises over.
      llvm::erase_if(dims, [&](const Index *index) {
        return llvm::is_contained(expr->indices, index);
      });
      llvm::append_range(dims, expr->indices);
      for (auto [subscript, index] : llvm::zip_equal(input.subscripts, dims))
        subscript.value = iteratorPosition(index);
      input.tensor = kernel.emitSoftmax(expr, dims, {});
    } else {
      input.tensor = kernel.emitReduce(expr, dims, {});
    }
    llvm::SmallVector<kernel::Subscript> subscripts = input.subscripts;
    inputOf[expr] = addInput(std::move(input));
    if (expr->kind == ExprKind::Reduce && expr->reduction == Reduction::Mean &&
        expr->filter) {
      IndexSet counted;
      collectFreeIndices(expr->filter, counted);
      Input count{{}, {}, guards};
      llvm::SmallVector<const Index *> countDims;
      for (auto [index, subscript] : llvm::zip_equal(dims, subscripts))
        if (counted.contains(index)) {
          countDims.push_back(index);
          count.subscripts.push_back(subscript);
        }
      count.tensor = kernel.emitCount(expr, countDims);
      countOf[expr] = addInput(std::move(count));
    }
    return;
  }
  case ExprKind::Select: {
    const Expr *condition = expr->operands[0];
    if (!readsMemory(expr->operands[1]) && !readsMemory(expr->operands[2])) {
      for (const Expr *operand : expr->operands)
        collect(operand, guards);
      return;
    }
    Guards holds;
    addConjuncts(condition, guards, holds);
    atomsOf[expr] = holds;
    Guards thenGuards = guards;
    thenGuards.append(holds);
    collect(expr->operands[1], thenGuards);
    Guards elseGuards = guards;
    if (readsMemory(expr->operands[2])) {
      elseGuards.push_back(atoms.size());
      atoms.push_back({condition, /*negated=*/true});
    }
    collect(expr->operands[2], elseGuards);
    return;
  }
  default:
    for (const Expr *operand : expr->operands)
      collect(operand, guards);
  }
}

OpEmitter::Operands OpEmitter::operands() {
  OpBuilder &builder = kernel.ops();
  Operands result;
  llvm::SmallVector<llvm::StringRef> names;
  for (const Index *index : iterators) {
    names.push_back(index->name);
    if (index->extent.size) {
      result.staticExtents.push_back(mlir::ShapedType::kDynamic);
      result.extents.push_back(kernel.sizeValue(*index->extent.size));
    } else {
      result.staticExtents.push_back(index->extent.constant);
    }
  }
  llvm::SmallVector<mlir::Attribute> accesses, guards;
  for (const Input &input : inputs) {
    result.inputs.push_back(input.tensor);
    accesses.push_back(
        kernel::AccessAttr::get(builder.getContext(), input.subscripts));
    guards.push_back(builder.getDenseI64ArrayAttr(input.guards));
  }
  result.names = builder.getStrArrayAttr(names);
  result.accesses = builder.getArrayAttr(accesses);
  result.guards = builder.getArrayAttr(guards);
  return result;
}

//===----------------------------------------------------------------------===//
// Structured ops
//===----------------------------------------------------------------------===//

void OpEmitter::addBlock(OpBuilder &builder, mlir::Region &region,
                         bool withAtoms) {
  current = builder.createBlock(&region);
  for (const Input &input : inputs)
    current->addArgument(
        mlir::cast<mlir::RankedTensorType>(input.tensor.getType())
            .getElementType(),
        loc);
  if (withAtoms)
    for (unsigned i = 0; i < atoms.size(); ++i)
      current->addArgument(builder.getI1Type(), loc);
}

void OpEmitter::buildRegions(mlir::Operation *op, BodyBuilder body) {
  OpBuilder builder(op->getContext());
  auto structured = mlir::cast<kernel::StructuredOpInterface>(op);
  if (!atoms.empty()) {
    addBlock(builder, structured.getGuards(), /*withAtoms=*/false);
    // A condition inside a guard must not refer to body arguments: select on
    // the condition itself there.
    llvm::DenseMap<const Expr *, Guards> inBody;
    std::swap(inBody, atomsOf);
    llvm::SmallVector<Value> values;
    for (const Atom &atom : atoms) {
      Value value = emit(builder, atom.condition);
      if (atom.negated)
        value = emitUnary(builder, loc, UnaryOp::Not, value);
      values.push_back(value);
    }
    kernel::YieldOp::create(builder, loc, values);
    std::swap(inBody, atomsOf);
  }
  addBlock(builder, structured.getBody(), /*withAtoms=*/true);
  llvm::SmallVector<Value> values = body(builder);
  kernel::YieldOp::create(builder, loc, values);
}

Value OpEmitter::emitOverScalars(OpBuilder &builder, mlir::Region &region,
                                 llvm::ArrayRef<const Variable *> scalars,
                                 const Expr *expr) {
  for (const Variable *scalar : scalars)
    addInput({kernel.tensorOf(scalar), {}, {}});
  auto findReads = [&](const Expr *e, auto &&self) -> void {
    if (e->kind == ExprKind::Read)
      inputOf[e] = addRead(e, {});
    for (const Expr *operand : e->operands)
      self(operand, self);
  };
  findReads(expr, findReads);
  addBlock(builder, region, /*withAtoms=*/false);
  return emit(builder, expr);
}

mlir::StringAttr facet::nameAttr(OpBuilder &builder, llvm::StringRef name) {
  return name.empty() ? mlir::StringAttr() : builder.getStringAttr(name);
}

kernel::MapOp OpEmitter::buildMap(llvm::StringRef name, Value init,
                                  BodyBuilder body) {
  OpBuilder &builder = kernel.ops();
  Operands o = operands();
  auto op = kernel::MapOp::create(
      builder, loc, mlir::TypeRange(init.getType()), nameAttr(builder, name),
      o.names, iterators.size(), o.staticExtents, o.accesses, o.guards,
      llvm::ArrayRef<int64_t>(), o.extents, o.inputs, init);
  buildRegions(op, body);
  return op;
}

kernel::ReduceOp OpEmitter::buildReduce(kernel::ReduceKind kind,
                                        llvm::StringRef name,
                                        mlir::ValueRange inits,
                                        BodyBuilder body) {
  OpBuilder &builder = kernel.ops();
  Operands o = operands();
  auto op = kernel::ReduceOp::create(
      builder, loc, inits.getTypes(), kind, nameAttr(builder, name), o.names,
      numParallel, o.staticExtents, o.accesses, o.guards, filter, o.extents,
      o.inputs, inits);
  buildRegions(op, body);
  return op;
}

kernel::SoftmaxOp OpEmitter::buildSoftmax(llvm::StringRef name, Value init,
                                          BodyBuilder body) {
  OpBuilder &builder = kernel.ops();
  Operands o = operands();
  auto op = kernel::SoftmaxOp::create(
      builder, loc, mlir::TypeRange(init.getType()), nameAttr(builder, name),
      o.names, numParallel, o.staticExtents, o.accesses, o.guards, filter,
      o.extents, o.inputs, init);
  buildRegions(op, body);
  return op;
}
