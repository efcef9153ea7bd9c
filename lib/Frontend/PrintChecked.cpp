//===- PrintChecked.cpp - the checked form for eyes and tests -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   y[m: M]: bf16 = round.bf16(sum[k: K](x[m, k] * 2.0:f32))
//
// Everything the checker decided is in the text: ranges, the type of each
// constant, each conversion with its mode.
//
//===----------------------------------------------------------------------===//

#include "Words.h"
#include "facet/Frontend/Frontend.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

using namespace facet;
using namespace facet::checked;
using llvm::raw_ostream;
using llvm::StringRef;

static StringRef nameOf(BinaryOp op) {
  static constexpr StringRef names[] = {"+",   "-",   "*",  "/",  "%",
                                        "min", "max", "<",  "<=", ">",
                                        ">=",  "==",  "!=", "&&", "||"};
  return names[static_cast<unsigned>(op)];
}

static StringRef nameOf(Reduction reduction) {
  static constexpr StringRef names[] = {"sum", "max", "min",    "mean",
                                        "any", "all", "argmax", "argmin"};
  return names[static_cast<unsigned>(reduction)];
}

static StringRef nameOf(ConvertMode mode) {
  static constexpr StringRef names[] = {"widen", "round",    "roundsat",
                                        "float", "number",   "wrap",
                                        "clamp", "tointeger"};
  return names[static_cast<unsigned>(mode)];
}

namespace {
class Printer {
public:
  Printer(const Kernel &kernel, raw_ostream &os) : kernel(kernel), os(os) {}

  void print();

private:
  void print(const Dim &dim);
  void print(const Variable &variable);
  void print(const Statement &statement);
  void print(const Expr &expr);
  void printIndices(llvm::ArrayRef<const Index *> indices);
  void printConstant(const Expr &expr);
  void printSubscripts(const Expr &read);

  const Kernel &kernel;
  raw_ostream &os;
};
} // namespace

void facet::print(const Kernel &kernel, raw_ostream &os) {
  Printer(kernel, os).print();
}

void Printer::print() {
  os << "kernel " << kernel.name << '\n';
  if (!kernel.documentation.empty())
    os << "  documentation \"" << kernel.documentation << "\"\n";
  os << "  sizes";
  for (const Size &size : kernel.sizes)
    os << ' ' << size.name;
  os << '\n';
  for (const Variable *variable : kernel.arguments)
    print(*variable);
  for (const Variable *variable : kernel.results)
    print(*variable);
  for (const Require &require : kernel.requirements) {
    os << "  requires ";
    print(*require.condition);
    os << " // " << require.text << '\n';
  }
  for (const Statement &statement : kernel.statements)
    print(statement);
}

void Printer::print(const Dim &dim) {
  if (dim.size)
    os << kernel.sizes[*dim.size].name;
  else
    os << dim.constant;
}

void Printer::print(const Variable &variable) {
  static constexpr StringRef kinds[] = {"argument", "const", "inout", "result",
                                        "let"};
  os << "  " << kinds[static_cast<unsigned>(variable.kind)] << ' '
     << variable.name << ": " << spelling(variable.type);
  if (variable.axes.empty()) {
    os << '\n';
    return;
  }
  os << '[';
  llvm::interleaveComma(variable.axes, os, [&](const Axis &axis) {
    if (axis.dims.size() > 1)
      os << '(';
    llvm::interleaveComma(axis.dims, os, [&](const Dim &dim) { print(dim); });
    if (axis.dims.size() > 1)
      os << ')';
  });
  os << "]\n";
}

void Printer::print(const Statement &statement) {
  os << "  " << (statement.target->kind == VariableKind::Let ? "let " : "")
     << statement.target->name;
  if (!statement.binds.empty()) {
    os << '[';
    printIndices(statement.binds);
    os << ']';
  }
  os << ": " << spelling(statement.target->type) << " = ";
  print(*statement.value);
  os << '\n';
}

void Printer::printIndices(llvm::ArrayRef<const Index *> indices) {
  llvm::interleaveComma(indices, os, [&](const Index *index) {
    os << index->name << ": ";
    print(index->extent);
  });
}

void Printer::printConstant(const Expr &expr) {
  if (expr.type == ScalarType::Bool) {
    os << (expr.integer ? "true" : "false");
    return;
  }
  if (isInteger(expr.type))
    os << expr.integer;
  else if (std::isnan(expr.real))
    os << "nan";
  else if (std::isinf(expr.real))
    os << (expr.real < 0 ? "-inf" : "inf");
  else
    os << llvm::format("%.17g", expr.real);
  os << ':' << spelling(expr.type);
}

void Printer::printSubscripts(const Expr &read) {
  if (read.subscripts.empty())
    return;
  os << '[';
  llvm::interleaveComma(read.subscripts, os, [&](const Subscript &subscript) {
    switch (subscript.kind) {
    case Subscript::Index:
      os << subscript.index->name;
      break;
    case Subscript::Constant:
      os << subscript.constant;
      break;
    case Subscript::Element:
      print(*subscript.element);
      break;
    }
  });
  os << ']';
}

void Printer::print(const Expr &expr) {
  auto call = [&](const llvm::Twine &name) {
    os << name << '(';
    llvm::interleaveComma(expr.operands, os,
                          [&](const Expr *operand) { print(*operand); });
    os << ')';
  };
  switch (expr.kind) {
  case ExprKind::Constant:
    return printConstant(expr);
  case ExprKind::Size:
    os << kernel.sizes[expr.size].name;
    return;
  case ExprKind::Index:
    os << expr.index->name;
    return;
  case ExprKind::Read:
    os << expr.variable->name;
    return printSubscripts(expr);
  case ExprKind::Unary:
    return call(spelling(expr.unary));
  case ExprKind::Binary:
    if (expr.binary == BinaryOp::Min || expr.binary == BinaryOp::Max)
      return call(nameOf(expr.binary));
    os << '(';
    print(*expr.operands[0]);
    os << ' ' << nameOf(expr.binary) << ' ';
    print(*expr.operands[1]);
    os << ')';
    return;
  case ExprKind::Select:
    return call("where");
  case ExprKind::Convert:
    return call(nameOf(expr.mode) + "." + spelling(expr.storage));
  case ExprKind::Reduce:
  case ExprKind::Softmax:
    os << (expr.kind == ExprKind::Softmax ? "softmax" : nameOf(expr.reduction))
       << '[';
    printIndices(expr.indices);
    if (expr.filter) {
      os << " | ";
      print(*expr.filter);
    }
    os << "](";
    print(*expr.operands[0]);
    os << ')';
    return;
  }
}
