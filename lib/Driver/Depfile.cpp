//===- Depfile.cpp - a Makefile rule for what was read --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   x.o x.h: my\ dir/k\#1$$.facet lib.facet
//
// All outputs stand before the colon of one rule, which make, ninja and CMake all
// accept. Escaping is gcc's: a backslash before a blank, `#` and `:`, `$` doubled,
// backslashes doubled only when a blank follows. Other bytes pass untouched, so a
// name in any encoding works.
//
//===----------------------------------------------------------------------===//

#include "facet/Driver/Depfile.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace facet;

std::string facet::escapeForMake(StringRef path) {
  std::string text;
  unsigned backslashes = 0;
  for (char c : path) {
    switch (c) {
    case ' ':
    case '\t':
      // make reads 2n+1 backslashes before a blank as n of them and the blank.
      text.append(backslashes, '\\');
      [[fallthrough]];
    case '#':
    case ':':
      text += '\\';
      break;
    case '$':
      text += '$';
      break;
    default:
      break;
    }
    backslashes = c == '\\' ? backslashes + 1 : 0;
    text += c;
  }
  return text;
}

std::string facet::depfileRule(ArrayRef<std::string> targets,
                               ArrayRef<std::string> inputs, bool phony) {
  std::string rule = join(targets, " ") + ":";
  for (const std::string &input : inputs)
    rule += (&input == inputs.begin() ? " " : " \\\n  ") + escapeForMake(input);
  rule += "\n";
  if (phony)
    for (const std::string &input : drop_begin(inputs))
      rule += escapeForMake(input) + ":\n";
  return rule;
}
