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

#include "facet/Conversion/KernelToEngine.h"
#include "facet/Dialect/Kernel/IR/StructuredParts.h"
#include "facet/Planner/Engine/Problem.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SmallBitVector.h"

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
  /// The inputs and iterators that a value is computed from, nullopt: it may not be
  /// computed elsewhere.
  struct Uses {
    llvm::SmallBitVector inputs, iterators;
    unsigned operations = 0;
  };
  std::optional<Uses> usesOf(Value value);
  void collect(Value value);
  Value makeTerm(Value value, const Uses &uses);

  MapOp map;
  StructuredOpInterface op;
  Block *body;
  SmallVector<std::pair<Value, Uses>> terms;
};

} // namespace

std::optional<Hoist::Uses> Hoist::usesOf(Value value) {
  Uses uses;
  uses.inputs.resize(op.getInputs().size());
  uses.iterators.resize(op.getNumIterators());
  SmallVector<Value> open = {value};
  llvm::DenseSet<Value> seen;
  while (!open.empty()) {
    Value next = open.pop_back_val();
    if (!seen.insert(next).second)
      continue;
    if (auto argument = dyn_cast<BlockArgument>(next)) {
      unsigned input = argument.getArgNumber();
      if (argument.getOwner() != body || input >= op.getInputs().size() ||
          !op.getGuardsOfInput(input).empty())
        return std::nullopt;
      uses.inputs.set(input);
      for (const Subscript &subscript : op.getAccess(input).getSubscripts()) {
        if (subscript.kind == Subscript::Element)
          return std::nullopt;
        if (subscript.kind == Subscript::Iterator)
          uses.iterators.set(subscript.value);
      }
      continue;
    }
    Operation *def = next.getDefiningOp();
    if (def->getBlock() != body)
      continue; // a size or a constant of the kernel
    if (def->getNumRegions() || isa<IndexOp>(def))
      return std::nullopt;
    uses.operations += !isa<arith::ConstantOp, CastOp>(def);
    llvm::append_range(open, def->getOperands());
  }
  return uses;
}

/// The largest terms of fewer iterators than the map has, but of one at least: numbers
/// are one element of a row for the engine, which costs nothing.
void Hoist::collect(Value value) {
  Operation *def = value.getDefiningOp();
  if (!def || def->getBlock() != body)
    return;
  Type type = value.getType();
  std::optional<Uses> uses = usesOf(value);
  if (uses && uses->operations && uses->iterators.any() &&
      !uses->iterators.all() && (type.isF32() || type.isInteger(32))) {
    if (llvm::none_of(terms, [&](auto &term) { return term.first == value; }))
      terms.push_back({value, *uses});
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

Value Hoist::makeTerm(Value value, const Uses &uses) {
  OpBuilder builder(map);
  mlir::Location loc = value.getLoc();
  StructuredParts parts(op);
  SmallVector<int64_t> iteratorAt(op.getNumIterators(), -1);
  SmallVector<Attribute> names;
  SmallVector<OpFoldResult> extents;
  for (unsigned i : uses.iterators.set_bits()) {
    iteratorAt[i] = names.size();
    names.push_back(parts.iteratorNames[i]);
    extents.push_back(parts.extents[i]);
  }
  SmallVector<StructuredParts::Input> inputs;
  SmallVector<Value> arguments;
  for (unsigned i : uses.inputs.set_bits()) {
    inputs.push_back(parts.inputs[i]);
    for (Subscript &subscript : inputs.back().subscripts)
      if (subscript.kind == Subscript::Iterator)
        subscript.value = iteratorAt[subscript.value];
    arguments.push_back(body->getArgument(i));
  }
  parts.name = builder.getStringAttr("term");
  parts.numParallel = names.size();
  parts.iteratorNames = names;
  parts.extents = extents;
  parts.inputs = inputs;
  parts.filter.clear();
  parts.inits = {
      tensor::EmptyOp::create(builder, loc, extents, value.getType())};
  parts.discardable.clear();
  StructuredOpInterface made = parts.create(builder, loc);
  SmallVector<Type> types;
  for (Value argument : arguments)
    types.push_back(argument.getType());
  Block *block =
      builder.createBlock(&made.getBody(), {}, types,
                          SmallVector<mlir::Location>(types.size(), loc));
  IRMapping mapping;
  mapping.map(ArrayRef<Value>(arguments), block->getArguments());
  // All of the body; what nothing uses goes again.
  for (Operation &inner : body->without_terminator())
    if (llvm::all_of(inner.getOperands(), [&](Value operand) {
          return mapping.contains(operand) || operand.getParentBlock() != body;
        }))
      builder.clone(inner, mapping);
  YieldOp::create(builder, loc, mapping.lookup(value));
  dropUnused(*block);
  return made->getResult(0);
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
  for (auto &[value, uses] : terms) {
    StructuredParts::Input input;
    input.tensor = makeTerm(value, uses);
    for (unsigned i : uses.iterators.set_bits())
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
