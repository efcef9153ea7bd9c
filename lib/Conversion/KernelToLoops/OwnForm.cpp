//===- OwnForm.cpp - NAME.impl and NAME.workspace -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel in the types of its text, one loop nest per op:
//
//   y[m, n] = bf16(sum[k](x[m, k] * w[k, n]))
//
//   for m, n: t[m, n] = fold k from 0: acc + x·w        (t in the workspace)
//   for m, n: y[m, n] = round(t[m, n])                  (y at its strides)
//
// Outputs are written where the caller wants them and read back from there, so
// a result that is read again is read as stored. An inout is updated in place
// when its new value is an elementwise map that reads the old one only at the
// element it writes; else it is built in the workspace and copied at the end.
//
//===----------------------------------------------------------------------===//

#include "OwnForm.h"
#include "Interface.h"
#include "facet/abi.h"

#include <cstddef>

using namespace facet;
using namespace facet::loops;
using namespace mlir;
using kernel::StructuredOpInterface;

//===----------------------------------------------------------------------===//
// Homes
//===----------------------------------------------------------------------===//

/// `value` may be written over its own old contents in `parameter`.
bool OwnForm::updatesInPlace(Value value, BlockArgument parameter) {
  auto map = value.getDefiningOp<kernel::MapOp>();
  if (!map)
    return false;
  for (Operation *user : parameter.getUsers())
    if (user != map && !user->isBeforeInBlock(map))
      return false;
  auto op = cast<StructuredOpInterface>(map.getOperation());
  for (auto [k, input] : llvm::enumerate(op.getInputs())) {
    if (input != parameter)
      continue;
    for (auto [i, subscript] : llvm::enumerate(op.getAccess(k).getSubscripts()))
      if (!(subscript ==
            kernel::Subscript{kernel::Subscript::Iterator, int64_t(i)}))
        return false;
  }
  return true;
}

