//===- CostModel.cpp - how long a stage takes -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A contraction takes the steps of its tiles, whole ones and those left over as the
// lowering cuts them, and the packing of its panels:
//
//   M = 21, N = 100, tiles of 8 × 48:  rows 8, 8, 5; columns 48, 48, 4 of 16
//   cycles = K · Σ step(rows, vectors) + packing
//
// The rates come from the machine file; what no file says is a named constant.
//
//===----------------------------------------------------------------------===//

#include "CostModel.h"
#include "facet/Dialect/Kernel/IR/Operations.h"

#include "llvm/Support/MathExtras.h"

using namespace facet;
using namespace facet::cpu;
using namespace mlir;
using kernel::StructuredOpInterface;

/// Bytes that sums take per cycle on the way to a far cache and back, beside the
/// multiply-adds. Assumed.
static constexpr double cacheBytesPerCycle = 16;

/// A multiplication of two tiles every so many cycles (Intel, Optimization Reference
/// Manual, chapter on AMX).
static constexpr double tileCycles = 16;

StringRef cpu::openRows(const Contraction &contraction) {
  kernel::ReduceOp reduce = contraction.reduce;
  auto op = cast<StructuredOpInterface>(reduce.getOperation());
  if (contraction.m.size() != 1 ||
      kernel::knownExtent(op, contraction.m.front()))
    return {};
  auto extent = dyn_cast<Value>(op.getMixedExtents()[contraction.m.front()]);
  auto size = extent ? extent.getDefiningOp<kernel::SizeOp>() : nullptr;
  return size ? size.getName() : StringRef();
}

Problem::Problem(const Contraction &contraction, const Machine &machine,
                 Dot dot, const Calls &calls)
    : dot(dot) {
  kernel::ReduceOp reduce = contraction.reduce;
  auto op = cast<StructuredOpInterface>(reduce.getOperation());
  auto known = [&](unsigned i) {
    std::optional<int64_t> extent = kernel::knownExtent(op, i);
    isClosed &= extent.has_value();
    return extent;
  };
  lanes = machine.cpu.vectorBytes / (dot == Dot::F64 ? 8 : 4);
  group = MicroKernelOp::groupSize(dot);
  bytes = (dot == Dot::F64 ? 8 : 4) / group;
  m = contraction.m.empty() ? 1 : known(contraction.m.back());
  if (!calls.size.empty() && openRows(contraction) == calls.size)
    m = calls.most;
  n = known(contraction.n.back());
  k = 1;
  for (unsigned i : contraction.k) {
    std::optional<int64_t> extent = known(i);
    k = k && extent ? std::optional<int64_t>(*k * *extent) : std::nullopt;
    if (i == contraction.k.front())
      outerK = extent;
    else
      innerK *= extent.value_or(1);
  }
  hasSeveralK = contraction.k.size() > 1;
  auto outer = llvm::to_vector(contraction.batch);
  llvm::append_range(outer, ArrayRef(contraction.n).drop_back());
  if (!contraction.m.empty())
    llvm::append_range(outer, ArrayRef(contraction.m).drop_back());
  for (unsigned i : outer)
    repeats *= double(known(i).value_or(1));
  // Pairs and quads are made by packing.
  aInPlace = group == 1 && elementsOf(contraction, contraction.a);
  bInPlace = group == 1 && vectorsOfB(contraction);
  if (std::optional<unsigned> input = elementsOf(contraction, contraction.a)) {
    auto subscripts = op.getAccess(*input).getSubscripts();
    kernel::Subscript alongK{kernel::Subscript::Iterator, contraction.k.back()};
    aAlongK = !subscripts.empty() && subscripts.back() == alongK;
  }
}

double cpu::multiplyRate(int64_t lanes, const Machine &machine) {
  return double(machine.cpu.arithmeticPorts * lanes);
}

bool cpu::isTwoInstructions(Dot dot, const Machine &machine) {
  return dot == Dot::I32 || (dot == Dot::I16 && !machine.cpu.i8Dot) ||
         ((dot == Dot::F32 || dot == Dot::F64) && !machine.cpu.fma);
}

