//===- Interleave.cpp - sequences of steps, side by side ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Software pipelining of a text that keeps its loops. Two sequences of five steps,
// the second one position later:
//
//   a0 | 3 x (a1+i, b0+i) | a4 b3 | b4        with kinds: first, middle x 3, last
//
// An engine that works in order finds something to do while another finishes the
// step before.
//
//===----------------------------------------------------------------------===//

#include "Interleave.h"

using namespace mlir;
using namespace facet;
using namespace facet::engine;

void engine::interleave(
    Lowering &lowering, ArrayRef<ArrayRef<StepRun>> sequences,
    ArrayRef<int64_t> lags,
    llvm::function_ref<void(ArrayRef<std::optional<Step>>)> body) {
  struct Cursor {
    ArrayRef<StepRun> runs;
    int64_t wait = 0, done = 0;
    /// Positions until it changes, or none left.
    std::optional<int64_t> same() const {
      if (runs.empty())
        return std::nullopt;
      return wait ? wait : runs.front().count - done;
    }
    void advance(int64_t positions) {
      if (wait) {
        wait -= positions;
      } else if (!runs.empty()) {
        done += positions;
        if (done == runs.front().count) {
          runs = runs.drop_front();
          done = 0;
        }
      }
    }
  };
  SmallVector<Cursor> cursors;
  for (auto [runs, lag] : llvm::zip_equal(sequences, lags))
    cursors.push_back({runs, lag});
  while (true) {
    std::optional<int64_t> positions;
    for (const Cursor &cursor : cursors)
      if (std::optional<int64_t> same = cursor.same())
        positions = positions ? std::min(*positions, *same) : *same;
    if (!positions)
      return;
    OpBuilder::InsertionGuard guard(lowering.builder);
    Value counter;
    if (*positions > 1) {
      auto loop =
          ForOp::create(lowering.builder, lowering.location, *positions);
      counter = loop.getCounter();
      lowering.builder.setInsertionPointToEnd(loop.getBody());
    }
    SmallVector<std::optional<Step>> steps;
    for (const Cursor &cursor : cursors) {
      steps.emplace_back();
      if (cursor.wait || cursor.runs.empty())
        continue;
      const StepRun &run = cursor.runs.front();
      Linear start = run.start + cursor.done * run.stride;
      if (counter)
        start.terms.push_back({counter, run.stride});
      steps.back() = Step{run.kind, start};
    }
    body(steps);
    for (Cursor &cursor : cursors)
      cursor.advance(*positions);
  }
}
