//===- JudgeForm.cpp - NAME.judge and NAME.judge.workspace ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The same walk as OwnForm.cpp, with a value and an error bound for every
// element (docs/Numerics.md, "The judge"), and only where asked:
//
//   demanded outputs ──▶ demanded lets (Demand.cpp, backwards)
//   values and bounds of lets and outputs, in order, where demanded
//   outputs' values and bounds ──▶ the caller's arrays
//
// A result that is read again is read as the road under test stored it, so that
// each statement is judged by its own error. The reductions: JudgeReduce.cpp.
//
//===----------------------------------------------------------------------===//

#include "JudgeForm.h"

#include "Forms.h"
#include "Interface.h"

using namespace facet;
using namespace facet::loops;
using namespace mlir;
using kernel::StructuredOpInterface;

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// Every result of an op has an array of values and one of bounds.
void JudgeForm::reserve() {
  for (StructuredOpInterface op : demand.ops())
    for (Value result : op->getResults()) {
      llvm::SmallVector<OpFoldResult> extents = op.getMixedExtents();
      extents.resize(cast<RankedTensorType>(result.getType()).getRank());
      unsigned value =
          workspace.add(judgedType(loops::elementType(result)), extents);
      slots[result] = {value, workspace.add(b.getF64Type(), extents)};
    }
  demand.reserve(workspace);
}

void JudgeForm::open() {
  MLIRContext *context = kernel.getContext();
  Type pointer = LLVM::LLVMPointerType::get(context);
  ValueRange outputs = returned(kernel);
  llvm::SmallVector<Type> types;
  for (unsigned i = 0; i < kernel.getParams().size(); ++i)
    appendMemoryTypes(kernel.getParam(i), context, types);
  for (unsigned i = 0; i < outputs.size(); ++i)
    appendMemoryTypes(outputParam(kernel, i), context, types);
  types.append(3 * outputs.size() + 2, pointer);

  ValueRange arguments = frame.open(".judge", types, b.getI32Type());
  frame.emitTopLevel();
  for (BlockArgument parameter : kernel.getBody().getArguments())
    frame.tensors[parameter] =
        takeMemory(frame, kernel.getParam(parameter.getArgNumber()),
                   loops::elementType(parameter), arguments);
  for (auto [i, value] : llvm::enumerate(outputs)) {
    Output output;
    output.stored = takeMemory(frame, outputParam(kernel, i),
                               loops::elementType(value), arguments);
    this->outputs.push_back(output);
  }
  for (Output &output : this->outputs) {
    llvm::ArrayRef<Value> dims = output.stored.dims;
    output.demanded = denseStorage(b, b.getI8Type(), arguments[0], dims);
    output.value = denseStorage(b, b.getF64Type(), arguments[1], dims);
    output.bound = denseStorage(b, b.getF64Type(), arguments[2], dims);
    arguments = arguments.drop_front(3);
  }
  placed = workspace.place(frame, arguments[0]);
  frame.error = arguments[1];
  for (auto [value, slot] : slots) {
    JudgedTensor &tensor = own[value];
    tensor.value = placed[slot.first];
    tensor.bound = placed[slot.second];
  }
}

/// The elements that the caller demands, as what the ops must compute.
void JudgeForm::demandOutputs() {
  for (StructuredOpInterface op : demand.ops()) {
    if (!isReturned(op))
      continue;
    Storage needed = demand.array(op, placed);
    forNest(b, needed.dims, [&](llvm::ArrayRef<Value> index) {
      store(b, needed, index, constant(b, b.getI8Type(), int64_t(0)));
    });
    for (auto [value, output] : llvm::zip_equal(returned(kernel), outputs)) {
      if (value.getDefiningOp() != op)
        continue;
      forNest(b, output.demanded.dims,
              [&, &output = output](llvm::ArrayRef<Value> index) {
                Num wanted = frame.num(load(b, output.demanded, index)) != 0;
                ifHolds(b, wanted, [&] {
                  store(b, needed, index.take_front(needed.dims.size()),
                        constant(b, b.getI8Type(), int64_t(1)));
                });
              });
    }
  }
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

void JudgeForm::forNeeded(
    StructuredOpInterface op,
    llvm::function_ref<void(llvm::ArrayRef<Value>)> body) {
  Storage needed = demand.array(op, placed);
  forNest(b, needed.dims, [&](llvm::ArrayRef<Value> index) {
    Num here = frame.num(load(b, needed, index)) != 0;
    ifHolds(b, here, [&] { body(index); });
  });
}

void JudgeForm::emitMap(kernel::MapOp op) {
  forNeeded(op, [&](llvm::ArrayRef<Value> index) {
    JudgePoint point(frame, readable, op, index);
    for (auto [element, result] :
         llvm::zip_equal(point.body(), op.getResults()))
      storeJudged(b, own[result], index, element);
  });
}

void JudgeForm::emitOp(StructuredOpInterface op) {
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
  // Later ops read a result as stored, anything else as computed.
  for (Value result : op->getResults()) {
    auto it = llvm::find(returned(kernel), result);
    if (it == returned(kernel).end())
      readable[result] = own[result];
    else
      frame.tensors[result] = outputs[it - returned(kernel).begin()].stored;
  }
}

/// The judgement of one output, where demanded.
void JudgeForm::emitOutput(Value value, Output &output) {
  auto computed = own.find(value);
  const Storage &known = frame.tensors[value];
  if (computed == own.end() && known.kind == Storage::Nothing) {
    frame.refuse(kernel, "returns a tensor without values");
    return;
  }
  forNest(b, output.demanded.dims, [&](llvm::ArrayRef<Value> index) {
    Num wanted = frame.num(load(b, output.demanded, index)) != 0;
    ifHolds(b, wanted, [&] {
      Judged element = computed == own.end()
                           ? loadStored(b, known, index)
                           : loadJudged(b, computed->second, index);
      Num bound = boundOf(element);
      Num number = element.value;
      if (!number.isFloat()) {
        number = toFloat(number, b.getF64Type());
        // f64 does not hold every i64: what must be exact is compared here.
        Num stored = loadStored(b, output.stored, index).value;
        Num wrong = (bound == 0.0) & (stored != element.value);
        bound = select(wrong, bound.like(-1.0), bound);
      }
      store(b, output.value, index, number);
      store(b, output.bound, index, bound);
    });
  });
}

LogicalResult JudgeForm::run() {
  reserve();
  Frame sizes(kernel, functions);
  workspace.emitSizeFunction(sizes, ".judge.workspace");
  if (sizes.failed)
    return failure();
  open();
  if (frame.failed)
    return failure();

  Type i32 = b.getI32Type();
  Type pointer = LLVM::LLVMPointerType::get(kernel.getContext());
  frame.status = LLVM::AllocaOp::create(b, pointer, i32, frame.i64(1));
  LLVM::StoreOp::create(b, constant(b, i32, int64_t(0)), frame.status);
  demandOutputs();
  demand.emit(frame, placed);
  Num status{b, LLVM::LoadOp::create(b, i32, frame.status)};
  ifHolds(b, status == 0, [&] {
    for (StructuredOpInterface op : demand.ops())
      if (!frame.failed)
        emitOp(op);
    b.setLoc(kernel.getLoc());
    for (auto [value, output] : llvm::zip_equal(returned(kernel), outputs))
      if (!frame.failed)
        emitOutput(value, output);
  });
  func::ReturnOp::create(b, status.get());
  return success(!frame.failed);
}

LogicalResult facet::loops::emitJudgeForm(kernel::FuncOp kernel,
                                          Functions &functions) {
  return JudgeForm(kernel, functions).run();
}
