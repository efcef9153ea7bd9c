//===- Checker.cpp - one kernel on every road, against the judge ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For every trial (Trials.cpp) and every road (Roads.cpp):
//
//   results full of poison ─ call ─▶ stored ─▶ judge: value ± bound, element by element
//   results full of other poison, other placement ─ call ─▶ the same bits?
//   another road with the same plan ─ call ─▶ the same bits?
//
// An element that nobody wrote keeps its poison and differs between the two calls. Then
// each promise and each index range is broken once: such a call must be refused with
// the right code, and must write nothing.
//
// The first wrong call of a road is made smaller, size by size, as long as it stays wrong.
//
//===----------------------------------------------------------------------===//

#include "Checker.h"
#include "../Summary.h"
#include "facet/Target/Judge.h"

#include "llvm/ADT/bit.h"
#include "llvm/Support/Process.h"

#include <cmath>

using namespace mlir;
using namespace facet;

void Verdict::add(const Element &element, bool agrees) {
  ++judged;
  differ += !agrees;
  if (std::isfinite(element.ratio))
    sum += element.ratio;
  if (element.ratio > worst.ratio)
    worst = element;
}

void Verdict::add(const Verdict &other) {
  judged += other.judged;
  differ += other.differ;
  sum += other.sum;
  if (other.worst.ratio > worst.ratio)
    worst = other.worst;
}

Checker::Checker(const HostKernel &kernel, Promises &promises,
                 CheckedRoads &roads, Loaded &judge,
                 ArrayRef<SizeBinding> given, const CheckSettings &settings,
                 std::string again,
                 std::function<double(const SizeValues &)> cost,
                 std::function<void(const WrongCall &)> onWrong)
    : kernel(kernel), promises(promises), roads(roads), judge(judge),
      settings(settings), again(std::move(again)), onWrong(std::move(onWrong)),
      outputs(outputsOf(kernel)), reports(roads.size()),
      verdicts(roads.size(), std::vector<Verdict>(outputs.size())),
      random(settings.seed),
      maker(kernel, promises, given, settings.seed, std::move(cost)) {}

bool Checker::agrees() const {
  return complaints.empty() &&
         llvm::all_of(reports, [](const RoadReport &report) {
           return report.complaint.empty();
         });
}

unsigned Checker::callCount() const {
  unsigned calls = 0;
  for (const RoadReport &report : reports)
    calls += report.calls;
  return calls;
}

Verdict Checker::verdictOf(unsigned output) const {
  Verdict all;
  for (auto [road, list] : llvm::zip_equal(roads, verdicts)) {
    Verdict one = list[output];
    if (roads.size() > 1)
      one.worst.where += " on " + road->name;
    all.add(one);
  }
  return all;
}

std::string Checker::describe(const Trial &trial) const {
  static constexpr llvm::StringLiteral draws[] = {
      "plain values", "values of all magnitudes", "inf, NaN and edges"};
  std::string text;
  for (auto [name, value] : llvm::zip_equal(kernel.sizes, trial.sizes))
    text += name + "=" + std::to_string(value) + " ";
  return text + "(" + draws[unsigned(trial.draw)].str() + ")";
}

/// On a terminal, one line that is written over.
void Checker::progress(size_t done, size_t all) const {
  if (settings.isQuiet || !llvm::sys::Process::StandardErrIsDisplayed())
    return;
  llvm::errs() << "\r\x1b[K";
  if (done < all)
    llvm::errs() << kernel.name << ": " << done << "/" << all << ", "
                 << callCount() << " calls";
  llvm::errs().flush();
}

//===----------------------------------------------------------------------===//
// One call
//===----------------------------------------------------------------------===//

/// The inputs, and results full of a pattern; nothing when they do not fit memory.
std::optional<Arguments> Checker::poisoned(const Trial &trial,
                                           uint8_t poison) const {
  Arguments arguments = trial.arguments;
  Diagnostics ignored;
  for (auto [i, param] : llvm::enumerate(kernel.params))
    if (param.mode == kernel::ParamMode::Out) {
      arguments[i] = allocate(kernel, param, trial.sizes, ignored);
      if (!arguments[i])
        return std::nullopt;
      llvm::fill(arguments[i]->bytes,
                 param.type == ScalarType::Bool ? poison & 1 : poison);
    }
  return arguments;
}

