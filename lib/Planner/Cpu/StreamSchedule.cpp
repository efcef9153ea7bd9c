//===- StreamSchedule.cpp - a softmax in schedule text, and back ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   schedule attention on "x86-64-v4" {
//     p: tile(i = 6, j = 64, d = 64), stream(i = 126, j = 512), split = i
//   }
//
// The clauses stand with the statement of the softmax, and speak of its rows, its keys and
// the columns of the values. `stream = none` stores the weights: then its sums have
// clauses of their own, which is why that is settled first.
//
//===----------------------------------------------------------------------===//

#include "ChooseStream.h"
#include "ScheduleReader.h"

using namespace facet;
using namespace facet::cpu;
using namespace mlir;
using kernel::StructuredOpInterface;

kernel::SoftmaxOp ScheduleReader::softmaxOf(llvm::StringRef statement) {
  for (StructuredOpInterface op : stages.live())
    if (auto softmax = dyn_cast<kernel::SoftmaxOp>(*op))
      if (kernel::statementOf(op) == statement)
        return softmax;
  return {};
}

std::optional<unsigned> ScheduleReader::streamOf(llvm::StringRef statement,
                                                 bool ofSoftmax) {
  for (auto [i, stage] : llvm::enumerate(current))
    if (stage.getForm() == Form::Stream)
      for (int64_t number : stage.getOps())
        if (kernel::statementOf(stages.op(number)) == statement &&
            (!ofSoftmax || isa<kernel::SoftmaxOp>(*stages.op(number))))
          return i;
  return std::nullopt;
}

/// Which softmaxes are streamed is settled first: it says what other stages there are.
void ScheduleReader::chooseStreams(llvm::ArrayRef<ScheduleEntry> entries) {
  llvm::DenseMap<Operation *, bool> streamed;
  for (const ScheduleEntry &entry : entries)
    for (const ScheduleClause &clause : entry.clauses) {
      if (clause.name != "stream")
        continue;
      kernel::SoftmaxOp softmax = softmaxOf(entry.statement);
      if (!softmax) {
        error(clause, "'" + entry.statement +
                          "' has no softmax; 'stream' is for those");
        continue;
      }
      bool isNone = clause.value && clause.value->word == "none";
      if (clause.value && !isNone) {
        error(clause, "'stream' is none, or takes blocks: 'stream(" +
                          stages.op(stages.numberOf(softmax))
                              .getIteratorName(softmax.getNumParallel()) +
                          " = …)'");
        continue;
      }
      std::string reason;
      if (!isNone && !stages.streamOf(softmax, reason)) {
        error(clause,
              "'" + entry.statement + "' cannot be streamed: " + reason);
        continue;
      }
      streamed[softmax] = !isNone;
    }
  if (streamed.empty())
    return;
  plan = planKernel(kernel, machine, streamed);
  current = llvm::to_vector(plan.getGeneral().getStages());
}

/// `tile(i = 6, j = 64, n = 64)`, `stream(i = 126, j = 512)`, `split = i`,
/// `grain = 2000000` of a stream.
void ScheduleReader::readStream(const ScheduleClause &clause, unsigned number) {
  StageAttr stage = current[number];
  StreamChoices choices(stage.getStream());
  kernel::SoftmaxOp softmax;
  for (int64_t op : stage.getOps())
    if (auto found = dyn_cast<kernel::SoftmaxOp>(*stages.op(op)))
      softmax = found;
  std::string reason;
  StreamAxes axes(*stages.streamOf(softmax, reason));
  if (clause.name == "tile")
    readStreamTile(clause, axes, choices);
  else if (clause.name == "stream")
    readStreamBlock(clause, axes, choices);
  else if (clause.name == "grain") {
    if (!clause.value || !clause.value->word.empty() ||
        clause.value->number < 1)
      return error(clause, "'grain' is a number of multiply-adds, 1 or more");
    choices.grain = clause.value->number;
  } else {
    std::string word = clause.value ? clause.value->word : "";
    if (word != "none" && word != axes.row)
      return error(clause, "'split' is '" + axes.row + "' or none");
    choices.grain = word == "none" ? 0 : std::max<int64_t>(choices.grain, 1);
  }
  current[number] =
      StageAttr::get(plan.getContext(), Form::Stream, stage.getOps(),
                     ContractionAttr(), choices.get(plan.getContext()));
}

