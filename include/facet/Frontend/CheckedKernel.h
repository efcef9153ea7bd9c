//===- CheckedKernel.h - a kernel after all questions are settled ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the checker hands to the compiler. Names are resolved, `fn` calls are
// expanded, literals are folded and have their type, every conversion is
// explicit, `clamp(x, a, b)` is min(max(x, a), b); `mean` remains a Reduction. Nothing here refers to the syntax tree; places are kept for
// messages and for source locations in the artefacts.
//
//===----------------------------------------------------------------------===//

#ifndef FACET_FRONTEND_CHECKEDKERNEL_H
#define FACET_FRONTEND_CHECKEDKERNEL_H

#include "facet/Support/Diagnostics.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace facet {

/// Element types of the language. The first five are the types arithmetic is
/// done in; the others are storage, read as F32 or I32. TF32 is a rounding
/// only.
enum class ScalarType : uint8_t {
  Bool,
  I32,
  I64,
  F32,
  F64,
  F16,
  BF16,
  F8E4M3,
  F8E4M3FN,
  F8E5M2,
  I16,
  I8,
  U8,
  I4,
  U4,
  TF32
};

llvm::StringRef spelling(ScalarType type);
/// The type an element of `type` is read as: F32 for storage floats, I32 for
/// narrow integers, itself otherwise.
ScalarType arithmeticType(ScalarType type);
bool isFloat(ScalarType type);
bool isInteger(ScalarType type);    // not Bool
unsigned bitWidth(ScalarType type); // Bool: 8 in memory; I4, U4: 4

namespace checked {

/// One dimension: a size of the kernel (index into Kernel::sizes) or a number.
struct Dim {
  std::optional<unsigned> size;
  int64_t constant = 0;
  bool operator==(const Dim &other) const {
    return size == other.size && (size || constant == other.constant);
  }
};

/// One axis in memory; more than one dimension when it is a group.
struct Axis {
  llvm::SmallVector<Dim, 2> dims;
};

enum class VariableKind : uint8_t { Argument, Const, Inout, Result, Let };

struct Variable {
  std::string name;
  VariableKind kind;
  /// Storage type for arguments and results; for a `let`, the type its values
  /// have in memory: the storage type when its expression ends in a rounding
  /// (`let p[..] = bf16(..)`), else an arithmetic type.
  ScalarType type;
  llvm::SmallVector<Axis, 4> axes; // a let has one dimension per axis
  Place place;
  unsigned rank() const { // subscripts, i.e. dimensions, not axes
    unsigned n = 0;
    for (const Axis &axis : axes)
      n += axis.dims.size();
    return n;
  }
  Dim dim(unsigned i) const {
    for (const Axis &axis : axes) {
      if (i < axis.dims.size())
        return axis.dims[i];
      i -= axis.dims.size();
    }
    return {};
  }
};

/// A bound index; each binder makes its own, so equal names do not confuse.
struct Index {
  std::string name;
  Dim extent;
  Place place;
};

struct Expr;

/// One subscript of a read: an index, a number, or an element (an integer
/// scalar argument is a Read without subscripts; a gather is a Read with some).
struct Subscript {
  enum Kind : uint8_t { Index, Constant, Element } kind;
  const checked::Index *index = nullptr;
  int64_t constant = 0;
  const Expr *element = nullptr; // ExprKind::Read of an integer variable
  Place place;
};

enum class ExprKind : uint8_t {
  Constant,
  Size,
  Index,
  Read,
  Unary,
  Binary,
  Select,
  Convert,
  Reduce,
  Softmax
};

enum class UnaryOp : uint8_t {
  Neg,
  Not,
  Abs,
  Exp,
  Log,
  Sqrt,
  Rsqrt,
  Tanh,
  Sigmoid,
  Relu,
  Gelu,
  GeluTanh,
  Silu,
  Erf,
  Round,
  Floor,
  Ceil
};

enum class BinaryOp : uint8_t {
  Add,
  Sub,
  Mul,
  Div,
  Mod,
  Min,
  Max,
  Lt,
  Le,
  Gt,
  Ge,
  Eq,
  Ne,
  And,
  Or
};

enum class Reduction : uint8_t {
  Sum,
  Max,
  Min,
  Mean,
  Any,
  All,
  Argmax,
  Argmin
};

/// How a Convert changes its operand.
enum class ConvertMode : uint8_t {
  Widen, ///< f32→f64, i32→i64: exact
  Round, ///< float → float type `storage`, nearest even; reads back as `type`
  RoundSat,     ///< the same to a storage type, clamped to its largest finite
                ///< value (`.sat`)
  IntToFloat,   ///< integer → f32/f64, rounds once
  BoolToNumber, ///< false, true → 0, 1
  Wrap,      ///< integer → integer `storage`, modulo 2ⁿ; reads back as `type`
  IntSat,    ///< integer → integer `storage`, clamped
  FloatToInt ///< float → integer `storage`: nearest even, clamped, NaN → 0
             ///< (`.sat`)
};

struct Expr {
  ExprKind kind;
  /// Always one of Bool, I32, I64, F32, F64. Size and Index are I64.
  ScalarType type;
  Place place;

  // Constant. A float is already rounded to `type`; a bool is in `integer`.
  int64_t integer = 0;
  double real = 0;

  unsigned size = 0;                     // Size
  const checked::Index *index = nullptr; // Index
  const Variable *variable = nullptr;    // Read
  llvm::SmallVector<Subscript, 4> subscripts;

  UnaryOp unary{};
  BinaryOp binary{};
  Reduction reduction{};
  ConvertMode mode{};
  /// Convert: the type rounded or wrapped to (F32, F64, I64, … as well).
  ScalarType storage{};

  /// Unary 1, Binary 2, Select 3 (condition, then, else), Convert 1,
  /// Reduce and Softmax 1 (the body). Comparisons have operands of one type.
  llvm::SmallVector<const Expr *, 3> operands;
  /// Reduce: the indices it binds. Softmax: the enclosing indices it normalises
  /// over.
  llvm::SmallVector<const checked::Index *, 2> indices;
  const Expr *filter = nullptr; // Reduce, Softmax: Bool, or null

  /// Levels of the tree below, itself included. The checker keeps it below a
  /// thousand, so walking a tree by recursion is safe. Nodes are never shared.
  unsigned height = 1;
};

/// `target[binds] = value`. A result's value is rounded or converted to the
/// target's type by an explicit Convert at the root, except that a bool, i32,
/// i64, f32, f64 target of the value's own type needs none.
struct Statement {
  const Variable *target;
  llvm::SmallVector<const Index *, 4> binds; // one per dimension of the target
  const Expr *value;
  Place place;
};

struct Require {
  const Expr *condition; // Bool; sizes, numbers and scalar arguments only
  std::string text;      // as written, single spaces
  Place place;
};

struct Size {
  std::string name;
  Place place;
};

struct Kernel {
  std::string name;
  std::string documentation; // the `///` lines, without the slashes
  Place place;
  std::vector<Size>
      sizes; // in order of first appearance in the arguments, then results
  std::vector<const Variable *> arguments; // Argument, Const, Inout, in order
  std::vector<const Variable *> results;
  std::vector<Require> requirements;
  std::vector<Statement>
      statements; // in order; lets that nothing uses are kept

  // Owners of everything pointed to above.
  std::vector<std::unique_ptr<Variable>> variables;
  std::vector<std::unique_ptr<Index>> indexPool;
  std::vector<std::unique_ptr<Expr>> exprPool;
};

} // namespace checked
} // namespace facet

#endif // FACET_FRONTEND_CHECKEDKERNEL_H
