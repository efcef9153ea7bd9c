//===- Conditions.cpp - promises, and which arguments a call reads --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two questions about a kernel that are settled once per call. Do its promises
// hold? And is an argument read, so that it may not be NULL? For that the ops are
// walked backwards: the results are needed; what an op reads is needed when the
// op is, its axes have elements, and its conditions without an index hold:
//
//   t[n] = 2 * bc[n]                        bc is needed when t is
//   y[m, n] = x[m, n] + where(has, t[n], 0) t is needed when has && M > 0 && N > 0
//
// Conditions that name an index are taken as true: they may hold somewhere.
//
// A promise that needs more than arithmetic (exp, say) becomes a kernel of its own
// without axes, so that its functions are those of the roads.
//
//===----------------------------------------------------------------------===//

#include "Scalars.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace facet;
using namespace facet::interface;

//===----------------------------------------------------------------------===//
// Promises
//===----------------------------------------------------------------------===//

/// Copies what `region` uses from outside of it to `b`, into `mapping`.
static void copyCaptures(OpBuilder &b, Region &region, IRMapping &mapping) {
  auto copy = [&](auto &self, Value value) -> void {
    Operation *op = value.getDefiningOp();
    if (!op || mapping.contains(value) ||
        region.isAncestor(op->getParentRegion()))
      return;
    for (Value operand : op->getOperands())
      self(self, operand);
    b.clone(*op, mapping);
  };
  for (Operation &op : region.front())
    for (Value operand : op.getOperands())
      copy(copy, operand);
}

/// The promise as a kernel of its own: scalars in, one bool out.
static kernel::FuncOp makeKernel(Function &f, kernel::FuncOp kernel,
                                 kernel::RequireOp promise, StringRef name) {
  ImplicitLocOpBuilder b(promise.getLoc(), kernel->getContext());
  b.setInsertionPointToEnd(f.constants.getModule().getBody());
  auto makeParam = [&](StringRef name, kernel::ParamMode mode) -> Attribute {
    return kernel::ParamAttr::get(b.getContext(), b.getStringAttr(name), mode,
                                  {});
  };
  SmallVector<Attribute> params;
  for (Value input : promise.getInputs()) {
    unsigned index = cast<BlockArgument>(input).getArgNumber();
    params.push_back(
        makeParam(f.signature.parameters[index].name, kernel::ParamMode::In));
  }
  auto resultType = RankedTensorType::get({}, b.getI1Type());
  auto function = kernel::FuncOp::create(
      b, name, kernel.getSizes(), b.getArrayAttr(params),
      b.getArrayAttr({makeParam("holds.", kernel::ParamMode::Out)}),
      b.getTypeArrayAttr({resultType}), /*fixed=*/DictionaryAttr(),
      /*documentation=*/StringAttr());
  Block *body = b.createBlock(&function.getBody());
  for (Value input : promise.getInputs())
    body->addArgument(input.getType(), input.getLoc());

  size_t count = promise.getInputs().size();
  SmallVector<Attribute> accesses(count,
                                  kernel::AccessAttr::get(b.getContext(), {}));
  SmallVector<Attribute> guards(count, b.getDenseI64ArrayAttr({}));
  IRMapping mapping;
  copyCaptures(b, promise.getBody(), mapping);
  Value init = tensor::EmptyOp::create(b, ArrayRef<int64_t>(), b.getI1Type());
  auto map = kernel::MapOp::create(
      b, TypeRange(resultType), b.getStringAttr("holds."), b.getArrayAttr({}),
      /*num_parallel=*/0, ArrayRef<int64_t>(), b.getArrayAttr(accesses),
      b.getArrayAttr(guards), ArrayRef<int64_t>(), ValueRange(),
      body->getArguments(), init);
  promise.getBody().cloneInto(&map.getBody(), mapping);
  kernel::ReturnOp::create(b, map.getResults());
  return function;
}

/// Decides a promise by the code that a road makes of it.
static Value computeByKernel(Function &f, kernel::FuncOp kernel,
                             kernel::RequireOp promise, unsigned index,
                             const InterfaceOptions &options) {
  ModuleOp module = f.constants.getModule();
  std::string name = f.signature.name + ".promise." + std::to_string(index);
  kernel::FuncOp function = makeKernel(f, kernel, promise, name);
  LogicalResult computed = options.computeKernel(function);
  function.erase();
  auto callee = module.lookupSymbol<func::FuncOp>(name + ".impl");
  if (failed(computed) || !callee) {
    promise.emitError() << "the promise '" << promise.getText()
                        << "' cannot be checked at a call";
    return {};
  }
  makeLocal(callee);
  if (auto unused = module.lookupSymbol<func::FuncOp>(name + ".workspace"))
    unused.erase();

  SmallVector<Value> arguments;
  for (unsigned i = 0, e = f.signature.sizes.size(); i != e; ++i)
    arguments.push_back(f.size(i));
  for (Value input : promise.getInputs()) {
    unsigned index = cast<BlockArgument>(input).getArgNumber();
    const Parameter &parameter = f.signature.parameters[index];
    Value data = f.formal(Formal::Data, index);
    if (parameter.isByValue()) {
      Value address = f.frame(8, 8);
      f.store(data, address);
      data = address;
    } else {
      f.failIf(f.isNull(data), FACET_E_NULL, parameter.name);
    }
    arguments.push_back(data);
  }
  Value holds = f.frame(8, 8);
  arguments.append({holds, f.nullPointer(), f.nullPointer()});
  func::CallOp::create(f.b, callee, arguments);
  Value byte = f.load(f.b.getI8Type(), holds);
  return f.ne(byte, f.constant(f.b.getI8IntegerAttr(0)));
}

