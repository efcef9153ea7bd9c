//===- StructuredParts.cpp - a structured op in editable form -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Takes map, reduce and softmax apart and puts them together again.
//
//===----------------------------------------------------------------------===//

#include "facet/Dialect/Kernel/IR/StructuredParts.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace facet::kernel;

StructuredParts::StructuredParts(StructuredOpInterface op)
    : opName(op->getName().getStringRef()), numParallel(op.getNumParallel()),
      extents(op.getMixedExtents()), filter(op.getFilter()),
      inits(op.getInits()), discardable(op->getDiscardableAttrs()) {
  if (auto reduce = dyn_cast<ReduceOp>(op.getOperation()))
    kind = reduce.getKind();
  if (op.getName())
    name = StringAttr::get(op->getContext(), *op.getName());
  llvm::append_range(iteratorNames, op.getIteratorNames());
  for (auto [i, tensor] : llvm::enumerate(op.getInputs()))
    inputs.push_back({tensor, llvm::to_vector(op.getAccess(i).getSubscripts()),
                      llvm::to_vector(op.getGuardsOfInput(i))});
}

StructuredOpInterface StructuredParts::create(OpBuilder &builder,
                                              Location loc) const {
  SmallVector<Value> operands;
  SmallVector<int64_t> staticExtents;
  dispatchIndexOpFoldResults(extents, operands, staticExtents);
  SmallVector<int32_t> segments{static_cast<int32_t>(operands.size()),
                                static_cast<int32_t>(inputs.size()),
                                static_cast<int32_t>(inits.size())};
  SmallVector<Attribute> accesses, guards;
  for (const Input &input : inputs) {
    operands.push_back(input.tensor);
    accesses.push_back(AccessAttr::get(builder.getContext(), input.subscripts));
    guards.push_back(builder.getDenseI64ArrayAttr(input.guards));
  }
  llvm::append_range(operands, inits);
  SmallVector<Type> types;
  for (Value init : inits)
    types.push_back(init.getType());

  OperationState state(loc, opName, operands, types, discardable);
  if (opName == ReduceOp::getOperationName())
    state.addAttribute("kind", ReduceKindAttr::get(builder.getContext(), kind));
  if (name)
    state.addAttribute("name", name);
  state.addAttribute("iterator_names", builder.getArrayAttr(iteratorNames));
  state.addAttribute("num_parallel", builder.getI64IntegerAttr(numParallel));
  state.addAttribute("static_extents",
                     builder.getDenseI64ArrayAttr(staticExtents));
  state.addAttribute("accesses", builder.getArrayAttr(accesses));
  state.addAttribute("input_guards", builder.getArrayAttr(guards));
  state.addAttribute("filter", builder.getDenseI64ArrayAttr(filter));
  state.addAttribute("operandSegmentSizes",
                     builder.getDenseI32ArrayAttr(segments));
  state.addRegion(); // guards
  state.addRegion(); // body
  return cast<StructuredOpInterface>(builder.create(state));
}
