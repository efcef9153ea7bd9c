//===- Notes.cpp - which size or layout costs what ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A plan that is the best for a shape may still be far from what a neighbouring shape
// would reach. What the cost model knows of that becomes a note of `facet explain` and
// a remark under -Wperf:
//
//   17·17·17     17 columns fill 2 vectors of 16 …: 1.9 times the steps of 16 columns
//   8·4096·4096  packing b takes 55 % of the time; …
//
// Only what is known is told: sizes that are open say nothing, and what takes less
// than a few microseconds is nobody's concern.
//
//===----------------------------------------------------------------------===//

#include "Notes.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace facet;
using namespace facet::cpu;

/// A note is worth while from this share of the time on.
static constexpr double leastShare = 0.25;

static std::string percent(double share) {
  return llvm::formatv("{0:f0} %", 100 * share);
}

/// Steps of whole vectors per column, relative to columns that fill all vectors.
static void noteColumns(const Problem &problem, llvm::StringRef statement,
                        std::vector<std::string> &notes) {
  int64_t n = problem.n.value_or(0), lanes = problem.lanes;
  if (n <= 0)
    return;
  int64_t vectors = llvm::divideCeil(n, lanes);
  double idle = 1 - double(n) / double(vectors * lanes);
  if (idle < leastShare)
    return;
  notes.push_back(
      llvm::formatv("'{0}': {1} columns fill {2} vector{3} of {4} to {5}; "
                    "a multiple of {4} would leave no lane idle",
                    statement, n, vectors, vectors == 1 ? "" : "s", lanes,
                    percent(1 - idle)));
}

static void notePacking(const Problem &problem, const Cost &cost,
                        llvm::StringRef statement,
                        std::vector<std::string> &notes) {
  auto tell = [&](llvm::StringRef operand, double cycles, bool inPlace,
                  llvm::StringRef remedy) {
    double share = cycles / cost.total();
    if (share < leastShare)
      return;
    notes.push_back(llvm::formatv("'{0}': packing {1} takes {2} of the time{3}",
                                  statement, operand, percent(share), remedy));
  };
  tell("a, the operand without the columns,", cost.packA, problem.aInPlace, "");
  tell("b, the operand with the columns,", cost.packB, problem.bInPlace,
       "; an argument that is const can be packed beforehand");
}

void cpu::noteCosts(const Problem &problem, const Cost &cost, double hertz,
                    llvm::StringRef statement,
                    std::vector<std::string> &notes) {
  constexpr double leastSeconds = 5e-6;
  if (!problem.isClosed || cost.total() / hertz < leastSeconds)
    return;
  noteColumns(problem, statement, notes);
  notePacking(problem, cost, statement, notes);
}
