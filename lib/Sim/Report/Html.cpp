//===- Html.cpp - a page about a run --------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One file: style and figures are inside, there is no script and no link that
// would be loaded. From the top, in the order of the questions a reader has:
//
//   how long, how near the bound     cards
//   where does the time go           ladder, engines
//   what happens when                timeline, and a piece of it enlarged
//   what does it hang on             critical path, waits
//   what limits it                   roofline, bytes, memory maps
//   what does it cost                energy
//
//===----------------------------------------------------------------------===//

#include "Page.h"
#include "Units.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace facet;
using namespace facet::sim;
using llvm::StringRef;

namespace {

class Html {
public:
  Html(const Program &program, const TimeResult &time, const Report &report,
       const TraceOptions &options, llvm::raw_ostream &os)
      : program(program), time(time), report(report), options(options), os(os) {
  }

  void write();

private:
  void cards();
  void card(StringRef title, StringRef value, const std::string &more);
  void engines();
  void stalls();
  void timelines();
  void path();
  void waits();
  void bytes();
  void energy();
  void source(const InstructionLabel &what);
  void section(StringRef title, StringRef text) {
    os << "<section><h2>" << title << "</h2><p>" << text << "</p>\n";
  }
  void end() { os << "</section>\n"; }
  std::string text(Ticks ticks) const { return timeText(report.ns(ticks)); }

  const Program &program;
  const TimeResult &time;
  const Report &report;
  const TraceOptions &options;
  llvm::raw_ostream &os;
  static constexpr size_t longest = 12;
};

} // namespace

void Html::card(StringRef title, StringRef value, const std::string &more) {
  os << "<section><h2>" << title << "</h2><strong>" << value << "</strong><p>"
     << escaped(more) << "</p></section>\n";
}

void Html::cards() {
  os << "<div class=\"cards\">\n";
  card("Time", text(report.total),
       grouped(report.cycles) + " cycles at " +
           coordinate(double(report.clockMHz) / 1000) + " GHz");
  const Resource &limit = report.resources[report.limit];
  card("Of the bound", shareText(report.share(report.bound())),
       text(limit.least) + ", set by " + limit.name);
  const Roofline &roof = report.roofline;
  if (roof.operations > 0)
    card("Rate", withPrefix(roof.reached, "FLOP/s"),
         "of " + withPrefix(roof.peak, "FLOP/s") + " in " + roof.types);
  card("Moved to and from HBM", withPrefix(roof.moved, "B"),
       withPrefix(roof.compulsory, "B") + " at least");
  if (!report.energy.empty())
    card("Energy", withPrefix(report.joules(), "J"),
         withPrefix(report.joules() / energyFactor, "J") + " to " +
             withPrefix(report.joules() * energyFactor, "J"));
  os << "</div>\n";
}

void Html::engines() {
  section("Engines", "What each did with the time. A bar sums to the whole.");
  writeLegend({Paint::Run, Paint::Transfer, Paint::Engine, Paint::Weights,
               Paint::Own, Paint::Overhead, Paint::Idle},
              os);
  os << "<div class=\"scroll\"><table><tr><th>engine</th><th class=\"n\">"
        "executed</th><th class=\"n\">works</th><th></th></tr>\n";
  for (const EngineLine &engine : report.engines) {
    os << "<tr><td>" << engine.name << "</td><td class=\"n\">"
       << grouped(int64_t(engine.time.executed)) << "</td><td class=\"n\">"
       << shareText(report.share(engine.time.busy))
       << "</td><td><div class=\"bar\">";
    auto part = [&](Paint paint, Ticks ticks, const std::string &title) {
      if (ticks)
        os << "<i class=\"" << paintName(paint) << "\" style=\"width:"
           << llvm::format("%.3f", report.share(ticks) * 100) << "%\" title=\""
           << title << ": " << text(ticks) << ", "
           << shareText(report.share(ticks)) << "\"></i>";
    };
    part(Paint::Run, engine.time.busy, "works");
    // By paint, then by reason, as the legend has it.
    for (unsigned p = 1; p != numPaints; ++p)
      for (unsigned s = 0; s != numStalls; ++s)
        if (paintOf(Stall(s)) == Paint(p))
          part(Paint(p), engine.time.stalls[s], stallName(Stall(s)));
    os << "</div></td></tr>\n";
  }
  if (!report.dma.empty()) {
    Ticks busy = 0, held = 0;
    for (const DmaEngineTime &engine : report.dma) {
      busy += engine.busy;
      held += engine.held;
    }
    Ticks n = Ticks(report.dma.size());
    uint64_t transfers = 0;
    for (const RingLine &ring : report.rings)
      transfers += ring.transfers;
    os << "<tr><td>" << n << " dma engines</td><td class=\"n\">"
       << grouped(int64_t(transfers)) << "</td><td class=\"n\">"
       << shareText(report.share(busy / n)) << "</td><td><div class=\"bar\">"
       << "<i class=\"move\" style=\"width:"
       << llvm::format("%.3f", report.share(busy / n) * 100)
       << "%\" title=\"moves bytes, mean of all\"></i>"
       << "<i class=\"overhead\" style=\"width:"
       << llvm::format("%.3f", report.share(held / n) * 100)
       << "%\" title=\"held by shared rates\"></i></div></td></tr>\n";
  }
  os << "</table></div>\n";
  stalls();
  end();
}

