//===- Profile.cpp - reads a recorded run ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A profile mixes the kernel with the runtime that starts and ends it. The
// kernel's instructions are told by what they do and by their semaphores, which
// the profiler names after their producer; the runtime's are written `$S[2]`:
//
//   COPY             S[5] (Tensor)>=1 S[4] (Scalar)++@complete src=...   kept
//   EVENT_SEMAPHORE  setter=0 $S[2]==4 $S[2]++@complete                  dropped
//   DRAIN, NOTIFY, SET_ORDERING_MODE, ...                                dropped
//
//===----------------------------------------------------------------------===//

#include "Profile.h"
#include "Table.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

#include <algorithm>
#include <cmath>
#include <optional>

using namespace facet;
using namespace facet::bench;
using llvm::StringRef;

static std::optional<Engine> engineOf(StringRef name) {
  return llvm::StringSwitch<std::optional<Engine>>(name)
      .Cases({"Tensor", "TensorMatrix"}, Engine::Tensor)
      .Case("Vector", Engine::Vector)
      .Case("Scalar", Engine::Scalar)
      .Case("GpSimd", Engine::Gpsimd)
      .Case("Sync", Engine::Sync)
      .Default(std::nullopt);
}

static bool isWait(StringRef opcode) {
  return opcode == "EVENT_SEMAPHORE" || opcode == "NOP";
}

static bool isUser(StringRef opcode, StringRef operands) {
  static const StringRef work[] = {
      "LDWEIGHTS",     "MATMUL",        "COPY",          "CAST",
      "TENSOR_SCALAR", "RECIPROCAL",    "TENSOR_REDUCE", "ACTIVATE",
      "DMA_DIRECT2D",  "ACT_TABLE_LOAD"};
  if (llvm::is_contained(work, opcode))
    return true;
  return isWait(opcode) && !operands.contains('$') && operands.contains("S[");
}

Profile Profile::read(const std::string &path) {
  Profile profile;
  profile.name = StringRef(path).rsplit('/').second.str();
  Csv table = Csv::read(path + ".instructions.csv");
  for (size_t i = 0; i != table.size(); ++i) {
    StringRef opcode = table.text(i, "opcode");
    StringRef operands = table.text(i, "operands");
    std::optional<Engine> engine = engineOf(table.text(i, "engine"));
    if (!engine || !isUser(opcode, operands))
      continue;
    profile.user.push_back(
        {table.whole(i, "start_ns"), table.whole(i, "duration_ns"), *engine,
         opcode.str(), operands.str(), table.whole(i, "pc")});
  }
  llvm::sort(profile.user, [](const Instruction &a, const Instruction &b) {
    return std::pair(a.engine, a.pc) < std::pair(b.engine, b.pc);
  });
  Csv clock = Csv::read(path + ".clock.csv");
  for (size_t i = 0; i != clock.size(); ++i)
    profile.windows.push_back({clock.whole(i, "start_ns"),
                               clock.whole(i, "duration_ns"),
                               clock.whole(i, "k") == clock.whole(i, "n")});
  return profile;
}

int64_t Profile::begin() const {
  int64_t first = INT64_MAX;
  for (const Instruction &i : user)
    first = std::min(first, i.start);
  return first;
}

int64_t Profile::end() const {
  int64_t last = 0;
  for (const Instruction &i : user)
    if (!isWait(i.opcode))
      last = std::max(last, i.end());
  return last;
}

int64_t Profile::clockPhase(double windowNs) const {
  double age = std::fmod(double(begin() - windows.front().start), windowNs);
  return int64_t(std::llround(age < 0 ? age + windowNs : age));
}

double Profile::fullRateShare() const {
  unsigned all = 0, full = 0;
  for (const Instruction &i : user) {
    if (i.opcode != "MATMUL")
      continue;
    ++all;
    for (const Window &w : windows)
      full += w.full && i.start >= w.start && i.start < w.start + w.duration;
  }
  return all ? double(full) / all : 0;
}