/// Which elements of an output with `count` are judged.
std::vector<uint8_t> Checker::choose(int64_t count) {
  uint64_t wanted = settings.sample.value_or(4096);
  if (uint64_t(count) <= wanted)
    return std::vector<uint8_t>(count, 1);
  std::vector<uint8_t> chosen(count, 0);
  chosen.front() = chosen.back() = 1;
  for (uint64_t i = 0; i < wanted; ++i)
    chosen[random.below(count)] = 1;
  return chosen;
}

/// Position of element `flat`, one number per axis in memory.
static SmallVector<int64_t> indexOf(int64_t flat, ArrayRef<int64_t> shape) {
  SmallVector<int64_t> index(shape.size());
  for (size_t axis = shape.size(); axis-- > 0;) {
    index[axis] = flat % shape[axis];
    flat /= shape[axis];
  }
  return index;
}

void Checker::compare(unsigned output, const Array &stored,
                      const Judged &judged, const Trial &trial,
                      Verdict &verdict) const {
  for (int64_t i = 0, count = stored.count(); i < count; ++i) {
    if (!judged.demanded[i])
      continue;
    Element element;
    element.stored = elementAsDouble(stored, i);
    element.value = judged.value[i];
    element.bound = judged.bound[i];
    Judgement judgement =
        compareWithJudge(element.stored, element.value, element.bound);
    // A disagreement is worse than any ratio, whatever became of its number.
    element.ratio =
        judgement.agrees ? judgement.ratio : std::max(judgement.ratio, 1.0);
    if (std::isnan(element.ratio))
      element.ratio = INFINITY;
    if (element.ratio > verdict.worst.ratio) {
      element.position = i;
      element.index = indexOf(i, stored.shape);
      element.where = describe(trial);
    }
    verdict.add(element, judgement.agrees);
  }
}

std::string Checker::judgeResults(const Trial &trial, Arguments &stored,
                                  std::vector<Verdict> &found) {
  std::vector<Judged> judged(outputs.size());
  for (auto [output, entry] : llvm::zip_equal(outputs, judged)) {
    int64_t count = stored[output]->count();
    entry.demanded = choose(count);
    entry.value.resize(count);
    entry.bound.resize(count);
  }
  Arguments inputs = trial.arguments;
  CallResult result =
      callJudge(judge, kernel, trial.sizes, inputs, stored, judged, workspace);
  if (result.code != 0)
    return "the judge refused a good call at " + describe(trial) + ": " +
           facet::describe(result, kernel);
  std::string text;
  wrongElement.reset();
  for (unsigned i = 0; i < outputs.size(); ++i) {
    compare(i, *stored[outputs[i]], judged[i], trial, found[i]);
    if (!found[i].differ || !text.empty())
      continue;
    const Element &worst = found[i].worst;
    const HostParam &param = kernel.params[outputs[i]];
    wrongElement = {outputs[i], worst.position};
    text = (Twine("'") + param.name + "' differs in " + Twine(found[i].differ) +
            " of " + Twine(found[i].judged) + " elements; the worst is " +
            shapeText(worst.index) + " at " + worst.where + ": found " +
            numberText(worst.stored, param.type) + ", the judge says " +
            numberText(worst.value, ScalarType::F64) + " within " +
            numberText(worst.bound, ScalarType::F64))
               .str();
  }
  return text;
}

/// The first element of an output that differs in its bits; empty: none. NaN is NaN,
/// whatever it carries.
static std::string firstDifference(const HostKernel &kernel,
                                   ArrayRef<unsigned> outputs,
                                   const Arguments &left,
                                   const Arguments &right) {
  for (unsigned output : outputs)
    if (left[output]->bytes != right[output]->bytes) {
      const Array &array = *left[output];
      for (int64_t i = 0, count = array.count(); i < count; ++i) {
        double x = elementAsDouble(array, i),
               y = elementAsDouble(*right[output], i);
        bool isSame = std::isnan(x) ? std::isnan(y)
                                    : llvm::bit_cast<uint64_t>(x) ==
                                          llvm::bit_cast<uint64_t>(y);
        if (!isSame)
          return "'" + kernel.params[output].name + "' at " +
                 shapeText(indexOf(i, array.shape)) + ": " +
                 numberText(x, array.type) + " and " +
                 numberText(y, array.type);
      }
    }
  return "";
}

