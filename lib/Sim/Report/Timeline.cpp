//===- Timeline.cpp - what every engine did when, as SVG ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One lane per engine, ring and so on, time to the right. What is wide enough is a
// box of its own, with its instruction as tooltip; the rest is added up in columns
// of one pixel, as high as its share of the column's time:
//
//   tensor   [matmul][matmul][matmul]      a short run
//   tensor   ▇▇▇▇▇▇▅▇▇▇▇▇▇▇▇▇▁▇▇▇▇▇▇▇      a long one: works, and why not
//
// So a page is of bounded size however long the run.
//
//===----------------------------------------------------------------------===//

#include "Names.h"
#include "Page.h"
#include "Trace.h"
#include "Units.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

using namespace facet;
using namespace facet::sim;

namespace {

struct Segment {
  Ticks begin = 0, end = 0;
  Paint paint = Paint::Run;
  /// Into what its lane is from.
  uint32_t index = 0;
  bool isWait = false;
};

struct Lane {
  std::string name, note;
  double height = 22;
  std::vector<Segment> segments; // in order, disjoint
  std::function<std::string(const Segment &)> label, title;
};

class Timeline {
public:
  Timeline(const Program &program, const TimeResult &time, Window window,
           llvm::raw_ostream &os)
      : program(program), time(time), window(window), os(os),
        perTick(width / double(std::max<Ticks>(window.to - window.from, 1))) {}

  void write();

private:
  void addPath();
  void addEngines();
  void addRings();
  void drawAxis(double y, double bottom);
  void draw(const Lane &lane, double y);
  void drawColumns(const Lane &lane, double y);
  void drawBox(const Lane &lane, const Segment &segment, double y);
  void drawHits(const Lane &lane, double y);
  void drawRate(double y);
  void drawClock(double y);

  bool isShown(Ticks begin, Ticks end) const {
    return end > window.from && begin < window.to;
  }
  double x(Ticks at) const {
    return left + double(std::clamp(at, window.from, window.to) - window.from) *
                      perTick;
  }
  double ns(Ticks ticks) const {
    return double(ticks) / double(time.ticksPerNs);
  }
  std::string instants(Ticks begin, Ticks end) const {
    return timeText(ns(begin)) + " to " + timeText(ns(end)) + ", " +
           timeText(ns(end - begin));
  }
  std::string mnemonicOf(const Span &span) const {
    return opcodeInfo(program.queues[span.queue].code[span.pc].opcode)
        ->mnemonic;
  }
  std::string titleOfSpan(const Segment &segment) const;

  const Program &program;
  const TimeResult &time;
  Window window;
  llvm::raw_ostream &os;
  double perTick;
  std::vector<Lane> lanes;
  std::vector<CriticalStep> path;

  static constexpr double left = 138, width = 1052, gap = 6;
  /// Narrower segments go into columns.
  static constexpr double narrow = 4;
  static constexpr double rateHeight = 46, clockHeight = 10;
};

} // namespace

//===----------------------------------------------------------------------===//
// Lanes
//===----------------------------------------------------------------------===//

std::string Timeline::titleOfSpan(const Segment &segment) const {
  const Span &span = time.spans[segment.index];
  InstructionLabel label = labelOf(program, int(span.queue), int(span.pc));
  std::string text = label.name;
  if (segment.isWait) {
    text += " waits: " + std::string(stallName(span.reason));
    if (span.semaphore >= 0)
      text += " " + semaphoreName(program, span.semaphore);
    if (span.cause.kind != Cause::None)
      text += (span.semaphore >= 0 ? ", released by " : ", after ") +
              nameOf(program, time, span.cause);
  } else {
    std::string counters = countersOf(program, span);
    text += (counters.empty() ? "" : " at ") + counters;
    if (!label.op.empty())
      text += "\n" + label.op;
    if (!label.place.empty())
      text += "\n" + label.place;
  }
  return text + "\n" + instants(segment.begin, segment.end);
}

