//===- AsmLexer.cpp - words of the text form ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Cuts a line into words on demand; the parser says what it wants next, so `-1`
// is a minus and a number in an address and one number as a field:
//
//   wait(full[r0] >= 16)   ->   wait ( full [ r0 ] >= 16 )
//
//===----------------------------------------------------------------------===//

#include "AsmLexer.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"

using namespace facet;
using llvm::StringRef;

bool AsmLexer::checkText() {
  const auto *begin = reinterpret_cast<const llvm::UTF8 *>(text.begin());
  const llvm::UTF8 *bad = begin;
  bool legal = llvm::isLegalUTF8String(&bad, begin + text.size());
  size_t nul = text.find('\0');
  if (legal && nul == StringRef::npos)
    return true;
  size_t where = legal ? nul : std::min(nul, size_t(bad - begin));
  StringRef before = text.take_front(where);
  size_t start = before.rfind('\n') + 1; // npos + 1 is 0
  diags.error({file.str(), unsigned(before.count('\n') + 1),
               unsigned(where - start + 1)},
              where == nul ? "a NUL byte" : "not UTF-8 here");
  return false;
}

void AsmLexer::skipBlanks() {
  while (at < text.size() &&
         (text[at] == ' ' || text[at] == '\t' || text[at] == '\r'))
    ++at;
}

bool AsmLexer::atLineEnd() {
  skipBlanks();
  return at >= text.size() || text[at] == '\n' ||
         text.substr(at).starts_with("//");
}

void AsmLexer::nextLine() {
  size_t end = text.find('\n', at);
  at = end == StringRef::npos ? text.size() : end + 1;
  lineStart = at;
  ++line;
}

StringRef AsmLexer::restOfLine() {
  skipBlanks();
  StringRef rest = text.substr(at).split('\n').first.split("//").first.rtrim();
  at += rest.size();
  return rest;
}

char AsmLexer::peek() { return atLineEnd() ? '\n' : text[at]; }

bool AsmLexer::take(const char *punctuation) {
  if (atLineEnd())
    return false;
  StringRef rest = text.substr(at), p(punctuation);
  if (!rest.starts_with(p))
    return false;
  bool longer = p.size() == 1 && rest.size() > 1 && rest[1] == '=' &&
                StringRef("+-=<>!").contains(p[0]);
  if (longer)
    return false;
  at += p.size();
  return true;
}

static bool startsName(char c) {
  return llvm::isAlpha(c) || c == '_' || c == '.';
}
static bool inName(char c) { return startsName(c) || llvm::isDigit(c); }

StringRef AsmLexer::word() const {
  size_t end = at;
  while (end < text.size() && inName(text[end]))
    ++end;
  return text.slice(at, end);
}

bool AsmLexer::takeWord(StringRef wanted) {
  if (atLineEnd() || word() != wanted)
    return false;
  at += wanted.size();
  return true;
}

bool AsmLexer::takeName(std::string &name) {
  if (atLineEnd() || !startsName(text[at]))
    return false;
  namePlace = place();
  name = word().str();
  at += name.size();
  return true;
}

bool AsmLexer::takeInteger(uint64_t &value) {
  if (atLineEnd() || !llvm::isDigit(text[at]))
    return false;
  StringRef spelled = word();
  bool hex = spelled.starts_with("0x");
  if ((hex ? spelled.drop_front(2) : spelled)
          .getAsInteger(hex ? 16 : 10, value))
    return false;
  at += spelled.size();
  return true;
}

bool AsmLexer::takeNumberText(std::string &number) {
  if (atLineEnd())
    return false;
  size_t end = at;
  if (text[end] == '-')
    ++end;
  size_t digits = end;
  while (end < text.size() &&
         (inName(text[end]) ||
          ((text[end] == '-' || text[end] == '+') && end > digits &&
           (text[end - 1] == 'e' || text[end - 1] == 'E') &&
           llvm::isDigit(text[digits]) &&
           !text.slice(digits, end).starts_with("0x"))))
    ++end;
  if (text.slice(at, end) == "bits" && end < text.size() && text[end] == '(') {
    size_t close = text.find(')', end);
    if (close == StringRef::npos)
      return false;
    end = close + 1;
  }
  if (end == digits)
    return false;
  number = text.slice(at, end).str();
  at = end;
  return true;
}

bool AsmLexer::takeString(std::string &string, bool &bad) {
  bad = false;
  if (atLineEnd() || text[at] != '"')
    return false;
  std::string result;
  bad = true;
  for (size_t i = at + 1; i < text.size() && text[i] != '\n'; ++i) {
    char c = text[i];
    if (c == '"') {
      const auto *p = reinterpret_cast<const llvm::UTF8 *>(result.data());
      if (!llvm::isLegalUTF8String(&p, p + result.size()))
        return false;
      string = std::move(result);
      at = i + 1;
      bad = false;
      return true;
    }
    if (c != '\\') {
      result += c;
      continue;
    }
    if (++i >= text.size())
      return false;
    switch (text[i]) {
    case '"':
    case '\\':
      result += text[i];
      break;
    case 'n':
      result += '\n';
      break;
    case 'x': {
      uint8_t byte;
      if (i + 2 >= text.size() ||
          text.substr(i + 1, 2).getAsInteger(16, byte) || !byte)
        return false;
      result += char(byte);
      i += 2;
      break;
    }
    default:
      return false;
    }
  }
  return false;
}

Place AsmLexer::place() {
  skipBlanks();
  Place place{file.str(), line, unsigned(at - lineStart + 1)};
  StringRef w = word();
  if (!w.empty())
    place.endColumn = place.column + unsigned(w.size());
  return place;
}

std::string AsmLexer::found() {
  if (atLineEnd())
    return "the end of the line";
  StringRef w = word();
  if (w.empty()) {
    // A whole character, however many bytes it has.
    size_t end = at + 1;
    while (end < text.size() &&
           (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80)
      ++end;
    w = text.slice(at, end);
  }
  return "'" + w.take_front(40).str() + "'";
}
