//===- Lexer.cpp - source text to tokens ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `c[m] = i8.sat(x)` ↦ Name LeftBracket Name RightBracket Assign Type Dot Name
// LeftParen Name RightParen. Made on demand, one token at a time, so that a
// hostile file of any size costs no memory. Line ends (LF or CRLF) are space; a
// UTF-8 byte order mark is skipped. Everything outside comments and strings is
// ASCII: look-alikes such as `≤` are refused with what to write instead.
//
//===----------------------------------------------------------------------===//

#include "Lexer.h"
#include "Words.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"

using namespace facet;
using llvm::StringRef;
using llvm::Twine;

static constexpr size_t maxNameLength = 255;
static constexpr size_t maxNumberLength = 1000;

static bool isNameByte(char c) { return llvm::isAlnum(c) || c == '_'; }

Place syntax::placeIn(StringRef file, Span span) {
  return {file.str(), span.line, span.column,
          span.endLine == span.line ? span.endColumn : 0};
}

syntax::Span syntax::join(Span first, Span last) {
  return {first.line, first.column, last.endLine, last.endColumn};
}

Lexer::Lexer(StringRef file, StringRef text, Diagnostics &diagnostics,
             bool keepComments)
    : file(file), text(text), diagnostics(diagnostics),
      keepComments(keepComments) {
  if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff")) {
    diagnostics.error({this->file, 1, 1},
                      "the file is UTF-16 text; save it as UTF-8");
    position = text.size();
  } else if (text.starts_with("\xef\xbb\xbf")) {
    position = 3;
  }
}

Token Lexer::next() {
  doc.clear();
  while (true) {
    position = skipSpace();
    if (position >= text.size() || diagnostics.limitReached()) {
      position = text.size();
      return make(TokenKind::End, 0);
    }
    char c = peek();
    if (c == '/' && peek(1) == '/') {
      Token token = comment();
      if (keepComments)
        return token;
    } else if (c == '/' && peek(1) == '*') {
      size_t end = text.find("*/", position + 2);
      end = end == StringRef::npos ? text.size() : end + 2;
      diagnostics.error(
          placeIn(file, spanOf(position, position + 2)),
          "`/*` comments are not part of the language; begin each line of the "
          "comment with `//`");
      for (; position < end; ++position)
        if (text[position] == '\n') {
          ++line;
          lineStart = position + 1;
          atLineStart = true;
        }
    } else if (llvm::isAlpha(c) || c == '_') {
      return word();
    } else if (llvm::isDigit(c)) {
      return number();
    } else if (c == '.' && llvm::isDigit(peek(1))) {
      size_t end = position + 1;
      while (end < text.size() && isNameByte(text[end]))
        ++end;
      diagnostics.error(placeIn(file, spanOf(position, end)),
                        "a number begins with a digit; write `0" +
                            text.slice(position, std::min(end, position + 20)) +
                            "`");
      return make(TokenKind::Float, end - position);
    } else if (c == '"') {
      return string();
    } else {
      Token token = punctuation();
      return token.is(TokenKind::End) ? foreignBytes() : token;
    }
  }
}

size_t Lexer::skipSpace() {
  size_t at = position;
  for (; at < text.size(); ++at) {
    char c = text[at];
    if (c == '\n') {
      ++line;
      lineStart = at + 1;
      atLineStart = true;
    } else if (c != ' ' && c != '\t' && c != '\r') {
      break;
    }
  }
  return at;
}

/// A comment goes to the end of the line; `///` lines gather in `doc`.
Token Lexer::comment() {
  size_t end = std::min(text.find('\n', position), text.size());
  size_t begin = position;
  StringRef whole = text.slice(begin, end).rtrim("\r \t");
  if (!checkUtf8(begin, begin + whole.size()) || whole.contains('\0')) {
    size_t at = whole.find('\0');
    if (at != StringRef::npos)
      diagnostics.error(
          placeIn(file, spanOf(begin + at, begin + at + 1)),
          "found a NUL byte; source is UTF-8 text without NUL bytes");
  }
  // Behind a token it is about that token's line, not about what follows.
  if (atLineStart && whole.starts_with("///") && !whole.starts_with("////")) {
    if (!doc.empty())
      doc += '\n';
    StringRef line = whole.drop_front(3);
    line.consume_front(" ");
    doc += line;
  }
  Token token = make(TokenKind::Comment, end - begin);
  token.text = whole;
  return token;
}

Token Lexer::word() {
  size_t end = position;
  while (end < text.size() && isNameByte(text[end]))
    ++end;
  StringRef name = text.slice(position, end);
  if (name.size() > maxNameLength)
    diagnostics.error(placeIn(file, spanOf(position, end)),
                      "name has " + Twine(name.size()) +
                          " characters; at most " + Twine(maxNameLength) +
                          " are allowed");
  else if (name.front() == '_')
    diagnostics.error(placeIn(file, spanOf(position, end)),
                      "a name begins with a letter; found `" + name + "`");
  TokenKind kind =
      llvm::isUpper(name.front()) ? TokenKind::Size : TokenKind::Name;
  if (auto reserved = wordKind(name)) {
    static constexpr TokenKind kinds[] = {
        TokenKind::Keyword, TokenKind::Type, TokenKind::Reduction,
        TokenKind::Function, TokenKind::Later};
    kind = kinds[static_cast<unsigned>(*reserved)];
  }
  Token token = make(kind, name.size());
  token.text = name.take_front(maxNameLength);
  return token;
}

