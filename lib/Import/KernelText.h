//===- KernelText.h - a kernel written from values on axes ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a door of lib/Import builds: arrays are values with an element type and axes, an
// op makes a value from values, and the text is asked for at the end. A value is a
// function from subscripts to an expression, so transposing or stretching one costs
// nothing, and what is used once stands where it is used:
//
//   x  ↦ x[m, k]       w ↦ w[k, n]                      arguments
//   s  ↦ sum[k](x[m, k] * w[k, n])                      from an op
//   y[m, n] = relu(sum[k](x[m, k] * w[k, n]) + b[n])    the statement of a result
//
//===----------------------------------------------------------------------===//

#ifndef FACET_LIB_IMPORT_KERNELTEXT_H
#define FACET_LIB_IMPORT_KERNELTEXT_H

#include "facet/Frontend/CheckedKernel.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringSet.h"

#include <functional>

namespace facet::import {

/// How tightly an expression holds together, the loosest first.
enum class Binding { Or, And, Compare, Add, Multiply, Unary, Primary };

/// An expression, and the indices that subscript something in it: the others need
/// a stated range.
struct Text {
  std::string text;
  Binding binding = Binding::Primary;
  std::vector<std::string> ranged;

  /// The text in parentheses if it holds together less than `least`.
  std::string at(Binding least) const;
};

using Subscripts = std::vector<std::string>;

/// What it means to read an element once more.
enum class Work {
  None,  ///< an argument, a `let`, a literal, or one of them seen otherwise
  Light, ///< a conversion, say: better done again than stored
  Heavy
};

/// An array, or one number when it has no axes.
struct Value {
  ScalarType type = ScalarType::F32;
  std::vector<std::string> axes; ///< a size's name or a number each
  /// The element at these subscripts, before it is rounded or wrapped to `type`.
  std::function<Text(const Subscripts &)> raw = [](const Subscripts &) {
    return Text{"0", Binding::Primary, {}};
  };
  Work work = Work::Heavy;
  /// Whether `raw` still has to be converted.
  bool converts = false;
  /// How many ops deep the expression is.
  unsigned depth = 0;

  Text at(const Subscripts &subscripts) const;
};

class KernelText {
public:
  /// Expressions of more ops are cut into `let`s: none nests without end.
  static constexpr unsigned deepest = 30;

  /// `wish` as a name of the language that nothing has yet: `Add_1:0` gives `add_1_0`.
  std::string name(llvm::StringRef wish);
  /// The same for a size: one wish always gives one name.
  std::string size(llvm::StringRef wish);
  size_t sizeCount() const { return sizes.size(); }

  Value argument(llvm::StringRef wish, ScalarType type,
                 std::vector<std::string> axes, bool isConst);
  /// A number written out, stretched over axes of 1.
  static Value literal(std::string text, ScalarType type, size_t rank = 0);

  /// `value`, as a `let` if reading it is heavy, or `always`.
  Value keep(const Value &value, llvm::StringRef wish, bool always = false);
  /// A result, in the order of the prototype; its statement comes by `assign`.
  std::string result(llvm::StringRef wish);
  /// The statement of a result. What comes back reads it as it was stored.
  Value assign(const std::string &result, const Value &value);

  /// The text of `read` with one more index, bound by nothing around; `wish` if free.
  Text bind(llvm::StringRef wish,
            llvm::function_ref<Text(const std::string &index)> read);
  /// `sum[k](body)` and its like over axes of these extents; `body` gets their indices.
  Text reduce(llvm::StringRef reduction, llvm::ArrayRef<std::string> extents,
              llvm::function_ref<Text(const Subscripts &indices)> body);

  std::string finish(llvm::StringRef kernel,
                     llvm::StringRef documentation) const;

private:
  std::string statement(const std::string &name, const Value &value,
                        bool isLet);

  llvm::StringSet<> taken;
  llvm::StringMap<std::string> sizes;
  std::string arguments, body;
  std::vector<std::pair<std::string, std::string>> results; ///< name and type
  std::vector<std::string> bound; ///< indices around what is being written
};

/// `a op b`, and what it binds like: "+" "-" "*" "/" "<" "<=" ">" ">=" "==" "!=" "&&" "||".
Text binary(llvm::StringRef op, const Text &a, const Text &b);
/// `function(operands)`
Text call(llvm::StringRef function, llvm::ArrayRef<Text> operands);
/// A number as the language writes it: the shortest text that reads back as the same.
std::string written(double value, ScalarType type);
/// `-a` or `!a`
Text unary(llvm::StringRef op, const Text &a);
Text number(std::string text);
/// `value` converted by the language's `type(…)`.
Text convert(ScalarType type, const Text &value);

/// `x` without what is behind its point: a cast to integers cuts off, `.sat` rounds.
/// Reads x three times.
Text truncated(const Text &x);
/// x to the power of 2, 3, 0.5, -0.5 or -1, nothing for others. Reads x up to three times.
std::optional<Text> power(const Text &x, double exponent);

/// What the subscripts of an array are for one that it shows otherwise.
using SeenBy = std::function<Subscripts(const Subscripts &)>;
/// `x` seen otherwise, with these axes.
Value view(const Value &x, std::vector<std::string> axes, SeenBy own);
/// Axis i of what is seen is axis order[i] of the array.
SeenBy turned(std::vector<int64_t> order);
/// `x` with axes of 1 put in or left out: from[i] is the axis of x that axis i is, or -1
/// for a new one. Axes of x that are left out are read at 0.
Value reseen(const Value &x, const std::vector<int> &from);
/// The softmax of `scores`, which is no work to read, along `axis`; as elements of `type`.
Value softmax(const Value &scores, size_t axis, ScalarType type);

} // namespace facet::import

#endif // FACET_LIB_IMPORT_KERNELTEXT_H
