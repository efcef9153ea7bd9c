//===- Lexer.h - source text to tokens ------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_FRONTEND_LEXER_H
#define FACET_FRONTEND_LEXER_H

#include "facet/Frontend/Syntax.h"

namespace facet {

enum class TokenKind : uint8_t {
  End,
  Invalid, // a message was given
  Comment, // only when asked for
  Name,
  Size, // a name with a capital
  Integer,
  Float,
  String,
  Keyword,
  Type,
  Reduction,
  Function,
  Later, // a word kept for later versions
  LeftParen,
  RightParen,
  LeftBracket,
  RightBracket,
  LeftBrace,
  RightBrace,
  Comma,
  Colon,
  Assign,
  Dot,
  Pipe,
  Arrow,
  // Operators, lowest first.
  Or,
  And,
  Less,
  LessEqual,
  Greater,
  GreaterEqual,
  Equal,
  NotEqual,
  Plus,
  Minus,
  Star,
  Slash,
  Percent,
  Not,
  // Spellings of other languages, so that they can be refused by name.
  CompoundAssign, // += -= *= /= %=
  BitOperator,    // & ^ ~ << >>
  Power,          // **
  Ellipsis,
  Semicolon,
  Question
};

struct Token {
  TokenKind kind = TokenKind::End;
  /// As written; of a string, what stands between the quotes.
  llvm::StringRef text;
  syntax::Span span;
  size_t offset = 0; // of the first byte in the text
  bool firstOnLine = false;

  bool is(TokenKind other) const { return kind == other; }
  bool is(llvm::StringRef keyword) const {
    return kind == TokenKind::Keyword && text == keyword;
  }
  bool isWord() const {
    return kind >= TokenKind::Keyword && kind <= TokenKind::Later;
  }
};

/// Makes one token after the other. Bytes that cannot begin a token are
/// reported and skipped; after the error limit the text counts as ended.
class Lexer {
public:
  Lexer(llvm::StringRef file, llvm::StringRef text, Diagnostics &diagnostics,
        bool keepComments = false);

  Token next();

  /// The `///` lines before the token returned last, joined by line ends.
  const std::string &documentation() const { return doc; }

private:
  size_t skipSpace();
  Token comment();
  Token word();
  Token number();
  Token string();
  Token punctuation();
  Token foreignBytes();
  bool checkUtf8(size_t from, size_t to);

  Token make(TokenKind kind, size_t length);
  syntax::Span spanOf(size_t begin, size_t end) const;
  char peek(size_t ahead = 0) const {
    return position + ahead < text.size() ? text[position + ahead] : '\0';
  }

  std::string file;
  llvm::StringRef text;
  Diagnostics &diagnostics;
  bool keepComments;
  size_t position = 0, lineStart = 0;
  unsigned line = 1;
  bool atLineStart = true;
  std::string doc;
};

} // namespace facet

#endif // FACET_FRONTEND_LEXER_H
