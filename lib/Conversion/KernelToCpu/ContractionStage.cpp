//===- ContractionStage.cpp - the blocks of a contraction, and its tasks ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   for batch, outer n:
//     for jc in steps of NC:            columns whose panel of b is packed at once
//       for kc in steps of KC:          all of k, if the plan does not cut it
//         pack b                        unless it is read in place, or was packed once
//         for outer m, for ic in steps of MC:
//           pack a                      likewise
//           tiles of the block          Tiles.cpp
//
// Where the plan splits rows or columns, that is the work of one task, on its part of
// them.
//
//===----------------------------------------------------------------------===//

#include "Tasks.h"
#include "Tiles.h"
#include "facet/Dialect/Kernel/IR/Operations.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace facet;
using namespace facet::cpu;
using namespace mlir;
using kernel::StructuredOpInterface;

namespace {

/// A range of rows or columns.
struct Part {
  Num from, size;
};

class StageEmitter {
public:
  StageEmitter(Frame &frame, const ContractionStage &stage, Operands operands,
               std::optional<Storage> partial, llvm::ArrayRef<Storage> packedB)
      : frame(frame), walk(frame, stage.contraction, stage.plan.getDot()),
        panels(walk, stage.plan, operands.columnSums, stage.shiftsA),
        tiles(walk, stage, std::move(partial)), plan(stage.plan),
        operands(operands), packedB(packedB) {
    if (stage.constant)
      regions = stage.constant->regions;
  }

  /// Computes all of it.
  void run() { emit(allRows(), allColumns()); }
  /// Computes `part` of what the plan splits; whatever it keeps on the stack goes to
  /// `stack`.
  void run(Part part, Block &stack);

private:
  void emit(Part m, Part n);
  void emitBlocks(Part m, Num jc, Num columns);
  Value region(const Storage &all);
  Part allRows() {
    const auto &m = walk.c.m;
    return {frame.i64(0),
            m.empty() ? walk.one() : frame.num(walk.extents[m.back()])};
  }
  Part allColumns() {
    return {frame.i64(0), frame.num(walk.extents[walk.c.n.back()])};
  }

  Frame &frame;
  Walk walk;
  Panels panels;
  Tiles tiles;
  ContractionAttr plan;
  Operands operands;
  /// The arrays of b's packed array, and the iterators of its regions.
  llvm::ArrayRef<Storage> packedB;
  llvm::ArrayRef<unsigned> regions;
};

} // namespace

/// The part of `all` for the batch and outer n at hand.
Value StageEmitter::region(const Storage &all) {
  Num offset = frame.i64(0);
  for (auto [i, iterator] : llvm::enumerate(regions))
    offset = offset + frame.num(walk.at[iterator]) * frame.num(all.strides[i]);
  return walk.pointer(all.pointer, offset);
}

/// The rows `m` by one block of columns, whose b is ready.
void StageEmitter::emitBlocks(Part m, Num jc, Num columns) {
  Contraction &c = walk.c;
  auto outer = llvm::ArrayRef(c.m).drop_back(c.m.empty() ? 0 : 1);
  std::optional<unsigned> row;
  if (!c.m.empty())
    row = c.m.back();
  walk.forEach(outer, [&] {
    walk.forBlocks(m.size, plan.getRowBlock(), [&](Num block, Num rows) {
      Num ic = m.from + block;
      if (plan.packsA())
        panels.packA(operands.aPanel, ic, rows);
      else
        operands.a = panels.inPlace(*elementsOf(c, c.a), row);
      tiles.compute(operands, jc, columns, ic, rows);
    });
  });
}

void StageEmitter::emit(Part m, Part n) {
  Contraction &c = walk.c;
  walk.forEach(c.batch, [&] {
    walk.forEach(llvm::ArrayRef(c.n).drop_back(), [&] {
      if (!packedB.empty()) {
        operands.constant = region(packedB[0]);
        operands.constantDepth = walk.panelDepth();
        if (packedB.size() > 1)
          operands.columnSums = region(packedB[1]);
      }
      walk.forBlocks(
          n.size, plan.getColumnBlock(), [&](Num block, Num columns) {
            Num jc = n.from + block;
            walk.forDepth(plan.getDepthBlock(), [&] {
              if (plan.packsB())
                panels.packB(operands.bPanel, jc, columns);
              else if (!operands.constant)
                operands.b = panels.inPlace(*vectorsOfB(c), c.n.back());
              emitBlocks(m, jc, columns);
            });
          });
    });
  });
}

void StageEmitter::run(Part part, Block &stack) {
  walk.stack = &stack;
  if (plan.getSplit() == Split::M)
    emit(part, allColumns());
  else
    emit(allRows(), part);
}

//===----------------------------------------------------------------------===//
// Tasks
//===----------------------------------------------------------------------===//

void CpuForm::emitTask(ContractionStage &stage, Value task, Num from, Num size,
                       Block *block) {
  auto panel = [&](unsigned slot) {
    return arrayOf(frame, placed[slot], task).pointer;
  };
  Operands operands;
  std::optional<Storage> partial;
  if (stage.plan.packsA())
    operands.aPanel = panel(stage.aSlot);
  if (stage.plan.packsB())
    operands.bPanel = panel(stage.bSlot);
  if (stage.columnSumsSlot)
    operands.columnSums = panel(*stage.columnSumsSlot);
  if (stage.sumsSlot)
    operands.sums = panel(*stage.sumsSlot);
  if (stage.partialSlot) {
    partial = placed[*stage.partialSlot];
    if (stage.plan.getSplit() == Split::N)
      partial = arrayOf(frame, *partial, task);
  }
  llvm::SmallVector<Storage> packedB;
  if (stage.constant) {
    BlockArgument array = constantOf(stage.contraction);
    packedB = stage.constant->arrays.place(frame, frame.tensors[array].pointer);
  }
  StageEmitter emitter(frame, stage, operands, partial, packedB);
  if (task)
    emitter.run({from, size}, *block);
  else
    emitter.run();
}

void CpuForm::emitContraction(ContractionStage &stage) {
  const Contraction &c = stage.contraction;
  ContractionAttr plan = stage.plan;
  if (plan.getSplit() == Split::None)
    return emitTask(stage, Value(), Num(), Num(), nullptr);
  // Whole tiles.
  kernel::ReduceOp reduce = c.reduce;
  auto op = cast<StructuredOpInterface>(reduce.getOperation());
  llvm::SmallVector<Value> extents = frame.extents(op);
  bool isM = plan.getSplit() == Split::M;
  Num whole = frame.num(extents[isM ? c.m.back() : c.n.back()]);
  int64_t tile = isM ? plan.getRows() : plan.getColumns();
  forParts(frame, loops::quotient(whole + (tile - 1), tile), extents,
           plan.getGrain(), [&](Value task, Num from, Num to, Block &block) {
             Num first = loops::min(from * tile, whole);
             emitTask(stage, task, first, loops::min(to * tile, whole) - first,
                      &block);
           });
}
