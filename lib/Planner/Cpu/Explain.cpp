//===- Explain.cpp - the plan of a kernel in words and times --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every reason is taken from the model that made the choice. What differs from the
// planner's own plan is a schedule's, and said to be.
//
//   tile  8 rows by 3 vectors of 16  28 of 32 registers, 24 sums for the 8 in flight
//   pack  a and b                    b: 0.9 ms to pack, 8.0 ms lost otherwise
//
// Times are those of one core; the bound counts each operation and each byte of the
// arguments and results once.
//
//===----------------------------------------------------------------------===//

#include "Explain.h"
#include "ChooseStream.h"
#include "CostModel.h"
#include "Notes.h"
#include "Stages.h"
#include "facet/Dialect/Kernel/IR/Operations.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"

using namespace facet;
using namespace facet::cpu;
using namespace mlir;
using kernel::Explanation;
using kernel::printBytes;
using kernel::printSeconds;
using kernel::StructuredOpInterface;

namespace {

/// A call of exp and its kin counts as this many additions.
constexpr double functionOperations = 20;

class Explainer {
public:
  Explainer(PlanAttr plan, kernel::FuncOp kernel, const Machine &machine)
      : plan(plan), kernel(kernel), machine(machine), stages(kernel),
        own(planKernel(kernel, machine)),
        hertz(double(machine.cpu.clockMHz) * 1e6) {}

  Explanation explain();

private:
  std::string headline();
  void addBounds(Explanation &to);
  Explanation::Stage describe(StageAttr stage, StageAttr planned,
                              const Calls &calls);
  void describeChoices(const Contraction &c, ContractionAttr choices,
                       ContractionAttr planned, bool hasEpilogue,
                       const Calls &calls,
                       std::vector<Explanation::Choice> &to);
  Explanation::Stage describeStream(StageAttr stage, StageAttr planned);
  void addStreamedLets(Explanation &to, StageAttr stage);
  void addLets(Explanation &to, VariantAttr variant);

  double points(StructuredOpInterface op);
  std::optional<double> elements(ArrayRef<Attribute> dims);
  /// Of one op that is no contraction.
  double laneCycles(StructuredOpInterface op, Form form);
  std::string openSizes();

  PlanAttr plan;
  kernel::FuncOp kernel;
  const Machine &machine;
  Stages stages;
  PlanAttr own;
  double hertz;
  std::vector<std::string> costs;
};

} // namespace

static std::string formatted(const char *format, double value) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << llvm::format(format, value);
  return text;
}

static std::string gigas(double value, StringRef unit) {
  if (value >= 1e12)
    return formatted("%.3g T", value / 1e12) + unit.str();
  if (value >= 1e9)
    return formatted("%.3g G", value / 1e9) + unit.str();
  return formatted("%.3g M", value / 1e6) + unit.str();
}

static Type elementType(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getElementType();
}

static double storedBytes(Type element) {
  return element.isInteger(1) ? 1 : double(element.getIntOrFloatBitWidth()) / 8;
}

/// The sizes that are not fixed to one value.
std::string Explainer::openSizes() {
  SmallVector<std::string> open;
  for (Attribute size : kernel.getSizes())
    if (StringRef name = cast<StringAttr>(size); !kernel.getFixedSize(name))
      open.push_back(name.str());
  return llvm::join(open, ", ");
}

/// `M <= 4`, `packed`: which calls take the variant; empty for all others.
static std::string describeCalls(VariantAttr variant) {
  SmallVector<std::string> words;
  if (variant.getPacked())
    words.push_back("packed");
  for (GuardAttr guard : variant.getGuards())
    words.push_back((guard.getSize() + " <= " + Twine(guard.getMost())).str());
  return llvm::join(words, ", ");
}

std::string Explainer::headline() {
  std::string text =
      ("kernel '" + kernel.getSymName() + "' on " + machine.name).str();
  for (Attribute size : kernel.getSizes())
    if (std::optional<int64_t> value =
            kernel.getFixedSize(cast<StringAttr>(size).getValue()))
      text +=
          ", " + cast<StringAttr>(size).str() + " = " + std::to_string(*value);
  return text;
}

double Explainer::points(StructuredOpInterface op) {
  double product = 1;
  for (unsigned i = 0; i < op.getNumIterators(); ++i)
    product *= double(kernel::knownExtent(op, i).value_or(Problem::openSize));
  return product;
}

