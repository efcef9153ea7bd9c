//===- ClosedForms.cpp - counts that must come out exactly ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Published cycle counts of systolic arrays are sums over folds: load some
// weights, stream some columns. Each becomes a program of just that on the preset
// machine that describes the tool:
//
//   ws-serial 16 x 16, M 49 N 33 K 81      18 folds of 95 cycles = 1710
//     -> loop 10: load_weights [16, 16], matmul 49 columns     (full folds)
//        loop 2 : load_weights [1, 16], ...                    (the rest of K)
//
// A cycle of these machines is 1 ns. Counts that are averages over long runs
// ("back to back", ideal) are the difference between twice the work and once.
//
//===----------------------------------------------------------------------===//

#include "Rows.h"

#include "facet/Isa/Builder.h"
#include "facet/Isa/Check.h"

#include "llvm/Support/raw_ostream.h"

#include <cmath>

using namespace facet;
using namespace facet::bench;
using llvm::StringRef;

//===----------------------------------------------------------------------===//
// Machines and programs
//===----------------------------------------------------------------------===//

Machine bench::machineNamed(StringRef name) {
  Diagnostics diags;
  std::optional<Machine> machine = loadMachine(name, diags);
  if (!machine) {
    renderDiagnostics(diags, DiagnosticFormat::Text, false, llvm::errs());
    exit(1);
  }
  return *machine;
}

Machine bench::machineNamed(StringRef name, const RowOptions &options) {
  Machine machine = machineNamed(name);
  if (options.loopBackPs)
    machine.core.loopBackPs = *options.loopBackPs;
  return machine;
}

sim::TimeResult bench::timed(const Program &program,
                             const sim::TimeOptions &options) {
  Diagnostics diags;
  if (!checkProgram(program, diags)) {
    renderDiagnostics(diags, DiagnosticFormat::Text, false, llvm::errs());
    exit(1);
  }
  sim::TimeResult result = sim::timeProgram(program, options);
  for (const sim::Finding &finding : result.findings)
    llvm::errs() << finding.code << ": " << finding.message << '\n';
  if (!result.ok())
    fatal("a program of the report did not come to its end");
  return result;
}

/// An array of another size: its skew and its first load change with it.
static Machine arrayOf(StringRef preset, int64_t rows, int64_t columns) {
  Machine machine =
      machineNamed(preset == "ideal" || preset == "maestro" ? "nki" : preset);
  TensorEngine &t = machine.tensor;
  t.rows = rows;
  t.columns = columns;
  if (preset == "ws-pipelined") {
    t.firstWeightCycles = 2 * rows - 1;
    t.fillDrainCycles = rows + columns - 2;
  } else if (preset == "ws-serial" || preset == "os-serial") {
    t.fillDrainCycles = rows + columns - 2;
  } else if (preset == "v1-ws") {
    t.fillDrainCycles = rows + columns;
  } else if (preset == "ideal") {
    t.floorCycles = 1;
  } else if (preset == "maestro") {
    // One cycle between folds and two at the end.
    t.floorCycles = 1;
    t.gapPs = 1000;
    t.latencyPs = 3000;
    t.weightCycles = 0;
  }
  return machine;
}

namespace {
/// `times` loads of [rows, columns] weights, each with `moving` columns streamed.
struct Fold {
  int64_t times, rows, columns, moving;
  DType type = DType::BF16;
  bool transpose = false;
};
} // namespace

