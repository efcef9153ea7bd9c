//===- Reproducer.h - a wrong call as files -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_DRIVER_CHECK_REPRODUCER_H
#define FACET_LIB_DRIVER_CHECK_REPRODUCER_H

#include "Checker.h"

namespace facet {

/// Adds to `folder` the arrays of `wrong` as NAME.ARGUMENT.npy and NAME.sh, which runs the
/// kernel of `inputs` on them. False with an error.
bool writeReproducer(llvm::StringRef folder, llvm::StringRef name,
                     const HostKernel &kernel, const WrongCall &wrong,
                     llvm::ArrayRef<std::string> inputs,
                     Diagnostics &diagnostics);

} // namespace facet

#endif // FACET_LIB_DRIVER_CHECK_REPRODUCER_H
