//===- Page.h - the parts of the page that --html writes ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_SIM_REPORT_PAGE_H
#define FACET_LIB_SIM_REPORT_PAGE_H

#include "facet/Sim/Report.h"

namespace facet::sim {

/// What a stretch of time is drawn as: one colour each, the same in every figure.
enum class Paint : uint8_t {
  Run,      ///< an engine works
  Move,     ///< a transfer is under way
  Transfer, ///< waits for a transfer
  Engine,   ///< waits for another engine
  Weights,  ///< the array waits for weights
  Own,      ///< waits for an earlier result of its own
  Overhead, ///< fetch, issue, loops, tables, gaps between triggers, a slow clock
  Idle
};
constexpr unsigned numPaints = 8;
const char *paintName(Paint paint);  // class in the style sheet
const char *paintTitle(Paint paint); // for legends
Paint paintOf(Stall stall);

/// Text for HTML and attributes.
std::string escaped(llvm::StringRef text);
/// "97.5 %", for HTML.
std::string shareText(double share);
/// "12.3", "12", at most one digit after the point: a coordinate.
std::string coordinate(double value);

/// A part of a run, in ticks.
struct Window {
  Ticks from = 0, to = 0;
};

void writeStyle(llvm::raw_ostream &os);
void writeLegend(llvm::ArrayRef<Paint> paints, llvm::raw_ostream &os);
void writeLadder(const Report &report, llvm::raw_ostream &os);
void writeRoofline(const Report &report, llvm::raw_ostream &os);
void writeTimeline(const Program &program, const TimeResult &time,
                   Window window, llvm::raw_ostream &os);
/// Some two dozen instructions in the middle of the engine that matters; nothing
/// when the whole run is so short that its timeline shows them.
Window detailWindow(const Program &program, const TimeResult &time,
                    const Report &report);
void writeMemory(const Program &program, const TimeResult &time, Space space,
                 llvm::raw_ostream &os);

} // namespace facet::sim

#endif // FACET_LIB_SIM_REPORT_PAGE_H