/// The bars in numbers: a column for each reason that anyone has.
void Html::stalls() {
  os << "<div class=\"scroll\"><table class=\"tight\"><tr><th>% of "
        "time</th><th "
        "class=\"n\">busy</th>";
  std::vector<unsigned> reasons;
  for (unsigned s = 0; s != numStalls; ++s)
    if (llvm::any_of(report.engines, [&](const EngineLine &engine) {
          return engine.time.stalls[s] != 0;
        })) {
      reasons.push_back(s);
      os << "<th class=\"n\">" << stallName(Stall(s)) << "</th>";
    }
  os << "</tr>\n";
  auto cell = [&](Ticks ticks) {
    os << "<td class=\"n\" title=\"" << text(ticks) << "\">";
    if (ticks)
      os << llvm::format("%.1f", report.share(ticks) * 100);
    os << "</td>";
  };
  for (const EngineLine &engine : report.engines) {
    os << "<tr><td>" << engine.name << "</td>";
    cell(engine.time.busy);
    for (unsigned s : reasons)
      cell(engine.time.stalls[s]);
    os << "</tr>\n";
  }
  os << "</table></div>\n";
}

void Html::timelines() {
  section(
      "Timeline",
      "Every engine and ring over the whole run; the share of the time "
      "that each is occupied stands beside its name. Waits are drawn in the "
      "colour of what was waited for. Point at something to see what it "
      "is.");
  writeLegend({Paint::Run, Paint::Move, Paint::Transfer, Paint::Engine,
               Paint::Weights, Paint::Own, Paint::Overhead},
              os);
  if (!report.recorded) {
    os << "<p>This run has too many instructions to keep each of them.</p>\n";
    end();
    return;
  }
  os << "<div class=\"scroll\">\n";
  writeTimeline(program, time, {0, std::max<Ticks>(report.total, 1)}, os);
  os << "</div>\n";
  end();
  Window detail = detailWindow(program, time, report);
  if (options.fromNs > 0 || options.toNs < 1e300) {
    auto ticks = [&](double ns) {
      return Ticks(std::min(ns, report.ns(report.total)) *
                   double(report.ticksPerNs));
    };
    detail = {ticks(options.fromNs), ticks(options.toNs)};
  }
  if (detail.to <= detail.from)
    return;
  section("A piece of it", "From " + text(detail.from) + " to " +
                               text(detail.to) +
                               "; --window FROM:TO, in ns, chooses another.");
  os << "<div class=\"scroll\">\n";
  writeTimeline(program, time, detail, os);
  os << "</div>\n";
  end();
}

void Html::source(const InstructionLabel &what) {
  if (what.place.empty() && what.op.empty())
    return;
  os << "<br><small>" << escaped(what.op)
     << (what.op.empty() || what.place.empty() ? "" : ", ")
     << escaped(what.place) << "</small>";
}

void Html::path() {
  section("Critical path",
          "The chain of instructions, transfers and delays that the total "
          "consists of, added up by instruction.");
  os << "<div class=\"scroll\"><table><tr><th>what</th><th class=\"n\">times"
        "</th><th class=\"n\">time</th><th></th></tr>\n";
  size_t shown = std::min(longest, report.path.size());
  Ticks rest = report.total;
  auto row = [&](Ticks ticks) {
    os << "<td class=\"n\">" << text(ticks)
       << "</td><td><div class=\"meter\" title=\""
       << shareText(report.share(ticks)) << "\"><i style=\"width:"
       << llvm::format("%.2f", report.share(ticks) * 100)
       << "%\"></i></div></td></tr>\n";
  };
  for (size_t i = 0; i != shown; ++i) {
    const PathLine &line = report.path[i];
    rest -= line.ticks;
    os << "<tr><td>"
       << escaped(describePath(line.kind, line.reason, line.what.name));
    source(line.what);
    os << "</td><td class=\"n\">" << grouped(int64_t(line.times)) << "</td>";
    row(line.ticks);
  }
  if (shown != report.path.size()) {
    os << "<tr><td><small>" << report.path.size() - shown
       << " more</small></td><td></td>";
    row(rest);
  }
  os << "</table></div>\n";
  end();
}