void Timeline::addPath() {
  path = criticalPath(time);
  Lane lane;
  lane.name = "critical path";
  for (size_t p = 0; p != path.size(); ++p) {
    const CriticalStep &step = path[p];
    if (!isShown(step.begin, step.end))
      continue;
    Paint paint = Paint::Overhead;
    switch (kindOf(program, time, step)) {
    case PathLine::Ran:
      paint = Paint::Run;
      break;
    case PathLine::Moved:
      paint = Paint::Move;
      break;
    case PathLine::Started:
      paint = Paint::Transfer;
      break;
    case PathLine::Followed:
      if (step.reason != Stall::Idle)
        paint = paintOf(step.reason);
      break;
    }
    lane.segments.push_back({step.begin, step.end, paint, uint32_t(p), false});
  }
  lane.label = [this](const Segment &segment) {
    Cause what = path[segment.index].what;
    return path[segment.index].ran && what.kind != Cause::None
               ? mnemonicOf(spanOf(time, what))
               : std::string();
  };
  lane.title = [this](const Segment &segment) {
    const CriticalStep &step = path[segment.index];
    std::string text = describePath(kindOf(program, time, step), step.reason,
                                    nameOf(program, time, step.what));
    return text + "\n" + instants(step.begin, step.end);
  };
  lanes.push_back(std::move(lane));
}

void Timeline::addEngines() {
  // Tensor has two ports; its loops and waits on their own run beside them.
  std::map<unsigned, Lane> byPort;
  std::map<unsigned, Ticks> free, worked;
  for (size_t s = 0; s != time.spans.size(); ++s) {
    const Span &span = time.spans[s];
    Engine engine = program.queues[span.queue].engine;
    Opcode op = program.queues[span.queue].code[span.pc].op();
    bool control = op == Opcode::Loop || op == Opcode::End ||
                   op == Opcode::Advance || op == Opcode::Nop ||
                   op == Opcode::SetSemaphore || op == Opcode::Drain;
    if (engine == Engine::Tensor && control)
      continue;
    bool weights = op == Opcode::LoadWeights;
    unsigned port = 2 * span.queue + weights;
    Lane &lane = byPort[port];
    if (lane.name.empty()) {
      lane.name = std::string(engineName(engine)) + (weights ? " weights" : "");
      lane.height = weights ? 16 : 22;
    }
    Ticks &end = free[port];
    Ticks ready = std::max(span.ready, end);
    Ticks start = std::max(span.start, end);
    if (start > ready && span.reason != Stall::Idle && isShown(ready, start))
      lane.segments.push_back(
          {ready, start, paintOf(span.reason), uint32_t(s), true});
    end = std::max(span.portFree, start);
    if (end > start && isShown(start, end)) {
      lane.segments.push_back({start, end,
                               control ? Paint::Overhead : Paint::Run,
                               uint32_t(s), false});
      if (!control)
        worked[port] += std::min(end, window.to) - std::max(start, window.from);
    }
  }
  for (auto &[port, lane] : byPort) {
    lane.note = shareText(double(worked[port]) /
                          double(std::max<Ticks>(window.to - window.from, 1)));
    lane.label = [this](const Segment &segment) {
      return segment.isWait ? std::string()
                            : mnemonicOf(time.spans[segment.index]);
    };
    lane.title = [this](const Segment &segment) {
      return titleOfSpan(segment);
    };
    lanes.push_back(std::move(lane));
  }
}

/// A ring shows that something is under way; transfers that overlap are one
/// stretch.
void Timeline::addRings() {
  std::map<unsigned, std::vector<uint32_t>> rings;
  for (uint32_t t = 0; t != time.transfers.size(); ++t)
    rings[time.transfers[t].ring].push_back(t);
  for (auto &[ring, transfers] : rings) {
    llvm::sort(transfers, [&](uint32_t a, uint32_t b) {
      return std::tie(time.transfers[a].start, a) <
             std::tie(time.transfers[b].start, b);
    });
    Lane lane;
    lane.name = "dma ring " + std::to_string(ring);
    lane.height = 16;
    Ticks end = 0, busy = 0;
    for (uint32_t t : transfers) {
      Ticks begin = std::max(time.transfers[t].start, end);
      end = std::max(time.transfers[t].done, end);
      if (end <= begin || !isShown(begin, end))
        continue;
      lane.segments.push_back({begin, end, Paint::Move, t, false});
      busy += std::min(end, window.to) - std::max(begin, window.from);
    }
    lane.note = shareText(double(busy) /
                          double(std::max<Ticks>(window.to - window.from, 1)));
    lane.label = [this](const Segment &segment) {
      return mnemonicOf(time.spans[time.transfers[segment.index].span]);
    };
    lane.title = [this](const Segment &segment) {
      const TransferSpan &transfer = time.transfers[segment.index];
      return nameOf(program, time, {Cause::Transfer, segment.index}) + "\n" +
             withPrefix(double(transfer.bytes), "B") + "\n" +
             instants(transfer.start, transfer.done);
    };
    lanes.push_back(std::move(lane));
  }
}

