//===- Placement.h - where check puts the arguments of a call -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_DRIVER_CHECK_PLACEMENT_H
#define FACET_LIB_DRIVER_CHECK_PLACEMENT_H

#include "GuardedMemory.h"

namespace facet {

enum class Placement {
  AtEnd,   ///< dense, the last byte right before a guard
  AtStart, ///< dense, the first byte right behind one
  Strided  ///< rows apart by odd gaps full of NaN, the last one before a guard
};

/// For the tests of check: what it does to its own calls.
enum class Mischief {
  None,
  Value, ///< turns a bit of the first element of each result
  Again, ///< does so in the second of two calls
  Past,  ///< writes behind the first result
  Gap,   ///< writes behind its first row
  Input  ///< writes into the first input
};

/// The arguments of one call, each in guarded memory of its own.
class PlacedArguments {
public:
  /// Copies `arguments`, dense arrays, where `placement` says. Nothing when there is no
  /// memory.
  static std::optional<PlacedArguments> create(const HostKernel &kernel,
                                               const Arguments &arguments,
                                               Placement placement);

  /// For PreparedCall; good as long as this lives.
  std::vector<View> views() const;
  /// The elements of the results, and of arguments that are both, as the call left them.
  void readOutputs(Arguments &arguments) const;
  /// What the call wrote that it must not have: an input, a gap between rows; after a
  /// refusal any result too. Empty: nothing.
  std::string disturbed(bool isRefused) const;
  /// Past, Gap or Input, when the placement shows it; the others do nothing here.
  void misbehave(Mischief mischief) const;
  /// What lies at `address`: "past the end of 'a'"; empty when nothing of these.
  std::string whatLiesAt(uintptr_t address) const;

private:
  PlacedArguments(const HostKernel &kernel, unsigned count)
      : kernel(kernel), count(count) {}
  bool place(unsigned param, const Array &array, Placement placement);

  struct Placed {
    unsigned param;
    View view;
    GuardedMemory memory;
    std::vector<uint8_t> before; ///< its bytes when the call began
    std::vector<size_t> rows;    ///< where rows begin
    size_t rowBytes = 0;
  };
  const HostKernel &kernel;
  std::vector<Placed> placed;
  unsigned count; ///< of parameters; one left out has no entry in `placed`
};

} // namespace facet

#endif // FACET_LIB_DRIVER_CHECK_PLACEMENT_H
