//===- LetInlining.h - lets that are only conditions or index arithmetic --===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_FRONTEND_LETINLINING_H
#define FACET_LIB_FRONTEND_LETINLINING_H

#include "facet/Frontend/CheckedKernel.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace facet {

/// Rewrites the statements of one kernel so that no expression reads an inlined
/// let, and finds the statements that some result needs.
class LetInlining {
public:
  explicit LetInlining(const checked::Kernel &kernel);

  /// The value of `statement` with inlined lets replaced; a tree: no node is
  /// shared. Owned by this object.
  const checked::Expr *value(const checked::Statement &statement);

  bool isInlined(const checked::Variable *variable) const {
    return inlined.contains(variable);
  }
  /// False for a let that no result depends on.
  bool isNeeded(const checked::Variable *variable) const {
    return needed.contains(variable);
  }

private:
  using Substitution =
      llvm::DenseMap<const checked::Index *, checked::Subscript>;
  const checked::Expr *clone(const checked::Expr *expr,
                             const Substitution &substitution);
  checked::Subscript clone(const checked::Subscript &subscript,
                           const Substitution &substitution);
  bool canInline(const checked::Expr *expr, bool allowFloats) const;
  void collectNeeded(const checked::Expr *expr);

  llvm::DenseMap<const checked::Variable *, const checked::Statement *> inlined;
  llvm::DenseMap<const checked::Variable *, const checked::Statement *> lets;
  llvm::DenseSet<const checked::Variable *> needed;
  std::vector<std::unique_ptr<checked::Expr>> pool;
};

} // namespace facet

#endif // FACET_LIB_FRONTEND_LETINLINING_H
