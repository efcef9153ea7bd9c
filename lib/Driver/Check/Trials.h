//===- Trials.h - the calls that check makes ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_DRIVER_TRIALS_H
#define FACET_LIB_DRIVER_TRIALS_H

#include "../Promises.h"
#include "../Values.h"
#include "facet/Driver/SizeBindings.h"

#include <functional>

namespace facet {

/// How the elements of a trial are drawn.
enum class Draw {
  Plain, ///< floats in [-1, 1), integers as run's `random`
  Wide,  ///< floats of many magnitudes, integers of the whole range
  Nasty  ///< some zeros of both signs, subnormals, inf, NaN, extremes
};

/// One call that keeps all promises.
struct Trial {
  SizeValues sizes;
  Draw draw = Draw::Plain;
  uint64_t seed = 0;   ///< of its values
  Arguments arguments; ///< inputs filled, results absent
};

/// Chooses sizes and values for the calls of one kernel.
class TrialMaker {
public:
  /// `cost` says how much work sizes mean; sizes that -D did not ask for stay small.
  TrialMaker(const HostKernel &kernel, const Promises &promises,
             llvm::ArrayRef<SizeBinding> given, uint64_t seed,
             std::function<double(const SizeValues &)> cost);

  /// The trials: sizes all 1, distinct primes, usual ones, each size 0 once, and
  /// random mixtures, as far as the promises allow.
  std::vector<Trial> make();

  /// One more, of random sizes; nothing when the promises allow none.
  std::optional<Trial> another();

  /// The call with these sizes and values from `seed`; nothing when it would break a
  /// promise.
  std::optional<Trial> at(SizeValues sizes, Draw how, uint64_t seed);

  /// A call for which `promise` is the first that is broken; nothing when none is
  /// found.
  std::optional<Trial> breaking(unsigned promise);

private:
  /// Fills one input.
  void draw(Array &array, const HostParam &param, const SizeValues &sizes,
            Draw how, Random &values) const;
  /// Whether `size` can only be one of its pool.
  bool isFixed(unsigned size) const;
  llvm::SmallVector<int64_t> poolOf(unsigned size) const;
  bool isPossible(const SizeValues &sizes) const;
  bool isAffordable(const SizeValues &sizes) const;
  SizeValues randomSizes();
  /// Gives every input an array; false when one does not fit.
  bool fillInputs(Trial &trial) const;
  void fillScalars(Trial &trial) const;
  /// Whether `trial`, which has its scalars, may be made.
  bool isGood(const Trial &trial) const;
  /// Looks for sizes near `wanted` that keep the promises; `pinned` stays.
  std::optional<Trial> satisfy(SizeValues wanted,
                               std::optional<unsigned> pinned, Draw how);

  const HostKernel &kernel;
  const Promises &promises;
  llvm::ArrayRef<SizeBinding> given;
  Random random;
  std::function<double(const SizeValues &)> cost;
};

} // namespace facet

#endif // FACET_LIB_DRIVER_TRIALS_H
