//===- Jit.cpp - run a compiled module in this process --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The object that would go to a file is linked in memory instead, so that what
// is run and checked is what is shipped. memcpy and memset come from the process.
//
//===----------------------------------------------------------------------===//

#include "facet/Target/Jit.h"

#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"

using namespace facet;

struct Jit::Implementation {
  std::unique_ptr<llvm::orc::LLJIT> jit;
};

Jit::Jit(std::unique_ptr<Implementation> implementation)
    : implementation(std::move(implementation)) {}
Jit::~Jit() = default;

std::unique_ptr<Jit> Jit::create(mlir::ModuleOp module,
                                 const ObjectOptions &options,
                                 std::string &error) {
  llvm::SmallVector<char, 0> object;
  if (!emitObject(module, ObjectKind::Object, options, object, error))
    return nullptr;
  return load(object, error);
}

std::unique_ptr<Jit> Jit::load(llvm::ArrayRef<char> object,
                               std::string &error) {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  auto implementation = std::make_unique<Implementation>();
  auto build = [&]() -> llvm::Error {
    auto jit = llvm::orc::LLJITBuilder().create();
    if (!jit)
      return jit.takeError();
    implementation->jit = std::move(*jit);
    auto process =
        llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(
            implementation->jit->getDataLayout().getGlobalPrefix());
    if (!process)
      return process.takeError();
    implementation->jit->getMainJITDylib().addGenerator(std::move(*process));
    return implementation->jit->addObjectFile(
        llvm::MemoryBuffer::getMemBufferCopy(
            llvm::StringRef(object.data(), object.size()), "kernel.o"));
  };
  if (llvm::Error failure = build()) {
    error = llvm::toString(std::move(failure));
    return nullptr;
  }
  return std::unique_ptr<Jit>(new Jit(std::move(implementation)));
}

void *Jit::lookup(llvm::StringRef symbol) {
  auto address = implementation->jit->lookup(symbol);
  if (!address) {
    llvm::consumeError(address.takeError());
    return nullptr;
  }
  return address->toPtr<void *>();
}
