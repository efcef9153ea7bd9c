//===- Instructions.cpp - single instructions, hops and transfers ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each row of data/instructions.csv is a few lines of the text form and what is to
// be measured in their run:
//
//   vector copy f32 psum 512 interval, interval, copy, ..., 3 times:
//   .queue vector|copy dst=sbuf.f32[0:128, 0, 512], src=psum.f32[0:128, 0, 512]
//     -> from the start of the second copy to that of the third: 603 ns
//
// The tensor clock is held at the row's rate.
//
//===----------------------------------------------------------------------===//

#include "Rows.h"

#include "facet/Isa/Assembler.h"
#include "facet/Isa/Timing.h"

#include "llvm/Support/raw_ostream.h"

#include <algorithm>

using namespace facet;
using namespace facet::bench;
using llvm::StringRef;

static Program programOf(StringRef queues, int64_t repeat,
                         const RowOptions &options) {
  std::string text = ".program 1\n.machine \"trn2\"\n.buffer x inout "
                     "hbm.f32[1048576] at 0 bytes 4194304\n.semaphore a\n";
  while (!queues.empty()) {
    StringRef queue = queues.substr(0, queues.find("|.queue", 1));
    queues = queues.substr(queue.size()).ltrim('|');
    auto [head, code] = queue.split('|');
    text += head.str() + '\n';
    for (int64_t i = 0; i != repeat; ++i)
      text += code.str() + '\n';
  }
  std::replace(text.begin(), text.end(), '|', '\n');
  Diagnostics diags;
  std::optional<Program> program = assemble(text, "row", diags);
  if (!program) {
    renderDiagnostics(diags, DiagnosticFormat::Text, false, llvm::errs());
    exit(1);
  }
  program->machine = machineNamed("trn2", options);
  return *program;
}

namespace {
/// One run, asked for the instants of its instructions by mnemonic.
class Observed {
public:
  Observed(const Program &program, const sim::TimeResult &result)
      : program(program), result(result) {}
  double measure(StringRef what, StringRef of) const;

private:
  using Spans = std::vector<const sim::Span *>;
  Spans spansOf(StringRef mnemonic) const;
  double ns(Ticks ticks) const {
    return double(ticks) / double(result.ticksPerNs);
  }

  const Program &program;
  const sim::TimeResult &result;
};
} // namespace

Observed::Spans Observed::spansOf(StringRef mnemonic) const {
  Spans spans;
  for (const sim::Span &span : result.spans) {
    const Instruction &i = program.queues[span.queue].code[span.pc];
    if (mnemonic == opcodeInfo(i.opcode)->mnemonic)
      spans.push_back(&span);
  }
  if (spans.empty())
    fatal("the program has no " + mnemonic);
  return spans;
}

double Observed::measure(StringRef what, StringRef of) const {
  if (what == "interval") {
    Spans spans = spansOf(of);
    return ns(spans.back()->start - spans[spans.size() - 2]->start);
  }
  if (what == "duration")
    return ns(spansOf(of).back()->done - spansOf(of).back()->start);
  if (what == "start")
    return ns(spansOf(of).front()->start);
  if (what == "gap") {
    auto [from, to] = of.split('>');
    return ns(spansOf(to).back()->start - spansOf(from).front()->done);
  }
  const sim::TransferSpan &transfer = result.transfers.back();
  const sim::Span &trigger = result.spans[transfer.span];
  Timing timing(program.machine);
  if (what == "first_data")
    return ns(transfer.ready - trigger.start);
  if (what == "data") { // with the time that HBM takes to answer
    TransferCost cost = timing.transfer(
        program, trigger.queue, program.queues[trigger.queue].code[trigger.pc]);
    return ns(transfer.dataDone - trigger.start - cost.firstData);
  }
  if (what == "share")
    return ns(transfer.dataDone - transfer.start);
  if (what == "transfer_gap")
    return ns(spansOf(of).back()->start - transfer.done);
  if (what == "update")
    return ns(transfer.done - transfer.dataDone);
  if (what == "packet" || what == "packets") {
    const sim::ShareSpan &share = result.shares.back();
    // Of several the last one takes longer to arrive than to be followed.
    double all = ns(transfer.dataDone - share.start);
    int64_t each = int64_t(share.bytes / share.packets);
    if (share.packets == 1)
      return all;
    return (all - ns(timing.packetDone(each))) / double(share.packets - 1);
  }
  fatal("nothing is called '" + what + "'");
}

void bench::instructions(const RowOptions &options, Rows &rows) {
  Csv csv = Csv::read(options.data + "/instructions.csv");
  for (size_t i = 0; i != csv.size(); ++i) {
    Program program =
        programOf(csv.text(i, "program"), csv.whole(i, "repeat"), options);
    sim::TimeOptions timeOptions;
    timeOptions.record = true;
    timeOptions.slowWindows.assign(16, csv.whole(i, "slow") != 0);
    sim::TimeResult result = timed(program, timeOptions);
    double measured = csv.number(i, "measured");
    Row row{"trn2-instr",
            csv.text(i, "what").str(),
            measured,
            Observed(program, result)
                .measure(csv.text(i, "measure"), csv.text(i, "of")),
            csv.text(i, "unit").str(),
            std::nullopt};
    if (csv.whole(i, "bar"))
      row.bar = Row::Bar{std::min(csv.number(i, "low"), measured * 0.95),
                         std::max(csv.number(i, "high"), measured * 1.05)};
    rows.push_back(row);
  }
}