void OwnForm::chooseHomes() {
  llvm::SmallVector<unsigned> inouts = kernel.getInoutParams();
  llvm::SmallVector<std::pair<Value, unsigned>> intoInouts;
  for (auto [i, value] : llvm::enumerate(returned(kernel))) {
    bool isInout = i < inouts.size();
    if (isInout) {
      BlockArgument parameter = kernel.getBody().getArgument(inouts[i]);
      if (value == parameter)
        continue; // stays as it is
      if (isa<BlockArgument>(value)) {
        frame.refuse(kernel, "has a parameter as the new value of another one");
        return;
      }
      if (!updatesInPlace(value, parameter)) {
        intoInouts.push_back({value, i});
        continue;
      }
    }
    bool isComputed = value.getDefiningOp<StructuredOpInterface>() != nullptr;
    if (!isComputed || !outputHome.try_emplace(value, i).second)
      (isInout ? intoInouts : copies).push_back({value, i});
  }
  // Results are copied before inouts, which may be what they copy.
  llvm::append_range(copies, intoInouts);
  for (StructuredOpInterface op : demand.ops())
    for (Value result : op->getResults())
      if (!outputHome.contains(result) && hasHome(result))
        slotHome[result] = workspace.add(
            loops::elementType(result),
            llvm::ArrayRef(op.getMixedExtents())
                .take_front(
                    cast<RankedTensorType>(result.getType()).getRank()));
  demand.reserve(workspace);
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

void OwnForm::forNeeded(StructuredOpInterface op,
                        llvm::function_ref<void(llvm::ArrayRef<Value>)> body) {
  llvm::SmallVector<Value> extents = frame.extents(op);
  Storage needed = demand.array(op, placed);
  forNest(b, llvm::ArrayRef(extents).take_front(op.getNumParallel()),
          [&](llvm::ArrayRef<Value> index) {
            Value here;
            if (needed.kind == Storage::Memory)
              here = frame.num(load(b, needed, index)) != 0;
            ifHolds(b, here, [&] { body(index); });
          });
}

void OwnForm::emitMap(kernel::MapOp op) {
  forNeeded(op, [&](llvm::ArrayRef<Value> index) {
    OwnPoint point(frame, op, index);
    for (auto [value, result] : llvm::zip_equal(point.body(), op.getResults()))
      store(b, frame.tensors[result], index, value);
  });
}

void OwnForm::emitReduce(kernel::ReduceOp op) {
  auto structured = cast<StructuredOpInterface>(op.getOperation());
  llvm::SmallVector<Value> extents = frame.extents(structured);
  auto reduced = llvm::ArrayRef(extents).drop_front(op.getNumParallel());
  forNeeded(op, [&](llvm::ArrayRef<Value> index) {
    llvm::SmallVector<Value> start;
    for (Value init : op.getInits()) {
      const Storage &storage = frame.tensors[init];
      if (storage.kind == Storage::Nothing) {
        frame.refuse(op, "starts from a tensor without values");
        return;
      }
      start.push_back(load(b, storage, index));
    }
    llvm::SmallVector<Value> total =
        foldNest(b, reduced, start,
                 [&](llvm::ArrayRef<Value> inner,
                     ValueRange state) -> llvm::SmallVector<Value> {
                   llvm::SmallVector<Value> iterators(index);
                   llvm::append_range(iterators, inner);
                   OwnPoint point(frame, op, iterators);
                   return ifElse(b, point.holds(op.getFilter()), state, [&] {
                     return combine(frame, op.getKind(), state, point.body());
                   });
                 });
    for (auto [value, result] : llvm::zip_equal(total, op.getResults()))
      store(b, frame.tensors[result], index, value);
  });
}

void OwnForm::emitSoftmax(kernel::SoftmaxOp op) {
  auto structured = cast<StructuredOpInterface>(op.getOperation());
  llvm::SmallVector<Value> extents = frame.extents(structured);
  auto reduced = llvm::ArrayRef(extents).drop_front(op.getNumParallel());
  Type type = loops::elementType(op.getResult(0));
  // Three walks over a row: the values and their maximum, the exponentials and
  // their sum, the quotients.
  forNeeded(op, [&](llvm::ArrayRef<Value> index) {
    Storage &result = frame.tensors[op.getResult(0)];
    auto walk = [&](llvm::ArrayRef<Value> start,
                    auto step) -> llvm::SmallVector<Value> {
      return foldNest(b, reduced, start,
                      [&](llvm::ArrayRef<Value> inner,
                          ValueRange state) -> llvm::SmallVector<Value> {
                        llvm::SmallVector<Value> iterators(index);
                        llvm::append_range(iterators, inner);
                        OwnPoint point(frame, op, iterators);
                        return ifElse(
                            b, point.holds(op.getFilter()), state,
                            [&] { return step(point, iterators, state); });
                      });
    };
    Value least = constant(b, type, -INFINITY), zero = constant(b, type, 0.0);
    forNest(b, reduced, [&](llvm::ArrayRef<Value> inner) {
      llvm::SmallVector<Value> iterators(index);
      llvm::append_range(iterators, inner);
      store(b, result, iterators, zero);
    });
    using Row = llvm::ArrayRef<Value>;
    Value largest =
        walk({least}, [&](OwnPoint &point, Row at, ValueRange state) {
          Value value = point.body()[0];
          store(b, result, at, value);
          return llvm::SmallVector<Value>{
              max(frame.num(state[0]), frame.num(value))};
        })[0];
    Value sum = walk({zero}, [&](OwnPoint &, Row at, ValueRange state) {
      Num value = frame.num(load(b, result, at));
      Num power = functions.call(Function::Exp, value - frame.num(largest));
      store(b, result, at, power);
      return llvm::SmallVector<Value>{frame.num(state[0]) + power};
    })[0];
    walk({}, [&](OwnPoint &, Row at, ValueRange) {
      store(b, result, at, frame.num(load(b, result, at)) / frame.num(sum));
      return llvm::SmallVector<Value>{};
    });
  });
}

void OwnForm::emitOp(StructuredOpInterface op) {
  b.setLoc(op.getLoc());
  ifHolds(b, demand.isNeeded(op), [&] {
    if (auto map = dyn_cast<kernel::MapOp>(*op))
      return emitMap(map);
    if (auto reduce = dyn_cast<kernel::ReduceOp>(*op))
      return emitReduce(reduce);
    if (auto softmax = dyn_cast<kernel::SoftmaxOp>(*op))
      return emitSoftmax(softmax);
    frame.refuse(op, "has no lowering to loops");
  });
}

void OwnForm::copy(Value from, unsigned output) {
  const Storage &source = frame.tensors[from];
  if (source.kind == Storage::Nothing)
    return; // nobody gave it a value
  const Storage &target = outputs[output];
  forNest(b, target.dims, [&](llvm::ArrayRef<Value> index) {
    store(b, target, index, load(b, source, index));
  });
}

//===----------------------------------------------------------------------===//
// The functions
//===----------------------------------------------------------------------===//

void OwnForm::emitImpl() {
  MLIRContext *context = kernel.getContext();
  Type pointer = LLVM::LLVMPointerType::get(context);
  llvm::SmallVector<unsigned> inouts = kernel.getInoutParams();
  llvm::SmallVector<Type> types;
  for (unsigned i = 0; i < kernel.getParams().size(); ++i)
    appendMemoryTypes(kernel.getParam(i), context, types);
  for (unsigned i = 0; i < kernel.getOutputs().size(); ++i)
    appendMemoryTypes(kernel.getOutput(i), context, types);
  types.append(takesExec ? 3 : 2, pointer);

  ValueRange arguments = frame.open(".impl", types, b.getI32Type());
  frame.emitTopLevel();
  for (BlockArgument parameter : kernel.getBody().getArguments())
    frame.tensors[parameter] =
        takeMemory(frame, kernel.getParam(parameter.getArgNumber()),
                   loops::elementType(parameter), arguments);
  for (unsigned inout : inouts)
    outputs.push_back(frame.tensors[kernel.getBody().getArgument(inout)]);
  for (unsigned i = 0; i < kernel.getOutputs().size(); ++i)
    outputs.push_back(takeMemory(
        frame, kernel.getOutput(i),
        loops::elementType(returned(kernel)[inouts.size() + i]), arguments));
  if (takesExec) {
    frame.exec = arguments[2];
    Value address = LLVM::GEPOp::create(
        b, pointer, b.getI8Type(), frame.exec,
        llvm::ArrayRef<LLVM::GEPArg>{offsetof(facet_exec, threads)});
    Num threads{b, LLVM::LoadOp::create(b, b.getI32Type(), address)};
    frame.threads = max(extend(threads, b.getI64Type()), frame.i64(1));
  }
  placed = workspace.place(frame, arguments[0]);
  frame.error = arguments[1];
  for (auto [value, output] : outputHome)
    frame.tensors[value] = outputs[output];
  for (auto [value, slot] : slotHome)
    frame.tensors[value] = placed[slot];
  if (frame.failed)
    return;
  prepare();

  Type i32 = b.getI32Type();
  frame.status = LLVM::AllocaOp::create(b, pointer, i32, frame.i64(1));
  LLVM::StoreOp::create(b, constant(b, i32, int64_t(0)), frame.status);
  demand.emit(frame, placed);
  Num status{b, LLVM::LoadOp::create(b, i32, frame.status)};
  ifHolds(b, status == 0, [&] {
    for (StructuredOpInterface op : demand.ops())
      if (!frame.failed)
        emitOp(op);
    b.setLoc(kernel.getLoc());
    for (auto [value, output] : copies)
      copy(value, output);
  });
  Value code = LLVM::LoadOp::create(b, i32, frame.status);
  func::ReturnOp::create(b, code);
}

LogicalResult OwnForm::run() {
  chooseHomes();
  if (frame.failed)
    return failure();
  Frame sizes(kernel, functions);
  workspace.emitSizeFunction(sizes, ".workspace", takesExec);
  if (sizes.failed)
    return failure();
  emitImpl();
  return success(!frame.failed);
}

LogicalResult facet::loops::emitOwnForm(kernel::FuncOp kernel,
                                        Functions &functions) {
  return OwnForm(kernel, functions).run();
}
