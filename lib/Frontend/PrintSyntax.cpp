//===- PrintSyntax.cpp - expressions and schedules as text ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One line, single spaces, the user's own parentheses: `T>=S` ↦ `T >= S`. Used
// where a message, a `requires` text or `explain --schedule` quotes source; the
// formatter works on tokens instead, because it must keep comments.
//
//===----------------------------------------------------------------------===//

#include "facet/Frontend/Syntax.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace facet;
using namespace facet::syntax;
using llvm::raw_ostream;

static void write(raw_ostream &os, const Subscript &subscript);

static void write(raw_ostream &os, const std::vector<Subscript> &subscripts) {
  os << '[';
  llvm::interleaveComma(subscripts, os,
                        [&](const Subscript &s) { write(os, s); });
  os << ']';
}

static void write(raw_ostream &os, const Subscript &subscript) {
  if (subscript.name.empty())
    os << subscript.number;
  os << subscript.name;
  if (subscript.inner)
    write(os, *subscript.inner);
}

static void write(raw_ostream &os, const Bind &bind) {
  os << bind.name.text;
  if (!bind.range)
    return;
  os << ": " << bind.range->size;
  if (bind.range->size.empty())
    os << bind.range->number;
}

static void write(raw_ostream &os, const Expr &expr) {
  auto arguments = [&] {
    os << '(';
    llvm::interleaveComma(expr.operands, os,
                          [&](const ExprPtr &e) { write(os, *e); });
    os << ')';
  };
  switch (expr.kind) {
  case ExprKind::Integer:
  case ExprKind::Float:
  case ExprKind::Infinity:
  case ExprKind::NotANumber:
  case ExprKind::Boolean:
  case ExprKind::Size:
    os << expr.text;
    return;
  case ExprKind::Name:
    os << expr.text;
    if (expr.subscripts)
      write(os, *expr.subscripts);
    return;
  case ExprKind::Call:
    os << expr.text;
    return arguments();
  case ExprKind::Convert:
    os << expr.text << (expr.saturate ? ".sat" : "");
    return arguments();
  case ExprKind::Reduce:
    os << expr.text << '[';
    llvm::interleaveComma(expr.binds, os, [&](const Bind &b) { write(os, b); });
    if (expr.filter) {
      os << " | ";
      write(os, *expr.filter);
    }
    os << ']';
    return arguments();
  case ExprKind::Unary:
    os << expr.text;
    return write(os, *expr.operands[0]);
  case ExprKind::Binary:
    write(os, *expr.operands[0]);
    os << ' ' << expr.text << ' ';
    return write(os, *expr.operands[1]);
  case ExprKind::Paren:
    return arguments();
  }
}

std::string syntax::print(const Expr &expr) {
  std::string text;
  llvm::raw_string_ostream os(text);
  write(os, expr);
  return text;
}

std::string syntax::print(const Subscript &subscript) {
  std::string text;
  llvm::raw_string_ostream os(text);
  write(os, subscript);
  return text;
}

static void write(raw_ostream &os, const Value &value) {
  os << value.word;
  if (value.word.empty())
    os << value.number;
}

static void write(raw_ostream &os, const Clause &clause) {
  os << clause.name.text;
  if (clause.value) {
    os << " = ";
    write(os, *clause.value);
    return;
  }
  os << '(';
  if (clause.arguments)
    llvm::interleaveComma(*clause.arguments, os, [&](const ClauseArgument &a) {
      write(os, a.name);
      if (a.value) {
        os << " = ";
        write(os, *a.value);
      }
    });
  os << ')';
}

void syntax::print(const Schedule &schedule, raw_ostream &os) {
  os << "schedule " << schedule.kernel.text << " on \"" << schedule.target
     << '"';
  if (schedule.when)
    os << " when " << print(*schedule.when);
  os << " {\n";
  for (const ScheduleEntry &entry : schedule.entries) {
    os << "  " << entry.statement.text << ": ";
    llvm::interleaveComma(entry.clauses, os,
                          [&](const Clause &c) { write(os, c); });
    os << '\n';
  }
  os << "}\n";
}
