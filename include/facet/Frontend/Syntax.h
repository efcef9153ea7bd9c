//===- Syntax.h - the tree of a source file, as written -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the parser makes and the checker reads. Names are plain text here: the
// tree knows the grammar of docs/Language.md and nothing of meaning. Comments
// are not in the tree; the formatter works on tokens and keeps them there.
// `Schedule` stays alive after checking: targets read its clauses, `explain`
// and the tuner print it.
//
//===----------------------------------------------------------------------===//

#ifndef FACET_FRONTEND_SYNTAX_H
#define FACET_FRONTEND_SYNTAX_H

#include "facet/Frontend/CheckedKernel.h"

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace facet::syntax {

/// Where something stands in its file: 1-based, columns count bytes,
/// `endColumn` is one past the last byte on `endLine`.
struct Span {
  unsigned line = 0, column = 0, endLine = 0, endColumn = 0;
};

/// The place of `span` for a message; the end is kept when on the same line.
Place placeIn(llvm::StringRef file, Span span);
/// From the begin of `first` to the end of `last`.
Span join(Span first, Span last);

struct Identifier {
  std::string text;
  Span span;
};

/// A size name or a number.
struct Dim {
  std::string size; // empty: a number
  int64_t number = 0;
  Span span;
};

/// One axis; more than one dimension when it is a group `(G, R)`.
struct Axis {
  std::vector<Dim> dims;
  Span span;
};

/// An index where it is bound: `j` or `j: T`.
struct Bind {
  Identifier name;
  std::optional<Dim> range;
};

/// `0`, `i` or `table[b, u]`.
struct Subscript {
  std::string name; // empty: a number
  int64_t number = 0;
  std::optional<std::vector<Subscript>> inner;
  Span span;
};

enum class ExprKind : uint8_t {
  Integer,  ///< text: digits
  Float,    ///< text as written
  Infinity, ///< inf
  NotANumber,
  Boolean, ///< text: true, false
  Size,
  Name,    ///< text, with `subscripts` or without
  Call,    ///< text(operands): built-in or `fn`
  Convert, ///< type(operand), `saturate` for `type.sat(operand)`
  Reduce,  ///< text[binds | filter](operands[0])
  Unary,   ///< text: - !
  Binary,  ///< text: the operator
  Paren    ///< (operands[0]), kept as the user grouped it
};

struct Expr {
  ExprKind kind;
  std::string text;
  Span span;     ///< the whole expression
  Span mainSpan; ///< the operator, function, or name alone
  std::vector<std::unique_ptr<Expr>> operands;
  std::optional<std::vector<Subscript>> subscripts; // Name
  ScalarType type{};                                // Convert
  bool saturate = false;                            // Convert
  std::vector<Bind> binds;                          // Reduce
  std::unique_ptr<Expr> filter;                     // Reduce, may be null
  /// Levels of the tree below, itself included; the parser keeps it below
  /// `maxHeight`, so walking a tree by recursion is safe.
  unsigned height = 1;

  static constexpr unsigned maxHeight = 500;
};

using ExprPtr = std::unique_ptr<Expr>;

enum class ParamMode : uint8_t { Plain, Inout, Const };

struct Param {
  Identifier name;
  ParamMode mode = ParamMode::Plain;
  Span modeSpan;
  ScalarType type{};
  Span typeSpan;
  std::vector<Axis> axes;
};

struct Statement {
  bool isLet = false;
  Identifier target;
  std::vector<Bind> binds;
  ExprPtr value;
};

struct Import {
  std::string path;
  Span span;
};

struct Function {
  Identifier name;
  std::vector<Identifier> parameters;
  ExprPtr body; // null when it did not parse
};

struct Kernel {
  Identifier name;
  std::string documentation;
  std::vector<Param> arguments, results;
  std::vector<ExprPtr> requirements;
  std::vector<Statement> statements;
  bool broken = false; // a syntax error was reported inside
};

/// A number or a word in a schedule.
struct Value {
  std::string word; // empty: a number
  int64_t number = 0;
  Span span;
};

/// `i = 128`, `s` or `4` inside a clause's parentheses.
struct ClauseArgument {
  Value name; // a bare number stands here too
  std::optional<Value> value;
};

/// `stationary = q` or `block(i = 128, j = 512)`.
struct Clause {
  Identifier name;
  std::optional<Value> value;                           // with `=`
  std::optional<std::vector<ClauseArgument>> arguments; // with parentheses
};

/// `s: clause, clause`: what is asked for one statement.
struct ScheduleEntry {
  Identifier statement;
  std::vector<Clause> clauses;
};

struct Schedule {
  std::string file; // of the places below
  Identifier kernel;
  std::string target;
  Span targetSpan;
  std::shared_ptr<const Expr> when; // may be null
  std::vector<ScheduleEntry> entries;
};

using Item = std::variant<Import, Function, Kernel, Schedule>;

struct File {
  std::string name;
  std::vector<Item> items;
};

/// Parses `text` (kept in `diagnostics` under the name `file`), going on after
/// errors. What did not parse is marked `broken` or left out.
File parse(llvm::StringRef file, llvm::StringRef text,
           Diagnostics &diagnostics);

/// The canonical text of an expression on one line, as `facet fmt` spaces it.
std::string print(const Expr &expr);
std::string print(const Subscript &subscript);
/// The canonical text of a schedule, one entry per line, with a line end.
void print(const Schedule &schedule, llvm::raw_ostream &os);

} // namespace facet::syntax

#endif // FACET_FRONTEND_SYNTAX_H
