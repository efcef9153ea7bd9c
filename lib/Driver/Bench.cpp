//===- Bench.cpp - `facet bench` ------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   facet bench linear.facet -D M=512 -D K=4096 -D N=4096
//
//   linear: M=512 K=4096 N=4096, x86-64-v4, 1 thread
//     best      171 ms, 100.6 GFLOP/s; median of 9: 174 ms
//     bound     146 ms, by bf16 multiply-adds; reached to 85 %
//     compute   85 % of 117.7 GFLOP/s, the f32 peak
//     memory    41.9 MB, 1 % of 24.1 GB/s
//
// A share needs what it is a share of, and that is measured here and now (Probe.h):
// the peak of the instruction that the kernel's sums could use at best, and how fast
// memory is read. Samples are taken in rounds of equal length, so a short call is
// made many times per sample; the best sample says what the code can do, the median
// what it did.
//
//===----------------------------------------------------------------------===//

#include "Call.h"
#include "Crash.h"
#include "Kernels.h"
#include "MlirDiagnostics.h"
#include "Probe.h"
#include "Promises.h"
#include "Sources.h"
#include "Summary.h"
#include "Values.h"
#include "Workers.h"
#include "facet/Driver/SizeBindings.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace facet;
using namespace facet::options;

namespace {

/// What the command line asks for.
struct BenchRequest {
  std::vector<SizeBinding> sizes;
  unsigned threads = 1;
  uint64_t samples = 0; ///< 0: half a second's worth
  std::optional<double> gate;
  bool isPacked = false;
};

/// The ceilings of this machine, for one kernel.
struct Ceilings {
  PeakKind kind = PeakKind::F32;
  double peak = 0;      ///< operations per second
  double bandwidth = 0; ///< bytes per second
};

struct Measurement {
  SizeValues sizes;
  double best = 0, median = 0; ///< seconds per call
  uint64_t samples = 0, callsPerSample = 0;
  double flops = 0, bytes = 0;

  double computeBound(const Ceilings &machine) const {
    return machine.peak > 0 ? flops / machine.peak : 0;
  }
  double memoryBound(const Ceilings &machine) const {
    return machine.bandwidth > 0 ? bytes / machine.bandwidth : 0;
  }
  double bound(const Ceilings &machine) const {
    return std::max(computeBound(machine), memoryBound(machine));
  }
};

} // namespace

static StringRef spell(PeakKind kind) {
  switch (kind) {
  case PeakKind::F32:
    return "f32";
  case PeakKind::F64:
    return "f64";
  case PeakKind::BF16:
    return "bf16";
  case PeakKind::U8S8:
    return "u8·s8";
  }
  llvm_unreachable("all kinds are listed");
}

/// The fastest instruction for the products of the kernel's largest sum.
static PeakKind peakKindOf(kernel::FuncOp func) {
  kernel::ReduceOp largest;
  func.walk([&](kernel::ReduceOp reduce) {
    if (reduce.getBody().getNumArguments() >= 2 &&
        (!largest ||
         reduce.getMixedExtents().size() > largest.getMixedExtents().size()))
      largest = reduce;
  });
  if (!largest)
    return PeakKind::F32;
  auto all = [&](auto holds) {
    return llvm::all_of(largest.getBody().getArgumentTypes(), holds);
  };
  if (all([](Type type) { return type.isF64(); }))
    return PeakKind::F64;
  if (all([](Type type) { return type.isBF16(); }))
    return PeakKind::BF16;
  if (all([](Type type) {
        return type.isInteger() && type.getIntOrFloatBitWidth() <= 8;
      }))
    return PeakKind::U8S8;
  return PeakKind::F32;
}

