//===- Parser.h - tokens to the syntax tree -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_FRONTEND_PARSER_H
#define FACET_FRONTEND_PARSER_H

#include "Lexer.h"

namespace facet {

/// Recursive descent with one token of lookahead. A function that fails has
/// reported why; its caller unwinds to the next statement or item and goes on.
class Parser {
public:
  Parser(llvm::StringRef file, llvm::StringRef text, Diagnostics &diagnostics)
      : file(file), diagnostics(diagnostics), lexer(file, text, diagnostics) {
    advance();
  }

  syntax::File parseFile();

private:
  // Items (ParseItems.cpp).
  std::optional<syntax::Import> parseImport();
  syntax::Function parseFunction();
  syntax::Kernel parseKernel();
  bool parseKernelHeader(syntax::Kernel &kernel);
  bool parseParams(std::vector<syntax::Param> &params);
  bool parseParam(syntax::Param &param);
  bool parseAxis(syntax::Axis &axis);
  bool parseDim(syntax::Dim &dim);
  void parseBody(syntax::Kernel &kernel);
  bool parseStatement(syntax::Statement &statement);
  bool parseBinds(std::vector<syntax::Bind> &binds, bool left);

  // Schedules (ParseSchedule.cpp).
  std::optional<syntax::Schedule> parseSchedule();
  bool parseScheduleHeader(syntax::Schedule &schedule);
  bool parseEntry(syntax::ScheduleEntry &entry);
  bool parseClause(syntax::Clause &clause);
  bool parseValue(syntax::Value &value);

  // Expressions (ParseExpr.cpp).
  syntax::ExprPtr parseExpr(unsigned lowestLevel = 0);
  syntax::ExprPtr parseUnary();
  syntax::ExprPtr parsePrimary();
  syntax::ExprPtr parseNameOrCall();
  syntax::ExprPtr parseConversion();
  syntax::ExprPtr parseReduction();
  bool parseArguments(syntax::Expr &call);
  bool parseSubscripts(std::vector<syntax::Subscript> &subscripts,
                       llvm::StringRef array);
  bool parseSubscript(syntax::Subscript &subscript, llvm::StringRef array);
  syntax::ExprPtr make(syntax::ExprKind kind, const Token &token);
  bool measure(syntax::Expr &expr);
  bool refuseForeignOperator();
  bool refuseForeignWord();

  // Tokens.
  void advance() {
    previousEnd = token.span;
    token = lexer.next();
  }
  bool consume(TokenKind kind) {
    if (!token.is(kind))
      return false;
    advance();
    return true;
  }
  /// `what` is the whole phrase: "`)` after the arguments". A closing bracket
  /// names its `opening` when that is on another line.
  bool expect(TokenKind kind, const llvm::Twine &what,
              const syntax::Span *opening = nullptr);
  bool expectName(syntax::Identifier &name, const llvm::Twine &what);
  std::string found() const;
  Diagnostic &error(syntax::Span span, const llvm::Twine &message);
  bool atItem() const {
    return token.is("import") || token.is("fn") || token.is("kernel") ||
           token.is("schedule");
  }
  void skipToItem();
  void skipToStatement(unsigned column);

  std::string file;
  Diagnostics &diagnostics;
  Lexer lexer;
  Token token;
  syntax::Span previousEnd;
  unsigned nesting = 0;
  llvm::StringRef assigning; // the name left of `=`
  Diagnostic ignored;

  static constexpr unsigned maxNesting = 200;
  static constexpr unsigned maxParams = 255; // of a function, of a kernel
};

} // namespace facet

#endif // FACET_FRONTEND_PARSER_H
