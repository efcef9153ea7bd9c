//===- Charts.cpp - the ladder and the roofline as SVG --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   ladder     ideal       ###############
//              DMA                        ##     each step begins where the one
//              end                          #    before it ended
//
//   roofline   rate over operations per byte, both logarithmic: a slope of the
//              road to HBM up to the array's peak, and where this run is
//
//===----------------------------------------------------------------------===//

#include "Page.h"
#include "Units.h"

#include <algorithm>
#include <cmath>

using namespace facet;
using namespace facet::sim;

std::string sim::escaped(llvm::StringRef text) {
  std::string result;
  for (char c : text)
    switch (c) {
    case '&':
      result += "&amp;";
      break;
    case '<':
      result += "&lt;";
      break;
    case '>':
      result += "&gt;";
      break;
    case '"':
      result += "&quot;";
      break;
    default:
      result += c;
    }
  return result;
}

std::string sim::shareText(double share) { return escaped(percent(share)); }

std::string sim::coordinate(double value) {
  long tenths = std::lround(value * 10);
  std::string text = tenths < 0 ? "-" : "";
  tenths = std::labs(tenths);
  text += std::to_string(tenths / 10);
  if (tenths % 10)
    text += "." + std::to_string(tenths % 10);
  return text;
}

void sim::writeLegend(llvm::ArrayRef<Paint> paints, llvm::raw_ostream &os) {
  os << "<ul class=\"legend\">";
  for (Paint paint : paints)
    os << "<li><i class=\"" << paintName(paint) << "\"></i>"
       << paintTitle(paint) << "</li>";
  os << "</ul>\n";
}

//===----------------------------------------------------------------------===//
// The ladder
//===----------------------------------------------------------------------===//

static Paint paintOfStep(llvm::StringRef step) {
  if (step == "DMA")
    return Paint::Transfer;
  if (step == "other engines")
    return Paint::Engine;
  if (step == "weights")
    return Paint::Weights;
  if (step == "own results")
    return Paint::Own;
  if (step == "ideal" || step == "busy")
    return Paint::Run;
  return Paint::Overhead;
}

void sim::writeLadder(const Report &report, llvm::raw_ostream &os) {
  constexpr double left = 128, width = 300, row = 26;
  unsigned rows = 1; // the total
  for (const LadderStep &step : report.ladder)
    rows += step.ticks != 0;
  os << "<svg viewBox=\"0 0 560 " << coordinate(rows * row + 4)
     << "\" role=\"img\" aria-label=\"from the ideal time to the total\">\n";
  Ticks sum = 0;
  double y = 2;
  for (const LadderStep &step : report.ladder) {
    if (!step.ticks)
      continue;
    double from = left + width * report.share(sum);
    double length = std::max(width * report.share(step.ticks), 1.0);
    sum += step.ticks;
    os << "<g><title>" << escaped(step.name) << ": " << step.meaning << "\n"
       << timeText(report.ns(step.ticks)) << ", so far "
       << timeText(report.ns(sum)) << "</title><rect class=\"track\" x=\""
       << left << "\" y=\"" << coordinate(y + 3) << "\" width=\"" << width
       << "\" height=\"16\" rx=\"2\"/><rect class=\""
       << paintName(paintOfStep(step.name)) << "\" x=\"" << coordinate(from)
       << "\" y=\"" << coordinate(y + 3) << "\" width=\"" << coordinate(length)
       << "\" height=\"16\" rx=\"2\"/><text x=\"0\" y=\"" << coordinate(y + 15)
       << "\">" << escaped(step.name)
       << "</text><text class=\"e\" x=\"498\" y=\"" << coordinate(y + 15)
       << "\">" << timeText(report.ns(step.ticks))
       << "</text><text class=\"e m\" x=\"556\" y=\"" << coordinate(y + 15)
       << "\">" << shareText(report.share(step.ticks)) << "</text></g>\n";
    y += row;
  }
  os << "<text class=\"b\" x=\"0\" y=\"" << coordinate(y + 15)
     << "\">total</text><text class=\"e b\" x=\"498\" y=\""
     << coordinate(y + 15) << "\">" << timeText(report.ns(sum))
     << "</text>\n</svg>\n";
}

//===----------------------------------------------------------------------===//
// The roofline
//===----------------------------------------------------------------------===//

namespace {

/// A logarithmic axis.
struct Axis {
  double low, high, from, to;
  double operator()(double value) const {
    return from + (to - from) * std::log(value / low) / std::log(high / low);
  }
};

} // namespace

