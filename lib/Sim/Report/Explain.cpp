//===- Explain.cpp - one instruction of a run -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The instants of an instruction each time it was executed, what it waited for
// and who ended the wait:
//
//   tensor 2 load_weights, 20 times
//         ready      start  inputs read  port free     result  waited for
//           0.0     3012.2       3018.9     3018.9     3100.9  full0, from sync 3 dma_copy
//
//===----------------------------------------------------------------------===//

#include "Names.h"

#include "facet/Isa/Assembler.h"
#include "facet/Sim/Report.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"

using namespace facet;
using namespace facet::sim;
using llvm::right_justify;

namespace {

class Explainer {
public:
  Explainer(const Program &program, const TimeResult &time, unsigned queue,
            unsigned pc, const TraceOptions &window, llvm::raw_ostream &os)
      : program(program), time(time), queue(queue), pc(pc), window(window),
        os(os) {}

  void explain();

private:
  void head(uint64_t executions);
  void row(size_t span);
  void transferRow(size_t span);
  std::string causeOf(const Span &span) const;
  double ns(Ticks ticks) const {
    return double(ticks) / double(time.ticksPerNs);
  }
  void column(Ticks ticks) { os << llvm::format("%13.1f", ns(ticks)); }

  const Program &program;
  const TimeResult &time;
  unsigned queue, pc;
  const TraceOptions &window;
  llvm::raw_ostream &os;
  std::vector<const TransferSpan *> transferOf; // by span
  static constexpr unsigned maxRows = 24;
};

} // namespace

void Explainer::head(uint64_t executions) {
  InstructionLabel label = labelOf(program, int(queue), int(pc));
  os << label.name << ", " << executions
     << (executions == 1 ? " time" : " times");
  if (!label.place.empty())
    os << ", from " << label.place;
  if (!label.op.empty())
    os << " '" << label.op << "'";
  os << "\n  " << printInstruction(program, queue, pc) << "\n\n";
}

/// ", waited for full0, from sync 3 dma_copy"
std::string Explainer::causeOf(const Span &span) const {
  std::string text;
  if (span.start == span.ready)
    return text;
  text = span.semaphore >= 0 ? semaphoreName(program, span.semaphore)
                             : stallName(span.reason);
  if (span.cause.kind == Cause::None)
    return text;
  text += ", from " + nameOf(program, time, span.cause);
  std::string counters = countersOf(program, spanOf(time, span.cause));
  text += (counters.empty() ? "" : " at ") + counters;
  return text;
}

void Explainer::row(size_t index) {
  const Span &span = time.spans[index];
  std::vector<int64_t> counters = loopCounters(program, queue, pc, span.visit);
  std::string at;
  for (int64_t counter : counters)
    at += (at.empty() ? "" : ", ") + std::to_string(counter);
  os << right_justify(at, 12);
  column(span.ready);
  column(span.start);
  if (const TransferSpan *transfer = transferOf[index]) {
    column(span.portFree);
    column(transfer->start);
    column(transfer->dataDone);
    column(transfer->done);
  } else {
    column(span.sourceFree);
    column(span.portFree);
    column(span.done);
  }
  std::string cause = causeOf(span);
  os << (cause.empty() ? "" : "  ") << cause << '\n';
}

void Explainer::explain() {
  uint64_t executions = time.executed[queue][pc];
  head(executions);
  if (!executions) {
    os << "  it was never executed: no trip of a loop around it, or its "
          "predicate was false\n";
    return;
  }
  transferOf.resize(time.spans.size());
  for (const TransferSpan &transfer : time.transfers)
    transferOf[transfer.span] = &transfer;
  bool transfer = program.queues[queue].code[pc].isTransfer();
  std::vector<int64_t> loops = loopCounters(program, queue, pc, 0);
  std::string counters;
  for (size_t d = 0; d != loops.size(); ++d)
    counters += (d ? ", i" : "i") + std::to_string(d);
  os << right_justify(counters, 12) << right_justify("ready", 13)
     << right_justify("start", 13);
  static const char *const ofTransfers[] = {"triggered", "first packet",
                                            "last byte", "updated"};
  static const char *const ofOthers[] = {"inputs read", "port free", "result"};
  for (const char *name : transfer ? llvm::ArrayRef<const char *>(ofTransfers)
                                   : llvm::ArrayRef<const char *>(ofOthers))
    os << right_justify(name, 13);
  os << "  waited for\n";
  uint64_t shown = 0, more = 0;
  for (size_t s = 0; s != time.spans.size(); ++s) {
    const Span &span = time.spans[s];
    if (span.queue != queue || span.pc != pc ||
        ns(std::max(span.done, span.portFree)) < window.fromNs ||
        ns(span.ready) > window.toNs)
      continue;
    if (shown == maxRows) {
      ++more;
      continue;
    }
    ++shown;
    row(s);
  }
  if (more)
    os << "  " << more << " more; --window FROM:TO, in ns, shows others\n";
  else if (!shown)
    os << "  none in this window\n";
}

void sim::printExplanation(const Program &program, const TimeResult &time,
                           unsigned queue, unsigned pc,
                           const TraceOptions &window, llvm::raw_ostream &os) {
  Explainer(program, time, queue, pc, window, os).explain();
}
