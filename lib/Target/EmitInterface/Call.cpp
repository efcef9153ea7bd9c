//===- Call.cpp - NAME and NAME_workspace ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// NAME is all checks, then scratch memory, then one call:
//
//   level ─ sizes ─ arrays ─ promises ─ NULLs ─ [FACET_CHECK] ─ workspace ─▶ NAME.impl
//
// Nothing is written before the last arrow. Scratch comes from the first of:
// exec->workspace when it is large enough, exec->reserve, the stack. The stack's
// 64 KiB are the frame of a function of its own that is never inlined, so that
// callers with a workspace do not pay for them and no frame grows.
//
//===----------------------------------------------------------------------===//

#include "Arrays.h"
#include "EntryPoints.h"
#include "Scalars.h"

#include <cstddef>

using namespace mlir;
using namespace facet;
using namespace facet::interface;

/// Scratch on the stack, in bytes; what a workspace is aligned to.
static constexpr int64_t stackBytes = 64 * 1024;
static constexpr int64_t alignment = 64;

//===----------------------------------------------------------------------===//
// Workspace
//===----------------------------------------------------------------------===//

static SmallVector<unsigned> allSizes(const Signature &signature) {
  return llvm::to_vector(llvm::seq<unsigned>(signature.sizes.size()));
}

/// NAME.workspace, `function`, of the sizes, the number of threads, which counts as 1
/// where it is less, and the level; negative when it is beyond 63 bits.
static Value callRequirement(Function &f, Emission &emission,
                             func::FuncOp function, Value threads,
                             Value level) {
  SmallVector<Value> arguments;
  for (unsigned i : allSizes(emission.signature))
    arguments.push_back(f.size(i));
  if (function.getNumArguments() > arguments.size() + emission.takesLevel())
    arguments.push_back(
        arith::MaxSIOp::create(f.b, threads, f.i32(1)).getResult());
  if (emission.takesLevel())
    arguments.push_back(level);
  return func::CallOp::create(f.b, function, arguments).getResult(0);
}

/// What the caller should bring: room to align is included.
static Value withAlignment(Function &f, Value bytes) {
  return f.select(f.eq(bytes, f.i64(0)), f.i64(0),
                  f.add(bytes, f.i64(alignment - 1)));
}

void facet::interface::emitWorkspace(Emission &emission) {
  Function f(emission.constants, emission.loc(), emission.signature,
             emission.signature.symbol("workspace"),
             emission.signature.workspace(),
             Builder(emission.kernel).getI64Type());
  compileFast(f.op);
  f.failureResult = f.i64(-1); // SIZE_MAX
  checkSizes(f, allSizes(emission.signature));
  for (unsigned i = 0, e = emission.signature.parameters.size(); i != e; ++i)
    measure(f, i, /*isDense=*/true);
  // Enough for every level, packed or not: neither is known yet. As unsigned numbers, so
  // that a negative one stays.
  Value bytes;
  for (int32_t level : emission.options.levels)
    for (func::FuncOp function :
         {emission.requirement, emission.packedRequirement}) {
      if (!function)
        continue;
      Value needed = callRequirement(f, emission, function,
                                     f.formal(Formal::Threads), f.i32(level));
      bytes = bytes ? arith::MaxUIOp::create(f.b, bytes, needed).getResult()
                    : needed;
    }
  f.finish(f.select(f.lt(bytes, f.i64(0)), f.i64(-1), withAlignment(f, bytes)));
}

/// The first address at or behind `pointer` that a workspace may start at.
static Value alignUp(Function &f, Value pointer) {
  Value address = f.toInt(pointer);
  Value skip = f.band(f.sub(f.i64(0), address), f.i64(alignment - 1));
  return f.offset(pointer, skip);
}

//===----------------------------------------------------------------------===//
// Calling the implementation
//===----------------------------------------------------------------------===//

/// A function that calls `implementation` with its own frame as workspace: the same
/// parameters without the workspace.
static func::FuncOp emitOnStack(Emission &emission,
                                func::FuncOp implementation) {
  ImplicitLocOpBuilder b(emission.loc(), emission.kernel->getContext());
  b.setInsertionPointAfter(implementation);
  SmallVector<Type> types(implementation.getArgumentTypes());
  unsigned workspace =
      types.size() - (emission.takesExec ? 3 : 2) - emission.takesLevel();
  types.erase(types.begin() + workspace);
  auto function = func::FuncOp::create(
      b, (implementation.getName() + ".on_stack").str(),
      b.getFunctionType(types, implementation.getResultTypes()));
  makeLocal(function);
  forbidInlining(function);
  b.setInsertionPointToStart(function.addEntryBlock());
  Value bytes = arith::ConstantOp::create(b, b.getI64IntegerAttr(stackBytes));
  Value frame =
      LLVM::AllocaOp::create(b, LLVM::LLVMPointerType::get(b.getContext()),
                             b.getI8Type(), bytes, alignment);
  SmallVector<Value> arguments(function.getArguments());
  arguments.insert(arguments.begin() + workspace, frame);
  auto call = func::CallOp::create(b, implementation, arguments);
  func::ReturnOp::create(b, call.getResults());
  return function;
}

