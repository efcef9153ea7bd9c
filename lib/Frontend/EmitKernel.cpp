//===- EmitKernel.cpp - from checked kernels to the kernel dialect --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each statement becomes a few structured ops. Every reduction and softmax
// inside an expression is an op of its own, over the indices it really depends
// on, and the rest of the expression is one map that reads them:
//
//   y[m, n] = gelu(sum[k](x[m, k] * w[k, n]) + b[n])
//
//   %0 = kernel.reduce sum [m, n] over [k] ins(%x[m, k], %w[k, n]) ...
//   %y = kernel.map "y" [m, n] ins(%0[m, n], %b[n]) ...
//
// One op from one expression: OpEmitter.cpp.
//
//===----------------------------------------------------------------------===//

#include "facet/Frontend/EmitKernel.h"
#include "KernelEmitter.h"

#include "llvm/ADT/SetVector.h"

using namespace facet;
using namespace facet::checked;
using mlir::Location;
using mlir::OpBuilder;
using mlir::Type;
using mlir::Value;

Type facet::elementType(mlir::MLIRContext *context, ScalarType type) {
  using mlir::IntegerType;
  switch (type) {
  case ScalarType::Bool:
    return IntegerType::get(context, 1);
  case ScalarType::I32:
    return IntegerType::get(context, 32);
  case ScalarType::I64:
    return IntegerType::get(context, 64);
  case ScalarType::F32:
    return mlir::Float32Type::get(context);
  case ScalarType::F64:
    return mlir::Float64Type::get(context);
  case ScalarType::F16:
    return mlir::Float16Type::get(context);
  case ScalarType::BF16:
    return mlir::BFloat16Type::get(context);
  case ScalarType::F8E4M3:
    return mlir::Float8E4M3Type::get(context);
  case ScalarType::F8E4M3FN:
    return mlir::Float8E4M3FNType::get(context);
  case ScalarType::F8E5M2:
    return mlir::Float8E5M2Type::get(context);
  case ScalarType::I16:
    return IntegerType::get(context, 16);
  case ScalarType::I8:
    return IntegerType::get(context, 8);
  case ScalarType::U8:
    return IntegerType::get(context, 8, IntegerType::Unsigned);
  case ScalarType::I4:
    return IntegerType::get(context, 4);
  case ScalarType::U4:
    return IntegerType::get(context, 4, IntegerType::Unsigned);
  case ScalarType::TF32:
    return mlir::FloatTF32Type::get(context);
  }
  llvm_unreachable("all scalar types are listed");
}