//===----------------------------------------------------------------------===//
// Drawing
//===----------------------------------------------------------------------===//

/// 1, 2 or 5 times a power of ten, some eight of which fill a length.
static double niceStep(double length) {
  double raw = length / 8, power = std::pow(10.0, std::floor(std::log10(raw)));
  double lead = raw / power;
  return (lead < 1.5 ? 1 : lead < 3.5 ? 2 : lead < 7.5 ? 5 : 10) * power;
}

void Timeline::drawAxis(double y, double bottom) {
  double from = ns(window.from), to = ns(window.to);
  double step = niceStep(std::max(to - from, 1e-3));
  // One unit for the axis.
  double unit = to >= 2e6 ? 1e6 : to >= 2e3 ? 1e3 : 1;
  const char *name = unit == 1e6 ? "ms" : unit == 1e3 ? "us" : "ns";
  int digits = std::max(0, int(std::ceil(-std::log10(step / unit) - 1e-9)));
  for (double at = std::ceil(from / step) * step; at <= to * (1 + 1e-12);
       at += step) {
    double px = left + (at - from) / std::max(to - from, 1e-9) * width;
    os << "<path class=\"grid\" d=\"M" << coordinate(px) << ' ' << coordinate(y)
       << "V" << coordinate(bottom) << "\"/>";
    std::string text;
    llvm::raw_string_ostream(text) << llvm::format("%.*f", digits, at / unit);
    bool last = px > left + width - 30;
    os << "<text class=\"m " << (last ? "e" : "c") << "\" x=\""
       << coordinate(px) << "\" y=\"" << coordinate(y - 5) << "\">" << text
       << ' ' << name << "</text>";
  }
  os << '\n';
}

void Timeline::drawColumns(const Lane &lane, double y) {
  std::vector<std::array<double, numPaints>> columns(size_t(width) + 1);
  bool any = false;
  for (const Segment &segment : lane.segments) {
    double from = x(segment.begin) - left, to = x(segment.end) - left;
    if (to - from >= narrow)
      continue;
    any = true;
    for (size_t column = size_t(from);
         column < columns.size() && double(column) < to; ++column)
      columns[column][unsigned(segment.paint)] +=
          std::min(to, double(column + 1)) - std::max(from, double(column));
  }
  if (!any)
    return;
  // Heights in half pixels, so that neighbours that look the same are one.
  std::string paths[numPaints];
  struct Bar {
    double top = 0, height = 0;
    bool operator==(const Bar &o) const {
      return top == o.top && height == o.height;
    }
  };
  Bar open[numPaints];
  size_t since[numPaints] = {};
  for (size_t column = 0; column <= columns.size(); ++column) {
    double below = 0, drawn = 0;
    for (unsigned p = 0; p != numPaints; ++p) {
      Bar bar;
      if (column != columns.size()) {
        below += columns[column][p] * lane.height;
        double edge = std::min(std::round(below * 2) / 2, lane.height);
        bar = {lane.height - edge, edge - drawn};
        drawn = edge;
      }
      if (bar == open[p])
        continue;
      if (open[p].height > 0) {
        std::string w = std::to_string(column - since[p]);
        paths[p] += "M" + coordinate(left + double(since[p])) + " " +
                    coordinate(y + open[p].top) + "h" + w + "v" +
                    coordinate(open[p].height) + "h-" + w + "z";
      }
      open[p] = bar;
      since[p] = column;
    }
  }
  for (unsigned p = 0; p != numPaints; ++p)
    if (!paths[p].empty())
      os << "<path class=\"" << paintName(Paint(p)) << "\" d=\"" << paths[p]
         << "\"/>";
}

