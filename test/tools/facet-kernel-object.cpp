//===- facet-kernel-object.cpp - kernel IR to an object, for tests --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// facet-kernel-object in.facet|in.mlir out.o [--judge] [--triple=T] [--fast]
//   [--llvm] [--asm]
//                     [--header=out.h] [--namespace=N]
//
// NAME.impl and NAME.workspace of every kernel in the file (and with --judge
// NAME.judge as well), without the C interface around them, so that the tests of
// the reference road depend on nothing else. With --header the interface and
// nothing else is visible, and its header is written.
//
//===----------------------------------------------------------------------===//

#include "facet/Conversion/KernelToLoops.h"
#include "facet/Frontend/EmitKernel.h"
#include "facet/Frontend/Frontend.h"
#include "facet/Pipelines/Pipelines.h"
#include "facet/Target/EmitInterface.h"
#include "facet/Target/EmitObject.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace facet;
namespace cl = llvm::cl;

static mlir::OwningOpRef<mlir::ModuleOp>
readKernels(llvm::StringRef file, mlir::MLIRContext &context) {
  if (!file.ends_with(".facet"))
    return mlir::parseSourceFile<mlir::ModuleOp>(file, &context);
  context.loadAllAvailableDialects();
  auto buffer = llvm::MemoryBuffer::getFile(file);
  if (!buffer)
    return nullptr;
  Diagnostics diagnostics;
  auto checked =
      parseAndCheck(file, (*buffer)->getBuffer().str(), {}, diagnostics);
  renderDiagnostics(diagnostics, DiagnosticFormat::Text, false, llvm::errs());
  if (!checked)
    return nullptr;
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::ModuleOp::create(mlir::UnknownLoc::get(&context));
  for (const auto &kernel : checked->kernels)
    emitKernel(*module, *kernel);
  return module;
}

int main(int argc, char **argv) {
  cl::opt<std::string> input(cl::Positional, cl::Required);
  cl::opt<std::string> output(cl::Positional, cl::Required);
  cl::opt<bool> judge("judge");
  cl::opt<std::string> triple("triple"), cpu("cpu");
  cl::opt<bool> fast("fast"), text("llvm"), assembly("asm"), lines("lines");
  cl::opt<std::string> header("header"), nameSpace("namespace");
  cl::ParseCommandLineOptions(argc, argv);

  mlir::DialectRegistry registry;
  registerReferenceDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  auto module = readKernels(input, context);
  if (!module)
    return 1;
  llvm::SmallVector<kernel::FuncOp> kernels(module->getOps<kernel::FuncOp>());
  for (kernel::FuncOp kernel : kernels) {
    if (failed(convertKernelToLoops(kernel, {})))
      return 1;
    KernelToLoopsOptions options;
    options.judge = true;
    if (judge && failed(convertKernelToLoops(kernel, options)))
      return 1;
  }
  if (!header.empty()) {
    InterfaceOptions options;
    options.nameSpace = nameSpace;
    auto text = emitHeader(kernels, header, options);
    if (failed(text))
      return 1;
    std::error_code failure;
    llvm::raw_fd_ostream(header, failure) << *text;
    for (kernel::FuncOp kernel : kernels)
      if (failure || failed(emitInterface(kernel, options)))
        return 1;
  }
  if (failed(mlir::verify(*module)) || failed(lowerToLLVM(*module)))
    return 1;

  ObjectOptions options;
  options.triple = triple;
  options.cpu = cpu;
  options.debugLines = lines;
  if (fast)
    options.effort = facet::CodeEffort::Quick;
  llvm::SmallVector<char, 0> bytes;
  std::string error;
  ObjectKind kind = text       ? ObjectKind::LLVMText
                    : assembly ? ObjectKind::Assembly
                               : ObjectKind::Object;
  if (!emitObject(*module, kind, options, bytes, error)) {
    llvm::errs() << "error: " << error << "\n";
    return 1;
  }
  std::error_code failure;
  llvm::raw_fd_ostream os(output, failure);
  if (failure) {
    llvm::errs() << "error: " << failure.message() << "\n";
    return 1;
  }
  os.write(bytes.data(), bytes.size());
  return 0;
}
