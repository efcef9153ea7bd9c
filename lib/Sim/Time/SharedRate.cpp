//===- SharedRate.cpp - links that many share -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Max-min fair: everybody's rate grows together; who has what it wants stops, and
// when a link is full all of its users stop.
//
//   limit 300; wanted 50, 200, 200   ->   given 50, 125, 125
//
//===----------------------------------------------------------------------===//

#include "SharedRate.h"

#include "llvm/ADT/SmallVector.h"

#include <algorithm>

using namespace facet::sim;

namespace {
/// One of the two links: what is left of it, and who still grows on it.
struct Link {
  bool limited = false;
  __int128 left = 0;    // thousandths of a rate
  __int128 growing = 0; // sum of weights, in thousandths
  /// The rate at which it is full.
  int64_t level() const {
    return growing ? int64_t(left / growing) : INT64_MAX;
  }
};
} // namespace

void facet::sim::shareRates(llvm::MutableArrayRef<RateUser> users,
                            int64_t limit, int64_t memoryLimit) {
  Link links[2] = {{limit > 0, __int128(limit) * 1000},
                   {memoryLimit > 0, __int128(memoryLimit) * 1000}};
  auto weight = [](const RateUser &user, unsigned link) -> int64_t {
    return user.number * (link == 0 ? 1000 : user.memory);
  };
  llvm::SmallVector<RateUser *, 16> open;
  __int128 sum[2] = {};
  for (RateUser &user : users) {
    user.given = user.wanted;
    if (!user.wanted)
      continue;
    open.push_back(&user);
    for (unsigned l = 0; l != 2; ++l) {
      sum[l] += __int128(user.wanted) * weight(user, l);
      links[l].growing += weight(user, l);
    }
  }
  for (unsigned l = 0; l != 2; ++l)
    links[l].limited &= sum[l] > links[l].left;

  auto close = [&](RateUser &user, int64_t rate) {
    user.given = rate;
    for (unsigned l = 0; l != 2; ++l) {
      links[l].left -= __int128(rate) * weight(user, l);
      links[l].growing -= weight(user, l);
    }
  };
  while (links[0].limited || links[1].limited) {
    int64_t level = INT64_MAX;
    unsigned full = 0;
    for (unsigned l = 0; l != 2; ++l)
      if (links[l].limited && links[l].level() < level) {
        level = links[l].level();
        full = l;
      }
    if (level == INT64_MAX)
      return; // nobody is left on a limited link
    // Who wants no more than that is content.
    bool content = false;
    llvm::erase_if(open, [&](RateUser *user) {
      if (user->wanted > level)
        return false;
      content = true;
      close(*user, user->wanted);
      return true;
    });
    if (content)
      continue;
    llvm::erase_if(open, [&](RateUser *user) {
      if (!weight(*user, full))
        return false;
      close(*user, std::max<int64_t>(level, 1));
      return true;
    });
    links[full].limited = false;
  }
}