std::string Checker::examine(unsigned index, const Trial &trial,
                             std::vector<Stored> &stored,
                             std::vector<Verdict> *totals) {
  CheckedRoad &road = *roads[index];
  RoadReport &report = reports[index];
  const Stored *twin = road.twin ? &stored[*road.twin] : nullptr;
  // What is wrong without threads is not tried with them.
  if (twin && (!twin->isCalled || twin->isWrong))
    return "";
  // Poison of ones is NaN in every float.
  static constexpr uint8_t poisons[] = {0xff, 0xa5};
  Arguments first;
  for (unsigned round = 0; round < (road.hasPlacements() ? 2 : 1); ++round) {
    std::optional<Arguments> arguments = poisoned(trial, poisons[round]);
    if (!arguments)
      return ""; // larger than memory
    auto placement = Placement((turn + index + round) % 3);
    Outcome outcome = road.call(trial.sizes, *arguments, placement);
    if (!outcome.isCalled()) {
      ++report.impossible;
      if (report.reason.empty())
        report.reason = outcome.impossible;
      return "";
    }
    ++report.calls;
    if (!outcome.fault.empty())
      return "at " + describe(trial) + " " + outcome.fault;
    if (outcome.result.code != 0)
      return "a good call was refused at " + describe(trial) + ": " +
             facet::describe(outcome.result, kernel);
    if (settings.mischief == Mischief::Value ||
        (settings.mischief == Mischief::Again && round == 1))
      for (unsigned output : outputs)
        if (std::vector<uint8_t> &bytes = (*arguments)[output]->bytes;
            !bytes.empty())
          bytes[std::max<size_t>(bitWidth(kernel.params[output].type) / 8, 1) -
                1] ^= 1;
    if (round == 0) {
      first = std::move(*arguments);
      continue;
    }
    std::string difference =
        firstDifference(kernel, outputs, first, *arguments);
    if (!difference.empty())
      return "two calls at " + describe(trial) + " differ in " + difference;
  }

  std::string text;
  bool isJudged = false;
  if (twin) {
    text = firstDifference(kernel, outputs, twin->results, first);
    if (!text.empty())
      text = "it is not what " + roads[*road.twin]->name + " computes at " +
             describe(trial) + ", in " + text;
    isJudged = true;
  }
  if (!isJudged) {
    std::vector<Verdict> found(outputs.size());
    text = judgeResults(trial, first, found);
    if (totals)
      for (auto [total, one] : llvm::zip_equal(*totals, found))
        total.add(one);
  }
  stored[index].results = std::move(first);
  stored[index].isCalled = true;
  return text;
}

std::string Checker::examineAlone(unsigned index, const Trial &trial) {
  std::vector<Stored> stored(roads.size());
  RoadReport before = reports[index];
  std::string text;
  if (std::optional<unsigned> twin = roads[index]->twin) {
    RoadReport twinBefore = reports[*twin];
    (void)examine(*twin, trial, stored, nullptr);
    reports[*twin] = std::move(twinBefore);
  }
  text = examine(index, trial, stored, nullptr);
  reports[index] = std::move(before);
  return text;
}

void Checker::runTrial(const Trial &trial) {
  std::vector<Stored> stored(roads.size());
  ++turn;
  for (unsigned i = 0; i < roads.size(); ++i) {
    if (!roads[i]->wants(trial.sizes))
      continue;
    std::string text = examine(i, trial, stored, &verdicts[i]);
    stored[i].isWrong = !text.empty();
    if (!text.empty() && reports[i].complaint.empty())
      complain(i, trial, std::move(text));
  }
}

//===----------------------------------------------------------------------===//
// Wrong calls
//===----------------------------------------------------------------------===//

std::optional<Trial> Checker::smaller(unsigned road, const Trial &trial,
                                      Clock::time_point end,
                                      std::string &text) {
  for (unsigned i = 0; i < trial.sizes.size(); ++i) {
    int64_t size = trial.sizes[i];
    for (int64_t less : {int64_t(0), int64_t(1), size / 2, size - 1}) {
      if (less < 0 || less >= size || Clock::now() > end)
        continue;
      SizeValues sizes = trial.sizes;
      sizes[i] = less;
      std::optional<Trial> candidate =
          maker.at(std::move(sizes), trial.draw, trial.seed);
      if (!candidate || !roads[road]->takes(candidate->sizes))
        continue;
      std::string wrong = examineAlone(road, *candidate);
      if (wrong.empty())
        continue;
      text = std::move(wrong);
      return candidate;
    }
  }
  return std::nullopt;
}

