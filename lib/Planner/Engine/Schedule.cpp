//===- Schedule.cpp - plans as schedule text, and back --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   schedule linear on "trn2" {
//     y: stationary = a, order(b, a), stays = b, tile(m = 128, n = 512),
//        block(m = 512, n = 512, k = 512), slots(a = 12, b = 16, sums = 8, results = 4)
//   }
//
// Clauses stand with the statement of their sum. Its factors are a and b, in the order
// of the text; sizes are of its own axes. `product = 2` in front of some says that they
// are for the second sum of the statement. What is said narrows the planner's search,
// the rest it chooses to go with it; what leaves nothing to choose is refused.
//
//===----------------------------------------------------------------------===//

#include "Schedule.h"
#include "ChooseBlocks.h"
#include "VerifyPlan.h"
#include "facet/Dialect/Kernel/IR/Operations.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace facet;
using namespace facet::engine;
using kernel::ScheduleClause;
using kernel::ScheduleEntry;
using kernel::ScheduleValue;
using kernel::StructuredOpInterface;

/// Larger than any size that a program is made for.
static constexpr int64_t largest = int64_t(1) << 30;

static constexpr StringLiteral clauseNames[] = {
    "block", "evict",      "fuse",  "load", "order", "product",
    "slots", "stationary", "stays", "tile", "unroll"};

namespace {

/// The axes of a contraction as the text names them; empty where a factor has none.
struct Axes {
  BySide<std::string> of;
  std::string k;
  explicit Axes(const Problem &problem) {
    StructuredOpInterface op = problem.contraction.op();
    for (Side side : {Side::A, Side::B})
      if (std::optional<unsigned> i = problem.factor(side).iterator)
        of[side] = op.getIteratorName(*i).str();
    k = op.getIteratorName(problem.k).str();
  }
  std::vector<std::string> list(bool withK) const {
    std::vector<std::string> names = {of[Side::A], of[Side::B]};
    if (withK)
      names.push_back(k);
    return names;
  }
};

class Reader {
public:
  Reader(PlanAttr plan, kernel::FuncOp kernel, const Machine &machine,
         Diagnostics &diagnostics)
      : plan(plan), kernel(kernel), machine(machine), diagnostics(diagnostics),
        ops(numberedOps(kernel)), current(plan.getStages()) {}

  FailureOr<PlanAttr> read(ArrayRef<ScheduleEntry> entries);

private:
  void readEntry(const ScheduleEntry &entry);
  void readClause(const ScheduleClause &clause, const Problem &problem,
                  Wishes &wishes);
  void readSizes(const ScheduleClause &clause, const Problem &problem,
                 Wishes &wishes);
  void readSlots(const ScheduleClause &clause, Wishes &wishes);
  void readOrder(const ScheduleClause &clause, Wishes &wishes);
  void readLoad(const ScheduleClause &clause, Wishes &wishes);
  void readFuse(const ScheduleClause &clause, StringRef statement);
  /// The attention that a statement is part of.
  std::optional<Attention> attentionWith(StringRef statement);
  void readAttention(const ScheduleClause &clause, Attention &attention,
                     StringRef statement);
  /// `name = value` arguments, each name once; `body` gets its place in `names`.
  void
  forArguments(const ScheduleClause &clause, ArrayRef<std::string> names,
               llvm::function_ref<void(unsigned, const ScheduleValue &)> body);
  /// A number of at least 1, else an error.
  std::optional<int64_t> numberOf(const ScheduleClause &clause,
                                  const ScheduleValue &value,
                                  const Twine &what);
  std::optional<Side> sideOf(const ScheduleClause &clause, StringRef word);
  void error(const ScheduleClause &clause, const Twine &message) {
    diagnostics.error(clause.place, message);
  }

  PlanAttr plan;
  kernel::FuncOp kernel;
  const Machine &machine;
  Diagnostics &diagnostics;
  SmallVector<StructuredOpInterface> ops;
  SmallVector<StageAttr> current;
};

} // namespace