static Program foldProgram(const Machine &machine, llvm::ArrayRef<Fold> folds) {
  ProgramBuilder b(machine);
  auto access = [&](Space space, DType type, int64_t partitions, int64_t offset,
                    int64_t count) {
    Access a;
    a.space = space;
    a.dtype = type;
    a.partitions = uint32_t(partitions);
    a.offset = offset;
    a.rank = count > 1;
    a.count[0] = count > 1 ? uint32_t(count) : 0;
    a.step[0] = count > 1;
    return b.access(a);
  };
  for (const Fold &fold : folds) {
    if (fold.times == 0)
      continue;
    b.loop(Engine::Tensor, uint32_t(fold.times));
    Instruction load = ProgramBuilder::make(Opcode::LoadWeights);
    load.operands[0] =
        access(Space::Sbuf, fold.type, fold.rows, 0, fold.columns);
    if (fold.transpose)
      load.flags |= flag::weightsForTranspose;
    b.add(Engine::Tensor, load);
    Instruction stream = ProgramBuilder::make(fold.transpose ? Opcode::Transpose
                                                             : Opcode::Matmul);
    stream.operands[0] =
        access(Space::Psum, fold.transpose ? fold.type : DType::F32,
               fold.columns, 0, fold.moving);
    if (!fold.transpose) {
      stream.operands[1] =
          access(Space::Sbuf, fold.type, fold.rows, 4096, fold.moving);
      stream.flags = flag::matmulStart | flag::matmulStop;
    }
    b.add(Engine::Tensor, stream);
    b.end(Engine::Tensor);
  }
  return b.finish();
}

//===----------------------------------------------------------------------===//
// SCALE-Sim
//===----------------------------------------------------------------------===//

/// A GEMM cut over an array: `a` fills the rows and `b` the columns of the array,
/// `moving` streams. The last fold in each direction may be smaller.
static std::vector<Fold> cut(int64_t a, int64_t rows, int64_t b,
                             int64_t columns, int64_t moving) {
  std::vector<Fold> folds;
  for (auto [timesA, sizeA] : {std::pair(a / rows, rows), {1, a % rows}})
    for (auto [timesB, sizeB] :
         {std::pair(b / columns, columns), {1, b % columns}})
      if (sizeA && sizeB)
        folds.push_back({timesA * timesB, sizeA, sizeB, moving});
  return folds;
}

static void scaleSim(const RowOptions &options, Rows &rows) {
  Csv csv = Csv::read(options.data + "/scale-sim.csv");
  for (size_t i = 0; i != csv.size(); ++i) {
    StringRef preset = csv.text(i, "preset"), id = csv.text(i, "id");
    int64_t r = csv.whole(i, "R"), c = csv.whole(i, "C");
    int64_t m = csv.whole(i, "M"), n = csv.whole(i, "N"), k = csv.whole(i, "K");
    // Input stationary is weight stationary of the transposed product.
    std::vector<Fold> folds = preset == "ws-serial"   ? cut(k, r, n, c, m)
                              : preset == "is-serial" ? cut(k, r, m, c, n)
                                                      : cut(m, r, n, c, k);
    Machine machine =
        arrayOf(preset == "is-serial" ? "ws-serial" : preset, r, c);
    sim::TimeResult result = timed(foldProgram(machine, folds));

    std::string name =
        (id + " " + preset + " " + llvm::Twine(r) + "x" + llvm::Twine(c) +
         " M" + llvm::Twine(m) + " N" + llvm::Twine(n) + " K" + llvm::Twine(k))
            .str();
    double duration = csv.number(i, "duration");
    rows.push_back({"closed-form", name, duration, result.ns(), "cycles",
                    exactly(duration)});
    // The work is the product's, in as many folds, and the tool's percentage.
    if (result.multiplyAdds && int64_t(result.multiplyAdds) != m * n * k)
      fatal(name + ": the program multiplies " +
            llvm::Twine(result.multiplyAdds) + " times");
    if (result.matmuls && int64_t(result.matmuls) != csv.whole(i, "folds"))
      fatal(name + ": the program has " + llvm::Twine(result.matmuls) +
            " folds");
    double used =
        100.0 * double(m * n * k) / ((result.ns() - 1) * double(r * c));
    if (std::abs(used - csv.number(i, "util_pct")) > 0.00005)
      fatal(name + ": utilisation is " + std::to_string(used) + " %");
  }
}

//===----------------------------------------------------------------------===//
// Others
//===----------------------------------------------------------------------===//

