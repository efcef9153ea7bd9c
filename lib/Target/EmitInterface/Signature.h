//===- Signature.h - the C side of a kernel -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names, parameters and prototypes of a kernel, read once from kernel.func. The
// header and the functions are made from the same lists of formals, so they
// cannot disagree about an order.
//
//===----------------------------------------------------------------------===//

#ifndef FACET_LIB_TARGET_EMITINTERFACE_SIGNATURE_H
#define FACET_LIB_TARGET_EMITINTERFACE_SIGNATURE_H

#include "ElementType.h"
#include "facet/Target/EmitInterface.h"

namespace facet::interface {

/// An argument or result.
struct Parameter {
  std::string name;  ///< in the text
  std::string cName; ///< in the prototype
  kernel::ParamMode mode;
  const ElementType *element;
  llvm::SmallVector<kernel::AxisAttr> axes;

  unsigned rank() const { return axes.size(); } // axes in memory
  bool isWritten() const {
    return mode == kernel::ParamMode::Inout || mode == kernel::ParamMode::Out;
  }
  /// A scalar that is only read: it has no address.
  bool isByValue() const { return rank() == 0 && !isWritten(); }
  /// A const array: has NAME_pack_x.
  bool isPackable() const {
    return mode == kernel::ParamMode::Const && rank() > 0;
  }
  /// How many strides the caller gives.
  unsigned numStrides() const { return rank() < 2 ? 0 : rank() - 1; }
};

/// One parameter of a C prototype.
struct Formal {
  enum Kind {
    Size,    ///< int64_t dim_M
    Data,    ///< const facet_bf16 *x, or float alpha
    Packed,  ///< const void *w
    Leading, ///< int64_t ld_x
    Strides, ///< const int64_t strides_x[2]
    Threads, ///< int threads
    Target,  ///< void *dst
    Exec,    ///< const facet_exec *exec
    At, ///< int32_t at, of a local function: the level of packed arrays, −1
        ///< where they are plain
    TensorsIn, ///< const facet_dltensor *const *in
    TensorsOut ///< facet_dltensor *const *out
  } kind;
  unsigned index = 0; ///< of the size or parameter
};

struct Signature {
  std::string name;   ///< of the kernel in the text
  std::string cName;  ///< of the function NAME
  std::string prefix; ///< what other functions put in front of `_info` ...
  std::string documentation;
  std::vector<std::string> sizes;
  std::vector<Parameter> parameters; ///< arguments, then results
  unsigned numArguments = 0;
  std::vector<std::string> promises; ///< texts of `requires`, in order
  /// Values a size may have, in order of the sizes; empty: any.
  std::vector<std::vector<int64_t>> fixed;

  /// Position of a dimension's size.
  unsigned sizeIndex(mlir::StringAttr name) const;
  /// Sizes that occur in the axes of a parameter, ascending.
  llvm::SmallVector<unsigned> sizesOf(const Parameter &parameter) const;
  bool hasPackable() const;
  std::string symbol(const llvm::Twine &suffix) const {
    return (prefix + "_" + suffix).str();
  }
  /// Every C name that the kernel exports.
  std::vector<std::string> symbols() const;

  llvm::SmallVector<Formal> call(bool packed) const;
  llvm::SmallVector<Formal> workspace() const;
  llvm::SmallVector<Formal> packBytes(unsigned parameter) const;
  llvm::SmallVector<Formal> pack(unsigned parameter) const;
  llvm::SmallVector<Formal> tensors() const;
};

/// Reads and checks; reports what C cannot take. `others` is the table of the kernel's
/// module, when there is one.
mlir::FailureOr<Signature> describe(kernel::FuncOp kernel,
                                    const InterfaceOptions &options,
                                    const mlir::SymbolTable *others = nullptr);

/// "M", "128" or "(Q, 128)".
std::string spell(kernel::AxisAttr axis);

} // namespace facet::interface

#endif // FACET_LIB_TARGET_EMITINTERFACE_SIGNATURE_H
