//===- Faults.cpp - calls that may touch what is not theirs ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel that reads one vector too many runs into a page that cannot be touched
// (GuardedMemory.h). That must become a line of the report, with the argument at fault,
// and not the end of the program:
//
//   call ─▶ SIGSEGV at 0x7f…000 ─▶ handler ─▶ siglongjmp ─▶ "read or wrote past the end of 'a'"
//
// llvm::CrashRecoveryContext does the same without telling the address.
//
//===----------------------------------------------------------------------===//

#include "Faults.h"

#include <csetjmp>
#include <csignal>
#include <iterator>
#include <pthread.h>

using namespace facet;

static constexpr int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE};

static sigjmp_buf resume;
static pthread_t caller;
static struct sigaction before[std::size(signals)];
static volatile sig_atomic_t lastSignal;
static volatile uintptr_t lastAddress;

static void restoreHandlers() {
  for (size_t i = 0; i < std::size(signals); ++i)
    sigaction(signals[i], &before[i], nullptr);
}

static void onFault(int signal, siginfo_t *info, void *) {
  if (!pthread_equal(pthread_self(), caller)) {
    // The instruction runs again, and what handled faults before sees it.
    restoreHandlers();
    return;
  }
  lastSignal = signal;
  lastAddress = reinterpret_cast<uintptr_t>(info->si_addr);
  siglongjmp(resume, 1);
}

std::optional<Fault> facet::catchFaults(llvm::function_ref<void()> body) {
  caller = pthread_self();
  struct sigaction action = {};
  action.sa_sigaction = onFault;
  action.sa_flags = SA_SIGINFO;
  sigemptyset(&action.sa_mask);
  for (size_t i = 0; i < std::size(signals); ++i)
    sigaction(signals[i], &action, &before[i]);
  bool isFault = sigsetjmp(resume, /*savemask=*/1) != 0;
  if (!isFault)
    body();
  restoreHandlers();
  if (!isFault)
    return std::nullopt;
  return Fault{lastSignal, lastAddress};
}
