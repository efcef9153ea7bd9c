//===- Machine.h - one machine: every size, rate and latency --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A machine is data: a YAML file states each number once, with its source, and
// is loaded once into the plain structs below, which the compiler, the planner
// and the simulator all read. The structs are made from Parameters.def; look
// there for the members, their units and their meaning.
//
//   Diagnostics diags;
//   std::optional<Machine> m = loadMachine("trn2", diags);   // name or path
//   if (m && m->isEngine())
//     use(m->tensor.clockMHz, m->sbuf.partitionBytes);
//
// Units: whole numbers are as their key says; keys in ns are held in ps,
// gb_per_s in MB/s, pj in fJ, shares in thousandths (stored value = value in
// the file times 1000). Switches are 1 or 0.
//
//===----------------------------------------------------------------------===//

#ifndef FACET_MACHINE_MACHINE_H
#define FACET_MACHINE_MACHINE_H

#include "facet/Support/Diagnostics.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/JSON.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace facet {

//===----------------------------------------------------------------------===//
// The groups, one struct each: CpuCore, CpuCaches; EngineCore, SemaphoreUnit,
// TensorEngine, VectorEngine, ScalarEngine, GpsimdEngine, SyncEngine,
// StateBuffer, AccumulatorBuffer, DmaUnit, HighBandwidthMemory, EnergyTable.
//===----------------------------------------------------------------------===//

#define FACET_GROUP(group, Type, kind, doc) struct Type {
#define FACET_COUNT(group, member, key, min, max, doc) int64_t member = 0;
#define FACET_SCALED(group, member, key, min, max, doc) int64_t member = 0;
#define FACET_SWITCH(group, member, key, doc) int64_t member = 0;
#define FACET_WORD(group, member, key, doc) std::string member;
#define FACET_GROUP_END(group)                                                 \
  }                                                                            \
  ;
#include "facet/Machine/Parameters.def"

enum class MachineKind { Cpu, Engine };

/// SHA-256 of a machine's canonical text.
using MachineHash = std::array<uint8_t, 32>;

/// Where one value of a machine came from.
struct MachineOrigin {
  /// As written in the file: a document and section, or "assumed".
  std::string source = "assumed";
  Place place;
};

struct Machine {
  std::string name;
  /// One line for `facet targets`.
  std::string about;
  MachineKind kind = MachineKind::Cpu;
  /// The file it was read from; empty for one read from a program.
  std::string path;

  bool isCpu() const { return kind == MachineKind::Cpu; }
  bool isEngine() const { return kind == MachineKind::Engine; }

  // Meaningful when isCpu(): `cpu`, `cache`. When isEngine(): the others.
#define FACET_GROUP(group, Type, kind, doc) Type group;
#include "facet/Machine/Parameters.def"

  /// Parallel to machineParameters(): where each value came from.
  std::vector<MachineOrigin> origins;
  /// The tags used in sources, and what they stand for.
  std::vector<std::pair<std::string, std::string>> sources;
};

//===----------------------------------------------------------------------===//
// The schema
//===----------------------------------------------------------------------===//

/// One line of Parameters.def.
struct MachineParameter {
  enum Kind { Count, Scaled, Switch, Word };
  MachineKind machine;
  const char *group;
  const char *key;
  Kind kind;
  int64_t min, max; // in stored units
  const char *doc;
  /// The place of the value; number for Count, Scaled, Switch, word for Word.
  int64_t &(*number)(Machine &);
  std::string &(*word)(Machine &);
};

struct MachineGroup {
  MachineKind machine;
  const char *name;
  const char *doc;
};

llvm::ArrayRef<MachineParameter> machineParameters();
llvm::ArrayRef<MachineGroup> machineGroups();

/// The value of a parameter as a machine file writes it: `2.4`, `on`,
/// `skylake`.
std::string printMachineValue(const Machine &machine,
                              const MachineParameter &parameter);

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

/// Parses a machine file. `file` is the name for messages; `base:` names are
/// looked up beside `file` first, then as findMachine does. Errors go to
/// `diags` with their places, and nothing is returned then.
std::optional<Machine> parseMachine(llvm::StringRef text, llvm::StringRef file,
                                    Diagnostics &diags);

/// The file of a shipped machine: FACET_MACHINES (a folder) if given, then
/// `../share/facet/machines` and `../machines` beside the executable, then the
/// source tree's machines/ of this build. Empty when there is none.
std::string findMachine(llvm::StringRef name);

/// Loads a machine by name ("trn2") or by path (anything with a `/` or ending
/// in .yaml). An unknown name is an error that offers the nearest one.
std::optional<Machine> loadMachine(llvm::StringRef nameOrPath,
                                   Diagnostics &diags);

/// Names of all shipped machines, sorted.
std::vector<std::string> machineNames();

/// Says where machine files are found when findMachine cannot know the
/// executable's folder by itself (argv[0] of main).
void setMachineExecutable(llvm::StringRef argv0);

//===----------------------------------------------------------------------===//
// Canonical form
//===----------------------------------------------------------------------===//

/// Name, kind and every value, one `group.key value` per line, in the order of
/// Parameters.def. Sources and comments are not part of it.
std::string canonicalMachine(const Machine &machine);

/// Reads what canonicalMachine wrote; every line must be there, in order and in
/// canonical spelling. On failure `error` says why.
std::optional<Machine> parseCanonicalMachine(llvm::StringRef text,
                                             std::string &error);

MachineHash machineHash(const Machine &machine);
std::string hexHash(llvm::ArrayRef<uint8_t> hash);

/// For `facet targets --json`: {"name", "kind", "about", "path", "hash",
/// "parameters": {group: {key: {"value", "source"}}}, "sources"}.
llvm::json::Value machineToJson(const Machine &machine);

//===----------------------------------------------------------------------===//
// Time
//===----------------------------------------------------------------------===//

/// Simulated time in ticks.
using Ticks = int64_t;

/// The machine's clock of clocks. The tick divides 1 ps and every engine's
/// cycle exactly, so that closed forms stay exact: trn2 has 3000 ticks in a ns.
/// When the clocks of an edited file have no common tick of 1/10^7 ns or
/// longer, a tick is 1 fs and each conversion from cycles rounds to nearest.
class TimeBase {
public:
  explicit TimeBase(const Machine &machine);
  Ticks perNs() const { return ticksPerNs; }
  Ticks fromPs(int64_t ps) const { return ps * (ticksPerNs / 1000); }
  /// `cycles` thousandths of a cycle of a clock.
  Ticks fromMilliCycles(int64_t milliCycles, int64_t clockMHz) const;
  Ticks fromCycles(int64_t cycles, int64_t clockMHz) const {
    return fromMilliCycles(cycles * 1000, clockMHz);
  }
  /// Time to move `bytes` at `rateMBs`, rounded up to a tick.
  Ticks fromBytes(int64_t bytes, int64_t rateMBs) const;
  /// Whole ps, rounded to nearest.
  int64_t toPs(Ticks ticks) const;
  double toNs(Ticks ticks) const { return double(ticks) / double(ticksPerNs); }

private:
  Ticks ticksPerNs;
};

} // namespace facet

#endif // FACET_MACHINE_MACHINE_H