void Timeline::drawBox(const Lane &lane, const Segment &segment, double y) {
  double from = x(segment.begin), to = x(segment.end);
  // Waits are lower, so that work stands out.
  double inset = segment.isWait ? lane.height * 0.3 : 0;
  os << "<g><title>" << escaped(lane.title(segment)) << "</title><rect class=\""
     << paintName(segment.paint) << " edge\" x=\"" << coordinate(from)
     << "\" y=\"" << coordinate(y + inset) << "\" width=\""
     << coordinate(to - from) << "\" height=\""
     << coordinate(lane.height - 2 * inset) << "\"/>";
  std::string label = lane.label(segment);
  if (!label.empty() && to - from > 5.6 * double(label.size()) + 4)
    os << "<text class=\"c on\" x=\"" << coordinate((from + to) / 2)
       << "\" y=\"" << coordinate(y + lane.height / 2 + 3.5) << "\">"
       << escaped(label) << "</text>";
  os << "</g>\n";
}

/// What columns consist of, as tooltips of some stretches of the lane.
void Timeline::drawHits(const Lane &lane, double y) {
  constexpr unsigned stretches = 64;
  constexpr double each = width / stretches;
  struct Sum {
    Ticks of[numPaints] = {};
    uint64_t boxes = 0, narrow = 0;
  };
  std::vector<Sum> sums(stretches);
  for (const Segment &segment : lane.segments) {
    double from = x(segment.begin) - left, to = x(segment.end) - left;
    size_t at = std::min<size_t>(size_t(from / each), stretches - 1);
    if (to - from >= narrow) {
      for (; at < stretches && double(at) * each < to; ++at)
        ++sums[at].boxes;
      continue;
    }
    ++sums[at].narrow;
    sums[at].of[unsigned(segment.paint)] += segment.end - segment.begin;
  }
  for (unsigned s = 0; s != stretches; ++s) {
    const Sum &sum = sums[s];
    if (!sum.narrow || sum.boxes)
      continue;
    Ticks begin = window.from + Ticks(double(s) * each / perTick);
    Ticks end = window.from + Ticks(double(s + 1) * each / perTick);
    os << "<rect class=\"hit\" x=\"" << coordinate(left + s * each) << "\" y=\""
       << coordinate(y) << "\" width=\"" << coordinate(each) << "\" height=\""
       << coordinate(lane.height) << "\"><title>" << escaped(lane.name) << "\n"
       << instants(begin, end);
    for (unsigned p = 0; p != numPaints; ++p)
      if (sum.of[p])
        os << "\n"
           << paintTitle(Paint(p)) << ": "
           << shareText(std::min(1.0, double(sum.of[p]) / double(end - begin)));
    os << "</title></rect>\n";
  }
}

void Timeline::draw(const Lane &lane, double y) {
  os << "<rect class=\"track\" x=\"" << left << "\" y=\"" << coordinate(y)
     << "\" width=\"" << width << "\" height=\"" << coordinate(lane.height)
     << "\"/><text x=\"0\" y=\"" << coordinate(y + lane.height / 2 + 4) << "\">"
     << escaped(lane.name) << "</text>";
  if (!lane.note.empty())
    os << "<text class=\"m e\" x=\"" << left - 8 << "\" y=\""
       << coordinate(y + lane.height / 2 + 4) << "\">"
       << llvm::StringRef(lane.note).split(' ').first << "%</text>";
  os << '\n';
  drawColumns(lane, y);
  for (const Segment &segment : lane.segments)
    if (x(segment.end) - x(segment.begin) >= narrow)
      drawBox(lane, segment, y);
  drawHits(lane, y);
}