std::optional<ScalarType> facet::scalarTypeOf(Type type) {
  if (auto integer = mlir::dyn_cast<mlir::IntegerType>(type)) {
    bool isUnsigned = integer.isUnsigned();
    switch (integer.getWidth()) {
    case 1:
      return ScalarType::Bool;
    case 4:
      return isUnsigned ? ScalarType::U4 : ScalarType::I4;
    case 8:
      return isUnsigned ? ScalarType::U8 : ScalarType::I8;
    case 16:
      return isUnsigned ? std::nullopt : std::optional(ScalarType::I16);
    case 32:
      return isUnsigned ? std::nullopt : std::optional(ScalarType::I32);
    case 64:
      return isUnsigned ? std::nullopt : std::optional(ScalarType::I64);
    }
    return std::nullopt;
  }
  if (type.isF16())
    return ScalarType::F16;
  if (type.isBF16())
    return ScalarType::BF16;
  if (type.isF32())
    return ScalarType::F32;
  if (type.isF64())
    return ScalarType::F64;
  if (mlir::isa<mlir::Float8E4M3Type>(type))
    return ScalarType::F8E4M3;
  if (mlir::isa<mlir::Float8E4M3FNType>(type))
    return ScalarType::F8E4M3FN;
  if (mlir::isa<mlir::Float8E5M2Type>(type))
    return ScalarType::F8E5M2;
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

Location KernelEmitter::location(const Place &place) const {
  return mlir::FileLineColLoc::get(builder.getContext(), place.file, place.line,
                                   place.column);
}

mlir::Attribute KernelEmitter::dimAttr(const Dim &dim) {
  if (dim.size)
    return builder.getStringAttr(kernel.sizes[*dim.size].name);
  return builder.getI64IntegerAttr(dim.constant);
}

kernel::ParamAttr KernelEmitter::paramAttr(const Variable &variable) {
  auto mode = [&] {
    switch (variable.kind) {
    case VariableKind::Const:
      return kernel::ParamMode::Const;
    case VariableKind::Inout:
      return kernel::ParamMode::Inout;
    case VariableKind::Result:
      return kernel::ParamMode::Out;
    default:
      return kernel::ParamMode::In;
    }
  }();
  llvm::SmallVector<kernel::AxisAttr> axes;
  for (const Axis &axis : variable.axes) {
    llvm::SmallVector<mlir::Attribute> dims;
    for (const Dim &dim : axis.dims)
      dims.push_back(dimAttr(dim));
    axes.push_back(kernel::AxisAttr::get(builder.getContext(), dims));
  }
  return kernel::ParamAttr::get(
      builder.getContext(), builder.getStringAttr(variable.name), mode, axes);
}

mlir::RankedTensorType KernelEmitter::tensorType(const Variable &variable) {
  llvm::SmallVector<int64_t> shape;
  for (unsigned i = 0, e = variable.rank(); i < e; ++i) {
    Dim dim = variable.dim(i);
    shape.push_back(dim.size ? mlir::ShapedType::kDynamic : dim.constant);
  }
  return mlir::RankedTensorType::get(shape, type(variable.type));
}

Value KernelEmitter::emptyTensor(Location loc,
                                 llvm::ArrayRef<const Index *> dims,
                                 ScalarType scalar) {
  llvm::SmallVector<mlir::OpFoldResult> shape;
  for (const Index *index : dims) {
    if (index->extent.size)
      shape.push_back(sizes[*index->extent.size]);
    else
      shape.push_back(builder.getIndexAttr(index->extent.constant));
  }
  return mlir::tensor::EmptyOp::create(builder, loc, shape, type(scalar));
}

Value KernelEmitter::splat(Location loc, llvm::ArrayRef<const Index *> dims,
                           mlir::TypedAttr value) {
  llvm::SmallVector<int64_t> shape;
  llvm::SmallVector<Value> dynamic;
  for (const Index *index : dims) {
    if (index->extent.size) {
      shape.push_back(mlir::ShapedType::kDynamic);
      dynamic.push_back(sizes[*index->extent.size]);
    } else {
      shape.push_back(index->extent.constant);
    }
  }
  Value scalar = mlir::arith::ConstantOp::create(builder, loc, value);
  return mlir::tensor::SplatOp::create(
      builder, loc, scalar, mlir::RankedTensorType::get(shape, value.getType()),
      dynamic);
}

/// The value of a reduction over nothing, which changes no other value.
mlir::TypedAttr KernelEmitter::identity(Reduction reduction,
                                        ScalarType scalar) {
  Type element = type(scalar);
  bool largest = reduction == Reduction::Min || reduction == Reduction::Argmin;
  bool extreme =
      largest || reduction == Reduction::Max || reduction == Reduction::Argmax;
  if (auto floatType = mlir::dyn_cast<mlir::FloatType>(element)) {
    llvm::APFloat value =
        extreme ? llvm::APFloat::getInf(floatType.getFloatSemantics(),
                                        /*Negative=*/!largest)
                : llvm::APFloat::getZero(floatType.getFloatSemantics());
    return builder.getFloatAttr(floatType, value);
  }
  unsigned width = element.getIntOrFloatBitWidth();
  if (extreme)
    return builder.getIntegerAttr(
        element, largest ? llvm::APInt::getSignedMaxValue(width)
                         : llvm::APInt::getSignedMinValue(width));
  return builder.getIntegerAttr(element, reduction == Reduction::All ? 1 : 0);
}

static kernel::ReduceKind reduceKind(Reduction reduction) {
  switch (reduction) {
  case Reduction::Sum:
  case Reduction::Mean:
    return kernel::ReduceKind::Sum; // the reader divides
  case Reduction::Max:
    return kernel::ReduceKind::Max;
  case Reduction::Min:
    return kernel::ReduceKind::Min;
  case Reduction::Any:
    return kernel::ReduceKind::Any;
  case Reduction::All:
    return kernel::ReduceKind::All;
  case Reduction::Argmax:
    return kernel::ReduceKind::Argmax;
  case Reduction::Argmin:
    return kernel::ReduceKind::Argmin;
  }
  llvm_unreachable("all reductions are listed");
}

Value KernelEmitter::emitReduce(const Expr *expr,
                                llvm::ArrayRef<const Index *> parallel,
                                llvm::StringRef name) {
  Location loc = location(expr->place);
  OpEmitter op(*this, loc);
  for (const Index *index : parallel)
    op.addIterator(index);
  op.setNumParallel(parallel.size());
  for (const Index *index : expr->indices)
    op.addIterator(index);
  const Expr *body = expr->operands[0];
  op.collectFilter(expr->filter);
  op.collect(body);

  bool isArg = expr->reduction == Reduction::Argmax ||
               expr->reduction == Reduction::Argmin;
  llvm::SmallVector<Value> inits;
  inits.push_back(splat(loc, parallel, identity(expr->reduction, body->type)));
  if (isArg)
    inits.push_back(splat(loc, parallel, builder.getI64IntegerAttr(-1)));
  auto reduce = op.buildReduce(
      reduceKind(expr->reduction), name, inits, [&](OpBuilder &b) {
        llvm::SmallVector<Value> values{op.emit(b, body)};
        if (isArg)
          values.push_back(op.emitIndexValue(b, expr->indices[0]));
        return values;
      });
  return reduce.getResult(isArg ? 1 : 0);
}

Value KernelEmitter::emitCount(const Expr *expr,
                               llvm::ArrayRef<const Index *> parallel) {
  Location loc = location(expr->place);
  OpEmitter op(*this, loc);
  for (const Index *index : parallel)
    op.addIterator(index);
  op.setNumParallel(parallel.size());
  for (const Index *index : expr->indices)
    op.addIterator(index);
  op.collectFilter(expr->filter);
  Value init = splat(loc, parallel, builder.getI64IntegerAttr(0));
  auto reduce =
      op.buildReduce(kernel::ReduceKind::Sum, {}, init, [&](OpBuilder &b) {
        return llvm::SmallVector<Value>{
            mlir::arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(1))};
      });
  return reduce.getResult(0);
}