void Html::waits() {
  section("Longest waits", "Who stood still, for what, and who ended it.");
  os << "<div class=\"scroll\"><table><tr><th>who</th><th>waited for</th><th "
        "class=\"n\">times</th><th class=\"n\">longest</th><th "
        "class=\"n\">in all</th></tr>\n";
  size_t shown = std::min(longest, report.waits.size());
  for (size_t i = 0; i != shown; ++i) {
    const WaitLine &line = report.waits[i];
    os << "<tr><td>";
    os << escaped(line.who.name);
    source(line.who);
    os << "</td><td>";
    if (line.semaphores.empty())
      os << stallName(line.reason);
    else
      os << escaped(line.semaphores.front());
    if (line.semaphores.size() > 1)
      os << " … " << escaped(line.semaphores.back());
    if (line.released.queue >= 0)
      os << "<br><small>" << (line.semaphores.empty() ? "after " : "from ")
         << escaped(line.released.name) << "</small>";
    os << "</td><td class=\"n\">" << grouped(int64_t(line.times))
       << "</td><td class=\"n\">" << text(line.longest)
       << "</td><td class=\"n\">" << text(line.ticks) << "</td></tr>\n";
  }
  os << "</table></div>\n";
  if (shown != report.waits.size())
    os << "<p><small>" << report.waits.size() - shown << " more</small></p>\n";
  end();
}

void Html::bytes() {
  section("Bytes", "Read and written in each memory, by engines and by "
                   "transfers.");
  os << "<div class=\"scroll\"><table><tr><th></th><th class=\"n\">read by "
        "engines</th><th class=\"n\">written</th><th class=\"n\">read by "
        "transfers</th><th class=\"n\">written</th></tr>\n";
  for (const TrafficLine &line : report.traffic) {
    os << "<tr><td>" << line.memory << "</td>";
    for (uint64_t n : {line.engines.read, line.engines.written,
                       line.transfers.read, line.transfers.written})
      os << "<td class=\"n\">" << withPrefix(double(n), "B") << "</td>";
    os << "</tr>\n";
  }
  os << "</table></div>\n<div class=\"scroll\"><table><tr><th>bound by</th>"
        "<th class=\"n\">at least</th><th>computed from</th></tr>\n";
  for (const Resource &resource : report.resources)
    os << "<tr><td>" << resource.name << "</td><td class=\"n\">"
       << text(resource.least) << "</td><td>" << escaped(resource.basis)
       << "</td></tr>\n";
  os << "</table></div>\n";
  end();
}

void Html::energy() {
  if (report.energy.empty())
    return;
  section("Energy",
          "Counts times the machine's table. For comparing programs; absolute "
          "values are good to a factor of two. Clock tree, control and the "
          "network on the chip are not in it.");
  os << "<div class=\"scroll\"><table><tr><th>event</th><th class=\"n\">count"
        "</th><th class=\"n\">each</th><th class=\"n\">energy</th><th></th>"
        "<th>source</th></tr>\n";
  double joules = report.joules();
  for (const EnergyLine &line : report.energy)
    os << "<tr><td>" << line.event << "</td><td class=\"n\">"
       << withPrefix(line.count) << "</td><td class=\"n\">"
       << llvm::format("%.3g pJ", line.picojoules) << "</td><td class=\"n\">"
       << withPrefix(line.joules(), "J")
       << "</td><td><div class=\"meter\"><i style=\"width:"
       << llvm::format("%.2f", joules > 0 ? line.joules() / joules * 100 : 0)
       << "%\"></i></div></td><td><small>" << escaped(line.source)
       << "</small></td></tr>\n";
  os << "</table></div>\n";
  end();
}

void Html::write() {
  os << "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
        "<meta name=\"viewport\" content=\"width=device-width, "
        "initial-scale=1\">\n<title>"
     << escaped(report.program) << " on " << escaped(report.machine)
     << "</title>\n<style>";
  writeStyle(os);
  os << "</style></head>\n<body><main>\n<header><h1>"
     << escaped(StringRef(report.program).rsplit('/').second.empty()
                    ? StringRef(report.program)
                    : StringRef(report.program).rsplit('/').second)
     << "</h1><p>on " << escaped(report.machine)
     << ", simulated</p></header>\n";
  cards();
  os << "<div class=\"pair\">\n";
  if (report.ladderOf >= 0) {
    section("Where the time of " +
                std::string(report.engines[size_t(report.ladderOf)].name) +
                " goes",
            "From the ideal to the total; each step begins where the one "
            "before it ended.");
    writeLadder(report, os);
    end();
  }
  engines();
  os << "</div>\n";
  timelines();
  if (report.recorded) {
    os << "<div class=\"pair\">\n";
    path();
    waits();
    os << "</div>\n";
  }
  os << "<div class=\"pair\">\n";
  section("Roofline", "Filled: this run. Hollow: if each byte of input and "
                      "output were moved once.");
  writeRoofline(report, os);
  end();
  bytes();
  os << "</div>\n<section>\n";
  writeMemory(program, time, Space::Sbuf, os);
  os << "<div style=\"height:14px\"></div>\n";
  writeMemory(program, time, Space::Psum, os);
  end();
  energy();
  os << "<footer>program <code>" << report.buildId
     << "</code><br>machine <code>" << report.machineHash
     << "</code></footer>\n</main></body></html>\n";
}

void sim::writeHtml(const Program &program, const TimeResult &time,
                    const Report &report, const TraceOptions &options,
                    llvm::raw_ostream &os) {
  Html(program, time, report, options, os).write();
}
