//===- Text.h - spelling shared by assembler and disassembler -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_ISA_TEXT_H
#define FACET_LIB_ISA_TEXT_H

#include "facet/Isa/Program.h"

namespace facet::text {

/// `"..."` with \" \\ \n and \xHH for other control characters.
std::string quote(llvm::StringRef raw);

/// The shortest decimal that reads back as these f32 bits, always with a point or
/// an exponent; inf, -inf, nan, and bits(0x7fc00001) for other NaNs.
std::string printFloat(uint32_t bits);

/// Reads what printFloat writes and any decimal; nothing for other text.
std::optional<uint32_t> parseFloat(llvm::StringRef spelled);

/// The step a dimension has when text states none: as if the inner dimensions
/// (and it) were dense; 0 for one element.
int64_t denseStep(const Access &access, unsigned dimension);
/// The same for rows.
int64_t denseRowStep(const Access &access);
std::vector<int64_t> denseStrides(llvm::ArrayRef<int64_t> shape);

/// The words of predicates, in the order of Predicate::Compare.
constexpr const char *compares[] = {"==", "!=", "<", "<=", ">", ">="};

} // namespace facet::text

#endif // FACET_LIB_ISA_TEXT_H
