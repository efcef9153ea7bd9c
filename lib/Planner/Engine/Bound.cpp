//===- Bound.cpp - the time that no program can be below ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A closed form of kernel and machine, never of the plan:
//
//   4096 x 4096 x 4096 bf16, trn2
//     tensor  32 tiles of 128 rows · 4096 columns · 32 steps / 2.4 GHz    1748 us
//     memory  96 MiB / 368 GB/s                                            274 us
//
//===----------------------------------------------------------------------===//

#include "Bound.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace facet;
using namespace facet::engine;
using llvm::divideCeil;

double engine::tensorBound(const Problem &problem, const Machine &machine) {
  const TensorEngine &t = machine.tensor;
  int64_t m = problem.a.extent, n = problem.b.extent;
  double cycles = double(
      std::min(divideCeil(m, t.columns) * n, divideCeil(n, t.columns) * m));
  Type type = problem.a.type;
  if (type.isF32())
    cycles *= double(t.f32Passes * t.f32CyclesPerColumn);
  // Pairs of rows of 8-bit elements take one.
  bool isDouble = t.doubleRow && type.getIntOrFloatBitWidth() == 8 &&
                  problem.b.type.getIntOrFloatBitWidth() == 8;
  cycles *= double(divideCeil(problem.depth, t.rows * (isDouble ? 2 : 1)));
  for (int64_t extent : problem.batchExtents)
    cycles *= double(extent);
  for (int64_t extent : problem.outerExtents)
    cycles *= double(extent);
  return cycles / double(t.clockMHz) * 1e3;
}

double engine::compulsoryBytes(kernel::FuncOp kernel) {
  double bytes = 0;
  auto add = [&](kernel::ParamAttr param, Type element) {
    double elements = param.getMode() == kernel::ParamMode::Inout ? 2 : 1;
    for (Attribute dim : param.getDims()) {
      auto size = dyn_cast<StringAttr>(dim);
      elements *= double(size ? kernel.getFixedSize(size.getValue()).value_or(1)
                              : cast<IntegerAttr>(dim).getInt());
    }
    bytes +=
        elements * std::max(1.0, double(element.getIntOrFloatBitWidth()) / 8);
  };
  auto elementOf = [](Type type) {
    return cast<RankedTensorType>(type).getElementType();
  };
  for (auto [i, argument] : llvm::enumerate(kernel.getBody().getArguments()))
    add(kernel.getParam(i), elementOf(argument.getType()));
  for (auto [i, type] : llvm::enumerate(kernel.getOutputTypes()))
    add(kernel.getOutput(i), elementOf(cast<TypeAttr>(type).getValue()));
  return bytes;
}
