//===- Judge.h - whether an element of a road agrees with the judge -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// NAME.judge gives a value and a bound for each element of an output
// (facet/Conversion/KernelToLoops.h). What they accept:
//
//   bound   accepted
//   0       the value alone; NaN and infinities are values like others
//   > 0     everything within the bound of the value
//   inf     anything: the bound crosses an overflow, or an edge beyond which the
//           function has no value
//   -1      nothing: an exact integer that f64 cannot hold differs
//
// Zeros agree whatever their sign.
//
//===----------------------------------------------------------------------===//

#ifndef FACET_TARGET_JUDGE_H
#define FACET_TARGET_JUDGE_H

namespace facet {

struct Judgement {
  bool agrees;
  /// |stored − value| / bound; 0 when equal, infinity when the bound is 0 and they
  /// are not. Above 1 exactly when they disagree.
  double ratio;
};

/// Compares an element, as f64, with the judge's value and bound.
Judgement compareWithJudge(double stored, double value, double bound);

} // namespace facet

#endif // FACET_TARGET_JUDGE_H
