//===- Road.h - how run and check call a kernel ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_DRIVER_ROAD_H
#define FACET_LIB_DRIVER_ROAD_H

#include "Invocation.h"
#include "Promises.h"
#include "Sources.h"
#include "facet/Machine/Machine.h"
#include "facet/Sim/Results.h"

namespace facet {

/// A kernel that can be called, wherever it runs.
class Road {
public:
  virtual ~Road() = default;
  /// Calls the kernel once. A result of FACET_E_TASK has told its reason.
  virtual CallResult call(const SizeValues &sizes, Arguments &arguments,
                          Workspace &workspace) = 0;
  /// Multiplications and additions of a call, by its sizes; 0 when not known.
  virtual double flops(const SizeValues &sizes) = 0;
  /// True when it can be called with these sizes at all.
  virtual bool takes(const SizeValues &sizes) const { return true; }
};

/// Code in this process.
class HostRoad : public Road {
public:
  HostRoad(Loaded &code, const HostKernel &kernel)
      : code(code), kernel(kernel) {}
  CallResult call(const SizeValues &sizes, Arguments &arguments,
                  Workspace &workspace) override;
  double flops(const SizeValues &sizes) override;

private:
  Loaded &code;
  const HostKernel &kernel;
};

/// What a call on a matrix engine left.
struct EngineRun {
  Program program;
  sim::RunResult outcome;
  sim::TimeResult timed;
};

/// A program per sizes, made when it is called, on the simulator with all its checks.
/// `seconds` is the simulated time.
class EngineRoad : public Road {
public:
  /// `func` is copied at each call and stays as it is.
  EngineRoad(kernel::FuncOp func, const HostKernel &kernel,
             const Machine &machine, const Sources &sources,
             Diagnostics &diagnostics)
      : func(func), kernel(kernel), machine(machine), sources(sources),
        promises(func, kernel), diagnostics(diagnostics) {}
  CallResult call(const SizeValues &sizes, Arguments &arguments,
                  Workspace &workspace) override;
  /// Only the time, without data. A promise about arguments is not looked at.
  CallResult time(const SizeValues &sizes);
  /// Says what results will be asked for, so that calls record them.
  void record(const sim::ResultOptions &options) { results = options; }
  /// Gives away what the last call left; nothing when it did not come to its end.
  std::optional<EngineRun> take();
  /// Writes results of the last call or time. False: there was none to write of.
  bool write(const sim::ResultOptions &options);
  /// The bound of the last program, in s, and its resource; 0 when not known.
  std::pair<double, llvm::StringRef> bound() const;
  double flops(const SizeValues &sizes) override;
  /// The instructions that made an element of a result in the last call, the last first, a
  /// line each and indented lines about it; none when they cannot be followed.
  std::vector<std::string> origin(unsigned param, int64_t element) const;
  /// What could not be checked about the last call, or "".
  std::string doubt() const;

private:
  /// Refused by a promise, or begun: then FACET_E_TASK.
  CallResult begin(const SizeValues &sizes, const Arguments &arguments) const;
  void checkIndices(const SizeValues &sizes, const Arguments &arguments,
                    CallResult &result) const;
  bool makeProgram(const SizeValues &sizes);
  bool timeIt(CallResult &result);

  kernel::FuncOp func;
  const HostKernel &kernel;
  const Machine &machine;
  const Sources &sources; ///< for its schedules
  Promises promises;
  Diagnostics &diagnostics;
  sim::ResultOptions results;

  // Of the last call.
  std::optional<Program> program;
  sim::RunResult outcome;
  std::optional<sim::TimeResult> timed;
};

/// The matrix engine that --target names, by name or path: nothing when it names
/// something else. A file that cannot be read is an error.
std::optional<Machine> engineMachine(Invocation &invocation);

/// Fixes all sizes of a kernel.
void fixSizes(kernel::FuncOp func, const SizeValues &sizes);

} // namespace facet

#endif // FACET_LIB_DRIVER_ROAD_H
