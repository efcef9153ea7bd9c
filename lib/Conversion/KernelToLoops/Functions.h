//===- Functions.h - exp, log, tanh, erf and their kin, without a library -===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_CONVERSION_KERNELTOLOOPS_FUNCTIONS_H
#define FACET_LIB_CONVERSION_KERNELTOLOOPS_FUNCTIONS_H

#include "Num.h"
#include "mlir/IR/BuiltinOps.h"

namespace facet::loops {

enum class Function {
  Exp,
  Log,
  Tanh,
  Erf,
  Sigmoid,
  Silu,
  Gelu,
  GeluTanh,
  Sqrt,
  Rsqrt
};

/// The private functions of a module, made when first called.
class Functions {
public:
  explicit Functions(mlir::ModuleOp module) : module(module) {}
  virtual ~Functions() = default;

  /// f(x) in x's type, f32 or f64. f32 computes in f64 and rounds once, so that
  /// its error stays below 0.51 ulp; f64: docs/Numerics.md.
  virtual Num call(Function function, Num x);

  /// Calls `name`, a private function made by `define` on first use.
  mlir::ValueRange
  call(LocBuilder &b, llvm::StringRef name, mlir::FunctionType type,
       mlir::ValueRange operands,
       llvm::function_ref<void(LocBuilder &, mlir::ValueRange)> define);

protected:
  /// The symbol of a function of f64.
  static llvm::StringRef name(Function function);

private:
  mlir::ModuleOp module;
};

} // namespace facet::loops

#endif // FACET_LIB_CONVERSION_KERNELTOLOOPS_FUNCTIONS_H
