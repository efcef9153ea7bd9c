//===- Judged.h - a value and how far a road may be from it ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rules of docs/Numerics.md, "The judge", as arithmetic on SSA values. Floats are
// f64 values, integers and bools themselves; a bound is an f64, empty when the
// value is what every road must have. The bound of a bool is 1 when a road may
// have the other one. A bound of infinity: a road may have anything.
//
//===----------------------------------------------------------------------===//

#ifndef FACET_LIB_CONVERSION_KERNELTOLOOPS_JUDGED_H
#define FACET_LIB_CONVERSION_KERNELTOLOOPS_JUDGED_H

#include "Formats.h"
#include "Functions.h"
#include "facet/Dialect/Kernel/IR/Kernel.h"

namespace facet::loops {

struct Judged {
  Num value;
  Num bound;
  /// Of a product: its value before overflow, which a fused addition sees.
  Num unclamped;

  bool isExact() const { return !bool(bound); }
  mlir::Type type() const { return value.type(); }
};

/// The bound, 0 when exact; f64.
Num boundOf(const Judged &x);
/// A road may have the other bool; null when exact.
Num isUncertain(const Judged &condition);
Judged exact(Num value);

/// How much an op of `type` (f32, f64) may be off by its own roundings: a number
/// of half units in the last place of `value`, and of the least step.
Num rounding(Num value, mlir::Type type, double halfUnits);
/// The unit roundoff, with room for the judge's own error.
double unitRoundoff(mlir::Type type);
/// Least magnitude that rounds to infinity in `type`.
double overflowOf(mlir::Type type);
/// Distance of the neighbours of x in storage `type`.
Num unitInLastPlace(Num x, mlir::Type type);

/// A float result computed from `operands`: infinities and NaN where they are
/// certain, a bound of infinity where a road may have something else altogether.
Judged finish(Num value, Num bound, mlir::Type type,
              llvm::ArrayRef<Judged> operands, Num ambiguous = {});

Judged add(const Judged &a, const Judged &b, mlir::Type type, bool subtract);
/// `mayFuse`: an addition may take the product before it is rounded.
Judged multiply(const Judged &a, const Judged &b, mlir::Type type,
                bool mayFuse);
Judged divide(const Judged &a, const Judged &b, mlir::Type type);
Judged negate(const Judged &a);
Judged absolute(const Judged &a);
Judged largest(const Judged &a, const Judged &b);
Judged smallest(const Judged &a, const Judged &b);
Judged relu(const Judged &a);
/// floor, ceil, roundEven: steps up with its argument.
Judged step(const Judged &a, llvm::function_ref<Num(Num)> function);
Judged apply(Function function, const Judged &a, mlir::Type type,
             Functions &functions);
Judged choose(const Judged &condition, const Judged &a, const Judged &b);
Judged compareFloat(mlir::arith::CmpFPredicate predicate, const Judged &a,
                    const Judged &b);
Judged compareInteger(mlir::arith::CmpIPredicate predicate, const Judged &a,
                      const Judged &b);
/// addi, subi, muli, andi, ori, xori, maxsi, minsi, floordivsi; empty for others.
std::optional<Judged> integerOp(mlir::Operation *op, const Judged &a,
                                const Judged &b);
/// kernel.cast; `ofSoftmax`: the operand is an element of a softmax.
Judged convert(const Judged &x, mlir::Type from, mlir::Type to,
               kernel::CastMode mode, bool ofSoftmax);

} // namespace facet::loops

#endif // FACET_LIB_CONVERSION_KERNELTOLOOPS_JUDGED_H
