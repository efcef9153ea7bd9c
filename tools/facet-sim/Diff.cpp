//===- Diff.cpp - facet-sim diff: how two programs differ -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compares two programs as text, line by line, and says in which queue:
//
//   .queue tensor
//   -  loop trips=8
//   +  loop trips=7
//
// The lines kept are a longest common subsequence (Myers' greedy algorithm), so
// one instruction put in shows as one line. Exit code 1 when they differ.
//
//===----------------------------------------------------------------------===//

#include "Verbs.h"

#include "facet/Isa/Assembler.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

using namespace facet;
using llvm::StringRef;

namespace {
using Lines = llvm::SmallVector<StringRef, 0>;
struct Edit {
  char kind; // ' ', '-' or '+'
  StringRef line;
};
} // namespace

/// Beyond this many differing lines the rest is shown as replaced.
constexpr int maxDistance = 4000;

static std::vector<Edit> diffLines(const Lines &a, const Lines &b) {
  int n = int(a.size()), m = int(b.size());
  int limit = std::min(n + m, maxDistance);
  std::vector<int> furthest(size_t(2 * limit) + 3, 0);
  std::vector<std::vector<int>> history;
  // Where a diagonal lies in them.
  auto at = [limit](int diagonal) {
    int index = diagonal + limit + 1;
    return size_t(index);
  };
  int found = -1;
  for (int d = 0; d <= limit && found < 0; ++d) {
    history.push_back(furthest);
    for (int k = -d; k <= d; k += 2) {
      int *v = &furthest[at(k)];
      int x = k == -d || (k != d && v[-1] < v[1]) ? v[1] : v[-1] + 1;
      int y = x - k;
      while (x < n && y < m && a[size_t(x)] == b[size_t(y)])
        ++x, ++y;
      *v = x;
      if (x >= n && y >= m) {
        found = d;
        break;
      }
    }
  }
  std::vector<Edit> edits;
  if (found < 0) {
    for (StringRef line : a)
      edits.push_back({'-', line});
    for (StringRef line : b)
      edits.push_back({'+', line});
    return edits;
  }
  int x = n, y = m;
  for (int d = found; d >= 0; --d) {
    const std::vector<int> &past = history[size_t(d)];
    int k = x - y;
    const int *v = &past[at(k)];
    bool down = k == -d || (k != d && v[-1] < v[1]);
    int before = down ? k + 1 : k - 1;
    int px = d == 0 ? 0 : past[at(before)], py = d == 0 ? 0 : px - before;
    while (x > px && y > py)
      edits.push_back({' ', a[size_t(--x)]}), --y;
    if (d == 0)
      break;
    if (down)
      edits.push_back({'+', b[size_t(--y)]});
    else
      edits.push_back({'-', a[size_t(--x)]});
  }
  std::reverse(edits.begin(), edits.end());
  return edits;
}

int sim::runDiff(const Verb &verb, llvm::ArrayRef<StringRef> args) {
  FileArguments files;
  if (int code = parseFiles(verb, args, 2, files))
    return code;
  Diagnostics diags;
  std::string text[2];
  for (int i = 0; i != 2; ++i) {
    std::optional<Program> program =
        readProgramOrText(files.files[size_t(i)], diags);
    if (!program)
      return report(diags);
    llvm::raw_string_ostream os(text[i]);
    disassemble(*program, os);
  }
  if (text[0] == text[1])
    return 0;
  Lines lines[2];
  for (int i = 0; i != 2; ++i)
    StringRef(text[i]).split(lines[i], '\n');
  StringRef heading, printed;
  for (const Edit &edit : diffLines(lines[0], lines[1])) {
    if (edit.line.starts_with(".queue") || edit.line.starts_with(".machine"))
      heading = edit.line;
    if (edit.kind == ' ')
      continue;
    if (heading != printed && edit.line != heading)
      llvm::outs() << heading << '\n';
    printed = heading;
    llvm::outs() << edit.kind << edit.line << '\n';
  }
  return 1;
}