void ScheduleReader::readStreamTile(const ScheduleClause &clause,
                                    const StreamAxes &axes,
                                    StreamChoices &choices) {
  StreamChoices wanted = choices;
  bool good = true;
  good &=
      forAxes(clause, {axes.row, axes.key, axes.column},
              [&](unsigned axis, int64_t value) {
                if (axis == 0) {
                  wanted.rows = value;
                } else if (value % choices.lanes != 0) {
                  error(clause, llvm::Twine(value) +
                                    " columns are no whole vectors of " +
                                    llvm::Twine(choices.lanes) + " elements");
                  good = false;
                } else {
                  (axis == 1 ? wanted.keyVectors : wanted.valueVectors) =
                      value / choices.lanes;
                }
              });
  int64_t vectors = std::max(wanted.keyVectors, wanted.valueVectors);
  int64_t registers = wanted.rows * vectors + vectors + 1;
  if (good && registers > machine.cpu.vectorRegisters) {
    error(clause, "a tile of " + llvm::Twine(wanted.rows) + " rows by " +
                      llvm::Twine(vectors) + " vectors needs " +
                      llvm::Twine(registers) + " registers; " + machine.name +
                      " has " + llvm::Twine(machine.cpu.vectorRegisters));
    good = false;
  }
  if (good && wanted.rows > wanted.lanes) {
    error(clause, "a tile of a stream has no more rows than a vector has "
                  "elements, " +
                      llvm::Twine(wanted.lanes) + "; these are " +
                      llvm::Twine(wanted.rows));
    good = false;
  }
  if (!good)
    return;
  // Blocks stay about as large until they are given themselves.
  auto whole = [](int64_t block, int64_t unit) {
    return std::max<int64_t>(block / unit, 1) * unit;
  };
  wanted.rowBlock = whole(wanted.rowBlock, wanted.rows);
  wanted.keyBlock = whole(wanted.keyBlock, wanted.keyVectors * wanted.lanes);
  choices = wanted;
}

void ScheduleReader::readStreamBlock(const ScheduleClause &clause,
                                     const StreamAxes &axes,
                                     StreamChoices &choices) {
  int64_t units[] = {choices.rows, choices.keyVectors * choices.lanes};
  int64_t *blocks[] = {&choices.rowBlock, &choices.keyBlock};
  static constexpr const char *words[] = {"rows", "keys"};
  forAxes(clause, {axes.row, axes.key}, [&](unsigned axis, int64_t value) {
    if (value % units[axis] != 0)
      return error(clause, "a block of " + llvm::Twine(value) + " " +
                               words[axis] +
                               " is no whole number of tiles of " +
                               llvm::Twine(units[axis]));
    *blocks[axis] = value;
  });
}

void cpu::printStream(const Stages &stages, kernel::SoftmaxOp softmax,
                      VariantAttr variant,
                      llvm::SmallVectorImpl<std::string> &clauses) {
  std::string reason;
  std::optional<Stream> stream = stages.streamOf(softmax, reason);
  if (!stream)
    return;
  StreamAxes axes(*stream);
  for (StageAttr stage : variant.getStages()) {
    if (stage.getForm() != Form::Stream ||
        !llvm::is_contained(stage.getOps(), stages.numberOf(softmax)))
      continue;
    StreamAttr plan = stage.getStream();
    auto size = [](const std::string &axis, int64_t value) {
      return axis + " = " + std::to_string(value);
    };
    clauses.push_back(
        "tile(" + size(axes.row, plan.getRows()) + ", " +
        size(axes.key, plan.getKeys()) + ", " +
        size(axes.column, plan.getValueVectors() * plan.getLanes()) + ")");
    clauses.push_back("stream(" + size(axes.row, plan.getRowBlock()) + ", " +
                      size(axes.key, plan.getKeyBlock()) + ")");
    clauses.push_back("split = " + (plan.getGrain() ? axes.row : "none"));
    if (plan.getGrain())
      clauses.push_back("grain = " + std::to_string(plan.getGrain()));
    return;
  }
  if (streamingPays(*stream))
    clauses.push_back("stream = none");
}