std::optional<double> Explainer::elements(ArrayRef<Attribute> dims) {
  double product = 1;
  for (Attribute dim : dims) {
    auto size = dyn_cast<StringAttr>(dim);
    std::optional<int64_t> value = size ? kernel.getFixedSize(size.getValue())
                                        : cast<IntegerAttr>(dim).getInt();
    if (!value)
      return std::nullopt;
    product *= double(*value);
  }
  return product;
}

void Explainer::addBounds(Explanation &to) {
  if (std::string open = openSizes(); !open.empty()) {
    to.notes.push_back("bound and times need every size; choices are made "
                       "for " +
                       std::to_string(Problem::openSize) +
                       " of what is open: " + open + " (-D " +
                       StringRef(open).split(',').first.str() + "=…)");
    return;
  }
  // Operations of each width, at two per multiply-add.
  double narrow = 0, wide = 0;
  for (StructuredOpInterface op : stages.live()) {
    bool isWide = elementType(op->getResult(0)).getIntOrFloatBitWidth() == 64;
    (isWide ? wide : narrow) +=
        double(kernel::operationsPerPoint(op)) * points(op);
  }
  double perCycle = 2 * multiplyRate(machine.cpu.vectorBytes / 4, machine) /
                    (machine.cpu.fma ? 1 : 2);
  double rate = perCycle * hertz;
  to.bounds.push_back({"compute", narrow / rate + wide / (rate / 2),
                       gigas(narrow + wide, "FLOP") + " at " +
                           gigas(wide > narrow ? rate / 2 : rate, "FLOP/s") +
                           " of one core"});
  double bytes = 0;
  auto add = [&](kernel::ParamAttr param, Type element) {
    double times = param.getMode() == kernel::ParamMode::Inout ? 2 : 1;
    bytes +=
        times * elements(param.getDims()).value_or(0) * storedBytes(element);
  };
  for (auto [i, argument] : llvm::enumerate(kernel.getBody().getArguments()))
    add(kernel.getParam(i), elementType(argument));
  for (auto [i, type] : llvm::enumerate(kernel.getOutputTypes()))
    add(kernel.getOutput(i),
        cast<RankedTensorType>(cast<TypeAttr>(type).getValue())
            .getElementType());
  double bandwidth = double(machine.cache.memoryMBs) * 1e6;
  to.bounds.push_back({"memory", bytes / bandwidth,
                       printBytes(bytes) + " of arguments and results at " +
                           gigas(bandwidth, "B/s")});
  if (to.bounds[0].seconds < to.bounds[1].seconds)
    std::swap(to.bounds[0], to.bounds[1]);
}

