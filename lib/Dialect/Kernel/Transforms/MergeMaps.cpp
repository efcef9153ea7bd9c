//===- MergeMaps.cpp - computes a map inside its only reader --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   let h[m, f] = bf16(silu(g[m, f]))          one map
//   y[m, n] = sum[f](h[m, f] * w[f, n])        reads each h once per n: stays two ops
//
//   let d[m, n] = x[m, n] - mu[m]              one map, read once per point below
//   y[m, n] = d[m, n] * rstd[m]                becomes (x[m, n] - mu[m]) * rstd[m]
//
// The reader must read every element exactly once, at all of its iterators in some
// order; then no element is computed twice. The conversion at the end of the map's
// body moves along, so a value that was rounded when stored is still rounded. Where
// the reader's filter drops a point, the element is not computed either, which is
// what the language says of a `let` used under a filter.
//
//===----------------------------------------------------------------------===//

#include "Simplifications.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace facet::kernel;

/// The iterator of the reader at each dimension of the element it reads, when the
/// read visits every element once; else nothing.
static std::optional<SmallVector<unsigned>>
onceEach(StructuredOpInterface reader, unsigned input) {
  ArrayRef<Subscript> subscripts = reader.getAccess(input).getSubscripts();
  if (subscripts.size() != reader.getNumIterators())
    return std::nullopt;
  SmallVector<unsigned> iterators;
  for (const Subscript &subscript : subscripts) {
    if (subscript.kind != Subscript::Iterator ||
        llvm::is_contained(iterators, subscript.value))
      return std::nullopt;
    iterators.push_back(subscript.value);
  }
  return iterators;
}

namespace {
class MergeMapIntoItsReader
    : public OpInterfaceRewritePattern<StructuredOpInterface> {
public:
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;

  LogicalResult matchAndRewrite(StructuredOpInterface reader,
                                PatternRewriter &rewriter) const final {
    if (isa<SoftmaxOp>(reader))
      return rewriter.notifyMatchFailure(
          reader, "a softmax may evaluate its body again");
    for (unsigned i = 0, e = reader.getInputs().size(); i != e; ++i)
      if (auto map = reader.getInputs()[i].getDefiningOp<MapOp>())
        if (succeeded(merge(map, reader, i, rewriter)))
          return success();
    return failure();
  }

private:
  LogicalResult merge(MapOp map, StructuredOpInterface reader, unsigned input,
                      PatternRewriter &rewriter) const;
};
} // namespace

/// Clones the operations of `from` in front of the terminator of `to`; arguments of
/// `from` are mapped already, iterators of the map are called as the reader calls
/// them. Returns what `from` yields.
static SmallVector<Value>
cloneBody(PatternRewriter &rewriter, Block &from, Operation *before,
          StructuredOpInterface map, StructuredOpInterface reader,
          ArrayRef<unsigned> iterators, IRMapping &mapping) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(before);
  for (Operation &op : from.without_terminator()) {
    Operation *copy = rewriter.clone(op, mapping);
    auto index = dyn_cast<IndexOp>(copy);
    if (!index)
      continue;
    unsigned i = 0;
    while (map.getIteratorName(i) != index.getIterator())
      ++i;
    index.setIterator(reader.getIteratorName(iterators[i]));
  }
  SmallVector<Value> values;
  for (Value value : from.getTerminator()->getOperands())
    values.push_back(mapping.lookupOrDefault(value));
  return values;
}