LogicalResult facet::interface::checkPromises(Function &f,
                                              kernel::FuncOp kernel,
                                              const InterfaceOptions &options) {
  Scalars scalars(f, kernel);
  unsigned index = 0;
  WalkResult result = kernel.walk([&](kernel::RequireOp promise) {
    for (auto [element, input] :
         llvm::zip(promise.getBody().getArguments(), promise.getInputs()))
      scalars.bind(element, input);
    Value wanted = promise.getBody().front().getTerminator()->getOperand(0);
    Value holds;
    if (scalars.isKnown(wanted)) {
      holds = scalars.compute(wanted);
    } else if (options.computeKernel) {
      holds = computeByKernel(f, kernel, promise, index, options);
    } else {
      InFlightDiagnostic diagnostic = promise.emitError()
                                      << "the promise '" << promise.getText()
                                      << "' cannot be checked at a call";
      if (scalars.obstacle)
        diagnostic << ": it needs '" << scalars.obstacle->getName() << "'";
    }
    if (!holds)
      return WalkResult::interrupt();
    f.failIf(f.negate(holds), FACET_E_REQUIRE - static_cast<int32_t>(index++),
             promise.getText());
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

//===----------------------------------------------------------------------===//
// Needs
//===----------------------------------------------------------------------===//

/// Conditions for the reads of one structured op.
namespace {
class Reads {
public:
  Reads(Function &f, Scalars &scalars, kernel::StructuredOpInterface op,
        Value needed)
      : f(f), scalars(scalars), op(op), runs(needed) {
    if (!op.getGuards().empty())
      for (auto [element, input] :
           llvm::zip(op.getGuards().getArguments(), op.getInputs()))
        scalars.bind(element, input);
    runs = with(runs, op.getFilter());
    for (OpFoldResult extent : op.getMixedExtents())
      runs = f.band(runs, isPositive(extent));
  }

  /// Input `i` is read at some point.
  Value input(unsigned i) { return with(runs, op.getGuardsOfInput(i)); }

private:
  /// `condition`, and those of the atoms that name no index.
  Value with(Value condition, ArrayRef<int64_t> atoms) {
    for (int64_t atom : atoms) {
      Value value = op.getGuards().front().getTerminator()->getOperand(atom);
      if (scalars.isKnown(value))
        condition = f.band(condition, scalars.compute(value));
    }
    return condition;
  }

  Value isPositive(OpFoldResult extent) {
    if (auto value = dyn_cast<Value>(extent)) {
      if (!scalars.isKnown(value))
        return f.boolean(true);
      Value size = scalars.compute(value);
      if (size.getType().isIndex())
        size = arith::IndexCastOp::create(f.b, f.i64Type(), size);
      return f.lt(f.i64(0), size);
    }
    return f.boolean(cast<IntegerAttr>(cast<Attribute>(extent)).getInt() > 0);
  }

  Function &f;
  Scalars &scalars;
  kernel::StructuredOpInterface op;
  Value runs;
};
} // namespace

SmallVector<Value> facet::interface::findNeeds(Function &f,
                                               kernel::FuncOp kernel) {
  Scalars scalars(f, kernel);
  llvm::DenseMap<Value, Value> needs;
  auto need = [&](Value tensor, Value condition) {
    Value &entry = needs[tensor];
    entry = entry ? f.bor(entry, condition) : condition;
  };
  Block &body = kernel.getBody().front();
  // Backwards: an op runs when one of its results is needed, and what it reads is
  // needed where its conditions hold.
  for (Operation &op : llvm::reverse(body)) {
    if (isa<kernel::ReturnOp>(op)) {
      for (Value value : op.getOperands())
        need(value, f.boolean(true));
      continue;
    }
    if (isa<kernel::RequireOp>(op))
      continue;
    Value runs;
    for (Value result : op.getResults())
      if (Value needed = needs.lookup(result))
        runs = runs ? f.bor(runs, needed) : needed;
    if (!runs)
      continue;
    if (auto structured = dyn_cast<kernel::StructuredOpInterface>(op)) {
      Reads reads(f, scalars, structured, runs);
      for (auto [i, input] : llvm::enumerate(structured.getInputs()))
        need(input, reads.input(i));
      for (Value init : structured.getInits())
        need(init, runs);
    } else {
      for (Value operand : op.getOperands())
        if (isa<RankedTensorType>(operand.getType()))
          need(operand, runs);
    }
  }
  SmallVector<Value> result;
  for (BlockArgument argument : body.getArguments()) {
    Value needed = needs.lookup(argument);
    result.push_back(needed ? needed : f.boolean(false));
  }
  return result;
}
