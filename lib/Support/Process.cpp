//===- Process.cpp - what every program of ours does first ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   ulimit -f 1     the system would end the process with SIGXFSZ, half a file behind
//   ulimit -v ...   operator new would throw what nobody catches: an abort
//
// Both are limits of the user's, not mistakes of ours.
//
//===----------------------------------------------------------------------===//

#include "facet/Support/Process.h"

#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/Signals.h"

#include <csignal>
#include <cstring>
#include <new>
#include <unistd.h>

static const char *program = "facet";

/// Nothing here may ask for memory.
[[noreturn]] static void runOutOfMemory() {
  for (const char *text : {program, ": error: out of memory\n"})
    if (write(STDERR_FILENO, text, std::strlen(text)) < 0)
      break;
  llvm::sys::RunInterruptHandlers(); // removes temporary files
  _exit(1);
}

/// LLVM's own allocations, by malloc.
static void onBadAllocation(void *, const char *, bool) { runOutOfMemory(); }

void facet::meetLimits(const char *tool) {
  program = tool;
  std::signal(SIGXFSZ, SIG_IGN);
  std::set_new_handler(runOutOfMemory);
  llvm::install_bad_alloc_error_handler(onBadAllocation);
}