/// INT or FLOAT. What hangs on to it (`12ab`, `0x1f`, `1.0f`) is part of the
/// mistake, so that one message covers it.
Token Lexer::number() {
  size_t at = position;
  auto digits = [&] {
    size_t begin = at;
    while (at < text.size() && llvm::isDigit(text[at]))
      ++at;
    return at - begin;
  };
  TokenKind kind = TokenKind::Integer;
  std::string problem;
  digits();
  if (at < text.size() && text[at] == '.' &&
      !text.substr(at).starts_with("...")) {
    ++at;
    kind = TokenKind::Float;
    if (!digits())
      problem = "a digit follows the point; write `" +
                text.slice(position, std::min(at, position + 20)).str() + "0`";
  }
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    size_t e = at++;
    kind = TokenKind::Float;
    if (at < text.size() && (text[at] == '+' || text[at] == '-'))
      ++at;
    if (!digits() && problem.empty())
      problem = "the exponent has no digits; write `" +
                text.slice(position, std::min(e, position + 20)).str() + "e0`";
  }
  size_t tail = at;
  while (at < text.size() && isNameByte(text[at]))
    ++at;
  StringRef whole = text.slice(position, at);
  if (at != tail && problem.empty())
    problem = "`" + whole.take_front(20).str() +
              "` is no number; numbers are decimal digits, without suffix or "
              "separator";
  if (problem.empty() && whole.size() > maxNumberLength)
    problem = "number has " + std::to_string(whole.size()) +
              " characters; at most " + std::to_string(maxNumberLength) +
              " are allowed";
  if (!problem.empty()) {
    diagnostics.error(placeIn(file, spanOf(position, at)), problem);
    Token token = make(kind, whole.size());
    token.text = kind == TokenKind::Float ? "0.0" : "0"; // go on with a number
    return token;
  }
  return make(kind, whole.size());
}

Token Lexer::string() {
  size_t end = text.find_first_of("\"\n", position + 1);
  if (end == StringRef::npos || text[end] == '\n') {
    end = std::min(end, text.size());
    diagnostics.error(placeIn(file, spanOf(position, position + 1)),
                      "string has no closing `\"` on its line");
    return make(TokenKind::Invalid, end - position);
  }
  checkUtf8(position + 1, end);
  size_t nul = text.slice(position, end).find('\0');
  if (nul != StringRef::npos)
    diagnostics.error(placeIn(file, spanOf(position + nul, position + nul + 1)),
                      "found a NUL byte; source is UTF-8 text without NUL "
                      "bytes");
  Token token = make(TokenKind::String, end + 1 - position);
  token.text = token.text.drop_front().drop_back();
  return token;
}

/// Operators and brackets; an End token when there is none here.
Token Lexer::punctuation() {
  char second = peek(1);
  auto either = [&](char follows, TokenKind both, TokenKind alone) {
    return second == follows ? make(both, 2) : make(alone, 1);
  };
  auto compound = [&](TokenKind alone) {
    return either('=', TokenKind::CompoundAssign, alone);
  };
  switch (peek()) {
  case '(':
    return make(TokenKind::LeftParen, 1);
  case ')':
    return make(TokenKind::RightParen, 1);
  case '[':
    return make(TokenKind::LeftBracket, 1);
  case ']':
    return make(TokenKind::RightBracket, 1);
  case '{':
    return make(TokenKind::LeftBrace, 1);
  case '}':
    return make(TokenKind::RightBrace, 1);
  case ',':
    return make(TokenKind::Comma, 1);
  case ':':
    return make(TokenKind::Colon, 1);
  case ';':
    return make(TokenKind::Semicolon, 1);
  case '?':
    return make(TokenKind::Question, 1);
  case '.':
    if (second == '.' && peek(2) == '.')
      return make(TokenKind::Ellipsis, 3);
    return make(TokenKind::Dot, 1);
  case '|':
    return either('|', TokenKind::Or, TokenKind::Pipe);
  case '&':
    return either('&', TokenKind::And, TokenKind::BitOperator);
  case '^':
  case '~':
    return make(TokenKind::BitOperator, 1);
  case '<':
    if (second == '<')
      return make(TokenKind::BitOperator, 2);
    return either('=', TokenKind::LessEqual, TokenKind::Less);
  case '>':
    if (second == '>')
      return make(TokenKind::BitOperator, 2);
    return either('=', TokenKind::GreaterEqual, TokenKind::Greater);
  case '=':
    return either('=', TokenKind::Equal, TokenKind::Assign);
  case '!':
    return either('=', TokenKind::NotEqual, TokenKind::Not);
  case '+':
    return compound(TokenKind::Plus);
  case '-':
    if (second == '>')
      return make(TokenKind::Arrow, 2);
    return compound(TokenKind::Minus);
  case '*':
    if (second == '*')
      return make(TokenKind::Power, 2);
    return compound(TokenKind::Star);
  case '/':
    return compound(TokenKind::Slash);
  case '%':
    return compound(TokenKind::Percent);
  default:
    return {};
  }
}

