//===- Function.h - a C function under construction -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Straight code with early returns, which is what checks are made of:
//
//   Function f(module, "linear", formals, signature, ...);
//   f.openExec();
//   f.failIf(f.lt(f.size(0), f.i64(0)), FACET_E_SIZE, "M", -1, f.size(0), f.i64(0));
//   f.finish(f.i32(FACET_OK));
//
//===----------------------------------------------------------------------===//

#ifndef FACET_LIB_TARGET_EMITINTERFACE_FUNCTION_H
#define FACET_LIB_TARGET_EMITINTERFACE_FUNCTION_H

#include "Signature.h"
#include "facet/abi.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/StringMap.h"

namespace facet::interface {

/// Constant data of a module: strings and structs, each text once.
class Constants {
public:
  /// Knows the texts that earlier kernels of the module have made.
  explicit Constants(mlir::ModuleOp module);
  /// A pointer to `text` with its closing NUL.
  mlir::Value string(mlir::ImplicitLocOpBuilder &b, llvm::StringRef text);
  /// A fresh local constant of `type`, filled by `fill` from an undefined value.
  std::string
  global(mlir::ImplicitLocOpBuilder &b, llvm::StringRef name, mlir::Type type,
         llvm::function_ref<mlir::Value(mlir::ImplicitLocOpBuilder &)> fill);
  mlir::Value address(mlir::ImplicitLocOpBuilder &b, llvm::StringRef global);
  mlir::ModuleOp getModule() { return module; }

private:
  mlir::ModuleOp module;
  llvm::StringMap<std::string> texts; ///< content to symbol
};

/// A constant struct or array of `type` with these members.
mlir::Value aggregate(mlir::ImplicitLocOpBuilder &b, mlir::Type type,
                      llvm::ArrayRef<mlir::Value> members);

class Function {
public:
  /// Opens `symbol` with the parameters `formals` and a body. `result` is null
  /// for the int of a call.
  Function(Constants &constants, mlir::Location loc, const Signature &signature,
           llvm::StringRef symbol, llvm::ArrayRef<Formal> formals,
           mlir::Type result = {});

  mlir::ImplicitLocOpBuilder b;
  Constants &constants;
  const Signature &signature;
  mlir::func::FuncOp op;

  /// The value of a formal; null when the function has none such.
  mlir::Value formal(Formal::Kind kind, unsigned index = 0);
  /// dim_M as the caller gave it; null when the function has no such parameter.
  mlir::Value size(unsigned index) const { return sizes[index]; }
  void setSize(unsigned index, mlir::Value value) { sizes[index] = value; }

  // Constants and arithmetic; comparisons of integers are signed.
  mlir::Value i64(int64_t value);
  mlir::Value i32(int32_t value);
  mlir::Value boolean(bool value);
  mlir::Value nullPointer();
  mlir::Value string(llvm::StringRef text);
  mlir::Value constant(mlir::TypedAttr value);
  mlir::Value add(mlir::Value x, mlir::Value y);
  mlir::Value sub(mlir::Value x, mlir::Value y);
  mlir::Value mul(mlir::Value x, mlir::Value y);
  mlir::Value band(mlir::Value x, mlir::Value y);
  mlir::Value bor(mlir::Value x, mlir::Value y);
  mlir::Value negate(mlir::Value condition);
  mlir::Value select(mlir::Value condition, mlir::Value x, mlir::Value y);
  mlir::Value compare(mlir::arith::CmpIPredicate predicate, mlir::Value x,
                      mlir::Value y);
  mlir::Value lt(mlir::Value x, mlir::Value y) {
    return compare(mlir::arith::CmpIPredicate::slt, x, y);
  }
  mlir::Value le(mlir::Value x, mlir::Value y) {
    return compare(mlir::arith::CmpIPredicate::sle, x, y);
  }
  mlir::Value eq(mlir::Value x, mlir::Value y) {
    return compare(mlir::arith::CmpIPredicate::eq, x, y);
  }
  mlir::Value ne(mlir::Value x, mlir::Value y) {
    return compare(mlir::arith::CmpIPredicate::ne, x, y);
  }
  mlir::Value isNull(mlir::Value pointer);
  mlir::Value toInt(mlir::Value pointer);
  /// x·y and x+y; `overflowed` becomes true, and stays so, when they do not fit.
  mlir::Value mulChecked(mlir::Value x, mlir::Value y, mlir::Value &overflowed);
  mlir::Value addChecked(mlir::Value x, mlir::Value y, mlir::Value &overflowed);

  // Memory: byte offsets, known or computed.
  mlir::Value offset(mlir::Value pointer, int64_t bytes);
  mlir::Value offset(mlir::Value pointer, mlir::Value bytes);
  mlir::Value load(mlir::Type type, mlir::Value pointer, int64_t bytes = 0);
  void store(mlir::Value value, mlir::Value pointer, int64_t bytes = 0);
  mlir::Type i64Type() { return b.getI64Type(); }
  mlir::Type i32Type() { return b.getI32Type(); }
  mlir::Type pointerType();
  /// Room in the frame, made once at entry.
  mlir::Value frame(int64_t bytes, int64_t alignment);

  /// Continues in a block that is reached only if `condition` holds; the values
  /// that `then` returns are joined with `otherwise`.
  llvm::SmallVector<mlir::Value>
  branch(mlir::Value condition,
         llvm::function_ref<llvm::SmallVector<mlir::Value>()> then,
         llvm::ArrayRef<mlir::Value> otherwise);
  /// Runs `body` for i from 0 to `count` - 1.
  void loop(mlir::Value count, llvm::function_ref<void(mlir::Value)> body);

  /// Reads facet_exec: refuses one that is too small, makes NULL the default.
  /// Later failures fill its error record.
  void openExec();
  mlir::Value exec;   ///< never NULL after openExec
  mlir::Value record; ///< the error record, may be NULL

  /// Returns `code` when `condition` holds, having filled the record.
  void failIf(mlir::Value condition, mlir::Value code, llvm::StringRef argument,
              int32_t axis, mlir::Value found, mlir::Value wanted);
  void failIf(mlir::Value condition, int32_t code, llvm::StringRef argument,
              int32_t axis, mlir::Value found, mlir::Value wanted) {
    failIf(condition, i32(code), argument, axis, found, wanted);
  }
  void failIf(mlir::Value condition, int32_t code, llvm::StringRef argument) {
    failIf(condition, i32(code), argument, -1, i64(0), i64(0));
  }
  /// What the failing paths return when the function is no call: by default the
  /// code itself.
  mlir::Value failureResult;

  /// Returns `value` and closes the function.
  void finish(mlir::Value value);

private:
  mlir::Block *failBlock();
  /// A value without operands, made once, at the start of the function.
  mlir::Value atEntry(mlir::Attribute key,
                      llvm::function_ref<mlir::Value()> make);
  llvm::DenseMap<mlir::Attribute, mlir::Value> entryValues;
  llvm::SmallVector<Formal> formals;
  llvm::SmallVector<mlir::Value> sizes;
  mlir::Block *failed = nullptr;
};

/// Marks a function as local to the object.
void makeLocal(mlir::Operation *function);
/// ... and never part of its callers.
void forbidInlining(mlir::Operation *function);
/// ... and not worth optimising: it runs once where NAME runs often, and would
/// take most of the time that an object takes to compile.
void compileFast(mlir::Operation *function);

} // namespace facet::interface

#endif // FACET_LIB_TARGET_EMITINTERFACE_FUNCTION_H