LogicalResult MergeMapIntoItsReader::merge(MapOp mapOp,
                                           StructuredOpInterface reader,
                                           unsigned input,
                                           PatternRewriter &rewriter) const {
  auto map = cast<StructuredOpInterface>(mapOp.getOperation());
  std::optional<SmallVector<unsigned>> iterators = onceEach(reader, input);
  if (!mapOp->hasOneUse() || !iterators ||
      mapOp->getBlock() != reader->getBlock())
    return rewriter.notifyMatchFailure(
        reader, "an element is read more or less than once");
  if (!reader.getGuardsOfInput(input).empty() ||
      (!reader.getGuards().empty() &&
       !reader.getGuards().getArgument(input).use_empty()))
    return rewriter.notifyMatchFailure(
        reader, "reads the map under or for a condition");
  if (!map.getGuards().empty() && !reader.getFilter().empty())
    return rewriter.notifyMatchFailure(
        reader, "conditions of the map stand under a filter");

  // The reader's other inputs, then the map's, renumbered and in the reader's iterators.
  StructuredParts parts(reader), mapParts(map);
  unsigned numInputs = parts.inputs.size(),
           numMapInputs = mapParts.inputs.size();
  unsigned numAtoms = reader.getNumGuardAtoms(),
           numMapAtoms = map.getNumGuardAtoms();
  for (StructuredParts::Input &other : parts.inputs)
    for (Subscript &subscript : other.subscripts)
      if (subscript.kind == Subscript::Element && subscript.value == input)
        return rewriter.notifyMatchFailure(reader,
                                           "the map computes where to read");
  for (StructuredParts::Input &moved : mapParts.inputs) {
    for (Subscript &subscript : moved.subscripts) {
      if (subscript.kind == Subscript::Iterator)
        subscript.value = (*iterators)[subscript.value];
      else if (subscript.kind == Subscript::Element)
        subscript.value += numInputs;
    }
    for (int64_t &atom : moved.guards)
      atom += numAtoms;
    parts.inputs.push_back(moved);
  }

  // The input that is merged away loses its uses here; it keeps its place until
  // DropInputNobodyReads closes the gap, and reads the map's init meanwhile.
  parts.inputs[input].tensor = mapOp.getInits().front();
  StructuredOpInterface merged = parts.create(rewriter, reader.getLoc());
  Region &guards = merged.getGuards(), &body = merged.getBody();
  rewriter.inlineRegionBefore(reader.getBody(), body, body.end());
  rewriter.inlineRegionBefore(reader.getGuards(), guards, guards.end());
  if (guards.empty() && numMapAtoms != 0) {
    OpBuilder::InsertionGuard guard(rewriter);
    SmallVector<Type> types;
    for (unsigned i = 0; i != numInputs; ++i)
      types.push_back(body.getArgument(i).getType());
    rewriter.createBlock(&guards, guards.end(), types,
                         SmallVector<Location>(numInputs, reader.getLoc()));
    YieldOp::create(rewriter, reader.getLoc(), ValueRange());
  }

  rewriter.startOpModification(merged);
  IRMapping bodyMapping, guardMapping;
  for (unsigned i = 0; i != numMapInputs; ++i) {
    BlockArgument element = map.getBody().getArgument(i);
    bodyMapping.map(element, body.front().insertArgument(numInputs + i,
                                                         element.getType(),
                                                         element.getLoc()));
    if (!guards.empty()) {
      BlockArgument inGuards =
          guards.front().addArgument(element.getType(), element.getLoc());
      if (numMapAtoms != 0)
        guardMapping.map(map.getGuards().getArgument(i), inGuards);
    }
  }
  for (unsigned i = 0; i != numMapAtoms; ++i) {
    BlockArgument atom = map.getBody().getArgument(numMapInputs + i);
    bodyMapping.map(atom,
                    body.front().addArgument(atom.getType(), atom.getLoc()));
  }
  rewriter.finalizeOpModification(merged);

  if (numMapAtoms != 0) {
    Operation *yield = guards.front().getTerminator();
    SmallVector<Value> atoms =
        cloneBody(rewriter, map.getGuards().front(), yield, map, reader,
                  *iterators, guardMapping);
    rewriter.modifyOpInPlace(
        yield, [&] { yield->insertOperands(yield->getNumOperands(), atoms); });
  }
  Operation *first = &body.front().front();
  SmallVector<Value> element = cloneBody(rewriter, map.getBody().front(), first,
                                         map, reader, *iterators, bodyMapping);
  rewriter.replaceAllUsesWith(body.getArgument(input), element.front());
  rewriter.replaceOp(reader, merged->getResults());
  return success();
}

void facet::kernel::populateMergeMaps(RewritePatternSet &patterns) {
  patterns.add<MergeMapIntoItsReader>(patterns.getContext());
}