static std::string listed(ArrayRef<std::string> words) {
  SmallVector<std::string> quoted;
  for (const std::string &word : words)
    if (!word.empty())
      quoted.push_back("'" + word + "'");
  return llvm::join(ArrayRef(quoted).drop_back(), ", ") +
         (quoted.size() > 1 ? " and " : "") + quoted.back();
}

void Reader::forArguments(
    const ScheduleClause &clause, ArrayRef<std::string> names,
    llvm::function_ref<void(unsigned, const ScheduleValue &)> body) {
  if (clause.value || clause.arguments.empty())
    return error(clause, "'" + clause.name + "' takes " + listed(names) +
                             " with values: '" + clause.name + "(" +
                             names.back() + " = …)'");
  SmallVector<StringRef> seen;
  for (const auto &[name, value] : clause.arguments) {
    const auto *found =
        name.word.empty() ? names.end() : llvm::find(names, name.word);
    if (found == names.end()) {
      error(clause,
            "'" + clause.name + "' takes " + listed(names) + "; there is no '" +
                (name.word.empty() ? std::to_string(name.number) : name.word) +
                "' among them");
    } else if (!value) {
      error(clause, "'" + name.word + "' of '" + clause.name +
                        "' has no value: write '" + name.word + " = …'");
    } else if (llvm::is_contained(seen, name.word)) {
      error(clause, "'" + name.word + "' is given twice");
    } else {
      seen.push_back(name.word);
      body(unsigned(found - names.begin()), *value);
    }
  }
}

std::optional<int64_t> Reader::numberOf(const ScheduleClause &clause,
                                        const ScheduleValue &value,
                                        const Twine &what) {
  if (value.word.empty() && value.number >= 1 && value.number <= largest)
    return value.number;
  error(clause, what + " is a number from 1 to " + Twine(largest) + "; found " +
                    (value.word.empty() ? std::to_string(value.number)
                                        : "'" + value.word + "'"));
  return std::nullopt;
}

std::optional<Side> Reader::sideOf(const ScheduleClause &clause,
                                   StringRef word) {
  if (std::optional<Side> side = symbolizeSide(word))
    return side;
  error(clause, "'" + clause.name +
                    "' names a factor of the product, 'a' or 'b'; found '" +
                    word + "'");
  return std::nullopt;
}

/// `tile` and `block`: by the axes of the statement.
void Reader::readSizes(const ScheduleClause &clause, const Problem &problem,
                       Wishes &wishes) {
  bool isBlock = clause.name == "block";
  Axes axes(problem);
  forArguments(
      clause, axes.list(isBlock),
      [&](unsigned axis, const ScheduleValue &value) {
        std::string name = axes.list(isBlock)[axis];
        std::optional<int64_t> number =
            numberOf(clause, value, clause.name + " along '" + name + "'");
        if (!number)
          return;
        if (axis == 2) {
          int64_t rows = machine.tensor.rows;
          if (*number % rows != 0)
            return error(clause, "a block of " + Twine(*number) + " along '" +
                                     name +
                                     "' is no whole number of the array's " +
                                     Twine(rows) + " rows");
          wishes.depthBlock = number;
        } else {
          (isBlock ? wishes.block : wishes.tile)[Side(axis)] = number;
        }
      });
}

void Reader::readSlots(const ScheduleClause &clause, Wishes &wishes) {
  std::string names[] = {"a", "b", "sums", "results"};
  forArguments(clause, names, [&](unsigned which, const ScheduleValue &value) {
    std::optional<int64_t> number =
        numberOf(clause, value, "'" + names[which] + "'");
    if (!number)
      return;
    if (which < 2)
      wishes.slots[Side(which)] = number;
    else
      (which == 2 ? wishes.sumSlots : wishes.resultSlots) = number;
  });
}

/// `order(b, a)`: the outer loop first.
void Reader::readOrder(const ScheduleClause &clause, Wishes &wishes) {
  bool good = !clause.value && clause.arguments.size() == 2;
  for (const auto &[name, value] : clause.arguments)
    good &= !value && symbolizeSide(name.word).has_value();
  if (!good || clause.arguments[0].first.word == clause.arguments[1].first.word)
    return error(clause,
                 "'order' names the factor of the outer loop, then that "
                 "of the inner one: 'order(a, b)' or 'order(b, a)'");
  wishes.outer = symbolizeSide(clause.arguments[0].first.word);
}

