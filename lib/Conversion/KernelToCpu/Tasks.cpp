//===- Tasks.cpp - loops whose rounds may run at the same time ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   for task in 0 .. count: body
//
// becomes a function of its own and one call of the caller's parallel_for:
//
//   int NAME.task.0(void *data, int64_t task) { load what the body reads; body }
//   data = { … }
//   if (count > 1 && exec->parallel_for)
//     exec->parallel_for(exec->ctx, count, NAME.task.0, data)
//   else
//     for task in 0 .. count: NAME.task.0(data, task)
//
// The body is emitted in a loop first, where everything is at hand, and moved out
// afterwards with the values that it uses from above; constants are made again.
//
//===----------------------------------------------------------------------===//

#include "Tasks.h"
#include "facet/abi.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Transforms/RegionUtils.h"

#include <cstddef>

using namespace facet;
using namespace facet::loops;
using namespace mlir;

/// The task that `loop` becomes, reading what it uses from above out of `record`.
static func::FuncOp moveOut(Frame &frame, scf::ForOp loop,
                            llvm::ArrayRef<Value> captured,
                            llvm::ArrayRef<Operation *> constants,
                            LLVM::LLVMStructType record) {
  auto outer = loop->getParentOfType<func::FuncOp>();
  auto module = outer->getParentOfType<ModuleOp>();
  Type pointer = LLVM::LLVMPointerType::get(loop.getContext());
  LocBuilder b(loop.getLoc(), loop.getContext());
  std::string name;
  for (unsigned i = 0; name.empty() || module.lookupSymbol(name); ++i)
    name = (frame.kernel.getSymName() + ".task." + llvm::Twine(i)).str();
  b.setInsertionPoint(outer);
  auto task = func::FuncOp::create(
      b, name, b.getFunctionType({pointer, b.getI64Type()}, {b.getI32Type()}));
  task.setPrivate();
  Block *entry = task.addEntryBlock();
  b.setInsertionPointToStart(entry);
  auto replace = [&](Value from, Value to) {
    from.replaceUsesWithIf(to, [&](OpOperand &use) {
      return loop->isProperAncestor(use.getOwner());
    });
  };
  for (Operation *constant : constants)
    for (auto [from, to] :
         llvm::zip(constant->getResults(), b.clone(*constant)->getResults()))
      replace(from, to);
  for (auto [i, value] : llvm::enumerate(captured)) {
    Value address =
        LLVM::GEPOp::create(b, pointer, record, entry->getArgument(0),
                            llvm::ArrayRef<LLVM::GEPArg>{0, int32_t(i)});
    replace(value, LLVM::LoadOp::create(b, value.getType(), address));
  }
  loop.getInductionVar().replaceAllUsesWith(entry->getArgument(1));
  Block &body = *loop.getBody();
  body.getTerminator()->erase();
  entry->getOperations().splice(entry->end(), body.getOperations());
  b.setInsertionPointToEnd(entry);
  Value done = constant(b, b.getI32Type(), int64_t(FACET_OK));
  func::ReturnOp::create(b, done);
  return task;
}

