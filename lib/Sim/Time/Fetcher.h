//===- Fetcher.h - instructions on their way to a queue -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_SIM_TIME_FETCHER_H
#define FACET_LIB_SIM_TIME_FETCHER_H

#include "facet/Isa/Timing.h"

namespace facet::sim {

class Fetcher {
public:
  Fetcher(const Program &program, unsigned queue);

  /// The queue comes to instruction `pc` at `now`; when it is there. Asked in the
  /// order of time.
  Ticks available(unsigned pc, Ticks now) {
    return pc / perPacket == current ? there[current] : enter(pc, now);
  }

private:
  Ticks enter(unsigned pc, Ticks now);

  /// A loop whose packets the queue can hold, and no outer one that it can.
  struct Kept {
    unsigned begin, end; // instructions, end included
  };
  unsigned perPacket = UINT32_MAX;
  unsigned ahead = 1;
  Ticks time = 0;
  std::vector<Kept> kept;
  unsigned current = 0;
  /// When each packet is there; `absent`: it is not on its way.
  static constexpr Ticks absent = -1;
  std::vector<Ticks> there;
  std::vector<unsigned> held; // packets that are not absent
  Ticks fetched = 0;          // the last packet asked for
};

} // namespace facet::sim

#endif // FACET_LIB_SIM_TIME_FETCHER_H
