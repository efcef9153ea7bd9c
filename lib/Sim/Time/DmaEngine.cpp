//===- DmaEngine.cpp - one DMA engine and its rings -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two rings with shares of 3 packets of 40 ns and 5 packets of 80 ns:
//
//   ring 0  |40|      |40|      |40|
//   ring 1     |  80  |   |  80  |  |  80  |  80  |  80  |
//
// Packets of a share are alike, so rounds are counted, not walked: a share costs
// the same whether it has two packets or a million.
//
//===----------------------------------------------------------------------===//

#include "DmaEngine.h"

#include <algorithm>

using namespace facet;
using namespace facet::sim;

/// The ring after the one served last, round and round.
void RingSchedule::State::setNext() {
  next = 0;
  while (next != heads.size() && int(heads[next].ring) <= last)
    ++next;
  if (next == heads.size())
    next = 0;
}

bool RingSchedule::add(unsigned ring, const Share &share) {
  unsigned place = 0;
  while (place != state.heads.size() && state.heads[place].ring < ring)
    ++place;
  if (place != state.heads.size() && state.heads[place].ring == ring) {
    if (waiting.size() <= ring)
      waiting.resize(ring + 1);
    waiting[ring].push_back(share);
    return false;
  }
  if (state.heads.empty()) { // an idle engine begins with the lowest ring

    state.at = 0;
    state.last = -1;
  }
  state.heads.insert(state.heads.begin() + place, Head{ring, share});
  if (state.done >= int(place))
    ++state.done;
  state.setNext();
  return true;
}

OwnTime RingSchedule::untilFinished() const {
  if (state.done >= 0)
    return state.at;
  if (state.heads.size() == 1) {
    const Share &share = state.heads[0].share;
    OwnTime ticks = 0;
    for (unsigned s = 0; s != Share::numSegments; ++s)
      ticks += OwnTime(share.left[s]) * share.cost[s];
    return state.at + (ticks << ownBits);
  }
  State copy = state;
  copy.run(forever, [](uint32_t, OwnTime) {});
  return copy.at;
}

Share RingSchedule::removeDone() {
  Head &head = state.heads[unsigned(state.done)];
  Share share = head.share;
  state.done = -1;
  if (head.ring < waiting.size() && !waiting[head.ring].empty()) {
    head.share = waiting[head.ring].front();
    waiting[head.ring].pop_front();
  } else {
    state.heads.erase(&head);
    state.setNext();
  }
  return share;
}
