//===- Stats.cpp - a run on one screen ------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   time    1.793 ms    4 303 908 cycles at 2.4 GHz
//   bound   1.748 ms    97.5 % of the time; tensor: 68.72 G multiply-adds at ...
//
// then the ladder, the engines, the bytes, the critical path, the waits and the
// energy, each a small table whose columns line up.
//
//===----------------------------------------------------------------------===//

#include "Units.h"

#include "facet/Sim/Report.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"

#include <algorithm>

using namespace facet;
using namespace facet::sim;
using llvm::left_justify;
using llvm::right_justify;

namespace {

class Printer {
public:
  Printer(const Report &report, llvm::raw_ostream &os)
      : report(report), os(os) {}

  void print() {
    head();
    ladder();
    engines();
    dma();
    traffic();
    path();
    waits();
    energy();
  }

private:
  std::string time(Ticks ticks) const { return timeText(report.ns(ticks)); }
  void title(llvm::StringRef text) { os << '\n' << text << '\n'; }
  void head();
  void ladder();
  void engines();
  void dma();
  void traffic();
  void path();
  void waits();
  void energy();
  void source(const InstructionLabel &what);

  const Report &report;
  llvm::raw_ostream &os;
  /// Lines of the tables that can be long.
  static constexpr size_t longest = 6;
};

} // namespace

void Printer::head() {
  os << report.program << " on " << report.machine << "  (program "
     << report.buildId.substr(0, 12) << ", machine "
     << report.machineHash.substr(0, 12) << ")\n\n";
  os << "time     " << left_justify(time(report.total), 12)
     << grouped(report.cycles) << " cycles at "
     << withPrefix(double(report.clockMHz) * 1e6, "Hz");
  if (report.envelopeNs > 0)
    os << "; the host adds " << timeText(report.envelopeNs);
  os << '\n';
  for (unsigned r = 0; r != report.resources.size(); ++r) {
    const Resource &resource = report.resources[r];
    os << (r == report.limit ? "bound    " : "         ")
       << left_justify(time(resource.least), 12)
       << right_justify(percent(report.share(resource.least)), 7) << "  "
       << left_justify(resource.name, 8) << resource.basis << '\n';
  }
  const Roofline &roof = report.roofline;
  if (roof.operations > 0) {
    os << "rate     " << withPrefix(roof.reached, "FLOP/s") << " of "
       << withPrefix(roof.peak, "FLOP/s") << ", "
       << percent(report.matmuls ? double(report.matmulsAtFullRate) /
                                       double(report.matmuls)
                                 : 0)
       << " of the array's instructions at full clock\n";
    if (roof.moved > 0)
      os << "roof     "
         << llvm::format("%.1f FLOP/byte to HBM, ",
                         roof.operations / roof.moved);
    if (roof.compulsory > 0)
      os << llvm::format("%.1f at best, ", roof.operations / roof.compulsory);
    if (roof.moved > 0)
      os << llvm::format("%.1f fill the array (%s)\n",
                         roof.peak / roof.bandwidth, roof.limit);
  }
}

void Printer::ladder() {
  if (report.ladderOf < 0)
    return;
  title("where the time of " +
        std::string(report.engines[size_t(report.ladderOf)].name) + " goes");
  Ticks sum = 0;
  for (const LadderStep &step : report.ladder) {
    sum += step.ticks;
    if (!step.ticks)
      continue;
    bool first = &step == &report.ladder.front();
    os << (first ? "    " : "  + ") << left_justify(step.name, 19)
       << right_justify(time(step.ticks), 10)
       << right_justify(percent(report.share(step.ticks)), 8) << "  = "
       << right_justify(time(sum), 9) << "  " << step.meaning << '\n';
  }
}

void Printer::engines() {
  if (report.engines.empty())
    return;
  // A column for each reason that anyone has.
  std::vector<Stall> reasons;
  for (unsigned s = 0; s != numStalls; ++s)
    if (llvm::any_of(report.engines, [&](const EngineLine &engine) {
          return engine.time.stalls[s] != 0;
        }))
      reasons.push_back(Stall(s));
  title("engines, in % of the time");
  os << "  " << left_justify("", 8) << right_justify("executed", 10)
     << right_justify("busy", 8);
  auto width = [](Stall s) {
    return unsigned(std::max<size_t>(6, llvm::StringRef(stallName(s)).size())) +
           2;
  };
  for (Stall s : reasons)
    os << right_justify(stallName(s), width(s));
  os << '\n';
  auto share = [&](Ticks ticks) {
    std::string text = percent(report.share(ticks));
    return ticks ? text.substr(0, text.size() - 2) : std::string("-");
  };
  for (const EngineLine &engine : report.engines) {
    os << "  " << left_justify(engine.name, 8)
       << right_justify(grouped(int64_t(engine.time.executed)), 10)
       << right_justify(share(engine.time.busy), 8);
    for (Stall s : reasons)
      os << right_justify(share(engine.time.stall(s)), width(s));
    os << '\n';
  }
}

