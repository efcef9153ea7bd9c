//===- emit-fuzzer.cpp - from any checked kernel to IR that verifies ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The checker's promise to the rest of the compiler: each kernel it lets through
// becomes IR that the verifier accepts. (What the checker does with any bytes is
// frontend-fuzzer's question.)
//
//===----------------------------------------------------------------------===//

#include "FreshContext.h"
#include "Promise.h"

#include "facet/Frontend/EmitKernel.h"
#include "facet/Frontend/Frontend.h"
#include "mlir/IR/Verifier.h"

using namespace facet;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string text(reinterpret_cast<const char *>(data), size);
  // Imports would read the files of whoever runs this.
  if (llvm::StringRef(text).contains("import"))
    return -1;
  Diagnostics diagnostics;
  auto module = parseAndCheck("fuzz.facet", text, {}, diagnostics);
  if (!module)
    return 0;

  FreshContext context;
  mlir::OwningOpRef<mlir::ModuleOp> ir =
      mlir::ModuleOp::create(mlir::UnknownLoc::get(&*context));
  for (const auto &kernel : module->kernels)
    emitKernel(*ir, *kernel);
  promise(mlir::succeeded(mlir::verify(*ir)),
          "a checked kernel does not verify");
  return 0;
}