/// The mean rate of the DMA engines in each pixel.
void Timeline::drawRate(double y) {
  std::vector<double> columns(size_t(width) + 1);
  double most = 0;
  std::vector<RateStep> steps = dmaRateSteps(time);
  for (size_t s = 0; s + 1 < steps.size(); ++s) {
    double from = x(steps[s].at) - left, to = x(steps[s + 1].at) - left;
    for (size_t c = size_t(from); c < columns.size() && double(c) < to; ++c)
      columns[c] += steps[s].bytesPerSecond *
                    (std::min(to, double(c + 1)) - std::max(from, double(c)));
  }
  for (double column : columns)
    most = std::max(most, column);
  const DmaUnit &dma = program.machine.dma;
  double peak = dma.sustainedMBs ? double(dma.sustainedMBs) * 1e6
                                 : double(dma.rateMBs * dma.engines) * 1e6;
  double top = std::max(most, peak);
  std::string outline;
  double last = -1;
  for (size_t c = 0; c != columns.size(); ++c) {
    double height = std::round(columns[c] / top * rateHeight * 2) / 2;
    if (height == last)
      continue;
    outline += "H" + coordinate(left + double(c)) + "V" +
               coordinate(y + rateHeight - height);
    last = height;
  }
  os << "<rect class=\"track\" x=\"" << left << "\" y=\"" << coordinate(y)
     << "\" width=\"" << width << "\" height=\"" << rateHeight
     << "\"/><text x=\"0\" y=\"" << coordinate(y + 14)
     << "\">dma rate</text><text class=\"m\" x=\"0\" y=\"" << coordinate(y + 29)
     << "\">" << withPrefix(peak, "B/s") << "</text><path class=\"area\" d=\"M"
     << left << ' ' << coordinate(y + rateHeight) << outline << "H"
     << coordinate(left + width) << "V" << coordinate(y + rateHeight)
     << "z\"><title>bytes that all DMA engines move; the machine sustains "
     << withPrefix(peak, "B/s") << "</title></path><path class=\"dash\" d=\"M"
     << left << ' ' << coordinate(y + rateHeight * (1 - peak / top)) << "h"
     << width << "\"/>\n";
}

void Timeline::drawClock(double y) {
  os << "<text x=\"0\" y=\"" << coordinate(y + 9) << "\">tensor clock</text>";
  // Windows of one rate side by side are one stretch.
  for (size_t w = 0; w != time.windows.size();) {
    size_t end = w + 1;
    while (end != time.windows.size() &&
           time.windows[end].slow == time.windows[w].slow)
      ++end;
    Ticks from = std::max<Ticks>(time.windows[w].start, 0);
    Ticks to =
        end == time.windows.size() ? time.total : time.windows[end].start;
    if (isShown(from, to) && x(to) > x(from))
      os << "<rect class=\"" << (time.windows[w].slow ? "slow" : "fast")
         << "\" x=\"" << coordinate(x(from)) << "\" y=\"" << coordinate(y)
         << "\" width=\"" << coordinate(std::max(x(to) - x(from), 0.5))
         << "\" height=\"" << clockHeight << "\"><title>"
         << (time.windows[w].slow ? "slow" : "full rate") << "\n"
         << instants(from, to) << "</title></rect>";
    w = end;
  }
  os << '\n';
}

void Timeline::write() {
  addPath();
  addEngines();
  addRings();
  double bottom = 22;
  for (const Lane &lane : lanes)
    bottom += lane.height + gap;
  bool rate = !time.shares.empty(), clock = !time.windows.empty();
  bottom += (rate ? rateHeight + gap : 0) + (clock ? clockHeight + gap : 0);
  os << "<svg class=\"soft\" viewBox=\"0 0 1200 " << coordinate(bottom)
     << "\" role=\"img\" aria-label=\"timeline\">\n";
  drawAxis(18, bottom - gap);
  double y = 22;
  for (const Lane &lane : lanes) {
    draw(lane, y);
    y += lane.height + gap;
  }
  if (clock) {
    drawClock(y);
    y += clockHeight + gap;
  }
  if (rate)
    drawRate(y);
  os << "</svg>\n";
}

void sim::writeTimeline(const Program &program, const TimeResult &time,
                        Window window, llvm::raw_ostream &os) {
  Timeline(program, time, window, os).write();
}

Window sim::detailWindow(const Program &program, const TimeResult &time,
                         const Report &report) {
  constexpr size_t few = 16;
  std::vector<uint32_t> spans;
  for (uint32_t s = 0; s != time.spans.size(); ++s) {
    const Span &span = time.spans[s];
    Opcode op = program.queues[span.queue].code[span.pc].op();
    if (int(span.queue) == report.ladderOf && op != Opcode::LoadWeights &&
        span.portFree > span.start && op != Opcode::End)
      spans.push_back(s);
  }
  if (spans.size() < 6 * few)
    return {};
  size_t middle = spans.size() / 2;
  return {time.spans[spans[middle]].start,
          time.spans[spans[middle + few]].portFree};
}
