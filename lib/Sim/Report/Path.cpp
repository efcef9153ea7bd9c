//===- Path.cpp - who the time hangs on -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The critical path is thousands of stretches, most of them the same few
// instructions over and over; the waits of a program are the same. Both are added
// up by instruction and kind:
//
//   sync 2 dma_copy    transfer under way      812.0 us   x 640
//   tensor 3 matmul    ran                     601.4 us   x 2816
//   sync 2 dma_copy    to whom waited for it    21.8 us   x 64    (hop_from_dma_ns)
//
//===----------------------------------------------------------------------===//

#include "Names.h"
#include "Parts.h"

#include "llvm/ADT/STLExtras.h"

#include <map>
#include <set>
#include <tuple>

using namespace facet;
using namespace facet::sim;

/// The instruction behind a cause: itself, or the trigger of a transfer.
static std::pair<int, int> instructionOf(const TimeResult &time, Cause cause) {
  if (cause.kind == Cause::None)
    return {-1, -1};
  const Span &span = spanOf(time, cause);
  return {int(span.queue), int(span.pc)};
}

PathLine::Kind sim::kindOf(const Program &program, const TimeResult &time,
                           const CriticalStep &step) {
  if (step.ran)
    return step.what.kind == Cause::Transfer ? PathLine::Moved : PathLine::Ran;
  if (step.what.kind != Cause::Instruction)
    return PathLine::Followed;
  const Span &span = time.spans[step.what.index];
  return program.queues[span.queue].code[span.pc].isTransfer()
             ? PathLine::Started
             : PathLine::Followed;
}

std::string sim::describePath(PathLine::Kind kind, Stall reason,
                              llvm::StringRef what) {
  switch (kind) {
  case PathLine::Ran:
    return what.str();
  case PathLine::Started:
    return ("to the first packet of " + what).str();
  case PathLine::Moved:
    return (what + ", under way").str();
  case PathLine::Followed:
    break;
  }
  return ((reason == Stall::Idle ? "delay" : stallName(reason)) +
          llvm::Twine(" after ") + (what.empty() ? "the start" : what))
      .str();
}

static void findCritical(const Program &program, const TimeResult &time,
                         Report &report) {
  using Key = std::tuple<int, int, PathLine::Kind, Stall>;
  std::map<Key, PathLine> lines;
  for (const CriticalStep &step : criticalPath(time)) {
    auto [queue, pc] = instructionOf(time, step.what);
    PathLine::Kind kind = kindOf(program, time, step);
    Stall reason = kind == PathLine::Followed ? step.reason : Stall::Idle;
    PathLine &line = lines[{queue, pc, kind, reason}];
    line.kind = kind;
    line.reason = reason;
    line.ticks += step.end - step.begin;
    ++line.times;
  }
  for (auto &[key, line] : lines) {
    line.what = labelOf(program, std::get<0>(key), std::get<1>(key));
    report.path.push_back(std::move(line));
  }
  llvm::sort(report.path, [](const PathLine &a, const PathLine &b) {
    return std::tie(b.ticks, a.what.queue, a.what.pc, a.kind, a.reason) <
           std::tie(a.ticks, b.what.queue, b.what.pc, b.kind, b.reason);
  });
}

static void findWaits(const Program &program, const TimeResult &time,
                      Report &report) {
  // Slots of a ring of semaphores are one wait.
  using Key = std::tuple<int, int, Stall, std::pair<int, int>>;
  std::map<Key, WaitLine> lines;
  std::map<Key, std::set<int>> semaphores;
  for (const Span &span : time.spans) {
    if (span.start <= span.ready || span.reason == Stall::Idle)
      continue;
    Key key{int(span.queue), int(span.pc), span.reason,
            instructionOf(time, span.cause)};
    WaitLine &line = lines[key];
    if (span.semaphore >= 0)
      semaphores[key].insert(span.semaphore);
    Ticks waited = span.start - span.ready;
    line.ticks += waited;
    line.longest = std::max(line.longest, waited);
    ++line.times;
  }
  for (auto &[key, line] : lines) {
    auto [queue, pc, reason, cause] = key;
    line.who = labelOf(program, queue, pc);
    line.reason = reason;
    line.released = labelOf(program, cause.first, cause.second);
    for (int semaphore : semaphores[key])
      line.semaphores.push_back(semaphoreName(program, semaphore));
    report.waits.push_back(std::move(line));
  }
  llvm::sort(report.waits, [](const WaitLine &a, const WaitLine &b) {
    return std::tie(b.ticks, a.who.queue, a.who.pc, a.reason, a.released.queue,
                    a.released.pc) < std::tie(a.ticks, b.who.queue, b.who.pc,
                                              b.reason, b.released.queue,
                                              b.released.pc);
  });
}

void sim::findPath(const Program &program, const TimeResult &time,
                   Report &report) {
  findCritical(program, time, report);
  findWaits(program, time, report);
}