/// Finds scratch memory and calls; the result is the code of NAME.impl, or, where
/// `isPacked` (null: never), of NAME.packed.impl. `arguments` are those in front of the
/// workspace.
static Value callWithScratch(Function &f, Emission &emission,
                             ArrayRef<Value> arguments, Value isPacked,
                             Value level) {
  auto callOne = [&](func::FuncOp callee, ArrayRef<Value> last) {
    SmallVector<Value> all(arguments);
    all.append(last.begin(), last.end());
    if (emission.takesExec)
      all.push_back(f.exec);
    if (emission.takesLevel())
      all.push_back(level);
    return func::CallOp::create(f.b, callee, all).getResult(0);
  };
  auto call = [&](func::FuncOp plain, func::FuncOp packed,
                  ArrayRef<Value> last) {
    if (!isPacked)
      return callOne(plain, last);
    Value code = f.branch(
        isPacked,
        [&]() -> SmallVector<Value> { return {callOne(packed, last)}; },
        {f.i32(0)})[0];
    return f.branch(
        f.negate(isPacked),
        [&]() -> SmallVector<Value> { return {callOne(plain, last)}; },
        {code})[0];
  };
  Value threads = f.load(f.i32Type(), f.exec, offsetof(facet_exec, threads));
  Value needed =
      callRequirement(f, emission, emission.requirement, threads, level);
  if (isPacked)
    needed = f.select(isPacked,
                      callRequirement(f, emission, emission.packedRequirement,
                                      threads, level),
                      needed);
  f.failIf(f.lt(needed, f.i64(0)), FACET_E_OVERFLOW, "");
  Value withSlack = withAlignment(f, needed);
  Value given =
      f.load(f.pointerType(), f.exec, offsetof(facet_exec, workspace));
  Value givenBytes =
      f.load(f.i64Type(), f.exec, offsetof(facet_exec, workspace_bytes));
  Value start = alignUp(f, given);
  Value skipped = f.sub(f.toInt(start), f.toInt(given));
  Value isEnough = f.band(
      f.negate(f.isNull(given)),
      f.compare(arith::CmpIPredicate::uge, givenBytes, f.add(needed, skipped)));
  Value inPlace = f.bor(isEnough, f.eq(needed, f.i64(0)));

  Value reserve =
      f.load(f.pointerType(), f.exec, offsetof(facet_exec, reserve));
  Value canReserve = f.negate(f.isNull(reserve));
  Value fitsStack = f.band(f.isNull(given), f.le(needed, f.i64(stackBytes)));
  Value onStack =
      f.band(f.negate(inPlace), f.band(f.negate(canReserve), fitsStack));

  // A second call site rather than a frame that everybody pays for.
  func::FuncOp onStackPlain = emitOnStack(emission, emission.implementation);
  func::FuncOp onStackPacked;
  if (isPacked)
    onStackPacked = emitOnStack(emission, emission.packedImplementation);
  Value none = f.i32(0);
  Value workspace = f.branch(
      f.band(f.negate(inPlace), f.negate(onStack)),
      [&]() -> SmallVector<Value> {
        f.failIf(f.negate(canReserve), FACET_E_WORKSPACE, "", -1, givenBytes,
                 withSlack);
        Value context =
            f.load(f.pointerType(), f.exec, offsetof(facet_exec, ctx));
        auto type = LLVM::LLVMFunctionType::get(f.pointerType(),
                                                {f.pointerType(), f.i64Type()});
        Value more = LLVM::CallOp::create(
                         f.b, type, ValueRange{reserve, context, withSlack})
                         .getResult();
        f.failIf(f.isNull(more), FACET_E_WORKSPACE, "", -1, f.i64(0),
                 withSlack);
        return {alignUp(f, more)};
      },
      {start})[0];
  Value code =
      f.branch(onStack,
               [&]() -> SmallVector<Value> {
                 return {call(onStackPlain, onStackPacked, {f.record})};
               },
               {none})[0];
  return f.branch(f.negate(onStack),
                  [&]() -> SmallVector<Value> {
                    return {call(emission.implementation,
                                 emission.packedImplementation,
                                 {workspace, f.record})};
                  },
                  {code})[0];
}

