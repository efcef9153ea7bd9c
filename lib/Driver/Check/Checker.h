//===- Checker.h - one kernel on every road, against the judge ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_DRIVER_CHECK_CHECKER_H
#define FACET_LIB_DRIVER_CHECK_CHECKER_H

#include "Roads.h"
#include "Trials.h"

#include "llvm/Support/JSON.h"

#include <chrono>

namespace facet {

/// One element and what the judge says of it.
struct Element {
  double ratio = -1; ///< of the bound; -1: none was judged
  double stored = 0, value = 0, bound = 0;
  int64_t position = 0; ///< in memory order
  llvm::SmallVector<int64_t> index;
  std::string where; ///< "M=7 K=13 N=5 (plain values)"
};

/// What is known about one output after some calls.
struct Verdict {
  Element worst;
  int64_t judged = 0, differ = 0;
  double sum = 0; ///< of the ratios that are numbers

  void add(const Element &element, bool agrees);
  void add(const Verdict &other);
  double mean() const { return judged ? sum / double(judged) : 0; }
};

/// What is known about one road.
struct RoadReport {
  unsigned calls = 0;
  unsigned impossible = 0; ///< calls that it has no code for
  std::string reason;      ///< of the first of them
  std::string complaint;   ///< about the smallest call that is wrong; or empty
  std::optional<Trial> smallest;
  std::string again; ///< the command that repeats it
  /// Lines about what made the worst element, where the road knows.
  std::vector<std::string> origin;
};

/// What check does beside the usual calls.
struct CheckSettings {
  uint64_t seed = 1;
  std::optional<uint64_t> sample; ///< elements to judge of each output
  bool isQuiet = false;
  Mischief mischief = Mischief::None;
};

/// A call that is wrong.
struct WrongCall {
  const CheckedRoad &road;
  const Trial &trial; ///< the smallest that was found
  std::string text;   ///< what is wrong
  std::string again;  ///< the command that repeats it
};

class Checker {
public:
  using Clock = std::chrono::steady_clock;

  /// `again` is the command that checks this kernel: "facet check k.facet --kernel=f".
  /// `onWrong` hears of the first wrong call of each road.
  Checker(const HostKernel &kernel, Promises &promises, CheckedRoads &roads,
          Loaded &judge, llvm::ArrayRef<SizeBinding> given,
          const CheckSettings &settings, std::string again,
          std::function<double(const SizeValues &)> cost,
          std::function<void(const WrongCall &)> onWrong);

  /// Makes the usual calls, then random ones until `deadline`.
  void run(Clock::time_point deadline);
  bool agrees() const;
  void printText(llvm::raw_ostream &os) const;
  void printJson(llvm::json::OStream &out) const;

private:
  /// What a road stored in one trial.
  struct Stored {
    bool isCalled = false, isWrong = false;
    Arguments results;
  };
  /// What is wrong with the call, or nothing. Adds what it sees to `verdicts`, unless null.
  std::string examine(unsigned road, const Trial &trial,
                      std::vector<Stored> &stored,
                      std::vector<Verdict> *verdicts);
  std::string judgeResults(const Trial &trial, Arguments &stored,
                           std::vector<Verdict> &verdicts);
  void compare(unsigned output, const Array &stored, const Judged &judged,
               const Trial &trial, Verdict &verdict) const;
  void runTrial(const Trial &trial);
  void complain(unsigned road, Trial trial, std::string text);
  /// A smaller call that is wrong on the same road, with `text` about it; nothing when
  /// none is found until `end`.
  std::optional<Trial> smaller(unsigned road, const Trial &trial,
                               Clock::time_point end, std::string &text);
  std::string examineAlone(unsigned road, const Trial &trial);
  void breakPromise(unsigned promise);
  void breakIndex(unsigned param, const Trial &trial);
  void expectRefusal(const Trial &trial, llvm::ArrayRef<int> codes,
                     const llvm::Twine &what);
  std::optional<Arguments> poisoned(const Trial &trial, uint8_t poison) const;
  std::vector<uint8_t> choose(int64_t count);
  std::string describe(const Trial &trial) const;
  void progress(size_t done, size_t all) const;
  unsigned callCount() const;
  Verdict verdictOf(unsigned output) const;

  const HostKernel &kernel;
  Promises &promises;
  CheckedRoads &roads;
  Loaded &judge;
  const CheckSettings &settings;
  std::string again;
  std::function<void(const WrongCall &)> onWrong;
  llvm::SmallVector<unsigned> outputs;
  std::vector<RoadReport> reports;            ///< by road
  std::vector<std::vector<Verdict>> verdicts; ///< by road, by output
  std::vector<std::string> complaints; ///< that no road alone is at fault for
  std::vector<std::string> unbroken;   ///< promises no call was found to break
  /// The worst element of the call judged last, when it was wrong: parameter, position.
  std::optional<std::pair<unsigned, int64_t>> wrongElement;
  unsigned refusals = 0, turn = 0;
  Random random;
  TrialMaker maker;
  Workspace workspace; ///< of the judge
};

} // namespace facet

#endif // FACET_LIB_DRIVER_CHECK_CHECKER_H
