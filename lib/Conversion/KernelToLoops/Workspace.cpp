//===- Workspace.cpp - which tensors rest in scratch memory, and where ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every intermediate tensor has an array of its own: nothing is shared, so no
// order of reads and writes can go wrong. Offsets are sums of rounded sizes,
// computed alike in NAME.workspace, which watches for overflow, and in the code.
//
//===----------------------------------------------------------------------===//

#include "Workspace.h"

using namespace facet;
using namespace facet::loops;
using namespace mlir;

static constexpr int64_t alignment = 64;

/// a·b for a, b ≥ 0; sets `overflow` when it exceeds 63 bits.
static Num multiply(Num a, Num b, Num *overflow) {
  if (!overflow)
    return a * b;
  auto product = arith::MulUIExtendedOp::create(a.builder(), a.get(), b.get());
  Num low{a.builder(), product.getLow()}, high{a.builder(), product.getHigh()};
  *overflow = *overflow | (high != 0) | (low < 0);
  return low;
}

Num Workspace::bytes(Frame &frame, const Slot &slot, Num *overflow) const {
  Num total = frame.i64(storedBytes(slot.type));
  Num tooLarge = frame.i1(false), empty = frame.i1(false);
  for (const Extent &extent : slot.dims) {
    Num dim = extent(frame);
    total = multiply(total, dim, overflow ? &tooLarge : nullptr);
    empty = empty | (dim == 0);
  }
  Num rounded = (total + (alignment - 1)) & -alignment;
  if (overflow) // an empty array is empty, however large its other extents
    *overflow = *overflow | ((tooLarge | (rounded < total)) & invert(empty));
  return select(empty, frame.i64(0), rounded);
}

void Workspace::emitSizeFunction(Frame &frame, const llvm::Twine &suffix,
                                 bool takesThreads) const {
  llvm::SmallVector<Type> more(takesThreads, frame.b.getI32Type());
  ValueRange arguments = frame.open(suffix, more, frame.b.getI64Type());
  if (takesThreads)
    frame.threads =
        extend(Num(frame.b, arguments.front()), frame.b.getI64Type());
  frame.emitTopLevel();
  Num overflow = frame.i1(false), total = frame.i64(0);
  for (const Slot &slot : slots) {
    total = total + bytes(frame, slot, &overflow);
    overflow = overflow | (total < 0);
  }
  func::ReturnOp::create(frame.b, select(overflow, frame.i64(-1), total).get());
}

llvm::SmallVector<Storage> Workspace::place(Frame &frame, Value base) const {
  llvm::SmallVector<Storage> result;
  Num offset = frame.i64(0);
  Type byte = frame.b.getI8Type();
  for (const Slot &slot : slots) {
    Value pointer =
        LLVM::GEPOp::create(frame.b, base.getType(), byte, base,
                            llvm::ArrayRef<LLVM::GEPArg>{offset.get()});
    llvm::SmallVector<Value> dims;
    for (const Extent &extent : slot.dims)
      dims.push_back(extent(frame));
    result.push_back(denseStorage(frame.b, slot.type, pointer, dims));
    offset = offset + bytes(frame, slot, nullptr);
  }
  return result;
}