/// A power of ten: "10 k".
static std::string wholePrefix(double value) {
  if (value < 1)
    return coordinate(value);
  std::string text = withPrefix(value);
  auto [digits, prefix] = llvm::StringRef(text).split(' ');
  return (digits.split('.').first + (prefix.empty() ? "" : " ") + prefix).str();
}

static void line(llvm::raw_ostream &os, const char *style, double x1, double y1,
                 double x2, double y2) {
  os << "<path class=\"" << style << "\" d=\"M" << coordinate(x1) << ' '
     << coordinate(y1) << 'L' << coordinate(x2) << ' ' << coordinate(y2)
     << "\"/>";
}

void sim::writeRoofline(const Report &report, llvm::raw_ostream &os) {
  const Roofline &roof = report.roofline;
  if (roof.operations <= 0 || roof.moved <= 0) {
    os << "<p>This program multiplies nothing, or moves nothing.</p>\n";
    return;
  }
  double ridge = roof.peak / roof.bandwidth;
  double intensity = roof.operations / roof.moved;
  // Nothing that must be moved: there is no such point.
  double best =
      roof.compulsory > 0 ? roof.operations / roof.compulsory : intensity;
  auto decade = [](double value, int more) {
    return std::pow(10.0, std::floor(std::log10(value)) + more);
  };
  Axis x{decade(std::min({ridge / 10, intensity, best}), 0),
         decade(std::max({ridge * 10, intensity, best}), 1), 62, 540};
  Axis y{decade(std::min(roof.reached, roof.peak / 30), 0),
         decade(roof.peak, 1), 252, 14};
  os << "<svg viewBox=\"0 0 560 292\" role=\"img\" aria-label=\"roofline\">\n";
  for (double v = x.low; v <= x.high * 1.001; v *= 10) {
    line(os, "grid", x(v), y.from, x(v), y.to);
    os << "<text class=\"c m\" x=\"" << coordinate(x(v)) << "\" y=\"268\">"
       << wholePrefix(v) << "</text>";
  }
  for (double v = y.low; v <= y.high * 1.001; v *= 10) {
    line(os, "grid", x.from, y(v), x.to, y(v));
    os << "<text class=\"e m\" x=\"56\" y=\"" << coordinate(y(v) + 4) << "\">"
       << wholePrefix(v) << "</text>";
  }
  os << "<text class=\"c m\" x=\"301\" y=\"286\">FLOP per byte to and from "
        "HBM</text><text class=\"m\" x=\"62\" y=\"9\">FLOP/s</text>\n";
  // The slope enters the figure at its left side or at its bottom.
  double enters = std::max(x.low, y.low / roof.bandwidth);
  line(os, "roof", x(enters), y(enters * roof.bandwidth), x(ridge),
       y(roof.peak));
  line(os, "roof", x(ridge), y(roof.peak), x.to, y(roof.peak));
  os << "<text class=\"e b\" x=\"536\" y=\"" << coordinate(y(roof.peak) - 7)
     << "\">" << withPrefix(roof.peak, "FLOP/s") << ' ' << escaped(roof.types)
     << "</text>";
  double middle = std::sqrt(enters * ridge);
  double angle = std::atan2(y(roof.peak) - y(enters * roof.bandwidth),
                            x(ridge) - x(enters)) *
                 180 / 3.14159265358979;
  os << "<text class=\"c b\" transform=\"translate(" << coordinate(x(middle))
     << ' ' << coordinate(y(middle * roof.bandwidth) - 7) << ") rotate("
     << coordinate(angle) << ")\">" << roof.limit << ' '
     << withPrefix(roof.bandwidth, "B/s") << "</text>\n";
  // Where the run is, and where it would be if each byte were moved once.
  line(os, "dash", x(intensity), y(roof.reached), x(best), y(roof.reached));
  os << "<circle class=\"hollow\" cx=\"" << coordinate(x(best)) << "\" cy=\""
     << coordinate(y(roof.reached))
     << "\" r=\"4\"><title>each byte moved "
        "once: "
     << withPrefix(best, "FLOP/byte")
     << "</title></circle><circle "
        "class=\"point\" cx=\""
     << coordinate(x(intensity)) << "\" cy=\"" << coordinate(y(roof.reached))
     << "\" r=\"5\"><title>this run: " << withPrefix(roof.reached, "FLOP/s")
     << ", " << withPrefix(intensity, "FLOP/byte")
     << "</title></circle><text class=\"c halo\" x=\""
     << coordinate(std::clamp(x(intensity), 100.0, 500.0)) << "\" y=\""
     << coordinate(y(roof.reached) + 20) << "\">this run, "
     << withPrefix(roof.reached, "FLOP/s") << "</text>\n</svg>\n";
}
