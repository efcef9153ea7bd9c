//===- Triggers.cpp - transfers, from trigger to update -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A trigger hands its transfer to the DMA engines (Dma.h); when they are done with
// their shares, the updates happen, one for each engine:
//
//   dma_copy 128 rows, update(full += 1)
//     -> 16 shares, most often done at one instant: full += 16 in one step
//
//===----------------------------------------------------------------------===//

#include "Timer.h"

#include <algorithm>

using namespace facet;
using namespace facet::sim;
using llvm::Twine;

void Timer::trigger(unsigned q, Ticks now, Cause self) {
  TimedQueue &queue = queues[q];
  const Instruction &i = queue.stream.now();
  const TransferCost &cost = queue.code[queue.stream.at()].transfer;
  queue.triggered = true;
  queue.awake = false;
  queue.lastTrigger = now;
  queue.spacing = cost.spacing;
  if (++underWay > mostUnderWay) {
    find("SIM-MEMORY",
         "more than " + Twine(mostUnderWay) +
             " transfers are under way at once",
         int(q));
    stopped = true;
    return;
  }
  Transfer transfer{&i, {}, 0};
  bool updates = false;
  for (unsigned u = 0; u != 2; ++u) {
    updates |= i.updates[u].ref.present();
    transfer.semaphores[u] = queue.stream.semaphore(i.updates[u].ref);
  }
  uint64_t engines = uint64_t(machine.dma.engines);
  uint64_t perEngine = uint64_t(machine.dma.partitionsPerEngine);
  transfer.shares = int64_t(
      updates ? engines
              : std::min(engines, (cost.rows + perEngine - 1) / perEngine));
  uint32_t id = uint32_t(transfers.size());
  if (unused.empty()) {
    transfers.push_back(transfer);
  } else {
    id = unused.back();
    unused.pop_back();
    transfers[id] = transfer;
  }
  Ticks ready = now + longer(q, cost.firstData + cost.lag);
  end = std::max(end, ready);
  if (options.record) {
    TransferSpan span;
    span.span = self.index;
    span.ring = i.sub[0];
    span.ready = span.start = span.dataDone = span.done = ready;
    span.cause = self;
    result.transfers.push_back(span);
  }
  dma.add(id, cost, i.sub[0], updates, ready);
}

void Timer::shareDone(const ShareDone &share) {
  end = std::max(end, share.done);
  if (share.transfer != shares.transfer || share.done != shares.done)
    postShares();
  shares.transfer = share.transfer;
  shares.done = share.done;
  shares.number += int64_t(share.engines.size());
  if (!options.record)
    return;
  TransferSpan &span = result.transfers[share.transfer];
  for (unsigned e : share.engines) {
    if (share.packets) {
      result.shares.push_back({share.transfer, e, share.start, share.done,
                               share.bytes, share.packets});
      span.start = span.bytes ? std::min(span.start, share.start) : share.start;
      span.bytes += share.bytes;
      span.dataDone = std::max(span.dataDone, share.dataDone);
    }
    if (share.done > span.done) {
      span.done = share.done;
      span.cause = share.start > span.ready && lastOn[e].kind
                       ? lastOn[e]
                       : Cause{Cause::Instruction, span.span};
    }
    lastOn[e] = {Cause::Transfer, share.transfer};
  }
}

/// The updates of engines that were done with a transfer at one instant.
void Timer::postShares() {
  if (!shares.number)
    return;
  Transfer &transfer = transfers[shares.transfer];
  transfer.shares -= shares.number;
  if (transfer.shares == 0) {
    --underWay;
    if (!options.record)
      unused.push_back(shares.transfer);
  }
  for (unsigned u = 0; u != 2; ++u)
    if (const Update &update = transfer.instruction->updates[u];
        update.ref.present())
      post(transfer.semaphores[u], update.amount * shares.number, false,
           shares.done, true, {Cause::Transfer, shares.transfer});
  shares = {};
}
