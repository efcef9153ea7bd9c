//===- Trials.cpp - the calls that check makes ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A wrong remainder shows at 1, at a prime, at 0; a wrong order of operations at
// large and small numbers side by side; a forgotten NaN rule at a NaN. Trials visit
// these on purpose and add random ones, all from one seed. Sizes must keep the
// promises (`requires K % 64 == 0`): a search over a pool of useful values finds
// such, and others that break a promise.
//
//===----------------------------------------------------------------------===//

#include "Trials.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>

using namespace llvm;
using namespace facet;

/// Work of one trial that -D did not ask for, in additions and multiplications.
static constexpr double affordable = 3e6;
/// Random proposals before a wish is given up.
static constexpr unsigned proposals = 3000;

TrialMaker::TrialMaker(const HostKernel &kernel, const Promises &promises,
                       ArrayRef<SizeBinding> given, uint64_t seed,
                       std::function<double(const SizeValues &)> cost)
    : kernel(kernel), promises(promises), given(given), random(seed),
      cost(std::move(cost)) {}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

bool TrialMaker::isFixed(unsigned size) const {
  for (const SizeBinding &binding : given)
    if (binding.name == kernel.sizes[size])
      return !binding.general;
  return !kernel.fixed[size].empty();
}

SmallVector<int64_t> TrialMaker::poolOf(unsigned size) const {
  SmallVector<int64_t> pool(kernel.fixed[size].begin(),
                            kernel.fixed[size].end());
  for (const SizeBinding &binding : given)
    if (binding.name == kernel.sizes[size])
      pool.assign(binding.values.begin(), binding.values.end());
  if (!isFixed(size))
    pool.append({0, 1, 2, 3, 4, 5, 7, 8, 13, 16, 17, 31, 32, 33, 64, 128});
  return pool;
}

bool TrialMaker::isPossible(const SizeValues &sizes) const {
  for (const HostParam &param : kernel.params) {
    std::optional<SmallVector<int64_t, 4>> shape = kernel.shape(param, sizes);
    if (!shape || (!shape->empty() && !bytesOf(param.type, *shape)))
      return false;
    // No subscript of an empty axis is right.
    if (indexBound(kernel, param, sizes) == 0 && !is_contained(*shape, 0))
      return false;
  }
  return true;
}

bool TrialMaker::isAffordable(const SizeValues &sizes) const {
  // Large sizes that -D names are wanted; the others stay small beside them.
  bool othersSmall = true;
  for (auto [name, value] : zip_equal(kernel.sizes, sizes))
    othersSmall &= value <= 17 ||
                   any_of(given, [&, name = name](const SizeBinding &binding) {
                     return binding.name == name;
                   });
  if (!given.empty() && othersSmall)
    return true;
  double elements = 0;
  for (const HostParam &param : kernel.params) {
    double count = 1;
    std::optional<SmallVector<int64_t, 4>> shape = kernel.shape(param, sizes);
    for (int64_t extent : *shape) // isPossible was asked before
      count *= double(extent);
    elements += count;
  }
  return cost(sizes) + elements <= affordable;
}

bool TrialMaker::isGood(const Trial &trial) const {
  return isPossible(trial.sizes) && isAffordable(trial.sizes) &&
         !promises.firstBroken(trial.sizes, trial.arguments);
}

std::optional<Trial> TrialMaker::satisfy(SizeValues wanted,
                                         std::optional<unsigned> pinned,
                                         Draw how) {
  Trial trial;
  trial.draw = how;
  for (unsigned proposal = 0; proposal < proposals; ++proposal) {
    trial.sizes = wanted;
    // The wish itself first; then more and more of it is given up.
    for (unsigned i = 0; i < wanted.size() && proposal; ++i) {
      if (pinned == i || random.below(proposals) > proposal * 4 + 300)
        continue;
      SmallVector<int64_t> pool = poolOf(i);
      trial.sizes[i] = pool[random.below(pool.size())];
    }
    trial.seed = random.next();
    fillScalars(trial);
    if (isGood(trial))
      return fillInputs(trial) ? std::optional(std::move(trial)) : std::nullopt;
  }
  return std::nullopt;
}

std::vector<Trial> TrialMaker::make() {
  std::vector<Trial> trials;
  size_t count = kernel.sizes.size();
  unsigned turn = 0;
  auto add = [&](SizeValues wanted, std::optional<unsigned> pinned) {
    for (unsigned i = 0; i < count; ++i) {
      SmallVector<int64_t> pool = poolOf(i);
      if (!is_contained(pool, wanted[i]))
        wanted[i] = pool[random.below(pool.size())];
    }
    std::optional<Trial> trial =
        satisfy(std::move(wanted), pinned, Draw(turn % 3));
    bool isNew =
        trial && none_of(trials, [&](const Trial &other) {
          return other.sizes == trial->sizes && other.draw == trial->draw;
        });
    if (isNew) {
      trials.push_back(std::move(*trial));
      ++turn;
    }
  };

  static constexpr int64_t primes[] = {7, 13, 5, 17, 3, 2, 31};
  SizeValues prime(count);
  for (unsigned i = 0; i < count; ++i)
    prime[i] = primes[i % std::size(primes)];
  for (unsigned how = 0; how < 3; ++how)
    add(prime, std::nullopt);
  add(SizeValues(count, 1), std::nullopt);
  add(SizeValues(count, 16), std::nullopt);
  add(SizeValues(count, 0), std::nullopt);
  for (unsigned i = 0; i < count; ++i)
    for (int64_t edge : {0, 1, 64}) {
      SizeValues wanted = prime;
      wanted[i] = edge;
      add(std::move(wanted), i);
    }
  // Every value that -D names is visited.
  for (unsigned i = 0; i < count; ++i)
    for (const SizeBinding &binding : given)
      if (binding.name == kernel.sizes[i])
        for (int64_t value : binding.values) {
          SizeValues wanted = prime;
          wanted[i] = value;
          add(std::move(wanted), i);
        }
  for (unsigned i = 0; i < 6; ++i)
    add(randomSizes(), std::nullopt);
  return trials;
}

