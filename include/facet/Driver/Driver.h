//===- Driver.h - the program `facet` -------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_DRIVER_DRIVER_H
#define FACET_DRIVER_DRIVER_H

namespace facet {

/// The whole of `facet`: parses the command line, runs the subcommand, prints the
/// messages. Returns the exit code (ExitCodes.h); never throws, never exits.
int driverMain(int argc, const char *const *argv);

} // namespace facet

#endif // FACET_DRIVER_DRIVER_H
