//===- Trace.cpp - a run as slices on tracks ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which tracks there are and what lies on them; the formats are Perfetto.cpp and
// ChromeTrace.cpp.
//
//   critical path   |tensor 3 matmul|...|sync 2 dma_copy, under way|
//   tensor          |waits full0 |matmul   |matmul   |
//   tensor weights               |load_weights|
//   dma ring 0      |dma_copy    |dma_copy       |         an arrow from its end to
//   dma engine 5      |dma_copy  | |dma_copy |             the wait it released
//   clock           |half rate            |full rate       |
//   semaphore full0, dma rate: counters
//
// A track shows one thing at a time. Transfers of a ring, and shares of a DMA
// engine, can be under way together; such a track has as many lanes as it needs,
// all of one name.
//
//===----------------------------------------------------------------------===//

#include "Trace.h"
#include "Names.h"
#include "Units.h"

#include "facet/Isa/Assembler.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

using namespace facet;
using namespace facet::sim;
using llvm::Twine;

TraceSink::~TraceSink() = default;

namespace {

struct Slice {
  enum Kind : uint8_t { Run, Wait, Move, Share, Path, Clock } kind;
  uint32_t track; // index into Teller::tracks
  uint32_t index; // into the list that its kind is from
  Ticks begin, end;
};

/// A group of lanes. Tracks are numbered in the order of first use and declared
/// in the order of `rank`.
struct Track {
  std::string name;
  unsigned rank;
  Ticks free = 0; // its last slice has ended
};

class Teller {
public:
  Teller(const Program &program, const TimeResult &time,
         const TraceOptions &options, TraceSink &sink)
      : program(program), time(time), options(options), sink(sink) {}

  std::string tell() {
    gather();
    std::string leftOut = cut();
    findArrows();
    declare();
    for (const Slice &slice : slices)
      tell(slice);
    tellCounters();
    return leftOut;
  }

private:
  void gather();
  void gatherSpans();
  void gatherTransfers();
  std::string cut();
  void findArrows();
  void declare();
  void tell(const Slice &slice);
  void tellSpan(const Slice &slice, TraceSlice &told);
  void tellTransfer(const Slice &slice, TraceSlice &told);
  void tellStep(const Slice &slice, TraceSlice &told);
  void tellCounters();

  uint32_t trackOf(unsigned rank, const Twine &name);
  /// A free lane of the tracks of one rank, for something that begins then.
  uint32_t laneOf(unsigned rank, const Twine &name, Ticks begin, Ticks end);
  void add(Slice::Kind kind, uint32_t track, size_t index, Ticks begin,
           Ticks end);
  bool isShown(Ticks begin, Ticks end) const {
    return ns(end) >= options.fromNs && ns(begin) <= options.toNs;
  }
  double ns(Ticks ticks) const {
    return double(ticks) / double(time.ticksPerNs);
  }
  void describe(const Span &span);
  void say(const char *name, std::string text) {
    arguments.push_back({name, std::move(text), 0});
  }
  void say(const char *name, double number) {
    arguments.push_back({name, "", number});
  }
  std::string mnemonicOf(const Span &span) const;

  const Program &program;
  const TimeResult &time;
  const TraceOptions &options;
  TraceSink &sink;

  std::vector<Track> tracks;
  std::map<unsigned, std::vector<uint32_t>> lanes; // by rank
  std::vector<unsigned> number;                    // declared as
  std::vector<Slice> slices;
  /// Where the limit of slices was reached; counters end there too.
  Ticks cutAt = std::numeric_limits<Ticks>::max();
  std::vector<CriticalStep> path;
  /// The runs and moves that are shown: by index, number of the slice or -1.
  std::vector<std::vector<uint64_t>> leaving[2]; // spans, transfers
  std::vector<uint64_t> arriving;                // spans; 0: none
  std::map<std::pair<int, int>, std::string> texts;

