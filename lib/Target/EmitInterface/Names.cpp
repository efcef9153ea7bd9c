//===- Names.cpp - which words C leaves to a kernel -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two lists. Reserved words cannot stand in a prototype at all; the interface
// sets an underscore behind them (`new` ─▶ `new_`). Names of the C library can,
// but a kernel called `read` would answer every read of the program; that is an
// error with a way out, never a renaming.
//
//===----------------------------------------------------------------------===//

#include "Names.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace facet::interface;
using llvm::StringRef;

/// Splits a list of words once, at its first use.
static llvm::StringSet<> splitWords(StringRef text) {
  llvm::StringSet<> words;
  while (!text.empty()) {
    auto [word, rest] = text.split(' ');
    if (!word.empty())
      words.insert(word);
    text = rest;
  }
  return words;
}

bool facet::interface::isIdentifier(StringRef name) {
  if (name.empty() || llvm::isDigit(name.front()))
    return false;
  return llvm::all_of(name,
                      [](char c) { return llvm::isAlnum(c) || c == '_'; });
}

bool facet::interface::isReservedWord(StringRef name) {
  static const llvm::StringSet<> words = splitWords(
      // C99, C11, C23
      "auto break case char const continue default do double else enum extern "
      "float for goto if inline int long register restrict return short signed "
      "sizeof static struct switch typedef union unsigned void volatile while "
      "alignas alignof bool constexpr false nullptr static_assert thread_local "
      "true typeof typeof_unqual asm fortran "
      // C++17 and C++20, alternative tokens included
      "and and_eq bitand bitor catch char8_t char16_t char32_t class compl "
      "concept consteval constinit const_cast co_await co_return co_yield "
      "decltype delete dynamic_cast explicit export friend mutable namespace "
      "new noexcept not not_eq operator or or_eq private protected public "
      "reinterpret_cast requires static_cast template this throw try typeid "
      "typename using virtual wchar_t xor xor_eq import module final override "
      // macros of the compilers in their default modes
      "linux unix i386 complex imaginary noreturn errno h_errno "
      // stdint.h, stddef.h, stdbool.h
      "int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t "
      "int_least8_t int_least16_t int_least32_t int_least64_t uint_least8_t "
      "uint_least16_t uint_least32_t uint_least64_t int_fast8_t int_fast16_t "
      "int_fast32_t int_fast64_t uint_fast8_t uint_fast16_t uint_fast32_t "
      "uint_fast64_t intptr_t uintptr_t intmax_t uintmax_t size_t ptrdiff_t "
      "max_align_t nullptr_t offsetof unreachable");
  return words.contains(name) || name.starts_with("facet_");
}

bool facet::interface::isLibraryName(StringRef name) {
  static const llvm::StringSet<> words = splitWords(
#include "CLibraryNames.def"
  );
  return words.contains(name) || name.starts_with("facet_");
}
