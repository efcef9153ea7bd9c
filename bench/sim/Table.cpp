//===- Table.cpp - csv files ----------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   id,operands          ->  text(0, "operands") = "data=0x2,0x2 size=4"
//   7,"data=0x2,0x2 size=4"
//
//===----------------------------------------------------------------------===//

#include "Table.h"

#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace facet::bench;
using llvm::StringRef;

void facet::bench::fatal(const llvm::Twine &message) {
  llvm::errs() << "facet-sim-rows: " << message << '\n';
  exit(1);
}

static std::vector<std::string> cellsOf(StringRef line) {
  std::vector<std::string> cells(1);
  bool quoted = false;
  for (char c : line) {
    if (c == '"')
      quoted = !quoted;
    else if (c == ',' && !quoted)
      cells.emplace_back();
    else
      cells.back() += c;
  }
  return cells;
}

Csv Csv::read(const std::string &path) {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!buffer)
    fatal(path + ": " + buffer.getError().message());
  Csv csv;
  csv.path = path;
  llvm::SmallVector<StringRef, 0> lines;
  (*buffer)->getBuffer().split(lines, '\n', -1, /*KeepEmpty=*/false);
  bool head = true;
  for (StringRef line : lines) {
    line = line.rtrim('\r');
    if (line.starts_with("#"))
      continue;
    std::vector<std::string> cells = cellsOf(line);
    if (head) {
      for (size_t i = 0; i != cells.size(); ++i)
        csv.columns[cells[i]] = i;
    } else {
      if (cells.size() != csv.columns.size())
        fatal(path + ": '" + line + "' has " + llvm::Twine(cells.size()) +
              " cells, the head " + llvm::Twine(csv.columns.size()));
      csv.rows.push_back(std::move(cells));
    }
    head = false;
  }
  return csv;
}

StringRef Csv::text(size_t row, StringRef column) const {
  auto at = columns.find(column);
  if (at == columns.end())
    fatal(path + ": there is no column '" + column + "'");
  return rows[row][at->second];
}

int64_t Csv::whole(size_t row, StringRef column) const {
  int64_t value;
  if (text(row, column).getAsInteger(10, value))
    fatal(path + ": '" + text(row, column) + "' is no whole number");
  return value;
}

double Csv::number(size_t row, StringRef column) const {
  double value;
  if (text(row, column).getAsDouble(value))
    fatal(path + ": '" + text(row, column) + "' is no number");
  return value;
}