void Reader::readLoad(const ScheduleClause &clause, Wishes &wishes) {
  std::string names[] = {"a", "b"};
  forArguments(clause, names, [&](unsigned side, const ScheduleValue &value) {
    std::optional<Load> load = symbolizeLoad(value.word);
    if (!load)
      return error(clause, "a factor comes by 'copy' or 'transpose'");
    wishes.load[Side(side)] = load;
  });
}

/// `o: fuse(s, p)`: s and p must be in the stage of o.
void Reader::readFuse(const ScheduleClause &clause, StringRef statement) {
  if (clause.value || clause.arguments.empty())
    return error(clause, "'fuse' names the statements that join '" +
                             Twine(statement) + "'");
  for (const auto &[wanted, value] : clause.arguments) {
    bool isKnown = false, isFused = false;
    for (StageAttr stage : current) {
      bool ends = kernel::statementOf(ops[stage.getOps().back()]) == statement;
      if (stage.getForm() == Form::Attention)
        ends = llvm::any_of(stage.getOps(), [&](int64_t member) {
          return kernel::statementOf(ops[member]) == statement;
        });
      for (int64_t member : stage.getOps()) {
        bool isWanted =
            ops[member].getName() == std::optional<StringRef>(wanted.word);
        isKnown |= isWanted;
        isFused |= isWanted && ends;
      }
    }
    if (wanted.word.empty() || value)
      error(clause, "'fuse' takes names of statements");
    else if (!isKnown)
      error(clause, "no statement '" + wanted.word + "' is computed here");
    else if (!isFused)
      error(clause, "'" + wanted.word + "' is not computed inside '" +
                        statement + "' but stored in HBM");
  }
}

std::optional<Attention> Reader::attentionWith(StringRef statement) {
  for (StageAttr stage : current)
    if (stage.getForm() == Form::Attention &&
        llvm::any_of(stage.getOps(), [&](int64_t member) {
          return kernel::statementOf(ops[member]) == statement;
        }))
      return attentionOf(stage, kernel);
  return std::nullopt;
}

/// The lowering has one way: what is asked for must be that.
void Reader::readAttention(const ScheduleClause &clause, Attention &attention,
                           StringRef statement) {
  if (clause.name == "fuse")
    return readFuse(clause, statement);
  auto nameOf = [&](StructuredOpInterface op, unsigned input) -> std::string {
    Value tensor = op.getInputs()[input];
    if (auto argument = dyn_cast<BlockArgument>(tensor))
      return kernel.getParam(argument.getArgNumber()).getName().str();
    return kernel::statementOf(tensor.getDefiningOp<StructuredOpInterface>())
        .str();
  };
  std::string queries = nameOf(attention.scores.op(), attention.queryInput);
  if (clause.name == "stationary") {
    if (!clause.value || clause.value->word != queries)
      error(clause, "the array holds '" + queries +
                        "' while the other factor of the scores passes");
    return;
  }
  auto op = cast<StructuredOpInterface>(attention.exponentials.getOperation());
  if (clause.name == "block") {
    int64_t rows =
        std::min(attention.extents[attention.rows], machine.tensor.columns);
    std::string names[] = {op.getIteratorName(attention.rows).str(),
                           op.getIteratorName(attention.keys()).str()};
    return forArguments(
        clause, names, [&](unsigned which, const ScheduleValue &value) {
          int64_t wide =
              std::min(widestTile(machine), machine.tensor.movingMax);
          bool fits = which == 0 ? value.number == rows
                                 : value.number == wide ||
                                       value.number == machine.tensor.rows;
          if (!fits)
            error(clause, "attention takes '" + names[which] +
                              "' in blocks of " +
                              std::to_string(which == 0 ? rows : wide) +
                              " on " + machine.name);
        });
  }
  if (clause.name == "buffers") {
    std::string names[] = {nameOf(attention.scores.op(), attention.keyInput),
                           nameOf(attention.values.op(), attention.valueInput)};
    int64_t held = headsHeld(attention, machine);
    return forArguments(
        clause, names, [&](unsigned which, const ScheduleValue &value) {
          if (value.number != held)
            error(clause, "attention holds " + std::to_string(held) + " of '" +
                              names[which] + "' here");
        });
  }
  error(clause, "'" + statement +
                    "' is part of an attention, which takes block, buffers, "
                    "fuse and stationary");
}

