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

/// Where an argument lies; `data` is null when it is left out.
struct View {
  void *data = nullptr;
  llvm::SmallVector<int64_t, 4>
      strides; ///< in elements, of all axes but the last
};

/// Strides, in elements, of all axes but the last of a dense array. Empty axes count
/// as one element, of 4-bit types as two: a stride of them is even.
llvm::SmallVector<int64_t, 4> denseStrides(ScalarType type,
                                           llvm::ArrayRef<int64_t> shape);

/// Memory that a call may use, kept from call to call.
class Workspace {
public:
  virtual ~Workspace() = default;
  /// At least `bytes`, 64-byte aligned; null when there is not so much.
  virtual void *reserve(size_t bytes);

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
  /// The same for arguments with strides of their own.
  PreparedCall(Loaded &code, const HostKernel &kernel, const SizeValues &sizes,
               llvm::ArrayRef<View> views, Workspace &workspace,
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