  // Of the slice being told.
  std::vector<TraceArgument> arguments;
  std::string name;
};

/// Ranks of tracks.
enum : unsigned {
  pathRank = 0,
  engineRank = 1, // and three for each queue
  ringRank = 100,
  dmaRank = 1000,
  clockRank = 5000
};

} // namespace

//===----------------------------------------------------------------------===//
// What there is
//===----------------------------------------------------------------------===//

uint32_t Teller::trackOf(unsigned rank, const Twine &name) {
  std::vector<uint32_t> &of = lanes[rank];
  if (of.empty()) {
    of.push_back(uint32_t(tracks.size()));
    tracks.push_back({name.str(), rank});
  }
  return of[0];
}

uint32_t Teller::laneOf(unsigned rank, const Twine &name, Ticks begin,
                        Ticks end) {
  trackOf(rank, name);
  std::vector<uint32_t> &of = lanes[rank];
  for (uint32_t lane : of)
    if (tracks[lane].free <= begin) {
      tracks[lane].free = end;
      return lane;
    }
  of.push_back(uint32_t(tracks.size()));
  tracks.push_back({tracks[of[0]].name, rank, end});
  return of.back();
}

void Teller::add(Slice::Kind kind, uint32_t track, size_t index, Ticks begin,
                 Ticks end) {
  if (isShown(begin, end))
    slices.push_back({kind, track, uint32_t(index), begin, end});
}

void Teller::gatherSpans() {
  for (size_t s = 0; s != time.spans.size(); ++s) {
    const Span &span = time.spans[s];
    Engine engine = program.queues[span.queue].engine;
    Opcode op = program.queues[span.queue].code[span.pc].op();
    // The ports of the tensor engine and its sequencer go on side by side.
    unsigned part = 0;
    if (engine == Engine::Tensor && op == Opcode::LoadWeights)
      part = 1;
    else if (engine == Engine::Tensor && op != Opcode::Matmul &&
             op != Opcode::Transpose)
      part = 2;
    static const char *const parts[] = {"", " weights", " control"};
    uint32_t track = trackOf(engineRank + 3 * span.queue + part,
                             Twine(engineName(engine)) + parts[part]);
    Ticks &free = tracks[track].free;
    Ticks ready = std::max(span.ready, free);
    if (span.start > ready && span.reason != Stall::Idle)
      add(Slice::Wait, track, s, ready, span.start);
    Ticks start = std::max(span.start, free);
    free = std::max(span.portFree, start);
    if (free > start)
      add(Slice::Run, track, s, start, free);
  }
}

void Teller::gatherTransfers() {
  auto byStart = [](const auto &list) {
    std::vector<uint32_t> order(list.size());
    for (uint32_t i = 0; i != order.size(); ++i)
      order[i] = i;
    llvm::sort(order, [&](uint32_t a, uint32_t b) {
      return std::tie(list[a].start, a) < std::tie(list[b].start, b);
    });
    return order;
  };
  for (uint32_t t : byStart(time.transfers)) {
    const TransferSpan &transfer = time.transfers[t];
    if (transfer.done > transfer.start)
      add(Slice::Move,
          laneOf(ringRank + transfer.ring, "dma ring " + Twine(transfer.ring),
                 transfer.start, transfer.done),
          t, transfer.start, transfer.done);
  }
  for (uint32_t s : byStart(time.shares)) {
    const ShareSpan &share = time.shares[s];
    if (share.done > share.start)
      add(Slice::Share,
          laneOf(dmaRank + share.engine, "dma engine " + Twine(share.engine),
                 share.start, share.done),
          s, share.start, share.done);
  }
}

