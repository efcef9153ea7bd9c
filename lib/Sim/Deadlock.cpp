//===- Deadlock.cpp - who waits for whom ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For each wait that does not hold, and for the update that would help:
//
//   queue tensor, instruction 1 (matmul): waits for full to reach 32, it is 16
//   queue sync, instruction 3 (dma_copy): comes later in its queue and would update
//   full
//
// Queues are followed on from where they stand as if nothing had to be waited for:
// what they do does not depend on the others.
//
//===----------------------------------------------------------------------===//

#include "Deadlock.h"

using namespace facet;
using namespace facet::sim;

/// Instructions of a queue that are looked at; who is not found by then is not
/// worth naming.
constexpr unsigned farthest = 1 << 18;

static bool updates(const Stream &stream, unsigned semaphore) {
  const Instruction &i = stream.now();
  if (i.op() == Opcode::SetSemaphore && i.imm[0] == semaphore)
    return true;
  for (const Update &u : i.updates)
    if (u.ref.present() && u.amount > 0 && stream.semaphore(u.ref) == semaphore)
      return true;
  return false;
}

/// Goes on to the next instruction that updates the semaphore; false: none, or
/// `looked` has become too much.
static bool findUpdate(Stream &stream, unsigned semaphore, unsigned &looked) {
  for (; !stream.done() && looked != farthest; ++looked) {
    bool enabled = stream.enabled();
    if (enabled && updates(stream, semaphore))
      return true;
    stream.step(enabled);
  }
  return false;
}

static Finding::Note nextUpdate(const Program &program,
                                llvm::ArrayRef<Stream> streams,
                                unsigned semaphore) {
  std::string name = semaphoreName(program, semaphore);
  bool all = true;
  for (unsigned q = 0; q != streams.size(); ++q) {
    Stream ahead = streams[q];
    unsigned looked = 0;
    if (findUpdate(ahead, semaphore, looked)) {
      std::string when = ahead.describe();
      return {int(q), int(ahead.at()),
              (looked ? "comes later in its queue and " : "") +
                  std::string("would update ") + name +
                  (when.empty() ? "" : ", with " + when)};
    }
    all &= looked != farthest;
  }
  return {-1, -1,
          all ? "no instruction that is left updates " + name
              : "none of the next " + std::to_string(farthest) +
                    " instructions of any queue updates " + name};
}

Finding
sim::deadlockOf(const Program &program, llvm::ArrayRef<Stream> streams,
                llvm::function_ref<int64_t(unsigned, const Wait &)> have) {
  Finding finding;
  finding.code = "SIM-DEADLOCK";
  finding.message = "no queue can go on: each waits for an update that none "
                    "can make";
  for (unsigned q = 0; q != streams.size(); ++q) {
    if (streams[q].done())
      continue;
    for (const Wait &wait : streams[q].now().waits) {
      if (!wait.ref.present() || streams[q].holds(wait, have(q, wait)))
        continue;
      finding.notes.push_back({int(q), int(streams[q].at()),
                               streams[q].describe(wait, have(q, wait))});
      finding.notes.push_back(
          nextUpdate(program, streams, streams[q].semaphore(wait.ref)));
    }
  }
  return finding;
}
