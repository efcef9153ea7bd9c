//===- Report.h - where the time of a program went ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes one plain summary of a timed program, which is then printed in four ways
// (docs/Simulator.md, "Results"):
//
//   sim::TimeResult time = sim::timeProgram(program, {.record = true});
//   sim::Report report = sim::makeReport(program, time, "p.engine");
//   sim::printStats(report, os);              // one screen of text
//   os << sim::reportToJson(report);          // the same numbers
//   sim::writeHtml(program, time, report, {}, os) // with timeline and memory map
//   sim::writePerfetto(program, time, {}, os) // every instruction
//
// Times are in ticks (Report::ticksPerNs of them in a ns).
//
//===----------------------------------------------------------------------===//

#ifndef FACET_SIM_REPORT_H
#define FACET_SIM_REPORT_H

#include "facet/Sim/Time.h"

#include "llvm/Support/raw_ostream.h"

namespace facet::sim {

/// Something of which no order of this program's work needs less time.
struct Resource {
  const char *name = ""; // "tensor", "dma", "hbm"
  Ticks least = 0;
  /// What it was computed from: "68.7 G multiply-adds at 39.3 T/s".
  std::string basis;
};

/// One step from the ideal time to the real one.
struct LadderStep {
  const char *name = "";
  /// What the step holds, for whoever reads it the first time.
  const char *meaning = "";
  Ticks ticks = 0;
};

struct EngineLine {
  unsigned queue = 0;
  const char *name = ""; // "tensor"
  EngineTime time;
};

/// One ring of the DMA engines.
struct RingLine {
  unsigned ring = 0;
  uint64_t transfers = 0, bytes = 0;
};

/// Bytes of one memory, by who moved them.
struct TrafficLine {
  const char *memory = ""; // "hbm"
  Traffic engines, transfers;
};

/// A place of the program: an instruction, or one that a wait was for.
struct InstructionLabel {
  int queue = -1, pc = -1;
  std::string name;  // "tensor 3 matmul"
  std::string place; // "k.facet:3:9", or empty
  std::string op;    // "matmul y", or empty
};

/// All stretches of the critical path that belong to one instruction and kind.
struct PathLine {
  enum Kind {
    Ran,      ///< the instruction worked
    Started,  ///< from its trigger to the first packet of the transfer
    Moved,    ///< the transfer that it triggered was under way
    Followed, ///< between its end and the start of what waited for it
  } kind = Ran;
  Stall reason = Stall::Idle; // Followed: what the one that waited did it for
  InstructionLabel what;
  Ticks ticks = 0;
  uint64_t times = 0;
};

/// All waits of one instruction with one reason for one other instruction.
struct WaitLine {
  InstructionLabel who, released;
  Stall reason = Stall::Idle;
  std::vector<std::string> semaphores; // of a ring, one for each slot
  Ticks ticks = 0, longest = 0;
  uint64_t times = 0;
};

/// Events times the machine's energy table.
struct EnergyLine {
  const char *event = ""; // "multiply-adds, 16 bit"
  const char *unit = "";  // "multiply-add", "byte", "element", "s"
  double count = 0;
  /// Of the unit; for the static line W.
  double picojoules = 0;
  /// As in the machine file, empty when it is not at hand.
  std::string source;
  bool isAssumed() const {
    return llvm::StringRef(source).starts_with("assumed");
  }
  double joules() const { return count * picojoules * 1e-12; }
};

struct Roofline {
  /// Floating-point operations: two for each multiply-add of matmul.
  double operations = 0;
  /// Operations per second: of the array for the types used, reached.
  double peak = 0, reached = 0;
  std::string types; // "bf16"
  /// Bytes per second of the road to HBM, and what its limit is.
  double bandwidth = 0;
  const char *limit = ""; // "dma" or "hbm"
  /// Bytes moved to and from HBM; bytes that no order of work can avoid.
  double moved = 0, compulsory = 0;
};

struct Report {
  std::string program; // the file
  std::string machine, machineHash, buildId;
  bool completed = false;

  Ticks total = 0, ticksPerNs = 1;
  int64_t cycles = 0;
  int64_t clockMHz = 0;  // of the tensor engine
  double envelopeNs = 0; // of the host, not in total

  std::vector<Resource> resources;
  /// Index of the one that needs most.
  unsigned limit = 0;
  Ticks bound() const { return resources[limit].least; }

  std::vector<EngineLine> engines;
  /// Which of the engines the ladder is about: tensor when it multiplies, else
  /// the one that works longest; -1: there is none.
  int ladderOf = -1;
  std::vector<LadderStep> ladder; // sums to total

  std::vector<DmaEngineTime> dma;
  std::vector<RingLine> rings;
  std::vector<TrafficLine> traffic; // hbm, sbuf, psum
  uint64_t multiplyAdds = 0, matmuls = 0, matmulsAtFullRate = 0;

  Roofline roofline;
  std::vector<EnergyLine> energy;
  double joules() const;

  /// The run was recorded: `path` (sums to total) and `waits` are there, longest
  /// first.
  bool recorded = false;
  std::vector<PathLine> path;
  std::vector<WaitLine> waits;

  double ns(Ticks ticks) const { return double(ticks) / double(ticksPerNs); }
  double share(Ticks ticks) const {
    return total ? double(ticks) / double(total) : 0;
  }
};

/// Absolute energies are known to this factor.
constexpr double energyFactor = 2;

Report makeReport(const Program &program, const TimeResult &time,
                  llvm::StringRef file);

/// "to the first packet of sync 2 dma_copy", "transfer after sync 2 dma_copy".
std::string describePath(PathLine::Kind kind, Stall reason,
                         llvm::StringRef what);
/// The kind of a step of the critical path.
PathLine::Kind kindOf(const Program &program, const TimeResult &time,
                      const CriticalStep &step);

/// "tensor 3 matmul" and where it comes from.
InstructionLabel labelOf(const Program &program, int queue, int pc);

void printStats(const Report &report, llvm::raw_ostream &os);

/// What --json adds to runToJson: times in ns, see docs/Simulator.md.
llvm::json::Object reportToJson(const Report &report);

/// What part of a run a trace or a timeline shows.
struct TraceOptions {
  /// In ns; what began before the end and ended after the beginning is shown.
  double fromNs = 0, toNs = 1e300;
  /// Slices at most; those that start first are kept.
  uint64_t maxSlices = 1'000'000;
};

/// Both return what was left out, for a remark: "" or "the trace holds 1000000 of
/// 2400000 slices, ...".
std::string writePerfetto(const Program &program, const TimeResult &time,
                          const TraceOptions &options, llvm::raw_ostream &os);
std::string writeChromeTrace(const Program &program, const TimeResult &time,
                             const TraceOptions &options,
                             llvm::raw_ostream &os);

/// The instants of one instruction at each of its executions in the window, what
/// it waited for and who ended the wait. Wants a recorded run.
void printExplanation(const Program &program, const TimeResult &time,
                      unsigned queue, unsigned pc, const TraceOptions &window,
                      llvm::raw_ostream &os);

/// One file that needs no other and no network. The window of `options` is shown
/// enlarged; without one, two dozen instructions of a long run are.
void writeHtml(const Program &program, const TimeResult &time,
               const Report &report, const TraceOptions &options,
               llvm::raw_ostream &os);

} // namespace facet::sim

#endif // FACET_SIM_REPORT_H
