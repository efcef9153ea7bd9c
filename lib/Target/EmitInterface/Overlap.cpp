//===- Overlap.cpp - whether two arrays share memory ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two arrays whose ranges of addresses meet need not share an element: q, k and
// v may be column blocks of one matrix, written in turn. What tells them apart
// is a pitch P that both step by:
//
//   q: rows of  8 elements, 24 apart, from 0   ┐ modulo 24: [0, 8) and [8, 16)
//   k: rows of  8 elements, 24 apart, from 8   ┘ never meet
//
// With a pitch, every axis of an array either stays inside one period (its
// stride is below P; together they span a width) or repeats it (its stride is a
// multiple of P). Two arrays are apart when some pitch is good for both and their
// windows do not meet modulo P. Any stride of the two may be that pitch; all are
// tried. An answer of no is a proof; a yes may be wrong for arrangements that no
// pitch explains, and is then an error the caller sees.
//
// Out of line and in loops, once per object: only FACET_CHECK calls it.
//
//===----------------------------------------------------------------------===//

#include "Arrays.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace facet;
using namespace facet::interface;
using arith::CmpIPredicate;

static constexpr StringLiteral windowName = "facet.window";
static constexpr StringLiteral apartName = "facet.apart";

namespace {
/// A function of the object, with the arithmetic its formulas are read in.
struct Helper {
  ImplicitLocOpBuilder b;
  func::FuncOp function;

  Helper(Constants &constants, Location loc, StringRef name,
         ArrayRef<Type> arguments, Type result)
      : b(loc, loc.getContext()) {
    b.setInsertionPointToEnd(constants.getModule().getBody());
    function =
        func::FuncOp::create(b, name, b.getFunctionType(arguments, {result}));
    makeLocal(function);
    compileFast(function);
    b.setInsertionPointToStart(function.addEntryBlock());
  }
  Value argument(unsigned i) { return function.getArgument(i); }
  Value i64(int64_t value) {
    return arith::ConstantOp::create(b, b.getI64IntegerAttr(value));
  }
  Value add(Value x, Value y) { return arith::AddIOp::create(b, x, y); }
  Value sub(Value x, Value y) { return arith::SubIOp::create(b, x, y); }
  Value mul(Value x, Value y) { return arith::MulIOp::create(b, x, y); }
  Value band(Value x, Value y) { return arith::AndIOp::create(b, x, y); }
  Value select(Value c, Value x, Value y) {
    return arith::SelectOp::create(b, c, x, y);
  }
  Value compare(CmpIPredicate predicate, Value x, Value y) {
    return arith::CmpIOp::create(b, predicate, x, y);
  }
  /// Axis i of a shape in memory: 0 its extent, 1 its stride.
  Value member(Value shape, Value axis, int64_t which) {
    Value place = add(add(axis, axis), i64(which));
    Value address = LLVM::GEPOp::create(b, shape.getType(), b.getI64Type(),
                                        shape, ArrayRef<LLVM::GEPArg>{place});
    return LLVM::LoadOp::create(b, b.getI64Type(), address);
  }
  /// The last value of a loop over 0 ≤ i < count.
  Value loop(Value count, Value start,
             llvm::function_ref<Value(Value i, Value carried)> body) {
    auto loop = scf::ForOp::create(
        b, i64(0), count, i64(1), ValueRange{start},
        [&](OpBuilder &builder, Location loc, Value i, ValueRange carried) {
          OpBuilder::InsertionGuard guard(b);
          b.setInsertionPoint(builder.getInsertionBlock(),
                              builder.getInsertionPoint());
          Value next = body(i, carried[0]);
          scf::YieldOp::create(b, loc, next);
        });
    return loop.getResult(0);
  }
};
} // namespace

/// window(shape, rank, pitch): bytes that the axes below `pitch` span, or 0 when
/// the others are no multiples of it.
static void defineWindow(Constants &constants, Location loc) {
  MLIRContext *context = loc.getContext();
  Type i64 = IntegerType::get(context, 64);
  Helper h(constants, loc, windowName,
           {LLVM::LLVMPointerType::get(context), i64, i64}, i64);
  Value shape = h.argument(0), rank = h.argument(1), pitch = h.argument(2);
  // The last axis is contiguous: its stride is the size of an element.
  Value element = h.member(shape, h.sub(rank, h.i64(1)), 1);
  Value window = h.loop(rank, element, [&](Value i, Value sum) {
    Value extent = h.member(shape, i, 0), stride = h.member(shape, i, 1);
    Value reach = h.mul(h.sub(extent, h.i64(1)), stride);
    Value isInside = h.compare(CmpIPredicate::slt, stride, pitch);
    Value rest = arith::RemSIOp::create(h.b, stride, pitch);
    Value isSingle = h.compare(CmpIPredicate::sle, extent, h.i64(1));
    Value isRepeat = arith::OrIOp::create(
        h.b, isSingle, h.compare(CmpIPredicate::eq, rest, h.i64(0)));
    Value isSpoiled = h.compare(CmpIPredicate::eq, sum, h.i64(0));
    Value next = h.select(isInside, h.add(sum, reach),
                          h.select(isRepeat, sum, h.i64(0)));
    return h.select(isSpoiled, sum, next);
  });
  func::ReturnOp::create(h.b, window);
}