SizeValues TrialMaker::randomSizes() {
  SizeValues sizes(kernel.sizes.size());
  for (unsigned size = 0; size < sizes.size(); ++size) {
    SmallVector<int64_t> pool = poolOf(size);
    sizes[size] = pool[random.below(pool.size())];
  }
  return sizes;
}

std::optional<Trial> TrialMaker::another() {
  SizeValues wanted = randomSizes();
  return satisfy(std::move(wanted), std::nullopt, Draw(random.below(3)));
}

std::optional<Trial> TrialMaker::at(SizeValues sizes, Draw how, uint64_t seed) {
  for (unsigned i = 0; i < sizes.size(); ++i)
    if (isFixed(i) && !is_contained(poolOf(i), sizes[i]))
      return std::nullopt;
  Trial trial;
  trial.sizes = std::move(sizes);
  trial.draw = how;
  trial.seed = seed;
  fillScalars(trial);
  return isGood(trial) && fillInputs(trial) ? std::optional(std::move(trial))
                                            : std::nullopt;
}

std::optional<Trial> TrialMaker::breaking(unsigned promise) {
  Trial trial;
  for (unsigned proposal = 0; proposal < proposals; ++proposal) {
    trial.sizes.assign(kernel.sizes.size(), 0);
    for (unsigned i = 0; i < trial.sizes.size(); ++i) {
      SmallVector<int64_t> pool =
          kernel.fixed[i].empty()
              ? SmallVector<int64_t>{1, 2, 3, 4, 5, 6, 7, 8, 15, 16, 17, 64}
              : SmallVector<int64_t>(kernel.fixed[i].begin(),
                                     kernel.fixed[i].end());
      trial.sizes[i] = pool[random.below(pool.size())];
    }
    trial.seed = random.next();
    fillScalars(trial);
    if (isPossible(trial.sizes) && isAffordable(trial.sizes) &&
        promises.firstBroken(trial.sizes, trial.arguments) == promise)
      return fillInputs(trial) ? std::optional(std::move(trial)) : std::nullopt;
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

void TrialMaker::draw(Array &array, const HostParam &param,
                      const SizeValues &sizes, Draw how, Random &values) const {
  if (how == Draw::Plain || indexBound(kernel, param, sizes)) {
    fillRandom(array, kernel, param, sizes, values);
    return;
  }
  int64_t count = array.count();
  if (!isFloat(param.type)) {
    auto [low, high] = rangeOf(param.type);
    const int64_t edges[] = {low, high, 0,
                             param.type == ScalarType::Bool ? 1 : -1};
    for (int64_t i = 0; i < count; ++i) {
      int64_t value = how == Draw::Nasty && values.below(3) == 0
                          ? edges[values.below(std::size(edges))]
                          : int64_t(values.next());
      setElement(array, i, param.type == ScalarType::Bool ? value & 1 : value);
    }
    return;
  }
  for (int64_t i = 0; i < count; ++i) {
    double value = values.signedUnit();
    if (how == Draw::Wide) {
      value = std::ldexp(value, int(values.below(24)) - 12);
    } else if (values.below(16) == 0) {
      const double nasty[] = {0.0,  -0.0,      INFINITY,  -INFINITY, NAN,
                              1e-8, -0x1p-130, 0x1p-1040, 1e4,       -240.0};
      value = nasty[values.below(std::size(nasty))];
    }
    setElement(array, i, value);
  }
}

void TrialMaker::fillScalars(Trial &trial) const {
  Random values(trial.seed);
  trial.arguments.assign(kernel.params.size(), std::nullopt);
  for (auto [i, param] : enumerate(kernel.params))
    if (param.isInput() && param.axes.empty()) {
      Array scalar;
      scalar.type = param.type;
      scalar.bytes.resize(std::max(bitWidth(param.type) / 8, 1u));
      // A NaN here would be one everywhere.
      draw(scalar, param, trial.sizes,
           trial.draw == Draw::Nasty ? Draw::Wide : trial.draw, values);
      trial.arguments[i] = std::move(scalar);
    }
}

bool TrialMaker::fillInputs(Trial &trial) const {
  Random values(trial.seed + 1);
  Diagnostics ignored; // what does not fit is not tried
  for (auto [i, param] : enumerate(kernel.params)) {
    if (!param.isInput() || trial.arguments[i])
      continue;
    trial.arguments[i] = allocate(kernel, param, trial.sizes, ignored);
    if (!trial.arguments[i])
      return false;
    draw(*trial.arguments[i], param, trial.sizes, trial.draw, values);
  }
  return true;
}
