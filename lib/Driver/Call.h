//===- Call.h - one call of a kernel --------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_DRIVER_CALL_H
#define FACET_LIB_DRIVER_CALL_H

#include "HostKernel.h"
#include "Loaded.h"
#include "facet/abi.h"

namespace facet {

/// Arrays by parameter, dense; a missing one is passed as NULL.
using Arguments = std::vector<std::optional<Array>>;

/// Memory that a call may use, kept from call to call.
class Workspace {
public:
  /// At least `bytes`, 64-byte aligned; null when there is not so much.
  void *reserve(size_t bytes);

private:
  struct Free {
    void operator()(void *memory) const;
  };
  std::unique_ptr<void, Free> memory;
  size_t size = 0;
};

struct CallResult {
  int code = 0;
  facet_error error{};
  double seconds = 0;
};

/// A call of the C function NAME that is laid out once and made any number of times.
/// An argument that is missing is NULL, or 0 when it goes by value. The arguments
/// stay where they are as long as it lives.
class PreparedCall {
public:
  /// With `isPacked`, constant operands are packed here and NAME_packed is called.
  /// `exec` says how to run; workspace and error record are added.
  PreparedCall(Loaded &code, const HostKernel &kernel, const SizeValues &sizes,
               Arguments &arguments, Workspace &workspace,
               const facet_exec &exec = FACET_EXEC_INIT, bool isPacked = false);
  ~PreparedCall();

  /// Makes the call; its code.
  int run();
  const facet_error &error() const;

private:
  struct Layout;
  std::unique_ptr<Layout> layout;
};

/// One PreparedCall, with the time it took.
CallResult callKernel(Loaded &code, const HostKernel &kernel,
                      const SizeValues &sizes, Arguments &arguments,
                      Workspace &workspace);

/// What the judge found for one output: by element whether it was judged, the
/// value and the bound around it.
struct Judged {
  std::vector<uint8_t> demanded;
  std::vector<double> value, bound;
};

/// Calls NAME.judge (Conversion/KernelToLoops.h). `before` holds the inputs as the
/// road got them, `after` what it stored; `judged` has an entry per output, inouts
/// first, with `demanded` filled.
CallResult callJudge(Loaded &code, const HostKernel &kernel,
                     const SizeValues &sizes, Arguments &before,
                     Arguments &after, std::vector<Judged> &judged,
                     Workspace &workspace);

/// Positions of the outputs among the parameters: inouts, then results.
llvm::SmallVector<unsigned> outputsOf(const HostKernel &kernel);

/// Why a call was refused, in the words of the text.
std::string describe(const CallResult &result, const HostKernel &kernel);

} // namespace facet

#endif // FACET_LIB_DRIVER_CALL_H
