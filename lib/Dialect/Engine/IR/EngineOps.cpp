//===- EngineOps.cpp - buffers, rings, loops, views -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks what can be seen at one op: that a view stays inside what it views, that a
// loop closes what it opens, that a ring has a place to be. What takes the whole
// program (who writes a ring, how many slots are open) is VerifyRings'.
//
//===----------------------------------------------------------------------===//

#include "facet/Dialect/Engine/IR/Engine.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace facet;
using namespace facet::engine;

/// The type of a ring without `!engine.ring`: the op says it.
static ParseResult parseRing(OpAsmParser &parser, Type &type) {
  type = RingType::parse(parser);
  return success(type != nullptr);
}
static void printRing(OpAsmPrinter &printer, Operation *, Type type) {
  cast<RingType>(type).print(printer);
}

#define GET_OP_CLASSES
#include "facet/Dialect/Engine/IR/EngineOps.cpp.inc"

//===----------------------------------------------------------------------===//
// Buffers and rings
//===----------------------------------------------------------------------===//

LogicalResult BufferOp::verify() {
  if (getType().getMemory() != Memory::Hbm)
    return emitOpError("lies in hbm, not in ")
           << stringifyMemory(getType().getMemory());
  return success();
}

void BufferOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getResult(), getName());
}

LogicalResult RingOp::verify() {
  if (getType().getTile().getElementType().isF64())
    return emitOpError("holds f64, which is only moved, never computed with");
  return success();
}

void RingOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getResult(), getName());
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

void ForOp::build(OpBuilder &builder, OperationState &state, int64_t trips) {
  state.addAttribute("trips", builder.getI64IntegerAttr(trips));
  Block &body = state.addRegion()->emplaceBlock();
  body.addArgument(builder.getIndexType(), state.location);
}

ParseResult ForOp::parse(OpAsmParser &parser, OperationState &state) {
  OpAsmParser::Argument counter;
  counter.type = parser.getBuilder().getIndexType();
  IntegerAttr trips;
  return failure(parser.parseArgument(counter) || parser.parseEqual() ||
                 parser.parseAttribute(trips, parser.getBuilder().getI64Type(),
                                       "trips", state.attributes) ||
                 parser.parseRegion(*state.addRegion(), counter) ||
                 parser.parseOptionalAttrDict(state.attributes));
}

void ForOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getCounter() << " = " << getTrips() << ' ';
  printer.printRegion(getBodyRegion(), /*printEntryBlockArgs=*/false);
  printer.printOptionalAttrDict((*this)->getAttrs(), {"trips"});
}

LogicalResult ForOp::verify() {
  Block &body = *getBody();
  if (body.getNumArguments() != 1 || !body.getArgument(0).getType().isIndex())
    return emitOpError("has one counter of type index");
  // Slots opened in the body, by ring: acquired and waited for.
  llvm::SmallDenseMap<Value, std::pair<int64_t, int64_t>> open;
  for (Operation &op : body) {
    if (auto acquire = dyn_cast<AcquireOp>(op))
      ++open[acquire.getRing()].first;
    else if (auto commit = dyn_cast<CommitOp>(op))
      --open[commit.getRing()].first;
    else if (auto wait = dyn_cast<WaitOp>(op))
      ++open[wait.getRing()].second;
    else if (auto release = dyn_cast<ReleaseOp>(op))
      --open[release.getRing()].second;
  }
  for (Operation &op : body)
    for (Value operand : op.getOperands())
      if (auto at = open.find(operand);
          at != open.end() && (at->second.first || at->second.second))
        return emitOpError("opens and closes different numbers of slots of "
                           "ring '")
               << operand.getDefiningOp<RingOp>().getName() << "'";
  return success();
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

SmallVector<int64_t> ViewOp::getAllSteps() {
  if (auto steps = getSteps())
    return llvm::to_vector(*steps);
  ArrayRef<int64_t> shape = getType().getShape();
  SmallVector<int64_t> steps(shape.size() - 1, 1);
  for (size_t i = steps.size(); i-- > 1;)
    steps[i - 1] = steps[i] * shape[i + 1];
  return steps;
}

/// The greatest and the least value of `expr` when dimension i is in [0, trips_i);
/// nullopt when it is not a sum of dimensions times numbers.
static std::optional<std::pair<int64_t, int64_t>>
rangeOf(AffineExpr expr, ArrayRef<int64_t> trips) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return std::pair(constant.getValue(), constant.getValue());
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return std::pair(int64_t(0), trips[dim.getPosition()] - 1);
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return std::nullopt;
  auto left = rangeOf(binary.getLHS(), trips),
       right = rangeOf(binary.getRHS(), trips);
  if (!left || !right)
    return std::nullopt;
  if (binary.getKind() == AffineExprKind::Add)
    return std::pair(left->first + right->first, left->second + right->second);
  if (binary.getKind() == AffineExprKind::Mul &&
      right->first == right->second) {
    int64_t a = left->first * right->first, b = left->second * right->first;
    return std::pair(std::min(a, b), std::max(a, b));
  }
  return std::nullopt;
}