void Teller::gather() {
  path = criticalPath(time);
  for (size_t p = 0; p != path.size(); ++p)
    add(Slice::Path, trackOf(pathRank, "critical path"), p, path[p].begin,
        path[p].end);
  gatherSpans();
  gatherTransfers();
  for (size_t w = 0; w != time.windows.size(); ++w) {
    Ticks end = w + 1 == time.windows.size()
                    ? std::max(time.total, time.windows[w].start)
                    : time.windows[w + 1].start;
    Ticks begin = std::max<Ticks>(time.windows[w].start, 0);
    if (begin < std::min(end, time.total))
      add(Slice::Clock, trackOf(clockRank, "tensor clock"), w, begin,
          std::min(end, time.total));
  }
}

/// Keeps the slices that begin first, in the order of tracks and time.
std::string Teller::cut() {
  std::string leftOut;
  if (size_t all = slices.size(); all > options.maxSlices) {
    auto begin = [](const Slice &a, const Slice &b) {
      return std::tie(a.begin, a.track, a.index) <
             std::tie(b.begin, b.track, b.index);
    };
    auto end = slices.begin() + ptrdiff_t(options.maxSlices);
    std::nth_element(slices.begin(), end, slices.end(), begin);
    leftOut = (Twine("the trace holds ") + Twine(options.maxSlices) + " of " +
               Twine(all) + " slices, those that begin before " +
               timeText(ns(end->begin)) +
               "; --window FROM:TO, in ns, shows another part")
                  .str();
    cutAt = end->begin;
    slices.erase(end, slices.end());
  }
  llvm::sort(slices, [&](const Slice &a, const Slice &b) {
    return std::tie(tracks[a.track].rank, a.track, a.begin, a.end) <
           std::tie(tracks[b.track].rank, b.track, b.begin, b.end);
  });
  return leftOut;
}

/// From the slice whose update released a wait to the slice that waited, when
/// both are shown.
void Teller::findArrows() {
  std::vector<bool> shown[2] = {std::vector<bool>(time.spans.size()),
                                std::vector<bool>(time.transfers.size())};
  for (const Slice &slice : slices)
    if (slice.kind == Slice::Run || slice.kind == Slice::Move)
      shown[slice.kind == Slice::Move][slice.index] = true;
  leaving[0].resize(time.spans.size());
  leaving[1].resize(time.transfers.size());
  arriving.resize(time.spans.size());
  uint64_t arrow = 0;
  for (size_t s = 0; s != time.spans.size(); ++s) {
    const Span &span = time.spans[s];
    if (span.semaphore < 0 || span.cause.kind == Cause::None || !shown[0][s])
      continue;
    bool transfer = span.cause.kind == Cause::Transfer;
    if (!shown[transfer][span.cause.index])
      continue;
    arriving[s] = ++arrow;
    leaving[transfer][span.cause.index].push_back(arrow);
  }
}

//===----------------------------------------------------------------------===//
// Telling it
//===----------------------------------------------------------------------===//

void Teller::declare() {
  number.resize(tracks.size());
  unsigned next = 1;
  for (const auto &entry : lanes)
    for (uint32_t track : entry.second) {
      number[track] = next++;
      sink.track(number[track], tracks[track].name);
    }
}

std::string Teller::mnemonicOf(const Span &span) const {
  return opcodeInfo(program.queues[span.queue].code[span.pc].opcode)->mnemonic;
}

/// Where an instruction stands and what it is.
void Teller::describe(const Span &span) {
  int queue = int(span.queue), pc = int(span.pc);
  say("instruction", double(pc));
  std::string &text = texts[{queue, pc}];
  if (text.empty())
    text = printInstruction(program, unsigned(queue), unsigned(pc));
  say("text", text);
  InstructionLabel label = labelOf(program, queue, pc);
  if (!label.place.empty())
    say("place", label.place);
  if (!label.op.empty())
    say("op", label.op);
  std::string counters = countersOf(program, span);
  if (!counters.empty())
    say("counters", counters);
}

