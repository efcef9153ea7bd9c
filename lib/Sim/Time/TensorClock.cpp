//===- TensorClock.cpp - the windows of the tensor engine's clock ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The array's power limit, as its clock shows it: time is cut into windows, and
// the array runs at full rate in a window when it was busy enough in the one
// before. With windows of 3413 ns and a share of 3/8:
//
//   window      0       1       2       3
//   streaming   500 ns  1700    2900    0      at full rate
//   rate        slow    slow    full    full -> window 4 is slow
//
// An instruction runs at the rate of the window it starts in; its streaming is
// counted in the windows it covers, evenly over its time.
//
//===----------------------------------------------------------------------===//

#include "TensorClock.h"

using namespace facet;
using namespace facet::sim;

TensorClock::TensorClock(const Machine &machine, const Timing &timing,
                         const TimeOptions &options, TimeResult &result)
    : enabled(machine.tensor.clockWindow), record(options.record),
      length(timing.window()), given(options.slowWindows), result(result) {
  // Rounded up: a window that falls short by a tick has not filled the share.
  needed = Ticks((__int128(length) * machine.tensor.windowShare + 999) / 1000);
  Ticks age = timing.time().fromPs(
      options.clockPhasePs.value_or(machine.tensor.windowPhasePs));
  age = (age % length + length) % length;
  windowStart = -age;
  if (!given.empty())
    slow = given[0];
}

void TensorClock::close() {
  if (record)
    result.windows.push_back({windowStart, slow, work});
  slow = work < needed;
  windowStart += length;
  ++number;
  if (number < given.size())
    slow = given[number];
  work = 0;
  if (laterWork) {
    Ticks begin = laterBegin, end = laterEnd, rest = laterWork;
    laterWork = 0;
    stream(begin, end, rest);
  }
}

/// Windows that one long instruction fills are like the first of them.
void TensorClock::skipAlike(Ticks now) {
  constexpr Ticks fewest = 64;
  if (!filled || !laterWork || number < given.size())
    return;
  Ticks windows = (std::min(now, laterEnd) - windowStart) / length - 1;
  if (windows < fewest)
    return;
  slow = work < needed;
  windowStart += windows * length;
  number += uint64_t(windows);
  laterBegin += windows * length;
  laterWork -= Ticks(std::min<__int128>(__int128(windows) * work, laterWork));
}

bool TensorClock::slowAt(Ticks now) {
  if (!enabled)
    return false;
  while (now >= windowStart + length) {
    // A window without work after another is like it: skip them at once.
    if (work == 0 && !laterWork && slow == (needed > 0) &&
        number >= given.size()) {
      Ticks windows = (now - windowStart) / length;
      windowStart += windows * length;
      number += uint64_t(windows);
      break;
    }
    close();
    skipAlike(now);
  }
  return slow;
}

void TensorClock::stream(Ticks begin, Ticks end, Ticks amount) {
  if (!enabled)
    return;
  Ticks border = windowStart + length;
  filled = begin == windowStart && end > border;
  if (end <= border) {
    work += amount;
    return;
  }
  if (begin < border) {
    Ticks here = Ticks(__int128(amount) * (border - begin) / (end - begin));
    work += here;
    amount -= here;
    begin = border;
  }
  laterBegin = begin;
  laterEnd = end;
  laterWork = amount;
}

void TensorClock::finish() {
  if (enabled && record) {
    slowAt(result.total);
    result.windows.push_back({windowStart, slow, work});
  }
}