void Reader::readClause(const ScheduleClause &clause, const Problem &problem,
                        Wishes &wishes) {
  StringRef name = clause.name;
  if (name == "tile" || name == "block")
    return readSizes(clause, problem, wishes);
  if (name == "slots")
    return readSlots(clause, wishes);
  if (name == "order")
    return readOrder(clause, wishes);
  if (name == "load")
    return readLoad(clause, wishes);
  StringRef word;
  if (clause.value)
    word = clause.value->word;
  if (name == "unroll") {
    ScheduleValue none{"nothing", 0};
    wishes.unroll = numberOf(clause, clause.value.value_or(none), "'unroll'");
  } else if (name == "evict") {
    std::optional<QueueKind> queue = symbolizeQueueKind(word);
    if (queue != QueueKind::Vector && queue != QueueKind::Scalar)
      return error(clause, "'evict' is 'vector' or 'scalar'");
    wishes.evict = queue;
  } else if (name == "stays" && word == "none") {
    wishes.stays = false;
  } else if (std::optional<Side> side = sideOf(clause, word)) {
    if (name == "stationary") {
      wishes.stationary = side;
    } else {
      wishes.stays = true;
      if (wishes.outer && *wishes.outer != *side)
        return error(clause, "what stays belongs to the outer loop; 'order' "
                             "has the other factor there");
      wishes.outer = side;
    }
  }
}

void Reader::readEntry(const ScheduleEntry &entry) {
  if (std::optional<Attention> attention = attentionWith(entry.statement)) {
    for (const ScheduleClause &clause : entry.clauses)
      readAttention(clause, *attention, entry.statement);
    return;
  }
  SmallVector<unsigned> sums;
  for (auto [i, stage] : llvm::enumerate(current))
    if (stage.getForm() == Form::Contraction &&
        kernel::statementOf(ops[stage.getOps().front()]) == entry.statement)
      sums.push_back(i);
  std::vector<Problem> problems;
  for (unsigned i : sums)
    problems.push_back(*Problem::of(*contractionOf(current[i], kernel)));
  std::vector<Wishes> wishes(sums.size());
  unsigned before = diagnostics.errorCount();
  std::optional<unsigned> only; // of `sums`
  for (const ScheduleClause &clause : entry.clauses) {
    if (!llvm::is_contained(clauseNames, clause.name)) {
      error(clause, "target '" + plan.getMachine() + "' knows no clause '" +
                        clause.name + "'; it knows " +
                        llvm::join(ArrayRef(clauseNames).drop_back(), ", ") +
                        " and " + std::end(clauseNames)[-1]);
      continue;
    }
    if (clause.name == "fuse") {
      readFuse(clause, entry.statement);
      continue;
    }
    if (sums.empty()) {
      error(clause, "'" + entry.statement +
                        "' has no sum of products on the tensor engine; '" +
                        clause.name + "' is for those");
      continue;
    }
    if (clause.name == "product") {
      int64_t number = clause.value ? clause.value->number : 0;
      if (!clause.value || number < 1 || number > int64_t(sums.size()))
        error(clause, "'" + entry.statement + "' has " + Twine(sums.size()) +
                          (sums.size() == 1 ? " sum" : " sums") +
                          " of products; 'product = 1' is the first");
      else
        only = number - 1;
      continue;
    }
    for (unsigned i = 0; i < sums.size(); ++i)
      if (!only || *only == i)
        readClause(clause, problems[i], wishes[i]);
  }
  if (diagnostics.errorCount() != before)
    return;
  for (auto [i, stage] : llvm::enumerate(sums)) {
    std::string misfit = "nothing is left to choose";
    ContractionAttr chosen =
        chooseBlocks(problems[i], machine, wishes[i], &misfit);
    if (!chosen)
      diagnostics.error(entry.place, "this schedule of '" + entry.statement +
                                         "' cannot be: " + misfit);
    else
      current[stage] = StageAttr::get(plan.getContext(), Form::Contraction,
                                      current[stage].getOps(), chosen);
  }
}