Value KernelEmitter::emitSoftmax(const Expr *expr,
                                 llvm::ArrayRef<const Index *> dims,
                                 llvm::StringRef name) {
  Location loc = location(expr->place);
  OpEmitter op(*this, loc);
  for (const Index *index : dims)
    op.addIterator(index);
  op.setNumParallel(dims.size() - expr->indices.size());
  op.collectFilter(expr->filter);
  op.collect(expr->operands[0]);
  Value init = emptyTensor(loc, dims, expr->type);
  auto softmax = op.buildSoftmax(name, init, [&](OpBuilder &b) {
    return llvm::SmallVector<Value>{op.emit(b, expr->operands[0])};
  });
  return softmax.getResult(0);
}

void KernelEmitter::emitStatement(const Statement &statement) {
  const Variable *target = statement.target;
  if (target->kind == VariableKind::Let &&
      (lets.isInlined(target) || !lets.isNeeded(target)))
    return;
  const Expr *value = lets.value(statement);
  Location loc = location(statement.place);

  // A reduction or softmax over all binds needs no map behind it.
  if (value->type == target->type) {
    if (value->kind == ExprKind::Reduce &&
        value->reduction != Reduction::Mean) {
      tensors[target] = emitReduce(value, statement.binds, target->name);
      return;
    }
    if (value->kind == ExprKind::Softmax) {
      auto tail =
          llvm::ArrayRef(statement.binds).take_back(value->indices.size());
      if (tail == llvm::ArrayRef(value->indices)) {
        tensors[target] = emitSoftmax(value, statement.binds, target->name);
        return;
      }
    }
  }

  OpEmitter op(*this, loc);
  for (const Index *index : statement.binds)
    op.addIterator(index);
  op.collect(value);
  Value init = emptyTensor(loc, statement.binds, target->type);
  auto map = op.buildMap(target->name, init, [&](OpBuilder &b) {
    return llvm::SmallVector<Value>{op.emitStored(b, value, target->type)};
  });
  tensors[target] = map.getResult(0);
}