static void otherFolds(const RowOptions &options, Rows &rows) {
  Csv csv = Csv::read(options.data + "/folds.csv");
  for (size_t i = 0; i != csv.size(); ++i) {
    StringRef preset = csv.text(i, "preset"), type = csv.text(i, "type");
    Machine machine = arrayOf(preset, csv.whole(i, "R"), csv.whole(i, "C"));
    bool outputs = preset == "os-serial";
    Fold fold{csv.whole(i, "folds"),
              // How full the rows are costs nothing in any of these.
              outputs ? 1 : machine.tensor.rows, csv.whole(i, "stationary"),
              csv.whole(i, "moving")};
    if (type == "f32")
      fold.type = DType::F32;
    fold.transpose = type == "transpose";
    double cycles = timed(foldProgram(machine, {fold})).ns();
    if (preset == "nki" || preset == "ideal") {
      fold.times *= 2;
      cycles = timed(foldProgram(machine, {fold})).ns() - cycles;
    }
    double expected = csv.number(i, "expected");
    rows.push_back(
        {"closed-form",
         (csv.text(i, "id") + " " + preset + " " + csv.text(i, "what")).str(),
         expected, cycles / csv.number(i, "scale"), "cycles",
         exactly(expected)});
  }
}

static void transfers(const RowOptions &options, Rows &rows) {
  Csv csv = Csv::read(options.data + "/dma.csv");
  for (size_t i = 0; i != csv.size(); ++i) {
    Machine machine = machineNamed("systolic");
    machine.dma.engines = csv.whole(i, "engines");
    machine.dma.rateMBs = csv.whole(i, "gb_per_s") * 1000;
    if (machine.dma.engines > 1)
      machine.dma.partitionsPerEngine =
          machine.core.partitions / machine.dma.engines;
    ProgramBuilder b(machine);
    Buffer buffer;
    buffer.name = "x";
    buffer.dtype = DType::BF16;
    buffer.kind = BufferKind::In;
    int64_t elements = csv.whole(i, "bytes") / 2;
    buffer.shape = {csv.whole(i, "rows"), elements};
    buffer.strides = {elements, 1};
    buffer.bytes = uint64_t(csv.whole(i, "rows") * csv.whole(i, "bytes"));
    b.buffer(buffer);
    Access dst;
    dst.dtype = DType::BF16;
    dst.partitions = uint32_t(csv.whole(i, "rows"));
    dst.rank = 1;
    dst.count[0] = uint32_t(elements);
    dst.step[0] = 1;
    Access src = dst;
    src.space = Space::Hbm;
    src.rowStep = src.partitions > 1 ? elements : 0;
    Instruction copy = ProgramBuilder::make(Opcode::DmaCopy);
    copy.operands[0] = b.access(dst);
    copy.operands[1] = b.access(src);
    b.add(Engine::Sync, copy);
    double expected = csv.number(i, "expected");
    // The file has three digits after the point; a packet takes whole ticks.
    rows.push_back(
        {"closed-form", (csv.text(i, "id") + " " + csv.text(i, "what")).str(),
         expected, timed(b.finish()).ns(), "ns",
         Row::Bar{expected - 0.001, expected + 0.001 * csv.number(i, "rows") /
                                                   csv.number(i, "engines")}});
  }
}

/// The documented peaks are the array at its documented clock.
static void peaks(Rows &rows) {
  for (auto [name, mhz, teraflops] : {std::tuple("NeuronCore-v3", 2400, 78.6),
                                      {"NeuronCore-v2", 2800, 91.8}}) {
    Machine machine = arrayOf("ideal", 128, 128);
    machine.tensor.clockMHz = mhz;
    double once = timed(foldProgram(machine, {{1000, 128, 128, 512}})).ns();
    double twice = timed(foldProgram(machine, {{2000, 128, 128, 512}})).ns();
    double rate = 2.0 * 128 * 128 * 512 * 1000 / (twice - once) / 1000;
    rows.push_back({"closed-form", std::string("peak ") + name, teraflops, rate,
                    "TFLOP/s", Row::Bar{teraflops - 0.05, teraflops + 0.05}});
  }
}

void bench::closedForms(const RowOptions &options, Rows &rows) {
  scaleSim(options, rows);
  otherFolds(options, rows);
  transfers(options, rows);
  peaks(rows);
}
