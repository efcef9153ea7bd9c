//===- Loaded.cpp - compiled kernels in this process ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// C cannot call a function whose prototype it learns at run time, but the compiler
// that knows the prototype is at hand:
//
//   int linear(int64_t M, …, const bf16 *x, int64_t ld_x, …)
//   int64_t linear.call(void **a) { return linear(*(int64_t *)a[0], …); }
//
// So run and check go through the very symbol that a C program links.
//
//===----------------------------------------------------------------------===//

#include "Loaded.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include "llvm/Support/CrashRecoveryContext.h"

using namespace mlir;
using namespace facet;

/// Adds `NAME.call` for `function`.
static void addCaller(LLVM::LLVMFuncOp function, OpBuilder &builder) {
  Location loc = function.getLoc();
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
  Type i64 = builder.getI64Type();
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfter(function);
  auto caller = LLVM::LLVMFuncOp::create(
      builder, loc, (function.getName() + ".call").str(),
      LLVM::LLVMFunctionType::get(i64, {pointer}));
  Block *body = caller.addEntryBlock(builder);
  builder.setInsertionPointToStart(body);

  SmallVector<Value> values;
  for (auto [i, type] : llvm::enumerate(function.getArgumentTypes())) {
    Value slot = LLVM::GEPOp::create(builder, loc, pointer, pointer,
                                     body->getArgument(0),
                                     ArrayRef<LLVM::GEPArg>{int32_t(i)});
    Value address = LLVM::LoadOp::create(builder, loc, pointer, slot);
    // A bool is one byte in memory.
    bool isBool = type.isInteger(1);
    Value value = LLVM::LoadOp::create(
        builder, loc, isBool ? builder.getI8Type() : type, address);
    if (isBool)
      value = LLVM::TruncOp::create(builder, loc, type, value);
    values.push_back(value);
  }
  auto call = LLVM::CallOp::create(builder, loc, function, values);
  if (ArrayAttr attributes = function.getArgAttrsAttr())
    call.setArgAttrsAttr(attributes);
  Value result = call.getResult();
  if (result.getType() != i64)
    result = LLVM::SExtOp::create(builder, loc, i64, result);
  LLVM::ReturnOp::create(builder, loc, result);
}

std::unique_ptr<Loaded> Loaded::create(ModuleOp module,
                                       const ObjectOptions &options,
                                       std::string &error) {
  OpBuilder builder(module.getContext());
  SmallVector<LLVM::LLVMFuncOp> functions(module.getOps<LLVM::LLVMFuncOp>());
  for (LLVM::LLVMFuncOp function : functions)
    if (!function.isExternal() &&
        isa<IntegerType>(function.getFunctionType().getReturnType()))
      addCaller(function, builder);
  std::unique_ptr<Loaded> loaded(new Loaded);
  loaded->jit = Jit::create(module, options, error);
  llvm::CrashRecoveryContext::Enable(); // emitObject switches it off behind it
  return loaded->jit ? std::move(loaded) : nullptr;
}

Loaded::Function *Loaded::function(StringRef name) {
  auto *caller = jit->lookup<Function>((name + ".call").str());
  assert(caller && "the module has this function");
  return caller;
}

int64_t Loaded::call(StringRef name, ArrayRef<void *> arguments) {
  return function(name)(arguments.data());
}
