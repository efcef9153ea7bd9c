//===- kernel-ir-fuzzer.cpp - text, parse, verify, print, parse -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads bytes as IR. What parses and verifies must print, parse again and print the
// same; nothing may crash or hang. The printed form is compared, not the IR, because
// uniqued names and locations are all that may differ between two parses.
//
// Only the dialects whose ops a kernel may hold are loaded: findings inside others
// would be libMLIR's.
//
//===----------------------------------------------------------------------===//

#include "facet/Dialect/Kernel/IR/Kernel.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

using namespace mlir;

static std::string print(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream os(text);
  module.print(os, OpPrintingFlags().assumeVerified());
  return text;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  // A fresh context each time: attributes and types of an input go with it.
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<facet::kernel::KernelDialect>();
  ScopedDiagnosticHandler quiet(&context, [](Diagnostic &) {});
  // A string of our own: MLIR's lexer reads up to the NUL behind it.
  std::string text(reinterpret_cast<const char *>(data), size);
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  if (!module)
    return 0;
  std::string once = print(*module);
  OwningOpRef<ModuleOp> again = parseSourceString<ModuleOp>(once, &context);
  if (!again) {
    llvm::errs() << "does not parse back:\n" << once;
    abort();
  }
  if (std::string twice = print(*again); twice != once) {
    llvm::errs() << "prints differently:\n" << once << "---\n" << twice;
    abort();
  }
  return 0;
}