void Explainer::describeChoices(const Contraction &c, ContractionAttr choices,
                                ContractionAttr planned, bool hasEpilogue,
                                const Calls &calls,
                                std::vector<Explanation::Choice> &to) {
  Problem problem(c, machine, choices.getDot(), calls);
  Cost cost = costOf(problem, choices, machine);
  auto timeOf = [&](double cycles) { return printSeconds(cycles / hertz); };
  auto number = [](int64_t value) { return std::to_string(value); };
  auto add = [&](StringRef what, std::string value, std::string because,
                 bool isPlanned) {
    if (!isPlanned)
      because = "asked for by the schedule; " + because;
    to.push_back({what.str(), std::move(value), std::move(because)});
  };
  int64_t rows = choices.getRows(), vectors = choices.getVectors();
  int64_t inFlight =
      machine.cpu.arithmeticPorts * machine.cpu.arithmeticLatencyCycles;
  bool samePlan = planned != nullptr;
  add("tile",
      number(rows) + (rows == 1 ? " row by " : " rows by ") + number(vectors) +
          (vectors == 1 ? " vector of " : " vectors of ") +
          number(choices.getLanes()),
      isTile(choices.getDot())
          ? number(tilesAcross * vectors) + " tile registers of sums, " +
                number(tilesAcross) + " of a, " + number(vectors) + " of b"
          : number(rows * vectors + vectors + 1) + " of " +
                number(machine.cpu.vectorRegisters) + " registers; " +
                number(rows * vectors) + " sums, " + number(inFlight) +
                " are in flight; " +
                formatted("%.2f",
                          double(rows + vectors) / double(rows * vectors)) +
                " loads per multiply-add",
      samePlan && rows == planned.getRows() && vectors == planned.getVectors());
  double depth = problem.sizeK();
  if (choices.getDepthBlock())
    depth = std::min(depth, double(choices.getDepthBlock() * problem.innerK));
  double bytesOfK = depth * double(problem.bytes);
  double panelA = double(choices.getRowBlock()) * bytesOfK;
  double panelB = double(choices.getColumnBlock()) * bytesOfK;
  auto level = [&](double bytes) -> std::string {
    return bytes <= double(machine.cache.l1Bytes)   ? "the first-level cache"
           : bytes <= double(machine.cache.l2Bytes) ? "the second-level cache"
           : bytes <= double(machine.cache.l3Bytes) ? "the last-level cache"
                                                    : "memory";
  };
  add("block",
      number(choices.getRowBlock()) + " rows, " +
          number(choices.getColumnBlock()) + " columns",
      "a's is " + printBytes(panelA) + ", in " + level(panelA) + "; b's is " +
          printBytes(panelB) + ", in " + level(panelB),
      samePlan && choices.getRowBlock() == planned.getRowBlock() &&
          choices.getColumnBlock() == planned.getColumnBlock());
  if (choices.getDepthBlock())
    add("depth", number(choices.getDepthBlock()) + " of k",
        cost.blocksOfK > 1
            ? number(int64_t(cost.blocksOfK)) +
                  " blocks; between them the sums rest in " +
                  (hasEpilogue || isFiltered(c) ? "a scratch, "
                                                : "the result, ") +
                  timeOf(cost.partial)
            : "one block is all of it",
        samePlan && choices.getDepthBlock() == planned.getDepthBlock());
  bool isSplit = choices.getSplit() != Split::None;
  add("tasks",
      !isSplit                         ? "one"
      : choices.getSplit() == Split::M ? "share the rows"
                                       : "share the columns",
      isSplit ? "one for each thread, but " + number(choices.getGrain()) +
                    " multiply-adds at least; each packs for itself"
              : "too little work to share",
      samePlan && choices.getSplit() == planned.getSplit() &&
          choices.getGrain() == planned.getGrain());
  static constexpr const char *words[] = {"nothing", "a", "b", "a and b"};
  auto operand = [&](StringRef name, bool packed, bool inPlace, double cycles,
                     double lost) {
    std::string text = name.str() + ": ";
    std::string lostText = lost > 0 ? timeOf(lost) : "nothing";
    if (packed && !inPlace)
      return text + "is computed as it is packed, " + timeOf(cycles);
    if (packed)
      return text + timeOf(cycles) + " to pack, " + lostText +
             " lost where it is";
    return text + "read where it is, " + lostText + " lost";
  };
  // What packing would take where it is not done is not computed twice.
  add("pack", words[uint32_t(choices.getPack())],
      operand("a", choices.packsA(), problem.aInPlace, cost.packA,
              unpackedCyclesA(problem, machine)) +
          "; " +
          (choices.getConstant()
               ? "b: read from its packed array"
               : operand("b", choices.packsB(), problem.bInPlace, cost.packB,
                         unpackedCyclesB(problem, machine))),
      samePlan && choices.getPack() == planned.getPack());
  if (choices.getPrefetch())
    add("prefetch", printBytes(double(choices.getPrefetch())) + " ahead",
        "with one tile of rows b comes in one stream, faster than it is "
        "fetched "
        "unasked; several tiles ask for the next panel",
        samePlan && choices.getPrefetch() == planned.getPrefetch());
}

double Explainer::laneCycles(StructuredOpInterface op, Form form) {
  double perPoint = double(kernel::operationsPerPoint(op));
  for (Operation &inner : op.getBody().front())
    if (isa<kernel::ApplyOp>(inner) ||
        isa<math::MathDialect>(inner.getDialect()))
      perPoint += functionOperations;
  // A load for each input and a store are not free either.
  int64_t lanesOfF32 = machine.cpu.vectorBytes / 4;
  double lanes = form == Form::Lanes ? double(lanesOfF32) : 1;
  double memory =
      double(op.getInputs().size()) / double(machine.cpu.loadPorts) + 1;
  return points(op) *
         std::max(perPoint / double(machine.cpu.arithmeticPorts), memory) /
         lanes;
}

/// The stream that `stage` is.
static Stream streamOf(const Stages &stages, StageAttr stage) {
  std::string reason;
  for (int64_t number : stage.getOps())
    if (auto softmax = dyn_cast<kernel::SoftmaxOp>(*stages.op(number)))
      return *stages.streamOf(softmax, reason);
  llvm_unreachable("a stream has a softmax");
}

