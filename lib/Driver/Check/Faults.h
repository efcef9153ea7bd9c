//===- Faults.h - calls that may touch what is not theirs -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_DRIVER_CHECK_FAULTS_H
#define FACET_LIB_DRIVER_CHECK_FAULTS_H

#include "llvm/ADT/STLFunctionalExtras.h"

#include <cstdint>
#include <optional>

namespace facet {

/// A signal that ended a call, and the address it was about.
struct Fault {
  int signal = 0; ///< SIGSEGV, SIGBUS, SIGILL or SIGFPE
  uintptr_t address = 0;
};

/// Runs `body` on this thread. A fault on this thread ends it where it is, without
/// destructors: `body` calls compiled kernels and nothing that owns anything. A fault
/// on another thread ends the program as ever. Not reentrant.
std::optional<Fault> catchFaults(llvm::function_ref<void()> body);

} // namespace facet

#endif // FACET_LIB_DRIVER_CHECK_FAULTS_H
