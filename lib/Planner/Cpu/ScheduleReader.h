//===- ScheduleReader.h - clauses of schedules, one after the other -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Schedule.cpp has the clauses of sums, StreamSchedule.cpp those of softmaxes.
//
//===----------------------------------------------------------------------===//

#ifndef FACET_LIB_PLANNER_CPU_SCHEDULEREADER_H
#define FACET_LIB_PLANNER_CPU_SCHEDULEREADER_H

#include "Schedule.h"
#include "Stages.h"

namespace facet::cpu {

using kernel::ScheduleClause;
using kernel::ScheduleEntry;

/// A block larger than this is all of any axis that a cache could hold.
constexpr int64_t largestBlock = 1 << 24;

/// The axes of a contraction as the text names them; m is absent for one row.
struct Axes {
  std::string m, n, k; // of k the outermost
  explicit Axes(const Contraction &contraction) {
    kernel::ReduceOp reduce = contraction.reduce;
    auto op = mlir::cast<kernel::StructuredOpInterface>(reduce.getOperation());
    if (!contraction.m.empty())
      m = op.getIteratorName(contraction.m.back()).str();
    n = op.getIteratorName(contraction.n.back()).str();
    k = op.getIteratorName(contraction.k.front()).str();
  }
};

/// The choices of a contraction, while they change.
struct Choices {
  int64_t rows, vectors, lanes, rowBlock, columnBlock, depthBlock;
  Pack pack;
  Dot dot;
  Split split;
  int64_t grain, prefetch;
  bool constant;
  explicit Choices(ContractionAttr plan)
      : rows(plan.getRows()), vectors(plan.getVectors()),
        lanes(plan.getLanes()), rowBlock(plan.getRowBlock()),
        columnBlock(plan.getColumnBlock()), depthBlock(plan.getDepthBlock()),
        pack(plan.getPack()), dot(plan.getDot()), split(plan.getSplit()),
        grain(plan.getGrain()), prefetch(plan.getPrefetch()),
        constant(plan.getConstant()) {}
  ContractionAttr get(mlir::MLIRContext *context) const {
    return ContractionAttr::get(context, rows, vectors, lanes, rowBlock,
                                columnBlock, pack, dot, depthBlock, split,
                                split == Split::None ? 0 : grain, constant,
                                prefetch);
  }
};

/// The axes of a stream: its rows, its keys and the columns of its values.
struct StreamAxes {
  std::string row, key, column;
  explicit StreamAxes(const Stream &stream) {
    kernel::SoftmaxOp softmax = stream.softmax;
    kernel::ReduceOp values = stream.values.reduce;
    auto op = mlir::cast<kernel::StructuredOpInterface>(softmax.getOperation());
    row = op.getIteratorName(stream.row).str();
    key = op.getIteratorName(stream.key).str();
    column = mlir::cast<kernel::StructuredOpInterface>(values.getOperation())
                 .getIteratorName(stream.values.n.back())
                 .str();
  }
};

/// The choices of a stream, while they change.
struct StreamChoices {
  int64_t rows, keyVectors, valueVectors, lanes, rowBlock, keyBlock, grain;
  Dot keyDot, valueDot;
  explicit StreamChoices(StreamAttr plan)
      : rows(plan.getRows()), keyVectors(plan.getKeyVectors()),
        valueVectors(plan.getValueVectors()), lanes(plan.getLanes()),
        rowBlock(plan.getRowBlock()), keyBlock(plan.getKeyBlock()),
        grain(plan.getGrain()), keyDot(plan.getKeyDot()),
        valueDot(plan.getValueDot()) {}
  StreamAttr get(mlir::MLIRContext *context) const {
    return StreamAttr::get(context, rows, keyVectors, valueVectors, lanes,
                           rowBlock, keyBlock, keyDot, valueDot, grain);
  }
};

/// Reads schedule blocks for one kernel and machine.
class ScheduleReader {
public:
  ScheduleReader(PlanAttr plan, kernel::FuncOp kernel, const Machine &machine,
                 Diagnostics &diagnostics)
      : plan(plan), kernel(kernel), machine(machine), diagnostics(diagnostics),
        stages(kernel), current(plan.getGeneral().getStages()) {}

  mlir::FailureOr<PlanAttr> read(llvm::ArrayRef<ScheduleEntry> entries);

private:
  void readEntry(const ScheduleEntry &entry);
  void readChoices(const ScheduleClause &clause, StageAttr &stage);
  void readTile(const ScheduleClause &clause, const Contraction &contraction,
                Choices &choices);
  void readBlock(const ScheduleClause &clause, const Contraction &contraction,
                 Choices &choices);
  void readPack(const ScheduleClause &clause, const Contraction &contraction,
                Choices &choices);
  void readTasks(const ScheduleClause &clause, const Contraction &contraction,
                 Choices &choices);
  void readFuse(const ScheduleClause &clause, llvm::StringRef statement);
  void readStore(const ScheduleClause &clause, unsigned stage);
  void chooseStreams(llvm::ArrayRef<ScheduleEntry> entries);
  void readStream(const ScheduleClause &clause, unsigned stage);
  void readStreamTile(const ScheduleClause &clause, const StreamAxes &axes,
                      StreamChoices &choices);
  void readStreamBlock(const ScheduleClause &clause, const StreamAxes &axes,
                       StreamChoices &choices);

  /// The softmax of `statement`; null without one.
  kernel::SoftmaxOp softmaxOf(llvm::StringRef statement);
  /// The stream that holds the softmax, or anything, of `statement`.
  std::optional<unsigned> streamOf(llvm::StringRef statement, bool ofSoftmax);

  /// The stages whose sum is of `statement`, in order.
  llvm::SmallVector<unsigned> sumsOf(llvm::StringRef statement);
  /// `NAME = number` arguments of a clause, each axis once; false with an error.
  bool forAxes(const ScheduleClause &clause, llvm::ArrayRef<std::string> axes,
               llvm::function_ref<void(unsigned axis, int64_t value)> body);
  void error(const ScheduleClause &clause, const llvm::Twine &message) {
    diagnostics.error(clause.place, message);
  }

  PlanAttr plan;
  kernel::FuncOp kernel;
  const Machine &machine;
  Diagnostics &diagnostics;
  Stages stages;
  llvm::SmallVector<StageAttr> current;
};

/// What is said of a softmax that could be streamed: its blocks, or none.
void printStream(const Stages &stages, kernel::SoftmaxOp softmax,
                 VariantAttr variant,
                 llvm::SmallVectorImpl<std::string> &clauses);

} // namespace facet::cpu

#endif // FACET_LIB_PLANNER_CPU_SCHEDULEREADER_H