namespace {
/// A character that looks like one of ours.
struct LookAlike {
  llvm::StringLiteral theirs, ours;
  TokenKind kind;
};
} // namespace

static const LookAlike *lookAlike(StringRef character) {
  static constexpr LookAlike table[] = {
      {"≤", "<=", TokenKind::LessEqual}, {"≥", ">=", TokenKind::GreaterEqual},
      {"≠", "!=", TokenKind::NotEqual},  {"·", "*", TokenKind::Star},
      {"×", "*", TokenKind::Star},       {"−", "-", TokenKind::Minus},
      {"–", "-", TokenKind::Minus},      {"÷", "/", TokenKind::Slash},
      {"→", "->", TokenKind::Arrow},     {"∧", "&&", TokenKind::And},
      {"∨", "||", TokenKind::Or},        {"¬", "!", TokenKind::Not},
      {"“", "\"", TokenKind::Invalid},   {"”", "\"", TokenKind::Invalid},
      {"∞", "inf", TokenKind::Invalid}};
  for (const LookAlike &entry : table)
    if (entry.theirs == character)
      return &entry;
  return nullptr;
}

/// Reports the bytes here that cannot begin a token, with all of their kind
/// that follow, so that a line of garbage is one message. A look-alike goes on
/// as the token it was meant to be.
Token Lexer::foreignBytes() {
  auto foreign = [&](size_t at) {
    unsigned char c = text[at];
    return c >= 0x80 || (c < 0x20 && !llvm::isSpace(c)) || c == 0x7f;
  };
  size_t begin = position, end = position + 1;
  unsigned char c = text[begin];
  std::string problem;
  if (c == 0) {
    problem = "found a NUL byte; source is UTF-8 text without NUL bytes";
  } else if (c >= 0x80) {
    unsigned length = llvm::getNumBytesForUTF8(c);
    const auto *from =
        reinterpret_cast<const llvm::UTF8 *>(text.data()) + begin;
    const auto *to = reinterpret_cast<const llvm::UTF8 *>(text.end());
    if (!llvm::isLegalUTF8Sequence(from, std::min(from + length, to))) {
      problem = "byte 0x" + llvm::utohexstr(c, true) + " is not valid UTF-8";
    } else {
      end = begin + length;
      StringRef character = text.slice(begin, end);
      problem = "`" + character.str() + "` is not ASCII";
      if (const LookAlike *meant = lookAlike(character)) {
        problem += "; write `" + meant->ours.str() + "`";
        diagnostics.error(placeIn(file, spanOf(begin, end)), problem);
        Token token = make(meant->kind, end - begin);
        token.text = meant->ours;
        return token;
      }
      problem += "; names and operators are, comments may hold any text";
    }
  } else if (foreign(begin) || llvm::isSpace(c)) {
    problem = "found control character 0x" + llvm::utohexstr(c, true, 2) +
              "; source is plain text";
  } else {
    problem = "`" + std::string(1, c) + "` is not part of the language";
  }
  diagnostics.error(placeIn(file, spanOf(begin, end)), problem);
  while (end < text.size() && (foreign(end) || text[end] == char(c)))
    ++end;
  return make(TokenKind::Invalid, end - begin);
}

/// Reports the first byte in [from, to) that is not UTF-8.
bool Lexer::checkUtf8(size_t from, size_t to) {
  const auto *at = reinterpret_cast<const llvm::UTF8 *>(text.data()) + from;
  const auto *end = reinterpret_cast<const llvm::UTF8 *>(text.data()) + to;
  if (llvm::isLegalUTF8String(&at, end))
    return true;
  size_t bad = reinterpret_cast<const char *>(at) - text.data();
  diagnostics.error(
      placeIn(file, spanOf(bad, bad + 1)),
      "byte 0x" + llvm::utohexstr(static_cast<unsigned char>(text[bad]), true) +
          " is not valid UTF-8");
  return false;
}

Token Lexer::make(TokenKind kind, size_t length) {
  Token token;
  token.kind = kind;
  token.text = text.substr(position, length);
  token.span = spanOf(position, position + length);
  token.offset = position;
  token.firstOnLine = atLineStart;
  atLineStart = false;
  position += length;
  return token;
}

/// Both ends on the current line: no token of ours goes over a line end.
syntax::Span Lexer::spanOf(size_t begin, size_t end) const {
  unsigned column = static_cast<unsigned>(begin - lineStart) + 1;
  return {line, column, line, column + static_cast<unsigned>(end - begin)};
}