double cpu::stepCycles(double rows, double vectors, Dot dot,
                       const Machine &machine) {
  if (isTile(dot)) { // one of the steps that a tile's row holds
    double tiles = std::ceil(rows / double(tileRows));
    double loads = (tiles + vectors) / double(machine.cpu.loadPorts);
    return std::max(tiles * vectors * tileCycles / tileRows, loads);
  }
  double sums = rows * vectors;
  double work = sums * (isTwoInstructions(dot, machine) ? 2 : 1);
  return std::max({work / double(machine.cpu.arithmeticPorts),
                   (rows + vectors) / double(machine.cpu.loadPorts),
                   double(machine.cpu.arithmeticLatencyCycles)});
}

/// Multiply-adds of all of it.
static double multiplyAdds(const Problem &problem) {
  return problem.sizeM() * problem.sizeN() * problem.sizeK() * problem.repeats;
}

double cpu::unpackedCyclesA(const Problem &problem, const Machine &machine) {
  if (problem.aAlongK)
    return 0;
  return unpackedLossA * multiplyAdds(problem) /
         multiplyRate(problem.lanes, machine);
}

/// Whether the second-level cache holds b, and the first-level one spreads its rows: rows
/// whose distance is half a way or more share few sets (512·512·512 is 5 % faster packed,
/// 509·509·509 where b is).
static bool restsInPlace(const Problem &problem, const Machine &machine) {
  if (!problem.n || !problem.k)
    return false;
  double bytes = problem.sizeN() * problem.sizeK() * double(problem.bytes);
  int64_t way = machine.cache.l1Bytes / machine.cache.l1Ways;
  bool sharesSets = *problem.n * problem.bytes % (way / 2) == 0;
  return bytes <= double(machine.cache.l2Bytes) && !sharesSets;
}

double cpu::unpackedCyclesB(const Problem &problem, const Machine &machine) {
  if (restsInPlace(problem, machine))
    return 0;
  return packCyclesB / rowsThatPackingPays * multiplyAdds(problem);
}

Cost cpu::costOf(const Problem &problem, ContractionAttr plan,
                 const Machine &machine) {
  double m = problem.sizeM(), n = problem.sizeN(), k = problem.sizeK();
  // How many tiles there are of each number of rows and of vectors.
  SmallVector<std::pair<double, double>> rows, vectors; // size, count
  rows.push_back({plan.getRows(), std::floor(m / double(plan.getRows()))});
  int64_t left = int64_t(m) % plan.getRows();
  if (problem.m && left)
    rows.push_back({left, 1});
  for (int64_t power = llvm::bit_floor(uint64_t(plan.getRows()));
       !problem.m && power; power /= 2)
    if (left & power)
      rows.push_back({power, 1});
  vectors.push_back(
      {plan.getVectors(), std::floor(n / double(plan.getColumns()))});
  if (int64_t rest = int64_t(n) % plan.getColumns())
    vectors.push_back({llvm::divideCeil(rest, plan.getLanes()), 1});

  Cost cost;
  for (auto [r, countR] : rows)
    for (auto [v, countV] : vectors)
      cost.multiply += countR * countV * stepCycles(r, v, problem.dot, machine);
  cost.multiply *= std::ceil(k / double(problem.group)) * problem.repeats;
  if (plan.packsA())
    cost.packA = packCyclesA * m * k * problem.repeats *
                 std::ceil(n / double(plan.getColumnBlock()));
  else
    cost.multiply += unpackedCyclesA(problem, machine);
  if (plan.packsB())
    cost.packB = packCyclesB * n * k * problem.repeats;
  else if (!plan.getConstant())
    cost.multiply += unpackedCyclesB(problem, machine);
  if (plan.getDepthBlock()) {
    double outer = double(problem.outerK.value_or(Problem::openSize));
    cost.blocksOfK =
        std::max(1., std::ceil(outer / double(plan.getDepthBlock())));
    double sumBytes = double(problem.bytes * problem.group);
    cost.partial = 2 * m * n * sumBytes * (cost.blocksOfK - 1) *
                   problem.repeats / cacheBytesPerCycle;
  }
  return cost;
}