/// apart(x, xRank, xBegin, y, yRank, yBegin): a pitch among x's strides proves
/// that the arrays share no byte.
static void defineApart(Constants &constants, Location loc) {
  MLIRContext *context = loc.getContext();
  Type i64 = IntegerType::get(context, 64), i1 = IntegerType::get(context, 1);
  Type pointer = LLVM::LLVMPointerType::get(context);
  Helper h(constants, loc, apartName, {pointer, i64, i64, pointer, i64, i64},
           i1);
  Value x = h.argument(0), xRank = h.argument(1), xBegin = h.argument(2);
  Value y = h.argument(3), yRank = h.argument(4), yBegin = h.argument(5);
  Value no = arith::ConstantOp::create(h.b, h.b.getBoolAttr(false));
  auto window = [&](Value shape, Value rank, Value pitch) {
    return func::CallOp::create(h.b, windowName, i64,
                                ValueRange{shape, rank, pitch})
        .getResult(0);
  };
  Value isApart = h.loop(xRank, no, [&](Value i, Value found) -> Value {
    Value stride = h.member(x, i, 1);
    Value one = h.i64(1), zero = h.i64(0);
    Value isPitch = h.compare(CmpIPredicate::sgt, stride, zero);
    Value pitch = h.select(isPitch, stride, one);
    Value xWindow = window(x, xRank, pitch), yWindow = window(y, yRank, pitch);
    // How far y begins behind x, modulo the pitch.
    Value distance = arith::RemSIOp::create(h.b, h.sub(yBegin, xBegin), pitch);
    distance = h.select(h.compare(CmpIPredicate::slt, distance, zero),
                        h.add(distance, pitch), distance);
    Value isBehind = h.compare(CmpIPredicate::sle, xWindow, distance);
    Value fits = h.compare(CmpIPredicate::sle, h.add(distance, yWindow), pitch);
    Value areGood = h.band(h.compare(CmpIPredicate::sgt, xWindow, zero),
                           h.compare(CmpIPredicate::sgt, yWindow, zero));
    Value proves = h.band(h.band(isPitch, areGood), h.band(isBehind, fits));
    return arith::OrIOp::create(h.b, found, proves);
  });
  func::ReturnOp::create(h.b, isApart);
}

//===----------------------------------------------------------------------===//
// In a call
//===----------------------------------------------------------------------===//

/// The shape of an array in the frame: extent and stride in bytes per axis. Axes
/// of 4-bit arrays are measured in bytes too: rows begin at whole ones.
static Value storeShape(Function &f, const Array &array) {
  const Parameter &parameter = f.signature.parameters[array.index];
  unsigned rank = parameter.rank(), bits = parameter.element->bits;
  Value shape = f.frame(16 * rank, 8);
  for (unsigned i = 0; i != rank; ++i) {
    bool isLast = i + 1 == rank;
    Value extent = array.extents[i];
    Value stride = isLast ? f.i64(1) : array.strides[i];
    if (bits == 4 && isLast)
      extent = arith::ShRUIOp::create(f.b, extent, f.i64(1));
    else if (bits == 4)
      stride = arith::ShRUIOp::create(f.b, stride, f.i64(1));
    else
      stride = f.mul(stride, f.i64(bits / 8));
    f.store(extent, shape, 16 * i);
    f.store(stride, shape, 16 * i + 8);
  }
  return shape;
}

Overlap::Overlap(Function &f, ArrayRef<Array> arrays) : f(f), arrays(arrays) {
  if (!f.constants.getModule().lookupSymbol(apartName)) {
    defineWindow(f.constants, f.b.getLoc());
    defineApart(f.constants, f.b.getLoc());
  }
  for (const Array &array : arrays)
    shapes.push_back(array.extents.empty() ? Value() : storeShape(f, array));
}

Value Overlap::ofPair(unsigned i, unsigned j) {
  const Array &x = arrays[i], &y = arrays[j];
  Value xBegin = f.toInt(x.pointer), yBegin = f.toInt(y.pointer);
  auto isBefore = [&](Value begin, Value otherBegin, Value otherBytes) {
    return f.compare(CmpIPredicate::ult, begin, f.add(otherBegin, otherBytes));
  };
  Value meet = f.band(isBefore(xBegin, yBegin, y.bytes),
                      isBefore(yBegin, xBegin, x.bytes));
  Value exist = f.negate(f.bor(x.isEmpty, y.isEmpty));
  Value given = f.negate(f.bor(f.isNull(x.pointer), f.isNull(y.pointer)));
  meet = f.band(meet, f.band(exist, given));
  if (x.strides.empty() && y.strides.empty())
    return meet;
  if (!shapes[i] || !shapes[j]) // a scalar between the rows is not looked for
    return meet;
  // Division by the pitch only where the arrays exist and meet.
  return f.branch(
      meet,
      [&]() -> SmallVector<Value> {
        auto apart = [&](unsigned i, Value iBegin, unsigned j, Value jBegin) {
          Value iRank = f.i64(arrays[i].extents.size());
          Value jRank = f.i64(arrays[j].extents.size());
          return func::CallOp::create(f.b, apartName, f.b.getI1Type(),
                                      ValueRange{shapes[i], iRank, iBegin,
                                                 shapes[j], jRank, jBegin})
              .getResult(0);
        };
        return {f.negate(
            f.bor(apart(i, xBegin, j, yBegin), apart(j, yBegin, i, xBegin)))};
      },
      {f.boolean(false)})[0];
}
