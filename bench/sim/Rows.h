//===- Rows.h - the tables of the report ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each function adds the rows of one table: published figures beside what the
// simulator says for a program of the same work. The figures are csv files in
// data/ (`options.data`), the recorded profiles in test/Sim/trn2.
//
//===----------------------------------------------------------------------===//

#ifndef FACET_BENCH_SIM_ROWS_H
#define FACET_BENCH_SIM_ROWS_H

#include "Table.h"

#include "facet/Machine/Machine.h"
#include "facet/Sim/Time.h"

namespace facet::bench {

struct RowOptions {
  std::string data, profiles;
  /// core.loop_back_ns of the published machines, instead of the file's.
  std::optional<int64_t> loopBackPs;
};

/// A shipped machine.
Machine machineNamed(llvm::StringRef name);
/// The same with options.loopBackPs.
Machine machineNamed(llvm::StringRef name, const RowOptions &options);

/// The time of a program that must be right and run to its end.
sim::TimeResult timed(const Program &program,
                      const sim::TimeOptions &options = {});

using Rows = std::vector<Row>;

/// What the host's benchmark adds to the time of attention and GEMM + GELU
/// kernels, in us: one constant for all.
constexpr double benchmarkUs = 9;

/// Counts of other simulators and of documents, which must come out exactly.
void closedForms(const RowOptions &options, Rows &rows);
/// Whole matrix products on real cores; tables trn2-gemm and trn1.
void gemms(const RowOptions &options, Rows &rows);
/// Single instructions, semaphores and transfers; table trn2-instr.
void instructions(const RowOptions &options, Rows &rows);

/// Recorded runs of attention kernels; table trn2-heldout, and those the machine
/// file was fitted on in trn2-instr.
void replays(const RowOptions &options, Rows &rows);
/// Latencies of attention kernels over lengths and types; table trn2-heldout.
void attention(const RowOptions &options, Rows &rows);
/// Each instruction of one of them: when it ran and when the simulator runs it, in
/// ns after the first.
void printReplay(const RowOptions &options, llvm::StringRef name,
                 llvm::raw_ostream &os);

} // namespace facet::bench

#endif // FACET_BENCH_SIM_ROWS_H
