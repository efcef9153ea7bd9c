//===- Jit.h - run a compiled module in this process ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_TARGET_JIT_H
#define FACET_TARGET_JIT_H

#include "facet/Target/EmitObject.h"

#include <memory>

namespace facet {

/// Code loaded into this process: the very bytes emitObject makes, linked in
/// memory. Unloaded when the object dies.
class Jit {
public:
  /// Compiles and loads `module` (LLVM dialect); null with a reason in `error`.
  static std::unique_ptr<Jit> create(mlir::ModuleOp module,
                                     const ObjectOptions &options,
                                     std::string &error);
  /// Loads the bytes of an object file for this machine.
  static std::unique_ptr<Jit> load(llvm::ArrayRef<char> object,
                                   std::string &error);
  ~Jit();

  /// The address of a symbol, or null.
  void *lookup(llvm::StringRef symbol);
  template <typename Function>
  Function *lookup(llvm::StringRef symbol) {
    return reinterpret_cast<Function *>(lookup(symbol));
  }

private:
  struct Implementation;
  explicit Jit(std::unique_ptr<Implementation> implementation);
  std::unique_ptr<Implementation> implementation;
};

} // namespace facet

#endif // FACET_TARGET_JIT_H
