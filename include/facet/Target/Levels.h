//===- Levels.h - instruction-set levels of CPUs --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A level is a set of instructions that a whole generation of CPUs has. Levels are no
// ladder: Zen 4 has x86-64-v4, and not the dot products of x86-64-v3-vnni. The table
// says once what LLVM calls it and which features it stands for; the driver asks
// the host for them, and an object asks its CPU at its first call.
//
//===----------------------------------------------------------------------===//

#ifndef FACET_TARGET_LEVELS_H
#define FACET_TARGET_LEVELS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>

namespace facet {

/// Whose dot products a level adds, and nothing else.
enum class LevelDots { None, Bytes, All, Tiles };

struct Level {
  /// FACET_LEVEL_* of facet/abi.h, which machine files state as `cpu.level`.
  int32_t number;
  /// What users call it.
  llvm::StringLiteral name;
  /// The first part of a triple.
  llvm::StringLiteral arch;
  /// The CPU that code runs on before the level is known, as LLVM names it.
  llvm::StringLiteral base;
  /// The CPU and the features beyond it for the code of the level.
  llvm::StringLiteral cpu, extra;
  /// What it adds to the level that it includes, as LLVM names features, with commas.
  llvm::StringLiteral features;
  /// The number of that level; 0: none.
  int32_t includes = 0;
  /// An object that is made without a list of levels has one with dot products alone
  /// only for kernels that multiply such types, and none with tile registers.
  LevelDots dots = LevelDots::None;
};

/// All levels. Of two that a CPU has, the later one is faster.
llvm::ArrayRef<Level> levels();

/// The level of that number, or null.
const Level *findLevel(int32_t number);

/// The features of `level` and of all that it includes.
llvm::SmallVector<llvm::StringRef> featuresOf(const Level &level);

} // namespace facet

#endif // FACET_TARGET_LEVELS_H
