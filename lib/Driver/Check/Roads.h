//===- Roads.h - every way to call a kernel, for check --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_DRIVER_CHECK_ROADS_H
#define FACET_LIB_DRIVER_CHECK_ROADS_H

#include "../Kernels.h"
#include "../Road.h"
#include "Placement.h"

namespace facet {

/// What became of one call.
struct Outcome {
  CallResult result;
  /// What no call may do, whatever it returned: "read or wrote past the end of 'a'".
  std::string fault;
  /// Why this road has no code for the kernel at these sizes.
  std::string impossible;

  bool isCalled() const { return impossible.empty(); }
};

/// A way to call one kernel.
class CheckedRoad {
public:
  explicit CheckedRoad(std::string name) : name(std::move(name)) {}
  virtual ~CheckedRoad() = default;

  /// Whether it can be called with these sizes at all.
  virtual bool takes(const SizeValues &sizes) { return true; }
  /// Whether one more usual call with these sizes is worth its time.
  virtual bool wants(const SizeValues &sizes) { return takes(sizes); }
  /// Calls with `arguments`, dense arrays of which results are full of poison and get
  /// what the call stored.
  virtual Outcome call(const SizeValues &sizes, Arguments &arguments,
                       Placement placement) = 0;
  /// Whether where arguments lie means anything to it, so that a second call does.
  virtual bool hasPlacements() const { return true; }
  /// Lines about what made element `element` of parameter `param` in the last call, or
  /// none when this is not known.
  virtual std::vector<std::string> origin(unsigned param, int64_t element) {
    return {};
  }
  /// Whether broken promises are to be tried on it: code that no other road calls.
  virtual bool isEntry() const { return true; }

  const std::string name; ///< "x86-64-v4, 3 threads"
  /// The options of `facet` that choose it: "--target=x86-64-v4".
  std::string options;
  /// The road whose results it must repeat bit for bit, by position.
  std::optional<unsigned> twin;
};

using CheckedRoads = std::vector<std::unique_ptr<CheckedRoad>>;

/// The code that roads call, which lives longer than they do.
struct CheckedCode {
  std::unique_ptr<Loaded> levels;    ///< the levels asked for, in one object
  std::unique_ptr<Loaded> reference; ///< plain loops in the types of the text
};

/// Compiles what `roadsOf` needs: all that this host runs, or what --target names.
/// Fails with `code` set.
bool compileRoads(Sources &sources, const TargetList &targets, bool everything,
                  CheckedCode &compiled, Invocation &invocation,
                  ExitCode &code);

/// The roads of one kernel. With `everything`, also plain loops, code for fixed sizes, and
/// the simulator of `engine`, whose refusals then are no errors.
CheckedRoads roadsOf(kernel::FuncOp func, const HostKernel &kernel,
                     const TargetList &targets, CheckedCode &compiled,
                     const std::optional<Machine> &engine, bool everything,
                     Mischief mischief, Sources &sources,
                     Invocation &invocation);

} // namespace facet

#endif // FACET_LIB_DRIVER_CHECK_ROADS_H
