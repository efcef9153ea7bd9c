//===- Volume.cpp - how much is compiled together -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A megabyte holds ten thousand products, and the code of each takes LLVM a good part of
// a second and megabytes until the object is written. What would take hours is refused
// before it begins; what may take minutes says so.
//
//===----------------------------------------------------------------------===//

#include "Volume.h"
#include "MlirDiagnostics.h"
#include "facet/Dialect/Kernel/IR/Operations.h"

#include "llvm/ADT/StringExtras.h"

#include <cerrno>
#include <csignal>
#include <sys/time.h>
#include <unistd.h>

using namespace mlir;
using namespace facet;
using namespace facet::options;

/// What the code of one kernel amounts to, for one level: 4 for a sum, which comes with
/// packing and several tiles, 1 for any other statement.
static size_t volumeOf(kernel::FuncOp kernel) {
  size_t volume = 0;
  kernel.walk([&](kernel::StructuredOpInterface op) {
    volume += isa<kernel::ReduceOp>(*op) ? 4 : 1;
  });
  return volume;
}

bool facet::checkVolume(ModuleOp module, size_t levels,
                        Diagnostics &diagnostics) {
  // Of 0.65 MB each: below 2 GB.
  constexpr size_t most = 2800;
  size_t volume = 0;
  for (auto kernel : module.getOps<kernel::FuncOp>()) {
    size_t before = volume;
    volume += volumeOf(kernel) * levels;
    if (volume <= most)
      continue;
    std::string what = before ? "the kernels up to '" : "kernel '";
    diagnostics.error(
        placeOf(kernel.getLoc()),
        what + kernel.getSymName() + (before ? "' are " : "' is ") +
            Twine(volume) +
            " parts of code (4 for a sum, 1 for another statement" +
            (levels > 1 ? ", on each of " + std::to_string(levels) + " levels"
                        : std::string()) +
            "), at most " + Twine(most) + " are compiled together; " +
            (before ? "name fewer files at once, or one --kernel"
                    : "part it into several kernels"));
    return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// What takes long
//===----------------------------------------------------------------------===//

// A timer and no thread: a crash leaves LongWork without its destructor, and a thread
// that cannot be started would be one more fault of the world. The handler writes what
// is ready and touches nothing else.
static char note[256];
static size_t noteLength = 0;

static void sayNote(int) {
  int before = errno;
  if (write(STDERR_FILENO, note, noteLength) < 0) {
    // Nobody is there to read it.
  }
  errno = before;
}

static void startTimer(long milliseconds) {
  itimerval time = {};
  time.it_value.tv_sec = milliseconds / 1000;
  time.it_value.tv_usec = milliseconds % 1000 * 1000;
  setitimer(ITIMER_REAL, &time, nullptr);
}

LongWork::LongWork(const Invocation &invocation, ModuleOp module,
                   size_t levels) {
  const CommandLine &line = invocation.line;
  if (line.has(OPT_quiet) || invocation.text ||
      line.value(OPT_diagnostics_format).value_or("text") != "text")
    return;
  long patience = 10000;
  if (std::optional<StringRef> given = line.value(OPT_internal_patience))
    llvm::to_integer(*given, patience);
  auto kernels = module.getOps<kernel::FuncOp>();
  size_t count = std::distance(kernels.begin(), kernels.end());
  std::string text =
      "facet: note: still compiling " + std::to_string(count) +
      (count == 1 ? " kernel" : " kernels") +
      (levels > 1 ? " for " + std::to_string(levels) + " levels" : "") + "\n";
  noteLength = std::min(text.size(), sizeof note);
  std::copy_n(text.data(), noteLength, note);
  struct sigaction action = {};
  action.sa_handler = sayNote;
  action.sa_flags = SA_RESTART | SA_RESETHAND;
  isTimed = sigaction(SIGALRM, &action, nullptr) == 0;
  if (isTimed)
    startTimer(patience);
}

LongWork::~LongWork() {
  if (isTimed)
    startTimer(0);
}
