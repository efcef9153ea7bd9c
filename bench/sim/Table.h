//===- Table.h - csv files in, rows of the report out ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_BENCH_SIM_TABLE_H
#define FACET_BENCH_SIM_TABLE_H

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>
#include <vector>

namespace facet::bench {

/// A csv file: the first line names the columns; a cell may be quoted. Reading
/// ends the program with a message when a file or a column is missing: the files
/// are this folder's own.
class Csv {
public:
  static Csv read(const std::string &path);

  size_t size() const { return rows.size(); }
  llvm::StringRef text(size_t row, llvm::StringRef column) const;
  int64_t whole(size_t row, llvm::StringRef column) const;
  double number(size_t row, llvm::StringRef column) const;

private:
  std::string path;
  llvm::StringMap<size_t> columns;
  std::vector<std::vector<std::string>> rows;
};

/// One line of the report.
struct Row {
  std::string table, name;
  double measured = 0, simulated = 0;
  std::string unit;
  /// What the simulated value may be; none: shown without a claim.
  struct Bar {
    double low = 0, high = 0;
  };
  std::optional<Bar> bar;

  bool inside() const {
    return !bar || (simulated >= bar->low && simulated <= bar->high);
  }
};

inline Row::Bar exactly(double value) { return {value, value}; }
inline Row::Bar within(double value, double percent) {
  return {value * (1 - percent / 100), value * (1 + percent / 100)};
}

[[noreturn]] void fatal(const llvm::Twine &message);

} // namespace facet::bench

#endif // FACET_BENCH_SIM_TABLE_H