void Checker::complain(unsigned road, Trial trial, std::string text) {
  // Simple values first, then simple sizes.
  if (trial.draw != Draw::Plain)
    if (std::optional<Trial> plain =
            maker.at(trial.sizes, Draw::Plain, trial.seed))
      if (std::string wrong = examineAlone(road, *plain); !wrong.empty()) {
        trial = std::move(*plain);
        text = std::move(wrong);
      }
  auto end = Clock::now() + std::chrono::seconds(10);
  while (std::optional<Trial> less = smaller(road, trial, end, text))
    trial = std::move(*less);
  RoadReport &report = reports[road];
  report.complaint = text;
  // Once more, so that the road and the element are of this call.
  wrongElement.reset();
  if (examineAlone(road, trial) == text && wrongElement)
    report.origin =
        roads[road]->origin(wrongElement->first, wrongElement->second);
  report.again = again;
  if (!roads[road]->options.empty())
    report.again += " " + roads[road]->options;
  for (auto [name, value] : llvm::zip_equal(kernel.sizes, trial.sizes))
    report.again += " -D " + name + "=" + std::to_string(value);
  onWrong({*roads[road], trial, report.complaint, report.again});
  report.smallest = std::move(trial);
}

void Checker::expectRefusal(const Trial &trial, ArrayRef<int> codes,
                            const Twine &what) {
  ++refusals;
  for (auto &road : roads) {
    if (!road->isEntry() || !road->takes(trial.sizes))
      continue;
    std::optional<Arguments> arguments = poisoned(trial, 0xff);
    if (!arguments)
      return;
    Outcome outcome = road->call(trial.sizes, *arguments, Placement::AtEnd);
    if (!outcome.isCalled())
      continue;
    int code = outcome.result.code;
    std::string wrong = outcome.fault;
    if (wrong.empty() && !llvm::is_contained(codes, code))
      wrong = code == 0 ? std::string("the call was not refused")
                        : ("the call returned " + Twine(code) + ", not " +
                           Twine(codes.front()))
                              .str();
    if (!wrong.empty())
      complaints.push_back(
          (what + " at " + describe(trial) +
           (roads.size() > 1 ? " on " + road->name : std::string()) + ": " +
           wrong)
              .str());
  }
}

void Checker::breakPromise(unsigned promise) {
  std::optional<Trial> trial = maker.breaking(promise);
  if (!trial) {
    unbroken.push_back(kernel.promises[promise]);
    return;
  }
  expectRefusal(*trial, {FACET_E_REQUIRE - int(promise)},
                "broken promise " + kernel.promises[promise]);
}

void Checker::breakIndex(unsigned index, const Trial &trial) {
  const HostParam &param = kernel.params[index];
  std::optional<int64_t> bound = indexBound(kernel, param, trial.sizes);
  if (!bound || !trial.arguments[index] ||
      trial.arguments[index]->bytes.empty())
    return;
  // Filters may leave no use; an empty result uses nothing either.
  SmallVector<int> codes = {FACET_E_INDEX};
  bool empty = llvm::any_of(trial.sizes, [](int64_t s) { return s == 0; });
  if (!param.indexAlwaysUsed || empty)
    codes.push_back(0);
  auto [low, high] = rangeOf(param.type);
  for (int64_t wrong : {int64_t(-1), *bound}) {
    if (wrong < low || wrong > high)
      continue;
    Trial broken = trial;
    Array &array = *broken.arguments[index];
    for (int64_t i = 0, count = array.count(); i < count; ++i)
      setElement(array, i, wrong);
    expectRefusal(broken, codes,
                  "subscripts '" + param.name + "' of " + Twine(wrong));
  }
}

//===----------------------------------------------------------------------===//
// All of it
//===----------------------------------------------------------------------===//

void Checker::run(Clock::time_point deadline) {
  std::vector<Trial> trials = maker.make();
  if (trials.empty()) {
    complaints.push_back(
        "no sizes were found that keep the promises; -D gives some");
    return;
  }
  for (size_t i = 0; i < trials.size(); ++i) {
    progress(i, trials.size());
    runTrial(trials[i]);
  }
  for (size_t i = trials.size(); Clock::now() < deadline; ++i) {
    progress(i, i + 1);
    if (std::optional<Trial> trial = maker.another())
      runTrial(*trial);
    else
      break;
  }
  progress(1, 1);
  for (unsigned promise = 0; promise < promises.size(); ++promise)
    breakPromise(promise);
  for (unsigned i = 0; i < kernel.params.size(); ++i)
    if (!kernel.params[i].indexBelow.empty())
      breakIndex(i, trials.front());
}
