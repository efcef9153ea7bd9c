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

#include "RoundTrip.h"
#include "facet/Dialect/Kernel/IR/Kernel.h"

using namespace mlir;

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
  roundTrip(StringRef(reinterpret_cast<const char *>(data), size),
            context.get());
  return 0;
}
