//===- Contraction.h - sums of products, recognised -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_PLANNER_CPU_CONTRACTION_H
#define FACET_PLANNER_CPU_CONTRACTION_H

#include "facet/Dialect/Cpu/IR/Cpu.h"
#include "facet/Dialect/Kernel/IR/Kernel.h"
#include "facet/Dialect/Kernel/IR/Operations.h"
#include "facet/Machine/Machine.h"

#include <optional>

namespace facet::cpu {

/// `Σ_k a[.., m, k] · b[.., k, n]`, where a and b may be any expressions of their
/// own indices (a conversion, a dequantisation).
struct Contraction {
  kernel::ReduceOp reduce;
  /// Factors of the body's product, by what they depend on: those with n are b's.
  llvm::SmallVector<mlir::Value> a, b;
  /// Iterators of `reduce`, by position. Batch ones index both operands.
  llvm::SmallVector<unsigned> batch, m, n, k;
  Dot dot = Dot::F32;
};

/// The contraction that `reduce` is; nullopt when it is none: another kind of
/// reduction, a filter, guards, or a product that does not fall in two.
std::optional<Contraction> matchContraction(kernel::ReduceOp reduce);

/// The same for a sum whose filter drops points and does nothing else, for whole rows
/// and steps of b: it does not depend on n.
std::optional<Contraction> matchFilteredContraction(kernel::ReduceOp reduce);

/// Elements of k that a filter keeps or drops together: a few cycles of a tile.
constexpr int64_t filterUnit = 32;

/// A contraction of which a filter drops points.
inline bool isFiltered(const Contraction &contraction) {
  kernel::ReduceOp reduce = contraction.reduce;
  return !reduce.getFilter().empty();
}

/// The fastest dot product of `machine` that computes the same: exact for integers,
/// for floats the products that the operands' types promise.
Dot chooseDot(const Contraction &contraction, const Machine &machine);

/// The same in tile registers, where `machine` has them and `contraction` multiplies
/// what they take; nullopt otherwise.
std::optional<Dot> chooseTileDot(const Contraction &contraction,
                                 const Machine &machine);

/// With `dot`, whose operands are an unsigned and a signed byte, a is of the other
/// kind: it is packed with its highest bit flipped, 128 more or less than it is.
bool shiftsA(const Contraction &contraction, Dot dot);

using kernel::Epilogue;

/// The epilogue of a contraction when it needs every sum: nothing guards them.
std::optional<Epilogue> matchUnguardedEpilogue(kernel::ReduceOp reduce);

/// The input of `contraction` whose elements are the operand: `factors` is one
/// element of memory in the type of the sums, at places that no other array says,
/// summed over one iterator. Such an operand can be read where it is.
std::optional<unsigned> elementsOf(const Contraction &contraction,
                                   llvm::ArrayRef<mlir::Value> factors);

/// The same for b, which is read in vectors: neighbours in n must be neighbours in
/// memory.
std::optional<unsigned> vectorsOfB(const Contraction &contraction);

/// The argument of the kernel that b is, whatever conversions are made of its
/// elements, when its packed array can hold b's panels: a constant that only this
/// contraction reads, at plain iterators. Null otherwise.
mlir::BlockArgument constantOf(const Contraction &contraction);

} // namespace facet::cpu

#endif // FACET_PLANNER_CPU_CONTRACTION_H