/// Calls `task` for each of 0 … count − 1.
static void callTasks(Frame &frame, func::FuncOp task, Value count,
                      Value data) {
  LocBuilder &b = frame.b;
  Type pointer = data.getType(), i32 = b.getI32Type(), i64 = b.getI64Type();
  auto member = [&](int64_t bytes) -> Value {
    Value address = LLVM::GEPOp::create(
        b, pointer, b.getI8Type(), frame.exec,
        llvm::ArrayRef<LLVM::GEPArg>{frame.i64(bytes).get()});
    return LLVM::LoadOp::create(b, pointer, address);
  };
  Value parallelFor = member(offsetof(facet_exec, parallel_for));
  Num address{b, LLVM::PtrToIntOp::create(b, i64, parallelFor)};
  Value atOnce = (address != 0) & (frame.num(count) > 1);
  auto ifOp = scf::IfOp::create(b, atOnce, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(ifOp.thenBlock());
  Value function = func::ConstantOp::create(b, task.getFunctionType(),
                                            SymbolRefAttr::get(task));
  function =
      UnrealizedConversionCastOp::create(b, pointer, function).getResult(0);
  auto type =
      LLVM::LLVMFunctionType::get(i32, {pointer, i64, pointer, pointer});
  Num code{b, LLVM::CallOp::create(b, type,
                                   ValueRange{parallelFor,
                                              member(offsetof(facet_exec, ctx)),
                                              count, function, data})
                  .getResult()};
  ifHolds(b, code != 0, [&] {
    Value failed = constant(b, i32, int64_t(FACET_E_TASK));
    LLVM::StoreOp::create(b, failed, frame.status);
  });
  b.setInsertionPointToStart(ifOp.elseBlock());
  forLoop(b, count,
          [&](Value i) { func::CallOp::create(b, task, ValueRange{data, i}); });
}

void cpu::forTasks(Frame &frame, Value count,
                   llvm::function_ref<void(Value, Block &)> body) {
  LocBuilder &b = frame.b;
  auto loop = scf::ForOp::create(b, frame.i64(0), count, frame.i64(1));
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    body(loop.getInductionVar(), *loop.getBody());
  }
  llvm::SetVector<Value> used;
  getUsedValuesDefinedAbove(loop.getRegion(), used);
  llvm::SmallVector<Value> captured;
  llvm::SetVector<Operation *> constants;
  for (Value value : used) {
    Operation *def = value.getDefiningOp();
    if (def && def->getNumOperands() == 0 && isMemoryEffectFree(def) &&
        def->getNumRegions() == 0)
      constants.insert(def);
    else
      captured.push_back(value);
  }
  llvm::SmallVector<Type> types;
  for (Value value : captured)
    types.push_back(value.getType());
  auto record = LLVM::LLVMStructType::getLiteral(b.getContext(), types);
  func::FuncOp task =
      moveOut(frame, loop, captured, constants.getArrayRef(), record);

  Type pointer = LLVM::LLVMPointerType::get(b.getContext());
  Value data;
  {
    OpBuilder::InsertionGuard guard(b);
    auto outer = loop->getParentOfType<func::FuncOp>();
    b.setInsertionPointToStart(&outer.getBody().front());
    data = LLVM::AllocaOp::create(b, pointer, record, frame.i64(1), 64);
  }
  for (auto [i, value] : llvm::enumerate(captured)) {
    Value address = LLVM::GEPOp::create(
        b, pointer, record, data, llvm::ArrayRef<LLVM::GEPArg>{0, int32_t(i)});
    LLVM::StoreOp::create(b, value, address);
  }
  loop.erase();
  callTasks(frame, task, count, data);
}

void cpu::forParts(Frame &frame, Num units, llvm::ArrayRef<Value> extents,
                   int64_t grain,
                   llvm::function_ref<void(Value, Num, Num, Block &)> body) {
  LocBuilder &b = frame.b;
  Num work = frame.f64(1. / double(grain));
  for (Value extent : extents)
    work = work * toFloat(frame.num(extent), b.getF64Type());
  constexpr double mostTasks = 1 << 20;
  Num least = min(work, work.like(mostTasks));
  Num tasks =
      min(toInt(least, b.getI64Type()), min(frame.num(frame.threads), units));
  tasks = max(tasks, frame.i64(1));
  Num each = frame.num(arith::DivUIOp::create(b, units + tasks - 1, tasks));
  forTasks(frame, tasks, [&](Value task, Block &stack) {
    Num from = min(frame.num(task) * each, units);
    body(task, from, min(from + each, units), stack);
  });
}

Storage cpu::arrayOf(Frame &frame, const Storage &all, Value task) {
  if (!task)
    return all;
  Storage result = all;
  Num offset = frame.num(task) * frame.num(all.strides.front());
  result.pointer = address(frame.b, all.element, all.pointer, offset);
  result.dims.erase(result.dims.begin());
  result.strides.erase(result.strides.begin());
  return result;
}
