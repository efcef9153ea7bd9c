//===- Gemm.cpp - published matrix products -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Times of whole kernels on real cores, beside blocked programs in the same block
// order: 4096^3 in bf16, MNK, blocks of 4, 4, 2 tiles: 1823 us.
//
// The scoreboard's times are those its host saw. They contain a constant that no
// kernel time explains: the 512^3 product, 14 us of matmuls at most, takes 54 us.
// It is taken to be the same for all ten and is fixed here, once.
//
//===----------------------------------------------------------------------===//

#include "BlockedGemm.h"
#include "Rows.h"

#include "llvm/Support/FormatVariadic.h"

using namespace facet;
using namespace facet::bench;
using llvm::StringRef;

/// What the scoreboard's harness adds to the time of a kernel, in us.
constexpr double harness = 40;

/// GEMM + GELU kernels: the product alone, in blocks of our choice, since theirs
/// are not published. Shown without a claim.
static void withGelu(const RowOptions &options, Rows &rows) {
  Csv csv = Csv::read(options.profiles + "/mlp_latency.csv");
  Machine machine = machineNamed("trn2", options);
  auto most = [](int64_t tiles, int64_t limit) {
    while (tiles % limit)
      --limit;
    return limit;
  };
  for (size_t i = 0; i != csv.size(); ++i) {
    if (csv.text(i, "kernel") != "fused_pwl")
      continue;
    GemmPlan plan;
    plan.m = csv.whole(i, "M");
    plan.n = csv.whole(i, "N");
    plan.k = csv.whole(i, "K");
    plan.type = plan.result =
        csv.text(i, "dtype") == "fp32" ? DType::F32 : DType::BF16;
    plan.tilesK = most(plan.k / 128, 8);
    plan.tilesM = most(plan.m / 128, 4);
    llvm::Expected<Program> program = blockedGemm(machine, plan);
    if (!program)
      fatal(llvm::toString(program.takeError()));
    rows.push_back({"trn2-heldout",
                    llvm::formatv("gemm+gelu fused {0} {1}x{2}x{3} - product "
                                  "alone",
                                  csv.text(i, "dtype"), plan.m, plan.k, plan.n)
                        .str(),
                    csv.number(i, "p50_us"),
                    timed(*program).ns() / 1000 + benchmarkUs, "us",
                    std::nullopt});
  }
}

void bench::gemms(const RowOptions &options, Rows &rows) {
  Csv csv = Csv::read(options.data + "/gemm.csv");
  for (size_t i = 0; i != csv.size(); ++i) {
    GemmPlan plan;
    plan.m = csv.whole(i, "m");
    plan.n = csv.whole(i, "n");
    plan.k = csv.whole(i, "k");
    plan.type = plan.result =
        csv.text(i, "type") == "f32" ? DType::F32 : DType::BF16;
    plan.order = csv.text(i, "order").str();
    plan.tilesK = csv.whole(i, "k_tiles");
    plan.tilesM = csv.whole(i, "m_tiles");
    plan.tilesN = csv.whole(i, "n_tiles");
    plan.lhsByTile = csv.whole(i, "lhs_by_tile");
    Machine machine = machineNamed(csv.text(i, "machine"), options);
    llvm::Expected<Program> program = blockedGemm(machine, plan);
    if (!program)
      fatal(llvm::toString(program.takeError()));
    StringRef source = csv.text(i, "source");
    double us = timed(*program).ns() / 1000;
    if (source == "scoreboard")
      us += harness;
    double measured = csv.number(i, "measured_us");
    rows.push_back(
        {csv.text(i, "table").str(),
         llvm::formatv("{0} {1}x{2}x{3} {4} {5} {6}-{7}-{8}", source, plan.m,
                       plan.n, plan.k, csv.text(i, "type"), plan.order,
                       plan.tilesK, plan.tilesM, plan.tilesN)
             .str(),
         measured, us, "us", within(measured, csv.number(i, "percent"))});
  }
  withGelu(options, rows);
}
