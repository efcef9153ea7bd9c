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
//===----------------------------------------------------------------------===//

#include "Scalars.h"

using namespace mlir;
using namespace facet;
using namespace facet::interface;

//===----------------------------------------------------------------------===//
// Promises
//===----------------------------------------------------------------------===//

LogicalResult facet::interface::checkPromises(Function &f,
                                              kernel::FuncOp kernel) {
  Scalars scalars(f, kernel);
  int32_t code = FACET_E_REQUIRE;
  WalkResult result = kernel.walk([&](kernel::RequireOp promise) {
    for (auto [element, input] :
         llvm::zip(promise.getBody().getArguments(), promise.getInputs()))
      scalars.bind(element, input);
    Value holds = promise.getBody().front().getTerminator()->getOperand(0);
    if (!scalars.isKnown(holds)) {
      InFlightDiagnostic diagnostic = promise.emitError()
                                      << "the promise '" << promise.getText()
                                      << "' cannot be checked at a call";
      if (scalars.obstacle)
        diagnostic << ": it needs '" << scalars.obstacle->getName() << "'";
      return WalkResult::interrupt();
    }
    f.failIf(f.negate(scalars.compute(holds)), code--, promise.getText());
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