/// Arguments of NAME.impl in front of the workspace. Scalars get an address.
static SmallVector<Value> implementationArguments(Function &f,
                                                  ArrayRef<Array> arrays) {
  SmallVector<Value> arguments;
  for (unsigned i : allSizes(f.signature))
    arguments.push_back(f.size(i));
  for (const Array &array : arrays) {
    arguments.push_back(array.pointer);
    arguments.append(array.strides);
  }
  return arguments;
}

/// NAME, where it is not the function that does it all.
static void emitPlainDoor(Emission &emission, func::FuncOp callee) {
  const Signature &signature = emission.signature;
  Function f(emission.constants, emission.loc(), signature, signature.cName,
             signature.call(/*packed=*/false));
  SmallVector<Value> arguments(f.op.getArguments());
  arguments.push_back(f.i32(-1));
  f.finish(func::CallOp::create(f.b, callee, arguments).getResult(0));
}

LogicalResult facet::interface::emitCall(Emission &emission) {
  const Signature &signature = emission.signature;
  SmallVector<Formal> formals = signature.call(/*packed=*/false);
  if (emission.packedImplementation)
    formals.push_back({Formal::At});
  Function f(emission.constants, emission.loc(), signature,
             emission.callSymbol(), formals);
  f.openExec();
  Value level, isPacked;
  if (emission.hasLevels()) {
    level = chooseLevel(f, emission);
    Value cap = f.load(f.i32Type(), f.exec, offsetof(facet_exec, max_level));
    auto wide = [&](Value number) -> Value {
      return arith::ExtSIOp::create(f.b, f.i64Type(), number);
    };
    f.failIf(f.eq(level, f.i32(0)), FACET_E_LEVEL, "max_level", -1, wide(cap),
             f.i64(emission.options.levels.front()));
  }
  if (emission.packedImplementation) {
    // NAME_packed has checked that the level may be used.
    Value at = f.formal(Formal::At);
    isPacked = f.compare(arith::CmpIPredicate::sge, at, f.i32(0));
    if (level)
      level = f.select(isPacked, at, level);
  }
  checkSizes(f, allSizes(signature));

  SmallVector<Array> arrays;
  for (unsigned i = 0, e = signature.parameters.size(); i != e; ++i) {
    Array array = measure(f, i, /*isDense=*/false);
    Value data = f.formal(Formal::Data, i);
    if (signature.parameters[i].isByValue()) {
      array.pointer = f.frame(8, 8);
      f.store(data, array.pointer);
    } else {
      array.pointer = data;
    }
    arrays.push_back(array);
  }
  for (Array &array : arrays) {
    // The strides of an argument that was left out mean nothing.
    Value isAbsent = f.isNull(array.pointer);
    SmallVector<Value> strides = givenStrides(f, array);
    for (auto [stride, dense] : llvm::zip(strides, denseStrides(f, array)))
      stride = f.select(isAbsent, dense, stride);
    takeStrides(f, array, strides);
  }
  if (failed(checkPromises(f, emission.kernel, emission.options)))
    return failure();

  SmallVector<Value> needs = findNeeds(f, emission.kernel);
  SmallVector<Array> addressed; // what the caller passed by address
  for (const Array &array : arrays) {
    const Parameter &parameter = signature.parameters[array.index];
    if (parameter.isByValue())
      continue;
    addressed.push_back(array);
    Value isTouched = f.negate(array.isEmpty);
    if (!parameter.isWritten())
      isTouched = f.band(isTouched, needs[array.index]);
    f.failIf(f.band(isTouched, f.isNull(array.pointer)), FACET_E_NULL,
             parameter.name);
  }
  checkMemory(f, addressed);

  Value code = callWithScratch(f, emission, implementationArguments(f, arrays),
                               isPacked, level);
  // NAME.impl fills its part of the record; the kernel's name is set here.
  Value isRefused = f.band(f.ne(code, f.i32(0)), f.negate(f.isNull(f.record)));
  f.branch(isRefused,
           [&]() -> SmallVector<Value> {
             f.store(code, f.record, offsetof(facet_error, code));
             f.store(f.string(signature.name), f.record,
                     offsetof(facet_error, kernel));
             return {};
           },
           {});
  f.finish(code);
  if (emission.packedImplementation) {
    makeLocal(f.op);
    emitPlainDoor(emission, f.op);
  }
  return success();
}
