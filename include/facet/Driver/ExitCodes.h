//===- ExitCodes.h - what the exit code of a tool says --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The contract scripts rely on; `facet --help=exit-codes` prints it.
//
//===----------------------------------------------------------------------===//

#ifndef FACET_DRIVER_EXITCODES_H
#define FACET_DRIVER_EXITCODES_H

namespace facet {

enum class ExitCode : int {
  Ok = 0,
  Rejected =
      1,     ///< an input was rejected, or a file could not be read or written
  Usage = 2, ///< the command line was wrong; nothing was done
  Differs = 3,      ///< `check`: numbers differ
  TooSlow = 4,      ///< a performance gate failed
  NotAvailable = 5, ///< a target or feature is not available here
  Internal = 70     ///< a fault of this program; a reproducer was written
};

} // namespace facet

#endif // FACET_DRIVER_EXITCODES_H
