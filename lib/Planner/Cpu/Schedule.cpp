//===- Schedule.cpp - plans as schedule text, and back --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   schedule linear on "x86-64-v4" {
//     y: tile(m = 8, n = 48), block(m = 96, n = 768), pack = ab, fuse(t)
//   }
//
// Clauses stand with the statement of their sum and name its axes; `product = 2`
// in front of some says that they are for the second sum of the statement. What is not
// said stays as the planner chose, so do the variants for few rows and for packed
// arrays. `p: stream(i = 128, j = 512)` streams the softmax of
// p in such blocks, `p: stream = none` stores it. Every value is checked against the kernel and
// the machine, and `fuse` is an obligation: a plan that does not fuse is refused.
//
//===----------------------------------------------------------------------===//

#include "Schedule.h"
#include "ChooseStream.h"
#include "CostModel.h"
#include "Stages.h"
#include "facet/Dialect/Kernel/IR/Operations.h"
#include "facet/Machine/Machine.h"

#include "llvm/ADT/StringExtras.h"

using namespace facet;
using namespace facet::cpu;
using namespace mlir;
using kernel::ScheduleClause;
using kernel::ScheduleEntry;
using kernel::ScheduleValue;
using kernel::StructuredOpInterface;

namespace {

/// A block larger than this is all of any axis that a cache could hold.
constexpr int64_t largestBlock = 1 << 24;

/// The axes of a contraction as the text names them; m is absent for one row.
struct Axes {
  std::string m, n, k; // of k the outermost
  explicit Axes(const Contraction &contraction) {
    kernel::ReduceOp reduce = contraction.reduce;
    auto op = cast<StructuredOpInterface>(reduce.getOperation());
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
  ContractionAttr get(MLIRContext *context) const {
    return ContractionAttr::get(context, rows, vectors, lanes, rowBlock,
                                columnBlock, pack, dot, depthBlock, split,
                                split == Split::None ? 0 : grain, constant,
                                prefetch);
  }
};

/// The same of a stream: its rows, its keys and the columns of its values.
struct StreamAxes {
  std::string row, key, column;
  explicit StreamAxes(const Stream &stream) {
    kernel::SoftmaxOp softmax = stream.softmax;
    kernel::ReduceOp values = stream.values.reduce;
    auto op = cast<StructuredOpInterface>(softmax.getOperation());
    row = op.getIteratorName(stream.row).str();
    key = op.getIteratorName(stream.key).str();
    column = cast<StructuredOpInterface>(values.getOperation())
                 .getIteratorName(stream.values.n.back())
                 .str();
  }
};

struct StreamChoices {
  int64_t rows, keyVectors, valueVectors, lanes, rowBlock, keyBlock, grain;
  Dot keyDot, valueDot;
  explicit StreamChoices(StreamAttr plan)
      : rows(plan.getRows()), keyVectors(plan.getKeyVectors()),
        valueVectors(plan.getValueVectors()), lanes(plan.getLanes()),
        rowBlock(plan.getRowBlock()), keyBlock(plan.getKeyBlock()),
        grain(plan.getGrain()), keyDot(plan.getKeyDot()),
        valueDot(plan.getValueDot()) {}
  StreamAttr get(MLIRContext *context) const {
    return StreamAttr::get(context, rows, keyVectors, valueVectors, lanes,
                           rowBlock, keyBlock, keyDot, valueDot, grain);
  }
};

class Reader {
public:
  Reader(PlanAttr plan, kernel::FuncOp kernel, const Machine &machine,
         Diagnostics &diagnostics)
      : plan(plan), kernel(kernel), machine(machine), diagnostics(diagnostics),
        stages(kernel), current(plan.getGeneral().getStages()) {}

