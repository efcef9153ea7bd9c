//===- plan-ir-fuzzer.cpp - plans and programs as text --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The same as kernel-ir-fuzzer for the dialects below it: plans of both roads, the
// micro-kernel op, programs of the matrix engine.
//
//===----------------------------------------------------------------------===//

#include "RoundTrip.h"
#include "facet/Dialect/Cpu/IR/Cpu.h"
#include "facet/Dialect/Engine/IR/Engine.h"
#include "facet/Dialect/Kernel/IR/Kernel.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  // Renewed now and then: a context keeps every type and attribute it has seen.
  static std::unique_ptr<MLIRContext> context;
  static unsigned uses = 0;
  if (uses++ % 256 == 0) {
    context = std::make_unique<MLIRContext>(MLIRContext::Threading::DISABLED);
    context->loadDialect<facet::kernel::KernelDialect, facet::cpu::CpuDialect,
                         facet::engine::EngineDialect, func::FuncDialect,
                         memref::MemRefDialect, vector::VectorDialect>();
    context->getDiagEngine().registerHandler([](Diagnostic &) {});
  }
  roundTrip(StringRef(reinterpret_cast<const char *>(data), size),
            context.get());
  return 0;
}