/// Measures what a share is a share of. Where the machine lacks the instruction of a
/// type, values are widened first, and f32 is what remains.
static Ceilings measureCeilings(kernel::FuncOp func, unsigned threads) {
  Ceilings machine;
  machine.kind = peakKindOf(func);
  std::optional<double> peak = measurePeak(machine.kind, threads);
  if (!peak) {
    machine.kind = PeakKind::F32;
    peak = measurePeak(machine.kind, threads);
  }
  machine.peak = peak.value_or(0);
  machine.bandwidth = measureReadBandwidth(threads);
  return machine;
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

/// Every combination of the values given, the last size fastest.
static std::vector<SizeValues> combine(const HostKernel &kernel,
                                       ArrayRef<SizeBinding> given,
                                       Diagnostics &diagnostics) {
  std::vector<SizeValues> all = {{}};
  SmallVector<StringRef> missing;
  for (const std::string &name : kernel.sizes) {
    auto binding = llvm::find_if(
        given, [&](const SizeBinding &b) { return b.name == name; });
    if (binding == given.end() || binding->values.empty()) {
      missing.push_back(name);
      continue;
    }
    std::vector<SizeValues> longer;
    for (const SizeValues &sizes : all)
      for (int64_t value : binding->values) {
        longer.push_back(sizes);
        longer.back().push_back(value);
      }
    all = std::move(longer);
  }
  if (missing.empty())
    return all;
  diagnostics.error({}, "no value for size " + listOf(missing) + "; give -D " +
                            missing.front() + "=N");
  return {};
}

/// Bytes that a call must move at least: inputs once, results once.
static double bytesMoved(const HostKernel &kernel, const Arguments &arguments) {
  double bytes = 0;
  for (auto [param, array] : llvm::zip_equal(kernel.params, arguments))
    if (array)
      bytes +=
          double(array->bytes.size()) * (param.isInput() + param.isOutput());
  return bytes;
}

//===----------------------------------------------------------------------===//
// One kernel
//===----------------------------------------------------------------------===//

namespace {
class Bench {
public:
  Bench(const HostKernel &kernel, const Promises &promises, Loaded &code,
        const BenchRequest &request, Invocation &invocation)
      : kernel(kernel), promises(promises), code(code), request(request),
        invocation(invocation), diagnostics(invocation.diagnostics) {}

  std::optional<Measurement> measure(const SizeValues &sizes);

private:
  bool fillArguments(const SizeValues &sizes, Arguments &arguments);
  bool isRefused(PreparedCall &call, int result);

  const HostKernel &kernel;
  const Promises &promises;
  Loaded &code;
  const BenchRequest &request;
  Invocation &invocation;
  Diagnostics &diagnostics;
  Workspace workspace;
};
} // namespace

bool Bench::fillArguments(const SizeValues &sizes, Arguments &arguments) {
  facet::Random random(invocation.line.number(OPT_seed, 1, 0, diagnostics));
  for (auto [param, array] : llvm::zip_equal(kernel.params, arguments)) {
    array = allocate(kernel, param, sizes, diagnostics);
    if (!array)
      return false;
    if (param.isInput())
      fillRandom(*array, kernel, param, sizes, random);
  }
  if (std::optional<unsigned> broken = promises.firstBroken(sizes, arguments)) {
    diagnostics.error({}, "kernel '" + kernel.name + "': the promise " +
                              kernel.promises[*broken] +
                              " does not hold for these sizes");
    return false;
  }
  return true;
}

bool Bench::isRefused(PreparedCall &call, int result) {
  if (result == 0)
    return false;
  diagnostics.error({}, "the call was refused: " +
                            describe({result, call.error()}, kernel));
  return true;
}

std::optional<Measurement> Bench::measure(const SizeValues &sizes) {
  Arguments arguments(kernel.params.size());
  if (!fillArguments(sizes, arguments))
    return std::nullopt;
  Workers workers(request.threads);
  PreparedCall call(code, kernel, sizes, arguments, workspace,
                    request.threads > 1 ? workers.exec()
                                        : facet_exec(FACET_EXEC_INIT),
                    request.isPacked);
  if (isRefused(call, call.run()))
    return std::nullopt;

  Measurement result;
  result.sizes = sizes;
  result.bytes = bytesMoved(kernel, arguments);
  if (auto *info = reinterpret_cast<const facet_info *(*)()>(
          code.lookup(kernel.symbol() + "_info")))
    result.flops = info()->flops(sizes.data());

  // As many calls per sample as fill a millisecond.
  auto sample = [&](uint64_t calls) {
    double begin = stopwatch(request.threads);
    for (uint64_t i = 0; i < calls; ++i)
      call.run();
    return std::max(stopwatch(request.threads) - begin, 1e-9);
  };
  uint64_t calls = 1;
  for (double seconds; (seconds = sample(calls)) < 1e-3 && calls < 1 << 20;)
    calls *= std::clamp(uint64_t(1.2e-3 / seconds), uint64_t(2), uint64_t(64));
  std::vector<double> samples;
  for (double spent = 0; request.samples ? samples.size() < request.samples
                                         : spent < 0.5 || samples.size() < 3;) {
    double seconds = sample(calls);
    spent += seconds;
    samples.push_back(seconds / double(calls));
  }
  llvm::sort(samples);
  result.best = samples.front();
  result.median = samples[samples.size() / 2];
  result.samples = samples.size();
  result.callsPerSample = calls;
  return result;
}

//===----------------------------------------------------------------------===//
// Reports
//===----------------------------------------------------------------------===//

static std::string percent(double share) {
  return llvm::formatv("{0:f0} %", 100 * share);
}

static void printText(const HostKernel &kernel, StringRef target,
                      const BenchRequest &request, const Measurement &m,
                      const Ceilings &machine) {
  llvm::raw_ostream &os = llvm::outs();
  os << kernel.name << ":";
  for (auto [name, value] : llvm::zip_equal(kernel.sizes, m.sizes))
    os << " " << name << "=" << value;
  os << (kernel.sizes.empty() ? " " : ", ") << target << ", " << request.threads
     << (request.threads == 1 ? " thread" : " threads")
     << (request.isPacked ? ", constants packed" : "") << "\n";
  os << "  best      " << timeText(m.best);
  if (m.flops > 0)
    os << llvm::formatv(", {0:f1} GFLOP/s", m.flops / m.best * 1e-9);
  os << "; median of " << m.samples << ": " << timeText(m.median) << "\n";
  bool isCompute = m.computeBound(machine) >= m.memoryBound(machine);
  os << "  bound     " << timeText(m.bound(machine)) << ", by "
     << (isCompute ? (spell(machine.kind) + " multiply-adds").str()
                   : "reading memory")
     << "; reached to " << percent(m.bound(machine) / m.best) << "\n";
  if (m.flops > 0)
    os << "  compute   " << percent(m.computeBound(machine) / m.best) << " of "
       << llvm::formatv("{0:f1} GFLOP/s, the ", machine.peak * 1e-9)
       << spell(machine.kind) << " peak\n";
  os << "  memory    " << llvm::formatv("{0:f1} MB, ", m.bytes * 1e-6)
     << percent(m.memoryBound(machine) / m.best) << " of "
     << llvm::formatv("{0:f1} GB/s\n", machine.bandwidth * 1e-9);
}

static void printJson(llvm::json::OStream &out, const HostKernel &kernel,
                      StringRef target, const BenchRequest &request,
                      const Measurement &m, const Ceilings &machine) {
  out.object([&] {
    out.attribute("bandwidth_gbs", machine.bandwidth * 1e-9);
    out.attribute("bandwidth_share", m.memoryBound(machine) / m.best);
    out.attribute("best_gflops", m.flops / m.best * 1e-9);
    out.attribute("best_seconds", m.best);
    out.attribute("bound_seconds", m.bound(machine));
    out.attribute("bound_share", m.bound(machine) / m.best);
    out.attribute("bytes", m.bytes);
    out.attribute("calls_per_sample", int64_t(m.callsPerSample));
    out.attribute("flops", m.flops);
    out.attribute("kernel", kernel.name);
    out.attribute("median_gflops", m.flops / m.median * 1e-9);
    out.attribute("median_seconds", m.median);
    out.attribute("packed", request.isPacked);
    out.attribute("peak_gflops", machine.peak * 1e-9);
    out.attribute("peak_share", m.computeBound(machine) / m.best);
    out.attribute("peak_type", spell(machine.kind));
    out.attribute("samples", int64_t(m.samples));
    out.attributeObject("sizes", [&] {
      for (auto [name, value] : llvm::zip_equal(kernel.sizes, m.sizes))
        out.attribute(name, value);
    });
    out.attribute("target", target);
    out.attribute("threads", request.threads);
  });
}

//===----------------------------------------------------------------------===//
// The subcommand
//===----------------------------------------------------------------------===//

static bool readRequest(Invocation &invocation, BenchRequest &request) {
  const CommandLine &line = invocation.line;
  Diagnostics &diagnostics = invocation.diagnostics;
  if (line.inputs().empty())
    diagnostics.error({}, "no input file");
  request.sizes = parseSizeBindings(line.values(OPT_define_size), diagnostics);
  request.samples = line.number(OPT_repeat, 0, 1, diagnostics);
  line.number(OPT_seed, 1, 0, diagnostics);
  uint64_t threads = line.number(OPT_threads, 1, 1, diagnostics);
  if (threads > 1024)
    diagnostics.error({}, "'--threads' takes at most 1024, not '" +
                              llvm::Twine(threads) + "'");
  request.threads = unsigned(threads);
  request.isPacked = line.has(OPT_packed);
  if (std::optional<StringRef> text = line.value(OPT_gate)) {
    double gate;
    if (text->getAsDouble(gate) || !(gate >= 0))
      diagnostics.error({},
                        "'--gate' takes a share of the bound, 0.8 say, not '" +
                            *text + "'");
    else
      request.gate = gate;
  }
  return !diagnostics.hasErrors();
}

ExitCode facet::runBench(Invocation &invocation) {
  Diagnostics &diagnostics = invocation.diagnostics;
  BenchRequest request;
  if (!readRequest(invocation, request))
    return ExitCode::Usage;
  TargetList targets = chooseHostTargets(invocation);
  if (targets.empty())
    return ExitCode::NotAvailable;
  std::unique_ptr<MLIRContext> context = makeContext();
  MlirDiagnostics bridge(context.get(), diagnostics);
  std::optional<Sources> sources = loadSources(
      invocation.line.inputs(), request.sizes, *context, invocation);
  if (!sources)
    return ExitCode::Rejected;
  if (!sources->hasKernels) {
    diagnostics.error({},
                      "bench needs kernels; these inputs are lowered already");
    return ExitCode::Rejected;
  }
  kernel::FuncOp func = chooseKernel(*sources->module, invocation);
  if (!func)
    return ExitCode::Usage;
  keepOnly(func);
  HostKernel kernel(func);
  std::vector<SizeValues> all = combine(kernel, request.sizes, diagnostics);
  if (all.empty())
    return ExitCode::Usage;
  if (request.isPacked && llvm::none_of(kernel.params, [](const HostParam &p) {
        return p.mode == kernel::ParamMode::Const && !p.axes.empty();
      })) {
    diagnostics.error({}, "kernel '" + kernel.name +
                              "' has no const array to pack");
    return ExitCode::Usage;
  }

  // Promises are read from the kernel, which lowering consumes.
  OwningOpRef<ModuleOp> kept = sources->module->clone();
  kernel::FuncOp text = *kept->getOps<kernel::FuncOp>().begin();
  Promises promises(text, kernel);
  ExitCode code = ExitCode::Ok;
  std::unique_ptr<Loaded> loaded =
      loadKernels(*sources, targets, invocation, code);
  if (!loaded)
    return code;

  // The highest of a list is what a call takes here.
  StringRef target = targets.back()->name;
  bool isJson = invocation.line.has(OPT_json);
  llvm::json::OStream out(llvm::outs(), /*IndentSize=*/2);
  if (isJson)
    out.arrayBegin();
  bool isSlow = false;
  Ceilings machine = measureCeilings(text, request.threads);
  for (const SizeValues &sizes : all) {
    Bench bench(kernel, promises, *loaded, request, invocation);
    std::optional<Measurement> result = bench.measure(sizes);
    if (!result) {
      code = ExitCode::Rejected;
      break;
    }
    if (isJson)
      printJson(out, kernel, target, request, *result, machine);
    else
      printText(kernel, target, request, *result, machine);
    double reached = result->bound(machine) / result->best;
    if (request.gate && !(reached >= *request.gate)) {
      isSlow = true;
      std::string sizesText;
      for (auto [name, value] : llvm::zip_equal(kernel.sizes, sizes))
        sizesText += " " + name + "=" + std::to_string(value);
      diagnostics.error({}, "kernel '" + kernel.name + "'" +
                                (sizesText.empty() ? "" : " at") + sizesText +
                                " reaches " + percent(reached) +
                                " of its bound; the gate is " +
                                percent(*request.gate));
    }
  }
  if (isJson) {
    out.arrayEnd();
    llvm::outs() << "\n";
  }
  if (code != ExitCode::Ok)
    return code;
  return isSlow ? ExitCode::TooSlow : ExitCode::Ok;
}