FailureOr<PlanAttr> Reader::read(ArrayRef<ScheduleEntry> entries) {
  unsigned before = diagnostics.errorCount();
  for (const ScheduleEntry &entry : entries)
    readEntry(entry);
  if (diagnostics.errorCount() != before)
    return failure();
  return PlanAttr::get(plan.getContext(), plan.getMachine(), current);
}

FailureOr<PlanAttr> engine::applySchedule(PlanAttr plan, kernel::FuncOp kernel,
                                          const Machine &machine,
                                          ArrayRef<ScheduleEntry> entries,
                                          Diagnostics &diagnostics) {
  return Reader(plan, kernel, machine, diagnostics).read(entries);
}

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

static void printChoices(const Problem &problem, ContractionAttr plan,
                         SmallVectorImpl<std::string> &clauses) {
  Axes axes(problem);
  Choices choices(plan);
  auto word = [](Side side) { return stringifySide(side).str(); };
  auto number = [](int64_t value) { return std::to_string(value); };
  clauses.push_back("stationary = " + word(choices.stationary));
  clauses.push_back("order(" + word(choices.outer) + ", " +
                    word(otherSide(choices.outer)) + ")");
  clauses.push_back("stays = " +
                    (choices.stays ? word(choices.outer) : "none"));
  auto sizes = [&](StringRef clause, const BySide<int64_t> &of, int64_t k) {
    SmallVector<std::string> parts;
    for (Side side : {Side::A, Side::B})
      if (!axes.of[side].empty())
        parts.push_back(axes.of[side] + " = " + number(of[side]));
    if (k)
      parts.push_back(axes.k + " = " + number(k));
    clauses.push_back((clause + "(" + llvm::join(parts, ", ") + ")").str());
  };
  sizes("tile", choices.tile, 0);
  // What stays comes whole where nothing is said about parts and slots.
  sizes("block", choices.block, plan.getWhole() ? 0 : choices.depthBlock);
  clauses.push_back(
      "slots(" +
      (plan.getWhole() ? std::string()
                       : "a = " + number(choices.slots[Side::A]) +
                             ", b = " + number(choices.slots[Side::B]) + ", ") +
      "sums = " + number(choices.sumSlots) +
      ", results = " + number(choices.resultSlots) + ")");
  clauses.push_back(("load(a = " + stringifyLoad(choices.load[Side::A]) +
                     ", b = " + stringifyLoad(choices.load[Side::B]) + ")")
                        .str());
  clauses.push_back(("evict = " + stringifyQueueKind(choices.evict)).str());
  clauses.push_back("unroll = " + number(choices.unroll));
}

void engine::printSchedule(PlanAttr plan, kernel::FuncOp kernel,
                           llvm::raw_ostream &os) {
  SmallVector<StructuredOpInterface> ops = numberedOps(kernel);
  llvm::MapVector<StringRef, SmallVector<StageAttr>> sums;
  for (StageAttr stage : plan.getStages())
    if (stage.getForm() == Form::Contraction)
      sums[kernel::statementOf(ops[stage.getOps().front()])].push_back(stage);
  os << "schedule " << kernel.getSymName() << " on \"" << plan.getMachine()
     << "\" {\n";
  for (auto &[statement, list] : sums) {
    SmallVector<std::string> clauses;
    for (auto [i, stage] : llvm::enumerate(list)) {
      if (list.size() > 1)
        clauses.push_back("product = " + std::to_string(i + 1));
      printChoices(*Problem::of(*contractionOf(stage, kernel)),
                   stage.getContraction(), clauses);
    }
    os << "  " << statement << ": " << llvm::join(clauses, ", ") << "\n";
  }
  os << "}\n";
}
