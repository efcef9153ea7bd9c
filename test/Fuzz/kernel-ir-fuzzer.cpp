//===- kernel-ir-fuzzer.cpp - text, parse, verify, print, parse -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads bytes as IR, module by module. What parses and verifies must print, parse
// again and print the same; nothing may crash or hang.
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

static void parsePrintParse(StringRef input, MLIRContext *context) {
  // A string of our own: MLIR's lexer reads up to the NUL behind it.
  std::string text = input.str();
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, context);
  if (!module)
    return;
  std::string once = print(*module);
  OwningOpRef<ModuleOp> again = parseSourceString<ModuleOp>(once, context);
  if (!again) {
    llvm::errs() << "does not parse back:\n" << once;
    abort();
  }
  if (std::string twice = print(*again); twice != once) {
    llvm::errs() << "prints differently:\n" << once << "---\n" << twice;
    abort();
  }
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  // Making a context costs more than an input; it is renewed now and then because it
  // keeps every type and attribute that it has seen.
  static std::unique_ptr<MLIRContext> context;
  static unsigned uses = 0;
  if (uses++ % 256 == 0) {
    context = std::make_unique<MLIRContext>(MLIRContext::Threading::DISABLED);
    context->loadDialect<facet::kernel::KernelDialect>();
    context->getDiagEngine().registerHandler([](Diagnostic &) {});
  }
  // The seeds are test files, which hold many modules.
  StringRef text(reinterpret_cast<const char *>(data), size);
  SmallVector<StringRef> modules;
  text.split(modules, "// -----");
  for (StringRef module : modules)
    parsePrintParse(module, context.get());
  return 0;
}
