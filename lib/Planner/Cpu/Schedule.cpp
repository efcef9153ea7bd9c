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
#include "CostModel.h"
#include "ScheduleReader.h"
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

static std::string listed(llvm::ArrayRef<std::string> words) {
  return llvm::join(words.drop_back(), ", ") +
         (words.size() > 1 ? " and " : "") + words.back();
}

llvm::SmallVector<unsigned> ScheduleReader::sumsOf(llvm::StringRef statement) {
  llvm::SmallVector<unsigned> result;
  for (auto [i, stage] : llvm::enumerate(current))
    if (stage.getForm() == Form::Contraction &&
        kernel::statementOf(stages.op(stage.getOps().front())) == statement)
      result.push_back(i);
  return result;
}

bool ScheduleReader::forAxes(const ScheduleClause &clause,
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

void ScheduleReader::readTile(const ScheduleClause &clause,
                              const Contraction &contraction,
                              Choices &choices) {
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
  if (good && isTile(choices.dot)) {
    int64_t most = tilesAcross * tileRows;
    if (wanted.rows != most || wanted.vectors > tilesAcross) {
      error(clause, "tile registers hold " + llvm::Twine(most) +
                        " rows by 16 or " + llvm::Twine(most) +
                        " columns of sums");
      good = false;
    }
  } else if (good && registers > machine.cpu.vectorRegisters) {
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

void ScheduleReader::readBlock(const ScheduleClause &clause,
                               const Contraction &contraction,
                               Choices &choices) {
  Axes axes(contraction);
  int64_t units[] = {choices.rows, choices.vectors * choices.lanes,
                     MicroKernelOp::groupSize(choices.dot) *
                         groupsPerStep(choices.dot)};
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

void ScheduleReader::readPack(const ScheduleClause &clause,
                              const Contraction &contraction,
                              Choices &choices) {
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
void ScheduleReader::readTasks(const ScheduleClause &clause,
                               const Contraction &contraction,
                               Choices &choices) {
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

void ScheduleReader::readChoices(const ScheduleClause &clause,
                                 StageAttr &stage) {
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
void ScheduleReader::readFuse(const ScheduleClause &clause,
                              llvm::StringRef statement) {
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
void ScheduleReader::readStore(const ScheduleClause &clause, unsigned number) {
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

void ScheduleReader::readEntry(const ScheduleEntry &entry) {
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

FailureOr<PlanAttr>
ScheduleReader::read(llvm::ArrayRef<ScheduleEntry> entries) {
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
  return ScheduleReader(plan, kernel, machine, diagnostics).read(entries);
}

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

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