void KernelEmitter::emitRequire(const Require &require) {
  Location loc = location(require.place);
  // Scalar code outside of a structured op: reads are the inputs, in order.
  llvm::SetVector<const Variable *> scalars;
  auto findScalars = [&](const Expr *expr, auto &&self) -> void {
    if (expr->kind == ExprKind::Read)
      scalars.insert(expr->variable);
    for (const Expr *operand : expr->operands)
      self(operand, self);
  };
  findScalars(require.condition, findScalars);
  llvm::SmallVector<Value> inputs;
  for (const Variable *variable : scalars)
    inputs.push_back(tensors.lookup(variable));
  auto op = kernel::RequireOp::create(builder, loc, require.text, inputs);
  OpEmitter scalar(*this, loc);
  OpBuilder inner(builder.getContext());
  Value condition = scalar.emitOverScalars(
      inner, op.getBody(), scalars.getArrayRef(), require.condition);
  kernel::YieldOp::create(inner, loc, condition);
}

kernel::FuncOp KernelEmitter::run(const FixedSizes &fixed) {
  llvm::SmallVector<llvm::StringRef> sizeNames;
  llvm::SmallVector<mlir::NamedAttribute> fixedAttrs;
  for (const Size &size : kernel.sizes) {
    sizeNames.push_back(size.name);
    if (auto it = fixed.find(size.name); it != fixed.end())
      fixedAttrs.push_back(builder.getNamedAttr(
          size.name, builder.getDenseI64ArrayAttr(it->second)));
  }
  llvm::SmallVector<mlir::Attribute> params, outputs;
  llvm::SmallVector<Type> paramTypes, outputTypes;
  for (const Variable *argument : kernel.arguments) {
    params.push_back(paramAttr(*argument));
    paramTypes.push_back(tensorType(*argument));
  }
  for (const Variable *result : kernel.results) {
    outputs.push_back(paramAttr(*result));
    outputTypes.push_back(tensorType(*result));
  }
  Location loc = location(kernel.place);
  auto func = kernel::FuncOp::create(
      builder, loc, kernel.name, builder.getStrArrayAttr(sizeNames),
      builder.getArrayAttr(params), builder.getArrayAttr(outputs),
      builder.getTypeArrayAttr(outputTypes),
      fixedAttrs.empty() ? nullptr : builder.getDictionaryAttr(fixedAttrs),
      nameAttr(builder, kernel.documentation));

  OpBuilder::InsertionGuard guard(builder);
  mlir::Block *body = builder.createBlock(&func.getBody());
  for (auto [argument, type] : llvm::zip_equal(kernel.arguments, paramTypes))
    tensors[argument] = body->addArgument(type, location(argument->place));
  for (const Size &size : kernel.sizes)
    sizes.push_back(kernel::SizeOp::create(builder, location(size.place),
                                           builder.getIndexType(), size.name));
  for (const Require &require : kernel.requirements)
    emitRequire(require);
  for (const Statement &statement : kernel.statements)
    emitStatement(statement);

  llvm::SmallVector<Value> values;
  for (const Variable *argument : kernel.arguments)
    if (argument->kind == VariableKind::Inout)
      values.push_back(tensors.lookup(argument));
  for (const Variable *result : kernel.results)
    values.push_back(tensors.lookup(result));
  kernel::ReturnOp::create(builder, loc, values);
  return func;
}

kernel::FuncOp facet::emitKernel(mlir::ModuleOp module, const Kernel &kernel,
                                 const FixedSizes &fixed) {
  return KernelEmitter(kernel, module).run(fixed);
}