/// Trips of the loops whose counters move `op`, or failure with an error.
static FailureOr<SmallVector<int64_t>>
tripsOf(Operation *op, ValueRange counters, AffineMap at) {
  if (at.getNumDims() != counters.size() || at.getNumSymbols() != 0 ||
      at.getNumResults() != 1)
    return op->emitOpError("has ")
           << counters.size()
           << " counters; its map must take as many and "
              "give one number";
  SmallVector<int64_t> trips;
  for (Value counter : counters) {
    auto argument = dyn_cast<BlockArgument>(counter);
    auto loop = argument ? dyn_cast<ForOp>(argument.getOwner()->getParentOp())
                         : ForOp();
    if (!loop)
      return op->emitOpError("is moved by counters of engine.for only");
    trips.push_back(loop.getTrips());
  }
  if (!rangeOf(at.getResult(0), trips))
    return op->emitOpError("is at a sum of counters times numbers, not at ")
           << AffineMapAttr::get(at);
  return trips;
}

LogicalResult IndexOp::verify() {
  if (getType().getMemory() != Memory::Index ||
      !getType().getElementType().isSignlessInteger(32))
    return emitOpError("makes numbers: i32 in index, not ") << getType();
  if (auto steps = getSteps();
      steps && steps->size() + 1 != getType().getShape().size())
    return emitOpError("has ")
           << getType().getShape().size() - 1 << " dimensions in a row and "
           << steps->size() << " steps";
  return tripsOf(*this, getCounters(), getAt());
}

LogicalResult ViewOp::verify() {
  TileType source = getSource().getType(), result = getType();
  AffineMap at = getAt();
  if (getSource().getDefiningOp<ViewOp>())
    return emitOpError("is of a buffer or of a slot of a ring, not of a view");
  if (source.getMemory() != result.getMemory())
    return emitOpError("is in ")
           << stringifyMemory(result.getMemory()) << ", what it views in "
           << stringifyMemory(source.getMemory());
  if (auto steps = getSteps();
      steps && steps->size() + 1 != result.getShape().size())
    return emitOpError("has ")
           << result.getShape().size() - 1 << " dimensions in a row and "
           << steps->size() << " steps";
  FailureOr<SmallVector<int64_t>> trips = tripsOf(*this, getCounters(), at);
  if (failed(trips))
    return failure();

  // The elements it touches, against those there are.
  auto [low, high] = *rangeOf(at.getResult(0), *trips);
  SmallVector<int64_t> steps = getAllSteps();
  for (auto [step, extent] :
       llvm::zip_equal(steps, result.getShape().drop_front())) {
    low += std::min<int64_t>(0, step * (extent - 1));
    high += std::max<int64_t>(0, step * (extent - 1));
  }
  int64_t limit = source.getElements();
  if (source.getMemory() == Memory::Hbm) {
    if (getPartition() != 0)
      return emitOpError("of hbm has no partition");
    int64_t rows = int64_t(getRowStep()) * (result.getRows() - 1);
    low += std::min<int64_t>(0, rows);
    high += std::max<int64_t>(0, rows);
  } else {
    if (getRowStep() != 0)
      return emitOpError("of a tile on chip has no row_step: rows are "
                         "partitions");
    limit =
        source.getRowBytes() / dtypeBytes(*dtypeOf(result.getElementType()));
    int64_t last = int64_t(getPartition()) + result.getRows();
    if (int64_t(getPartition()) < 0 || last > source.getRows())
      return emitOpError("takes partitions ")
             << getPartition() << " to " << last - 1 << " of a tile with "
             << source.getRows();
  }
  if (low < 0 || high >= limit)
    return emitOpError("reaches elements ")
           << low << " to " << high << "; there are " << limit
           << (source.getMemory() == Memory::Hbm ? " in the buffer"
                                                 : " in a row of the tile");
  return success();
}
