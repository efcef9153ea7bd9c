//===- Explanation.h - what a plan says of itself -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What `facet explain` shows, as data: every target fills the same structure, which
// is printed for people or as JSON. Times are in seconds; what cannot be known
// while sizes are open is left out.
//
//===----------------------------------------------------------------------===//

#ifndef FACET_DIALECT_KERNEL_IR_EXPLANATION_H
#define FACET_DIALECT_KERNEL_IR_EXPLANATION_H

#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <optional>
#include <string>
#include <vector>

namespace facet::kernel {

struct Explanation {
  /// A time that no plan can be below, and what makes it.
  struct Bound {
    std::string what; ///< "compute", "memory"
    double seconds = 0;
    std::string because; ///< "2.1 GFLOP at 192 GFLOP/s"
  };
  /// `tile: 8 rows × 3 vectors`, and why.
  struct Choice {
    std::string what, value, because;
  };
  /// One memory on the chip while a stage runs, in bytes of each partition.
  struct Memory {
    struct Buffer {
      std::string name;
      int64_t slots = 1;
      double bytes = 0; ///< of a slot
    };
    std::string name; ///< "SBUF"
    double capacity = 0;
    std::vector<Buffer> buffers;
  };
  struct Stage {
    std::string statement; ///< of the let or result it ends in; "-" without one
    std::string type;      ///< `bf16[M, N]`
    std::string does;      ///< `sum over k for m, n`
    std::vector<Choice> choices;
    std::optional<double> seconds; ///< predicted
    std::vector<Memory> memories = {};
  };
  /// What a statement of `let` becomes.
  struct Let {
    std::string name;
    bool isStored = true;
    std::string where; ///< "inside y", "stored, 512 MiB"
  };
  /// Stages that are taken under a condition; empty: otherwise.
  struct Variant {
    std::string when;
    std::vector<Stage> stages;
    std::optional<double> seconds; ///< predicted
    /// By a simulator, where the target has one.
    std::optional<double> simulated = {};
  };

  /// `kernel 'linear' on x86-64-v4`, without a line end.
  std::string headline;
  std::vector<Bound> bounds; ///< the largest counts
  std::vector<Variant> variants;
  std::vector<Let> lets;
  /// What is missing: whole sentences without a stop.
  std::vector<std::string> notes;
  /// Which size or layout costs time, alike; also told under -Wperf.
  std::vector<std::string> costs;

  void print(llvm::raw_ostream &os) const;
  llvm::json::Value toJson() const;
};

/// `1.5 ms`, `320 us`, `2.0 s`.
std::string printSeconds(double seconds);
/// `512 MiB`, `48 KiB`, `12 bytes`.
std::string printBytes(double bytes);

} // namespace facet::kernel

#endif // FACET_DIALECT_KERNEL_IR_EXPLANATION_H