Explanation::Stage Explainer::describeStream(StageAttr stage,
                                             StageAttr planned) {
  Stream stream = streamOf(stages, stage);
  StreamAttr plan = stage.getStream();
  StreamAttr own = planned ? planned.getStream() : StreamAttr();
  kernel::ReduceOp values = stream.values.reduce;
  auto last = cast<StructuredOpInterface>(values.getOperation());
  if (stage.getOps().size() > stream.ops().size())
    last = cast<StructuredOpInterface>(
        matchUnguardedEpilogue(values)->map.getOperation());
  Explanation::Stage result;
  result.statement = kernel::statementOf(last).str();
  result.type = kernel::describeType(last);
  result.does = kernel::describeIterators(cast<StructuredOpInterface>(
                    stream.softmax.getOperation())) +
                " between two sums, streamed";
  if (last != values)
    result.does += "; the map behind them on the sums";
  auto number = [](int64_t value) { return std::to_string(value); };
  auto add = [&](StringRef what, std::string value, std::string because,
                 bool isPlanned) {
    if (!isPlanned)
      because = "asked for by the schedule; " + because;
    result.choices.push_back(
        {what.str(), std::move(value), std::move(because)});
  };
  int64_t sums =
      plan.getRows() * std::max(plan.getKeyVectors(), plan.getValueVectors());
  add("tile",
      number(plan.getRows()) + " rows by " + number(plan.getKeyVectors()) +
          " vectors of keys, " + number(plan.getValueVectors()) + " of values",
      number(sums + sums / plan.getRows() + 1) + " of " +
          number(machine.cpu.vectorRegisters) + " registers",
      own && plan.getRows() == own.getRows() &&
          plan.getKeyVectors() == own.getKeyVectors() &&
          plan.getValueVectors() == own.getValueVectors());
  add("block",
      number(plan.getRowBlock()) + " rows, " + number(plan.getKeyBlock()) +
          " keys",
      "the scores of a tile are " +
          printBytes(double(4 * plan.getRows() * plan.getKeyBlock())) +
          (stream.isFiltered() ? "; what the filter drops whole is left out, "
                                 "though the time counts it"
                               : ""),
      own && plan.getRowBlock() == own.getRowBlock() &&
          plan.getKeyBlock() == own.getKeyBlock());
  add("tasks", plan.getGrain() ? "share the blocks of rows" : "one",
      plan.getGrain() ? "one for each thread, but " + number(plan.getGrain()) +
                            " multiply-adds at least"
                      : "too little work to share",
      own && plan.getGrain() == own.getGrain());
  if (openSizes().empty())
    result.seconds = streamCycles(stream, plan, machine) / hertz;
  return result;
}

Explanation::Stage Explainer::describe(StageAttr stage, StageAttr planned,
                                       const Calls &calls) {
  if (stage.getForm() == Form::Stream)
    return describeStream(stage, planned);
  StructuredOpInterface first = stages.op(stage.getOps().front());
  StructuredOpInterface last = stages.op(stage.getOps().back());
  Explanation::Stage result;
  result.statement = kernel::statementOf(last).str();
  if (result.statement.empty())
    result.statement = "-";
  result.type = kernel::describeType(last);
  result.does = kernel::describeIterators(first);
  double cycles = 0;
  if (stage.getForm() == Form::Contraction) {
    Contraction c = *stages.contractionOf(first);
    result.does += ", in tiles";
    if (stage.getOps().size() == 2) {
      result.does += "; the map behind it on the sums";
      cycles += laneCycles(last, Form::Lanes);
    }
    Problem problem(c, machine, stage.getContraction().getDot(), calls);
    Cost cost = costOf(problem, stage.getContraction(), machine);
    cycles += cost.total();
    noteCosts(problem, cost, hertz, result.statement, costs);
    describeChoices(c, stage.getContraction(),
                    planned ? planned.getContraction() : ContractionAttr(),
                    stage.getOps().size() == 2, calls, result.choices);
  } else {
    result.does += stage.getForm() == Form::Lanes ? ", in vectors"
                                                  : ", element by element";
    cycles = laneCycles(first, stage.getForm());
  }
  if (openSizes().empty())
    result.seconds = cycles / hertz;
  return result;
}

