//===- mlir-import-fuzzer.cpp - functions on tensors, as text -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// linalg, TOSA and StableHLO: what parses and verifies is imported, as a text that the
// language reads, or refused with a message.
//
//===----------------------------------------------------------------------===//

#include "Promise.h"
#include "facet/Frontend/Frontend.h"
#include "facet/Import/ImportLinalg.h"
#include "facet/InitAll.h"

#include "mlir/Parser/Parser.h"
#include "llvm/Support/CrashRecoveryContext.h"

using namespace mlir;

static void import(llvm::StringRef input) {
  DialectRegistry registry;
  facet::registerAllDialects(registry);
  facet::registerImportDialects(registry);
  auto context =
      std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  bool isRefused = false;
  context->getDiagEngine().registerHandler([&](Diagnostic &diagnostic) {
    isRefused |= diagnostic.getSeverity() == DiagnosticSeverity::Error;
    return success();
  });
  // As the driver reads it: StableHLO's ops have no dialect here.
  context->allowUnregisteredDialects(input.contains("stablehlo"));
  std::string text = input.str(); // MLIR's lexer reads up to the NUL behind it
  OwningOpRef<ModuleOp> module;
  // Faults of libMLIR's own parsers are not what is looked for here.
  llvm::CrashRecoveryContext guard;
  llvm::CrashRecoveryContext::Enable();
  bool isRead = guard.RunSafely(
      [&] { module = parseSourceString<ModuleOp>(text, context.get()); });
  llvm::CrashRecoveryContext::Disable();
  if (!isRead) {
    (void)module.release();
    (void)context.release();
    return;
  }
  if (!module || !facet::hasTensorFunctions(*module))
    return;
  std::optional<std::string> source = facet::importLinalg(*module);
  promise(source.has_value() != isRefused,
          "a module is refused without a reason, or with a kernel");
  if (!source)
    return;
  // The language may refuse it, an axis of 0 elements say.
  facet::Diagnostics again;
  std::optional<std::string> formatted =
      facet::formatSource("imported.facet", *source, again);
  promise(formatted ? *formatted == *source : again.hasErrors(),
          "an imported kernel is not formatted");
  (void)facet::parseAndCheck("imported.facet", *source, {}, again);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  llvm::StringRef input(reinterpret_cast<const char *>(data), size);
  // The seeds are test files, which hold many modules.
  llvm::SmallVector<llvm::StringRef> modules;
  input.split(modules, "//---");
  for (llvm::StringRef part : modules)
    import(modules.size() == 1 ? part : part.split('\n').second);
  return 0;
}