void Printer::dma() {
  if (report.rings.empty())
    return;
  Ticks busy = 0, held = 0, most = 0;
  uint64_t packets = 0, bytes = 0;
  for (const DmaEngineTime &engine : report.dma) {
    busy += engine.busy;
    held += engine.held;
    most = std::max(most, engine.busy);
    packets += engine.packets;
    bytes += engine.bytes;
  }
  Ticks engines = Ticks(report.dma.size());
  title("transfers");
  os << "  " << report.dma.size() << " DMA engines  busy "
     << percent(report.share(busy / engines)) << " (the busiest "
     << percent(report.share(most)) << "), held by shared rates "
     << percent(report.share(held / engines)) << ", "
     << grouped(int64_t(packets)) << " packets of "
     << (packets ? withPrefix(double(bytes) / double(packets), "B") : "0 B")
     << " on average\n";
  for (const RingLine &ring : report.rings)
    os << "  ring " << left_justify(std::to_string(ring.ring), 4)
       << right_justify(grouped(int64_t(ring.transfers)), 9) << " transfers "
       << right_justify(withPrefix(double(ring.bytes), "B"), 10) << '\n';
}

void Printer::traffic() {
  title("bytes");
  os << "  " << left_justify("", 8) << right_justify("read", 12)
     << right_justify("written", 12) << "   of it by transfers\n";
  for (const TrafficLine &line : report.traffic) {
    auto bytes = [](uint64_t n) { return withPrefix(double(n), "B"); };
    os << "  " << left_justify(line.memory, 8)
       << right_justify(bytes(line.engines.read + line.transfers.read), 12)
       << right_justify(bytes(line.engines.written + line.transfers.written),
                        12)
       << right_justify(bytes(line.transfers.read), 13)
       << right_justify(bytes(line.transfers.written), 12) << '\n';
  }
}

/// Where it comes from.
void Printer::source(const InstructionLabel &what) {
  if (!what.place.empty())
    os << "  " << what.place;
  if (!what.op.empty())
    os << " '" << what.op << "'";
}

/// "2 more, 3.2 us": nothing is dropped without a word.
template <typename Line>
static std::string restOf(const std::vector<Line> &lines, size_t shown,
                          const Report &report) {
  Ticks rest = 0;
  for (size_t i = shown; i < lines.size(); ++i)
    rest += lines[i].ticks;
  return std::to_string(lines.size() - shown) + " more, " +
         timeText(report.ns(rest));
}

void Printer::path() {
  if (!report.recorded || report.path.empty())
    return;
  title("critical path, longest parts");
  size_t shown = std::min(longest, report.path.size());
  for (size_t i = 0; i != shown; ++i) {
    const PathLine &line = report.path[i];
    os << "  " << right_justify(time(line.ticks), 10)
       << right_justify(percent(report.share(line.ticks)), 8)
       << right_justify(grouped(int64_t(line.times)), 8) << " x  ";
    os << describePath(line.kind, line.reason, line.what.name);
    source(line.what);
    os << '\n';
  }
  if (shown != report.path.size())
    os << "  " << restOf(report.path, shown, report) << '\n';
}

void Printer::waits() {
  if (!report.recorded || report.waits.empty())
    return;
  title("longest waits");
  size_t shown = std::min(longest, report.waits.size());
  for (size_t i = 0; i != shown; ++i) {
    const WaitLine &line = report.waits[i];
    os << "  " << right_justify(time(line.ticks), 10)
       << right_justify(grouped(int64_t(line.times)), 8) << " x  ";
    os << line.who.name;
    source(line.who);
    os << ": " << stallName(line.reason);
    if (!line.semaphores.empty())
      os << ' ' << line.semaphores.front();
    if (line.semaphores.size() > 1)
      os << " ... " << line.semaphores.back();
    if (line.released.queue >= 0)
      os << (line.semaphores.empty() ? ", after " : ", released by ")
         << line.released.name;
    os << '\n';
  }
  if (shown != report.waits.size())
    os << "  " << restOf(report.waits, shown, report) << '\n';
}

/// "0.59 pJ", or "10 W" for what goes on all the time.
static std::string energyText(const EnergyLine &line) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (llvm::StringRef(line.unit) == "s")
    os << llvm::format("%.3g W", line.picojoules * 1e-12);
  else
    os << llvm::format("%.3g pJ", line.picojoules);
  return text;
}

void Printer::energy() {
  if (report.energy.empty())
    return;
  double joules = report.joules(), seconds = report.ns(report.total) * 1e-9;
  title("energy");
  os << "  " << withPrefix(joules, "J") << " between "
     << withPrefix(joules / energyFactor, "J") << " and "
     << withPrefix(joules * energyFactor, "J") << ", "
     << withPrefix(seconds > 0 ? joules / seconds : 0, "W")
     << "; for comparing programs, absolute to a factor of "
     << llvm::format("%.0f", energyFactor) << '\n';
  for (const EnergyLine &line : report.energy)
    os << "  " << right_justify(withPrefix(line.joules(), "J"), 10)
       << right_justify(percent(joules > 0 ? line.joules() / joules : 0), 8)
       << "  " << left_justify(line.event, 22)
       << right_justify(withPrefix(line.count), 9) << " x " << energyText(line)
       << (line.source.empty() ? "" : "  " + line.source) << '\n';
}

void sim::printStats(const Report &report, llvm::raw_ostream &os) {
  Printer(report, os).print();
}
