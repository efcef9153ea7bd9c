//===- Loaded.h - compiled kernels in this process ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_DRIVER_LOADED_H
#define FACET_LIB_DRIVER_LOADED_H

#include "facet/Target/Jit.h"

#include "mlir/IR/BuiltinOps.h"

namespace facet {

/// A module of the LLVM dialect, compiled and loaded, whose functions can be called
/// without knowing their prototypes at compile time.
class Loaded {
public:
  /// Compiles `module` for this machine; null with a reason in `error`. Adds a
  /// small function per function of `module`.
  static std::unique_ptr<Loaded> create(mlir::ModuleOp module,
                                        const ObjectOptions &options,
                                        std::string &error);

  /// The address of a function or constant, or null.
  void *lookup(llvm::StringRef symbol) { return jit->lookup(symbol); }
  /// A function behind a list of the addresses of its arguments.
  using Function = int64_t(void *const *);
  /// What `call` calls: to be called often.
  Function *function(llvm::StringRef name);
  /// Calls `name` with the values that `arguments` point to, each of the type
  /// the function declares. Returns its integer result, extended with its sign.
  int64_t call(llvm::StringRef name, llvm::ArrayRef<void *> arguments);

private:
  std::unique_ptr<Jit> jit;
};

} // namespace facet

#endif // FACET_LIB_DRIVER_LOADED_H
