//===- Words.h - the reserved words of the language -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The one table of words: keywords, types, reductions, functions, and words
// kept for later versions. Lexer, checker and suggestions read it.
//
//===----------------------------------------------------------------------===//

#ifndef FACET_FRONTEND_WORDS_H
#define FACET_FRONTEND_WORDS_H

#include "facet/Frontend/CheckedKernel.h"
#include "facet/Frontend/Frontend.h"

#include <optional>

namespace facet {

enum class WordKind : uint8_t { Keyword, Type, Reduction, Function, Later };

/// What kind of reserved word `text` is; nullopt for a free name.
std::optional<WordKind> wordKind(llvm::StringRef text);

/// A function of one operand; nullopt for others.
std::optional<checked::UnaryOp> unaryByName(llvm::StringRef text);

/// How `op` is written: `-`, `!` or a function's name.
llvm::StringRef spelling(checked::UnaryOp op);

/// All words of one kind, for suggestions and messages.
llvm::ArrayRef<llvm::StringLiteral> words(WordKind kind);

/// For a word kept for later: what to write today instead.
llvm::StringRef insteadOf(llvm::StringRef laterWord);

/// The nearest of `candidates` to `name`, or empty when none is near enough.
std::string nearest(llvm::StringRef name,
                    llvm::ArrayRef<llvm::StringRef> candidates);

} // namespace facet

#endif // FACET_FRONTEND_WORDS_H