  FailureOr<PlanAttr> read(llvm::ArrayRef<ScheduleEntry> entries);

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

} // namespace

static std::string listed(llvm::ArrayRef<std::string> words) {
  return llvm::join(words.drop_back(), ", ") +
         (words.size() > 1 ? " and " : "") + words.back();
}

llvm::SmallVector<unsigned> Reader::sumsOf(llvm::StringRef statement) {
  llvm::SmallVector<unsigned> result;
  for (auto [i, stage] : llvm::enumerate(current))
    if (stage.getForm() == Form::Contraction &&
        kernel::statementOf(stages.op(stage.getOps().front())) == statement)
      result.push_back(i);
  return result;
}

bool Reader::forAxes(const ScheduleClause &clause,
                     llvm::ArrayRef<std::string> axes,
                     llvm::function_ref<void(unsigned, int64_t)> body) {
  llvm::SmallVector<std::string> known;
  for (const std::string &axis : axes)
    if (!axis.empty())
      known.push_back("'" + axis + "'");
  unsigned before = diagnostics.errorCount();
  if (clause.arguments.empty())
    error(clause, "'" + clause.name + "' says nothing; write '" + clause.name +
                      "(" + axes[1] + " = …)'");
  llvm::SmallVector<llvm::StringRef> seen;
  for (const auto &[axis, value] : clause.arguments) {
    if (axis.word.empty() || !value || !value->word.empty()) {
      error(clause, "'" + clause.name + "' takes axes with numbers: '" +
                        clause.name + "(" + axes[1] + " = …)'");
      return false;
    }
    const auto *found = llvm::find(axes, axis.word);
    if (found == axes.end()) {
      error(clause, "'" + clause.name + "' cuts along " + listed(known) +
                        "; there is no '" + axis.word + "' among them");
      continue;
    }
    if (llvm::is_contained(seen, axis.word)) {
      error(clause, "'" + axis.word + "' is given twice");
      continue;
    }
    seen.push_back(axis.word);
    if (value->number < 1 || value->number > largestBlock) {
      error(clause, llvm::Twine(value->number) + " along '" + axis.word +
                        "' is out of range; 1 to " + llvm::Twine(largestBlock) +
                        " is allowed");
      continue;
    }
    body(found - axes.begin(), value->number);
  }
  return diagnostics.errorCount() == before;
}

void Reader::readTile(const ScheduleClause &clause,
                      const Contraction &contraction, Choices &choices) {
  int64_t rowTiles = choices.rowBlock / choices.rows;
  int64_t columnTiles = choices.columnBlock / (choices.vectors * choices.lanes);
  Choices wanted = choices;
  bool good = true;
  Axes axes(contraction);
  good &= forAxes(clause, {axes.m, axes.n}, [&](unsigned axis, int64_t value) {
    if (axis == 0) {
      wanted.rows = value;
    } else if (value % choices.lanes != 0) {
      error(clause, llvm::Twine(value) + " columns are no whole vectors of " +
                        llvm::Twine(choices.lanes) + " elements");
      good = false;
    } else {
      wanted.vectors = value / choices.lanes;
    }
  });
  int64_t registers = wanted.rows * wanted.vectors + wanted.vectors + 1;
  if (good && registers > machine.cpu.vectorRegisters) {
    error(clause, "a tile of " + llvm::Twine(wanted.rows) + " rows by " +
                      llvm::Twine(wanted.vectors) + " vectors needs " +
                      llvm::Twine(registers) + " registers; " + machine.name +
                      " has " + llvm::Twine(machine.cpu.vectorRegisters));
    good = false;
  }
  if (!good)
    return;
  // Blocks keep their number of tiles until they are given themselves.
  wanted.rowBlock = rowTiles * wanted.rows;
  wanted.columnBlock = columnTiles * wanted.vectors * wanted.lanes;
  choices = wanted;
}

void Reader::readBlock(const ScheduleClause &clause,
                       const Contraction &contraction, Choices &choices) {
  Axes axes(contraction);
  int64_t units[] = {choices.rows, choices.vectors * choices.lanes,
                     MicroKernelOp::groupSize(choices.dot)};
  int64_t *blocks[] = {&choices.rowBlock, &choices.columnBlock,
                       &choices.depthBlock};
  static constexpr const char *words[] = {"rows", "columns", "steps"};
  forAxes(clause, {axes.m, axes.n, axes.k}, [&](unsigned axis, int64_t value) {
    if (value % units[axis] != 0)
      return error(clause, "a block of " + llvm::Twine(value) + " " +
                               words[axis] + " is no whole number of " +
                               (axis == 2 ? "groups of " : "tiles of ") +
                               llvm::Twine(units[axis]));
    *blocks[axis] = value;
  });
}

void Reader::readPack(const ScheduleClause &clause,
                      const Contraction &contraction, Choices &choices) {
  std::optional<Pack> pack =
      clause.value ? symbolizePack(clause.value->word) : std::nullopt;
  if (!pack)
    return error(clause, "'pack' is one of none, a, b and ab");
  uint32_t missing = 0;
  Problem problem(contraction, machine, choices.dot);
  if (!problem.aInPlace)
    missing |= uint32_t(Pack::A);
  if (!problem.bInPlace)
    missing |= uint32_t(Pack::B);
  missing &= ~uint32_t(*pack);
  if (missing && problem.group > 1)
    return error(clause, "the " + stringifyDot(choices.dot) +
                             " dot product takes " +
                             llvm::Twine(problem.group) +
                             " neighbours in k at a time; a and b must be "
                             "packed");
  if (missing)
    return error(clause,
                 (missing & uint32_t(Pack::A))
                     ? "a is no element of memory in the type of the sums; it "
                       "must be packed"
                     : "b is not read in rows of the type of the sums; it must "
                       "be packed");
  choices.pack = *pack;
}

/// `split = n, grain = 2000000`: the axis by its own name, or none.
void Reader::readTasks(const ScheduleClause &clause,
                       const Contraction &contraction, Choices &choices) {
  Axes axes(contraction);
  if (clause.name == "grain") {
    if (!clause.value || !clause.value->word.empty() ||
        clause.value->number < 1)
      return error(clause, "'grain' is a number of multiply-adds, 1 or more");
    choices.grain = clause.value->number;
    return;
  }
  std::string word = clause.value ? clause.value->word : "";
  if (word == "none")
    choices.split = Split::None;
  else if (!word.empty() && (word == axes.m || word == axes.n))
    choices.split = word == axes.n ? Split::N : Split::M;
  else
    return error(clause, "'split' is " +
                             (axes.m.empty() ? "" : "'" + axes.m + "', ") +
                             "'" + axes.n + "' or none");
  if (choices.grain == 0)
    choices.grain = 1;
}

void Reader::readChoices(const ScheduleClause &clause, StageAttr &stage) {
  std::optional<Contraction> contraction =
      stages.contractionOf(stages.op(stage.getOps().front()));
  Choices choices(stage.getContraction());
  if (clause.name == "tile")
    readTile(clause, *contraction, choices);
  else if (clause.name == "block")
    readBlock(clause, *contraction, choices);
  else if (clause.name == "pack")
    readPack(clause, *contraction, choices);
  else
    readTasks(clause, *contraction, choices);
  stage = StageAttr::get(plan.getContext(), stage.getForm(), stage.getOps(),
                         choices.get(plan.getContext()));
}

/// `y: fuse(t)`: the sum that is t must be in the stage of y.
void Reader::readFuse(const ScheduleClause &clause, llvm::StringRef statement) {
  if (clause.arguments.empty())
    error(clause, "'fuse' names the statements that join '" + statement + "'");
  for (const auto &[wanted, value] : clause.arguments) {
    if (wanted.word.empty() || value) {
      error(clause, "'fuse' takes names of statements");
      continue;
    }
    bool isKnown = false, isFused = false;
    std::string reason = "it is no sum of products that is computed in tiles";
    for (StageAttr stage : current) {
      if (stage.getForm() == Form::Stream) {
        auto has = [&](llvm::StringRef name) {
          return llvm::any_of(stage.getOps(), [&](int64_t number) {
            return kernel::statementOf(stages.op(number)) == name;
          });
        };
        isKnown |= has(wanted.word);
        isFused |= has(wanted.word) && has(statement);
        continue;
      }
      StructuredOpInterface op = stages.op(stage.getOps().front());
      isKnown |= kernel::statementOf(op) == wanted.word;
      if (op.getName() != std::optional<StringRef>(wanted.word))
        continue;
      if (stage.getOps().size() == 2 &&
          kernel::statementOf(stages.op(stage.getOps().back())) == statement) {
        isFused = true;
      } else if (stage.getForm() == Form::Contraction) {
        llvm::DenseSet<Operation *> joined;
        if (stages.epilogueOf(cast<kernel::ReduceOp>(*op), joined, reason))
          reason = "it is computed inside another statement, or stored by this "
                   "schedule";
      }
    }
    if (!isKnown)
      error(clause, "no statement '" + wanted.word + "' is computed here");
    else if (!isFused)
      error(clause, "'" + wanted.word + "' cannot be computed inside '" +
                        statement + "': " + reason);
  }
}

/// `t: store()`: the sums of t are stored, whatever could be computed on them.
void Reader::readStore(const ScheduleClause &clause, unsigned number) {
  if (clause.value || !clause.arguments.empty())
    return error(clause, "'store' takes nothing: write 'store()'");
  StageAttr stage = current[number];
  if (stage.getOps().size() < 2)
    return;
  StructuredOpInterface map = stages.op(stage.getOps().back());
  current[number] =
      StageAttr::get(plan.getContext(), stage.getForm(),
                     stage.getOps().take_front(), stage.getContraction());
  current.push_back(StageAttr::get(plan.getContext(), stages.formOf(map),
                                   stage.getOps().back(), {}));
}

kernel::SoftmaxOp Reader::softmaxOf(llvm::StringRef statement) {
  for (StructuredOpInterface op : stages.live())
    if (auto softmax = dyn_cast<kernel::SoftmaxOp>(*op))
      if (kernel::statementOf(op) == statement)
        return softmax;
  return {};
}

std::optional<unsigned> Reader::streamOf(llvm::StringRef statement,
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
void Reader::chooseStreams(llvm::ArrayRef<ScheduleEntry> entries) {
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
void Reader::readStream(const ScheduleClause &clause, unsigned number) {
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

void Reader::readStreamTile(const ScheduleClause &clause,
                            const StreamAxes &axes, StreamChoices &choices) {
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

void Reader::readStreamBlock(const ScheduleClause &clause,
                             const StreamAxes &axes, StreamChoices &choices) {
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

void Reader::readEntry(const ScheduleEntry &entry) {
  llvm::SmallVector<unsigned> sums = sumsOf(entry.statement);
  std::optional<unsigned> stream = streamOf(entry.statement, true);
  std::optional<unsigned> only; // of `sums`
  for (const ScheduleClause &clause : entry.clauses) {
    if (clause.name == "fuse") {
      readFuse(clause, entry.statement);
      continue;
    }
    if (!llvm::is_contained({"tile", "block", "grain", "pack", "product",
                             "split", "store", "stream"},
                            clause.name)) {
      error(clause, "target '" + plan.getMachine() + "' knows no clause '" +
                        clause.name +
                        "'; it knows block, fuse, grain, pack, product, split, "
                        "store, stream and tile");
      continue;
    }
    bool isOfStream =
        llvm::is_contained({"tile", "stream", "split", "grain"}, clause.name);
    if (isOfStream && stream && !only) {
      readStream(clause, *stream);
      continue;
    }
    if (clause.name == "stream")
      continue; // none
    if (sums.empty() && streamOf(entry.statement, false)) {
      error(clause, "'" + entry.statement +
                        "' is streamed; 'stream = none' with its softmax "
                        "stores it");
      continue;
    }
    if (sums.empty()) {
      error(clause, "'" + entry.statement + "' has no sum of products; '" +
                        clause.name + "' is for those");
      continue;
    }
    if (clause.name == "product") {
      int64_t number = clause.value ? clause.value->number : 0;
      if (!clause.value || number < 1 || number > int64_t(sums.size()))
        error(clause, "'" + entry.statement + "' has " +
                          llvm::Twine(sums.size()) +
                          (sums.size() == 1 ? " sum" : " sums") +
                          " of products; 'product = 1' is the first");
      else
        only = number - 1;
      continue;
    }
    for (auto [i, stage] : llvm::enumerate(sums)) {
      if (only && *only != i)
        continue;
      if (clause.name == "store")
        readStore(clause, stage);
      else
        readChoices(clause, current[stage]);
    }
  }
}

FailureOr<PlanAttr> Reader::read(llvm::ArrayRef<ScheduleEntry> entries) {
  unsigned before = diagnostics.errorCount();
  chooseStreams(entries);
  for (const ScheduleEntry &entry : entries)
    readEntry(entry);
  if (diagnostics.errorCount() != before)
    return failure();
  llvm::sort(current, [](StageAttr a, StageAttr b) {
    return a.getOps().front() < b.getOps().front();
  });
  MLIRContext *context = plan.getContext();
  SmallVector<VariantAttr> variants(plan.getVariants());
  for (VariantAttr &variant : variants)
    if (variant == plan.getGeneral())
      variant = VariantAttr::get(context, current);
  return PlanAttr::get(context, plan.getMachine(), variants, plan.getLayouts());
}

FailureOr<PlanAttr> cpu::applySchedule(PlanAttr plan, kernel::FuncOp kernel,
                                       const Machine &machine,
                                       llvm::ArrayRef<ScheduleEntry> entries,
                                       Diagnostics &diagnostics) {
  return Reader(plan, kernel, machine, diagnostics).read(entries);
}

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

/// What is said of a softmax that could be streamed: its blocks, or none.
static void printStream(const Stages &stages, kernel::SoftmaxOp softmax,
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

static void printChoices(const Contraction &contraction, ContractionAttr plan,
                         llvm::SmallVectorImpl<std::string> &clauses) {
  Axes axes(contraction);
  auto add = [&](llvm::StringRef word, int64_t m, int64_t n, int64_t k) {
    std::string text = (word + "(").str();
    if (!axes.m
             .empty()) // without it there is one row, and nothing to say of it
      text += axes.m + " = " + std::to_string(m) + ", ";
    text += axes.n + " = " + std::to_string(n);
    if (k)
      text += ", " + axes.k + " = " + std::to_string(k);
    clauses.push_back(text + ")");
  };
  add("tile", plan.getRows(), plan.getColumns(), 0);
  add("block", plan.getRowBlock(), plan.getColumnBlock(), plan.getDepthBlock());
  clauses.push_back(("pack = " + stringifyPack(plan.getPack())).str());
  clauses.push_back("split = " + (plan.getSplit() == Split::None ? "none"
                                  : plan.getSplit() == Split::M  ? axes.m
                                                                 : axes.n));
  if (plan.getGrain())
    clauses.push_back("grain = " + std::to_string(plan.getGrain()));
}

void cpu::printSchedule(PlanAttr plan, kernel::FuncOp kernel,
                        llvm::raw_ostream &os) {
  Stages stages(kernel);
  VariantAttr variant = plan.getGeneral();
  llvm::DenseSet<Operation *> joined = joinedMaps(stages, variant);
  llvm::MapVector<llvm::StringRef, llvm::SmallVector<StageAttr>> sums;
  llvm::MapVector<llvm::StringRef, llvm::SmallVector<std::string>> clauses;
  for (StageAttr stage : variant.getStages())
    if (stage.getForm() == Form::Contraction)
      sums[kernel::statementOf(stages.op(stage.getOps().front()))].push_back(
          stage);
  for (StructuredOpInterface op : stages.live())
    if (auto softmax = dyn_cast<kernel::SoftmaxOp>(*op)) {
      llvm::SmallVector<std::string> said;
      printStream(stages, softmax, variant, said);
      if (!said.empty())
        clauses[kernel::statementOf(op)] = said;
    }
  for (auto &[statement, list] : sums)
    for (auto [i, stage] : llvm::enumerate(list)) {
      StructuredOpInterface op = stages.op(stage.getOps().front());
      if (list.size() > 1)
        clauses[statement].push_back("product = " + std::to_string(i + 1));
      printChoices(*stages.contractionOf(op), stage.getContraction(),
                   clauses[statement]);
      std::string reason;
      if (stage.getOps().size() == 1) {
        if (stages.epilogueOf(cast<kernel::ReduceOp>(*op), joined, reason))
          clauses[statement].push_back("store()");
        continue;
      }
      llvm::StringRef user =
          kernel::statementOf(stages.op(stage.getOps().back()));
      if (user != statement)
        clauses[user].push_back(("fuse(" + statement + ")").str());
    }
  os << "schedule " << kernel.getSymName() << " on \"" << plan.getMachine()
     << "\" {\n";
  for (auto &[statement, list] : clauses)
    os << "  " << statement << ": " << llvm::join(list, ", ") << "\n";
  os << "}\n";
}
