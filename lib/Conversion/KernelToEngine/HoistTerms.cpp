//===- HoistTerms.cpp - what a map computes for fewer points, before it ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Behind a long sum of integers gpsimd and vector have as much to do as the array. What
// is the same for all rows of the sums is not computed there again and again:
//
//   y[m, n] = u8.sat(round(f32(acc[m, n]) * (xs * ws[n] / ys)) + f32(yz))
//
//   term[n] = xs * ws[n] / ys                        a map of its own, once
//   y[m, n] = u8.sat(round(f32(acc[m, n]) * term[n]) + f32(yz))
//
// The values are the same: what is stored is what was read, rounded where the text says.
//
//===----------------------------------------------------------------------===//

#include "DeriveOp.h"
#include "facet/Conversion/KernelToEngine.h"
#include "facet/Dialect/Kernel/IR/StructuredParts.h"
#include "facet/Planner/Engine/Problem.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace facet;
using namespace facet::kernel;

namespace {

class Hoist {
public:
  explicit Hoist(MapOp map)
      : map(map), op(cast<StructuredOpInterface>(map.getOperation())),
        body(&op.getBody().front()) {}
  void run();

private:
  void collect(Value value);
  Value makeTerm(Value value, const engine::Slice &slice);

  MapOp map;
  StructuredOpInterface op;
  Block *body;
  SmallVector<std::pair<Value, engine::Slice>> terms;
};

} // namespace

/// The largest terms of fewer iterators than the map has, but of one at least: numbers
/// are one element of a row for the engine, which costs nothing.
void Hoist::collect(Value value) {
  Operation *def = value.getDefiningOp();
  if (!def || def->getBlock() != body)
    return;
  Type type = value.getType();
  std::optional<engine::Slice> slice = engine::sliceOf(op, body, value);
  bool computes = slice && llvm::any_of(slice->ops, [](Operation *inner) {
                    return !isa<arith::ConstantOp, CastOp>(inner);
                  });
  if (computes && slice->iterators.any() && !slice->iterators.all() &&
      (type.isF32() || type.isInteger(32))) {
    if (llvm::none_of(terms, [&](auto &term) { return term.first == value; }))
      terms.push_back({value, *slice});
    return;
  }
  for (Value operand : def->getOperands())
    collect(operand);
}

/// What nothing uses any more, from the end on.
static void dropUnused(Block &block) {
  SmallVector<Operation *> ops;
  for (Operation &inner : block.without_terminator())
    ops.push_back(&inner);
  for (Operation *inner : llvm::reverse(ops))
    if (inner->use_empty())
      inner->erase();
}

Value Hoist::makeTerm(Value value, const engine::Slice &slice) {
  OpBuilder builder(map);
  StructuredParts parts(op);
  SmallVector<StructuredParts::Input> inputs;
  SmallVector<Value> arguments;
  for (unsigned i : slice.inputs.set_bits()) {
    inputs.push_back(parts.inputs[i]);
    arguments.push_back(body->getArgument(i));
  }
  SmallVector<unsigned> iterators(slice.iterators.set_bits_begin(),
                                  slice.iterators.set_bits_end());
  return engine::deriveOp(builder, op, builder.getStringAttr("term"), iterators,
                          0, inputs, value.getType(),
                          [&](ArrayRef<Value> elements) {
                            IRMapping mapping;
                            mapping.map(ArrayRef<Value>(arguments), elements);
                            for (Operation &inner : *body)
                              if (slice.ops.contains(&inner))
                                builder.clone(inner, mapping);
                            return mapping.lookupOrDefault(value);
                          });
}

void Hoist::run() {
  if (op.getNumGuardAtoms() != 0 || map->getNumResults() != 1)
    return;
  collect(body->getTerminator()->getOperand(0));
  if (terms.empty())
    return;
  OpBuilder builder(map);
  StructuredParts parts(op);
  size_t before = parts.inputs.size();
  for (auto &[value, slice] : terms) {
    StructuredParts::Input input;
    input.tensor = makeTerm(value, slice);
    for (unsigned i : slice.iterators.set_bits())
      input.subscripts.push_back({Subscript::Iterator, i});
    parts.inputs.push_back(input);
  }
  builder.setInsertionPoint(map);
  StructuredOpInterface created = parts.create(builder, map.getLoc());
  SmallVector<Type> types;
  for (const StructuredParts::Input &input : parts.inputs)
    types.push_back(
        cast<RankedTensorType>(input.tensor.getType()).getElementType());
  Block *block = builder.createBlock(
      &created.getBody(), {}, types,
      SmallVector<mlir::Location>(types.size(), map.getLoc()));
  IRMapping mapping;
  mapping.map(body->getArguments(), block->getArguments().take_front(before));
  for (auto [i, term] : llvm::enumerate(terms))
    mapping.map(term.first, block->getArgument(before + i));
  for (Operation &inner : *body)
    if (llvm::none_of(terms, [&](auto &term) {
          return term.first.getDefiningOp() == &inner;
        }))
      builder.clone(inner, mapping);
  dropUnused(*block);
  map->replaceAllUsesWith(created);
  map->erase();
}

void engine::hoistTerms(FuncOp kernel) {
  SmallVector<MapOp> maps;
  for (auto reduce : kernel.getBody().front().getOps<ReduceOp>()) {
    std::optional<Contraction> contraction = matchContraction(reduce);
    if (!contraction || !contraction->epilogue || !contraction->exactTerms ||
        !suitsTensorEngine(*contraction))
      continue;
    FailureOr<Problem> problem = Problem::of(*contraction);
    if (succeeded(problem) && problem->terms() > contraction->exactTerms)
      maps.push_back(contraction->epilogue->map);
  }
  for (MapOp map : maps)
    Hoist(map).run();
}
