//===- FreshContext.h - an MLIR context that does not grow ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_TEST_FUZZ_FRESHCONTEXT_H
#define FACET_TEST_FUZZ_FRESHCONTEXT_H

#include "facet/InitAll.h"
#include "mlir/IR/MLIRContext.h"

#include <memory>

/// A context with Facet's dialects and one thread. Making one takes longer than
/// most inputs, and one that lives on keeps every type and attribute ever seen:
/// so the same one serves 500 inputs.
class FreshContext {
public:
  FreshContext() {
    if (uses++ % 500 == 0) {
      mlir::DialectRegistry registry;
      facet::registerAllDialects(registry);
      context = std::make_unique<mlir::MLIRContext>(
          registry, mlir::MLIRContext::Threading::DISABLED);
      context->loadAllAvailableDialects();
      // Messages are for people; a fuzzer has no use for a million of them.
      context->getDiagEngine().registerHandler(
          [](mlir::Diagnostic &) { return mlir::success(); });
    }
  }
  mlir::MLIRContext &operator*() { return *context; }

private:
  static inline std::unique_ptr<mlir::MLIRContext> context;
  static inline unsigned uses = 0;
};

#endif // FACET_TEST_FUZZ_FRESHCONTEXT_H
