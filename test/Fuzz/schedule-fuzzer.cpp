//===- schedule-fuzzer.cpp - any schedule against three kernels -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The bytes are read twice: as the text of schedules, and as choices from which schedules
// are made, clause by clause, with numbers that may hold. Each is refused with a reason,
// or makes a plan that prints as a schedule, is taken again as the same, and lowers.
//
//===----------------------------------------------------------------------===//

#include "Promise.h"
#include "facet/Driver/CompileText.h"

#include "llvm/ADT/StringRef.h"

#include <fuzzer/FuzzedDataProvider.h>

using namespace facet;

static const char kernels[] = R"(
kernel gemm(a: bf16[M, K], b: const f32[K, N], z: f32[N]) -> c: bf16[M, N] {
  c[m, n] = bf16(gelu(sum[k](a[m, k] * b[k, n]) + z[n]))
}
kernel swiglu(x: f32[M, K], w: f32[K, N], v: f32[K, N]) -> y: f32[M, N] {
  let gate[m, n] = sum[k](x[m, k] * w[k, n])
  y[m, n] = silu(gate[m, n]) * sum[k](x[m, k] * v[k, n])
}
kernel rows(q: f32[M, K], k: f32[N, K], v: f32[N, D]) -> o: f32[M, D] {
  let s[m, n] = sum[e: K](q[m, e] * k[n, e])
  let p[m, n] = softmax[n](s[m, n])
  o[m, d] = sum[n](p[m, n] * v[n, d])
}
)";

namespace {
struct Target {
  const char *name;
  std::vector<std::string> options;
  std::vector<std::string> names; ///< of kernels that can be lowered for it
};
} // namespace

/// Sizes are fixed: whether a `when` holds must be known.
static const Target targets[] = {
    {"x86-64-v4",
     {"--target=x86-64-v4", "-DM=96", "-DK=64", "-DN=160", "-DD=32"},
     {"gemm", "swiglu", "rows"}},
    {"trn2",
     {"--target=trn2", "-DM=256", "-DK=192", "-DN=640", "-DD=64"},
     {"gemm", "swiglu"}}};

static TextRequest requestFor(const std::string &schedules,
                              const std::string &kernel, const Target &target,
                              const char *kind) {
  TextRequest request{kernels + schedules, "fuzz.facet", kind, target.options};
  request.options.push_back("--kernel=" + kernel);
  return request;
}

static bool isInternal(const Diagnostics &diagnostics) {
  for (const Diagnostic &diagnostic : diagnostics.all())
    if (llvm::StringRef(diagnostic.message).contains("internal error"))
      return true;
  return false;
}

static void meet(const std::string &schedules, const Target &target,
                 bool lowers) {
  for (const std::string &kernel : target.names) {
    Diagnostics heard, heardAgain;
    std::string once, twice;
    bool isTaken = explainText(
        requestFor(schedules, kernel, target, "schedule"), once, heard);
    promise(!isInternal(heard), "an internal error for a schedule");
    promise(isTaken != heard.hasErrors(),
            "a schedule is refused without a reason, or makes a plan with one");
    if (!isTaken)
      continue;
    promise(explainText(requestFor(once, kernel, target, "schedule"), twice,
                        heardAgain),
            "the schedule that a plan prints is refused");
    promise(once == twice, "the schedule that a plan prints makes another");
    if (!lowers)
      continue;
    Diagnostics said;
    CompiledText compiled;
    bool isMade = compileText(
        requestFor(schedules, kernel, target,
                   target.name == std::string("trn2") ? "engine" : "mlir"),
        compiled, said);
    promise(!isInternal(said), "an internal error for a plan");
    promise(isMade != said.hasErrors(), "a plan is not lowered, and nobody "
                                        "says why");
  }
}

static std::string numberFrom(FuzzedDataProvider &from) {
  static const int round[] = {1, 2, 4, 6, 8, 16, 32, 48, 64, 96, 128, 256, 512};
  if (from.ConsumeIntegralInRange(0, 9))
    return std::to_string(from.PickValueInArray(round));
  return std::to_string(from.ConsumeIntegral<int32_t>());
}

/// "(m = 8, n = 48)".
static std::string listFrom(FuzzedDataProvider &from,
                            std::initializer_list<const char *> names,
                            std::initializer_list<const char *> words) {
  std::string text;
  for (const char *name : names)
    if (from.ConsumeIntegralInRange(0, 5))
      text +=
          (text.empty() ? "" : ", ") + std::string(name) +
          (words.size()
               ? " = " + std::string(
                             words.begin()[from.ConsumeIntegralInRange<size_t>(
                                 0, words.size() - 1)])
               : " = " + numberFrom(from));
  return "(" + text + ")";
}

static std::string clauseFrom(FuzzedDataProvider &from) {
  switch (from.ConsumeIntegralInRange(0, 14)) {
  case 0:
    return "tile" + listFrom(from, {"m", "n"}, {});
  case 1:
    return "block" + listFrom(from, {"m", "n", "k"}, {});
  case 2:
    return "pack = " +
           std::string(from.PickValueInArray({"a", "b", "ab", "none"}));
  case 3:
    return "split = " +
           std::string(from.PickValueInArray({"m", "n", "mn", "k", "none"}));
  case 4:
    return "grain = " + numberFrom(from);
  case 5:
    return "fuse(" +
           std::string(from.PickValueInArray({"gate", "s", "y", "p"})) + ")";
  case 6:
    return "stream" + listFrom(from, {"m", "n"}, {});
  case 7:
    return "stationary = " + std::string(from.PickValueInArray({"a", "b"}));
  case 8:
    return std::string("order") +
           from.PickValueInArray({"(a, b)", "(b, a)", "(a)", "()"});
  case 9:
    return "stays = " + std::string(from.PickValueInArray({"a", "b", "none"}));
  case 10:
    return "slots" + listFrom(from, {"a", "b", "sums", "results"}, {});
  case 11:
    return "load" + listFrom(from, {"a", "b"}, {"copy", "transpose", "array"});
  case 12:
    return "evict = " +
           std::string(from.PickValueInArray({"scalar", "vector", "gpsimd"}));
  case 13:
    return "product = " + numberFrom(from);
  default:
    return "unroll = " + numberFrom(from);
  }
}

static std::string schedulesFrom(FuzzedDataProvider &from,
                                 const Target &target) {
  std::string text;
  for (const std::string &kernel : target.names) {
    text += "schedule " + kernel + " on \"" + target.name + "\"";
    if (from.ConsumeBool())
      text += " when M " +
              std::string(from.PickValueInArray({"<", "==", ">="})) + " " +
              numberFrom(from);
    text += " {";
    for (const char *statement : {"c", "y", "gate", "s", "p", "o"}) {
      if (from.ConsumeBool())
        continue;
      text += std::string("\n  ") + statement + ": " + clauseFrom(from);
      while (from.remaining_bytes() && from.ConsumeBool())
        text += ", " + clauseFrom(from);
    }
    text += "\n}\n";
  }
  return text;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string text(reinterpret_cast<const char *>(data), size);
  // Kernels of its own would make other plans than ours, and imports read files.
  if (llvm::StringRef(text).contains("kernel") ||
      llvm::StringRef(text).contains("import"))
    return -1;
  FuzzedDataProvider from(data, size);
  for (const Target &target : targets) {
    meet(text, target, false);
    meet(schedulesFrom(from, target), target, true);
  }
  return 0;
}