void Teller::tellSpan(const Slice &slice, TraceSlice &told) {
  const Span &span = time.spans[slice.index];
  if (slice.kind == Slice::Wait) {
    told.category = "wait";
    name = "waits: " + std::string(stallName(span.reason));
    if (span.semaphore >= 0)
      name = "waits for " + semaphoreName(program, span.semaphore);
    say("waits", labelOf(program, int(span.queue), int(span.pc)).name);
    say("reason", stallName(span.reason));
    if (span.cause.kind != Cause::None)
      say(span.semaphore >= 0 ? "released by" : "after",
          nameOf(program, time, span.cause));
    return;
  }
  told.category = "work";
  name = mnemonicOf(span);
  describe(span);
  if (span.start > span.ready)
    say("waited ns", ns(span.start - span.ready));
  say("inputs read after ns", ns(span.sourceFree - span.start));
  say("result after ns", ns(span.done - span.start));
  told.leaving = leaving[0][slice.index];
  if (arriving[slice.index])
    told.arriving = arriving[slice.index];
}

void Teller::tellTransfer(const Slice &slice, TraceSlice &told) {
  told.category = "transfer";
  bool share = slice.kind == Slice::Share;
  uint32_t index = share ? time.shares[slice.index].transfer : slice.index;
  const TransferSpan &transfer = time.transfers[index];
  const Span &trigger = time.spans[transfer.span];
  name = mnemonicOf(trigger);
  say("triggered by",
      labelOf(program, int(trigger.queue), int(trigger.pc)).name);
  if (share) {
    say("bytes", double(time.shares[slice.index].bytes));
    say("packets", double(time.shares[slice.index].packets));
    return;
  }
  describe(trigger);
  say("bytes", double(transfer.bytes));
  double seconds = ns(transfer.dataDone - transfer.start) * 1e-9;
  if (seconds > 0)
    say("rate", withPrefix(double(transfer.bytes) / seconds, "B/s"));
  told.leaving = leaving[1][slice.index];
}

void Teller::tellStep(const Slice &slice, TraceSlice &told) {
  told.category = "path";
  const CriticalStep &step = path[slice.index];
  name = describePath(kindOf(program, time, step), step.reason,
                      nameOf(program, time, step.what));
}

void Teller::tell(const Slice &slice) {
  arguments.clear();
  TraceSlice told;
  told.track = number[slice.track];
  told.begin = ns(slice.begin);
  told.end = ns(slice.end);
  switch (slice.kind) {
  case Slice::Run:
  case Slice::Wait:
    tellSpan(slice, told);
    break;
  case Slice::Move:
  case Slice::Share:
    tellTransfer(slice, told);
    break;
  case Slice::Path:
    tellStep(slice, told);
    break;
  case Slice::Clock:
    told.category = "clock";
    name = time.windows[slice.index].slow ? "slow" : "full rate";
    say("streamed at full rate ns", ns(time.windows[slice.index].work));
    break;
  }
  told.name = name;
  told.arguments = arguments;
  sink.slice(told);
}

void Teller::tellCounters() {
  unsigned next = unsigned(tracks.size()) + 1;
  auto shown = [&](Ticks at) { return isShown(at, at) && at < cutAt; };
  if (!time.shares.empty()) {
    sink.counterTrack(next, "dma rate", "GB/s");
    for (const RateStep &step : dmaRateSteps(time))
      if (shown(step.at))
        sink.count(next, ns(step.at), step.bytesPerSecond * 1e-9);
    ++next;
  }
  std::vector<std::vector<SemaphoreStep>> steps = semaphoreSteps(program, time);
  for (size_t s = 0; s != steps.size(); ++s) {
    if (steps[s].empty())
      continue;
    sink.counterTrack(next, "semaphore " + semaphoreName(program, int(s)), "");
    for (const SemaphoreStep &step : steps[s])
      if (shown(step.at))
        sink.count(next, ns(step.at), double(step.value));
    ++next;
  }
}

std::string sim::tellTrace(const Program &program, const TimeResult &time,
                           const TraceOptions &options, TraceSink &sink) {
  return Teller(program, time, options, sink).tell();
}