void Explainer::addStreamedLets(Explanation &to, StageAttr stage) {
  Stream stream = streamOf(stages, stage);
  kernel::ReduceOp values = stream.values.reduce;
  auto last = cast<StructuredOpInterface>(values.getOperation());
  bool hasMap = stage.getOps().size() > stream.ops().size();
  std::string user =
      kernel::statementOf(
          hasMap ? cast<StructuredOpInterface>(
                       matchUnguardedEpilogue(values)->map.getOperation())
                 : last)
          .str();
  for (Operation *inner : stream.ops()) {
    auto op = cast<StructuredOpInterface>(inner);
    std::string statement = kernel::statementOf(op).str();
    if (kernel::isReturned(inner) || (inner == values && !hasMap))
      continue;
    Explanation::Let let;
    let.name = op.getName()                 ? statement
               : isa<kernel::ReduceOp>(*op) ? "sum of " + statement
                                            : "part of " + statement;
    let.isStored = inner == stream.max || inner == stream.sum;
    let.where = let.isStored ? "a by-product of " + user + ", stored, " +
                                   kernel::describeType(op)
                             : "streamed inside " + user;
    to.lets.push_back(let);
  }
}

void Explainer::addLets(Explanation &to, VariantAttr variant) {
  for (StageAttr stage : variant.getStages()) {
    if (stage.getForm() == Form::Stream) {
      addStreamedLets(to, stage);
      continue;
    }
    StructuredOpInterface op = stages.op(stage.getOps().front());
    if (kernel::isReturned(op))
      continue;
    std::string statement = kernel::statementOf(op).str();
    Explanation::Let let;
    let.name = op.getName()                           ? statement
               : stage.getForm() == Form::Contraction ? "sum of " + statement
                                                      : "part of " + statement;
    if (stage.getOps().size() == 2) {
      std::string user =
          kernel::statementOf(stages.op(stage.getOps().back())).str();
      let.isStored = false;
      let.where = "inside " + user + ", in registers";
      to.lets.push_back(let);
      continue;
    }
    double bytes = storedBytes(elementType(op->getResult(0)));
    bool isClosed = true;
    int64_t rank = cast<RankedTensorType>(op->getResult(0).getType()).getRank();
    for (unsigned i = 0; i < rank; ++i) {
      std::optional<int64_t> extent = kernel::knownExtent(op, i);
      isClosed &= extent.has_value();
      bytes *= double(extent.value_or(1));
    }
    let.where =
        "stored, " + (isClosed ? printBytes(bytes) : kernel::describeType(op));
    llvm::DenseSet<Operation *> joined = joinedMaps(stages, variant);
    std::string reason;
    auto reduce = dyn_cast<kernel::ReduceOp>(*op);
    if (stage.getForm() == Form::Contraction &&
        stages.epilogueOf(reduce, joined, reason))
      reason = "the schedule asks for it";
    if (auto softmax = dyn_cast<kernel::SoftmaxOp>(*op))
      if (std::optional<Stream> stream = stages.streamOf(softmax, reason))
        reason = streamingPays(*stream) ? "the schedule asks for it"
                                        : "it has few rows";
    if (!reason.empty())
      let.where += ": " + reason;
    to.lets.push_back(let);
  }
}

Explanation Explainer::explain() {
  Explanation result;
  result.headline = headline();
  addBounds(result);
  for (VariantAttr variant : plan.getVariants()) {
    Explanation::Variant &to = result.variants.emplace_back();
    to.when = describeCalls(variant);
    llvm::DenseMap<int64_t, StageAttr> planned;
    for (VariantAttr other : own.getVariants())
      if (other.getPacked() == variant.getPacked() &&
          other.getGuards() == variant.getGuards())
        for (StageAttr stage : other.getStages())
          planned[stage.getOps().front()] = stage;
    double total = 0;
    for (StageAttr stage : variant.getStages()) {
      to.stages.push_back(describe(
          stage, planned.lookup(stage.getOps().front()), Calls(variant)));
      total += to.stages.back().seconds.value_or(0);
    }
    if (!result.bounds.empty())
      to.seconds = std::max(total, result.bounds.front().seconds);
    if (variant ==
        plan.getGeneral()) // what other calls have saved costs nothing
      result.costs = std::move(costs);
    costs.clear();
  }
  addLets(result, plan.getGeneral());
  return result;
}

Explanation cpu::explain(PlanAttr plan, kernel::FuncOp kernel,
                         const Machine &machine) {
  return Explainer(plan, kernel, machine).explain();
}
