//===- Judge.cpp - whether an element of a road agrees with the judge -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The last step of a judgement, outside of compiled code. The caller decodes what
// was stored, exactly and not by the conversions that are on trial.
//
//===----------------------------------------------------------------------===//

#include "facet/Target/Judge.h"

#include <cmath>
#include <limits>

using namespace facet;

Judgement facet::compareWithJudge(double stored, double value, double bound) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (bound == infinity)
    return {true, 0};
  if (bound < 0 || std::isnan(bound))
    return {false, infinity};
  if (stored == value || (std::isnan(stored) && std::isnan(value)))
    return {true, 0};
  double distance = std::fabs(stored - value);
  // NaN or an infinity where the other is none: no distance, no agreement.
  if (!(distance <= bound))
    return {false,
            std::isfinite(distance) && bound > 0 ? distance / bound : infinity};
  return {true, distance / bound};
}
