//===- RoundTrip.h - text, parse, verify, print, parse --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_TEST_FUZZ_ROUNDTRIP_H
#define FACET_TEST_FUZZ_ROUNDTRIP_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

/// Reads bytes as IR, module by module. Ends the fuzzer when what parses and
/// verifies does not print, parse again and print the same.
inline void roundTrip(llvm::StringRef input, mlir::MLIRContext *context) {
  auto print = [](mlir::ModuleOp module) {
    std::string text;
    llvm::raw_string_ostream os(text);
    module.print(os, mlir::OpPrintingFlags().assumeVerified());
    return text;
  };
  // The seeds are test files, which hold many modules.
  llvm::SmallVector<llvm::StringRef> modules;
  input.split(modules, "// -----");
  for (llvm::StringRef part : modules) {
    // A string of our own: MLIR's lexer reads up to the NUL behind it.
    std::string text = part.str();
    auto module = mlir::parseSourceString<mlir::ModuleOp>(text, context);
    if (!module)
      continue;
    std::string once = print(*module);
    auto again = mlir::parseSourceString<mlir::ModuleOp>(once, context);
    if (!again) {
      llvm::errs() << "does not parse back:\n" << once;
      abort();
    }
    if (std::string twice = print(*again); twice != once) {
      llvm::errs() << "prints differently:\n" << once << "---\n" << twice;
      abort();
    }
  }
}

#endif // FACET_TEST_FUZZ_ROUNDTRIP_H
