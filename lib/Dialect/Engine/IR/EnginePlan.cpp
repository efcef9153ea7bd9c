//===- EnginePlan.cpp - the parts of a plan agree with each other ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What can be said of a plan without its kernel and machine: blocks are whole
// numbers of tiles, every ring has a slot, a contraction has its choices and nothing
// else has. Whether a plan fits a kernel is the planner's to say
// (PlanAttrInterface::verify).
//
//===----------------------------------------------------------------------===//

#include "facet/Dialect/Engine/IR/Engine.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace facet;
using namespace facet::engine;

#define GET_ATTRDEF_CLASSES
#include "facet/Dialect/Engine/IR/EngineAttrs.cpp.inc"

void EngineDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "facet/Dialect/Engine/IR/EngineAttrs.cpp.inc"
      >();
}

using EmitError = llvm::function_ref<InFlightDiagnostic()>;

LogicalResult ContractionAttr::verify(
    EmitError emitError, Side, Side, bool, int64_t rowTile, int64_t columnTile,
    int64_t rowBlock, int64_t columnBlock, int64_t depthBlock, int64_t aSlots,
    int64_t bSlots, int64_t sumSlots, int64_t resultSlots, int64_t unroll, Load,
    Load, QueueKind evict, bool, int64_t firstDepth, int64_t lastDepth,
    int64_t warmUp, int64_t scalarTiles, int64_t storeTiles, bool,
    int64_t batchBlock, bool whole, int64_t sumDepth, bool, int64_t endDepth,
    bool keepsResults) {
  if (rowTile < 1 || columnTile < 1)
    return emitError() << "a tile of " << rowTile << " rows by " << columnTile
                       << " columns is empty";
  if (rowBlock < 1 || rowBlock % rowTile != 0)
    return emitError() << "row_block = " << rowBlock
                       << " is no multiple of the tile's " << rowTile
                       << " rows";
  if (columnBlock < 1 || columnBlock % columnTile != 0)
    return emitError() << "column_block = " << columnBlock
                       << " is no multiple of the tile's " << columnTile
                       << " columns";
  if (depthBlock < 1)
    return emitError() << "depth_block = " << depthBlock << " holds nothing";
  for (auto [name, number] : {std::pair("first_depth", firstDepth),
                              {"last_depth", lastDepth},
                              {"end_depth", endDepth},
                              {"warm_up", warmUp},
                              {"scalar_tiles", scalarTiles},
                              {"sum_depth", sumDepth}})
    if (number < 0)
      return emitError() << name << " = " << number << " is negative";
  if (endDepth && (!whole || batchBlock > 1))
    return emitError() << "end_depth = " << endDepth
                       << " needs a factor that stays whole, and no batch";
  if (keepsResults && !endDepth)
    return emitError() << "keeps_results needs an end_depth";
  if (batchBlock < 1)
    return emitError() << "batch_block = " << batchBlock << " holds nothing";
  if (storeTiles < 1)
    return emitError() << "store_tiles = " << storeTiles << " stores nothing";
  for (auto [name, slots] : {std::pair("a_slots", aSlots),
                             {"b_slots", bSlots},
                             {"sum_slots", sumSlots},
                             {"result_slots", resultSlots}})
    if (slots < 1)
      return emitError() << name << " = " << slots
                         << "; a ring has at least one slot";
  int64_t tiles = rowBlock / rowTile * (columnBlock / columnTile);
  if (sumSlots < tiles)
    return emitError() << "sum_slots = " << sumSlots << ", but a block has "
                       << tiles << " tiles of sums";
  if (unroll < 1)
    return emitError() << "unroll = " << unroll << " writes out nothing";
  if (evict != QueueKind::Vector && evict != QueueKind::Scalar)
    return emitError() << "evict = " << stringifyQueueKind(evict)
                       << "; vector or scalar empties PSUM";
  return success();
}

SmallVector<int64_t> ContractionAttr::getGroups(int64_t depth, int64_t rows,
                                                bool isEnd) const {
  auto stepsOf = [&](int64_t elements) {
    return std::max<int64_t>(1, (elements ? elements : getDepthBlock()) / rows);
  };
  int64_t first = stepsOf(getFirstDepth()), each = stepsOf(0),
          last =
              stepsOf(isEnd && getEndDepth() ? getEndDepth() : getLastDepth());
  int64_t rest = (depth + rows - 1) / rows;
  SmallVector<int64_t> groups;
  while (rest > last) {
    groups.push_back(std::min(groups.empty() ? first : each,
                              std::max<int64_t>(1, rest - last)));
    rest -= groups.back();
  }
  groups.push_back(rest);
  return groups;
}

LogicalResult StageAttr::verify(EmitError emitError, Form form,
                                ArrayRef<int64_t> ops,
                                ContractionAttr contraction) {
  bool isContraction = form == Form::Contraction;
  if (isContraction != bool(contraction))
    return emitError() << "a stage of form " << stringifyForm(form)
                       << (isContraction ? " needs the choices for its sum"
                                         : " has no sum to choose for");
  if (form == Form::Attention) {
    // Two contractions, maximum, exponential, sum and quotient.
    if (ops.size() < 6 || !llvm::is_sorted(ops))
      return emitError() << "a stage of form attention has " << ops.size()
                         << " ops; it takes 6 or more, in their order";
    return success();
  }
  size_t most = isContraction ? 2 : 1;
  if (ops.empty() || ops.size() > most)
    return emitError() << "a stage of form " << stringifyForm(form) << " has "
                       << ops.size() << " ops; it takes 1"
                       << (isContraction ? " or 2" : "");
  return success();
}

LogicalResult PlanAttr::verify(EmitError emitError, StringRef machine,
                               ArrayRef<StageAttr>) {
  if (machine.empty())
    return emitError() << "a plan names no machine";
  return success();
}
