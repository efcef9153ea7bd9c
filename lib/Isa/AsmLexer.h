//===- AsmLexer.h - words of the text form --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_ISA_ASMLEXER_H
#define FACET_LIB_ISA_ASMLEXER_H

#include "facet/Support/Diagnostics.h"

#include <cstdint>
#include <string>

namespace facet {

/// A cursor over the text that hands out words of the present line; `//` starts
/// a comment, a line end ends a statement.
class AsmLexer {
public:
  AsmLexer(llvm::StringRef text, llvm::StringRef file, Diagnostics &diags)
      : text(text), file(file), diags(diags) {}

  /// False, with an error, when the text is not UTF-8 or holds NUL bytes.
  bool checkText();

  bool atEnd() const { return at >= text.size(); }
  /// Nothing but blanks and a comment is left on the line.
  bool atLineEnd();
  /// Goes to the next line, whatever is left on this one.
  void nextLine();
  /// The rest of the line without comment and blanks; takes it.
  llvm::StringRef restOfLine();
  /// The next character of the line, '\n' at its end.
  char peek();

  /// Takes a punctuation; a longer operator does not match its beginning.
  bool take(const char *punctuation);
  /// Takes this word.
  bool takeWord(llvm::StringRef word);
  /// Letters, digits, _ and ., not starting with a digit.
  bool takeName(std::string &name);
  /// Digits, or 0x and hex digits, below 2^64.
  bool takeInteger(uint64_t &value);
  /// The text of a number: sign, digits, point, exponent; inf, nan, bits(0x...).
  bool takeNumberText(std::string &number);
  /// A quoted string; `bad` when there is one with a mistake in it.
  bool takeString(std::string &string, bool &bad);

  /// Of the next word.
  Place place();
  /// Of the name taken last.
  Place placeOfName() const { return namePlace; }
  /// The next word, for messages.
  std::string found();

private:
  void skipBlanks();
  llvm::StringRef word() const;

  llvm::StringRef text, file;
  Diagnostics &diags;
  size_t at = 0, lineStart = 0;
  unsigned line = 1;
  Place namePlace;
};

} // namespace facet

#endif // FACET_LIB_ISA_ASMLEXER_H
