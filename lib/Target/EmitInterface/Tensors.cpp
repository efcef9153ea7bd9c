//===- Tensors.cpp - NAME_dl ----------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// NAME_dl takes each argument and result as a DLTensor, finds the sizes in their
// shapes, and calls NAME:
//
//   in  = { x: [3, 8], w: [8, 5], b: [5] }, out = { y: [3, 5] }
//   ─▶ linear(3, 8, 5, x.data + x.byte_offset, 8, w…, b…, y…, 5, exec)
//
// A tensor is refused by the name of its argument: another device, element type
// or number of axes, a last axis that is not contiguous, an extent that contradicts
// the sizes. Sizes are looked for in plain axes first, then in groups by exact
// division; the extents are compared with them afterwards, so that a wrong guess
// cannot pass. A NULL tensor is an argument left out, as NULL is in NAME.
//
//===----------------------------------------------------------------------===//

#include "EntryPoints.h"

#include <cstddef>

using namespace mlir;
using namespace facet;
using namespace facet::interface;

static constexpr int64_t dlCpu = 1; // kDLCPU

namespace {
/// What a tensor says, or zeros when it was left out.
struct Tensor {
  unsigned index;
  Value isGiven;
  Value data;
  Value stridesPointer; ///< NULL: dense
  SmallVector<Value> extents;
  SmallVector<Value> strides; ///< all axes; dense ones where there are none
};
} // namespace

/// Checks the tensor itself and reads its members.
static Tensor readTensor(Function &f, unsigned index) {
  const Signature &signature = f.signature;
  const Parameter &parameter = signature.parameters[index];
  unsigned rank = parameter.rank();
  bool isResult = index >= signature.numArguments;
  Value list = f.formal(isResult ? Formal::TensorsOut : Formal::TensorsIn);
  unsigned position = isResult ? index - signature.numArguments : index;
  Value tensor = f.load(f.pointerType(), list, 8 * position);
  Tensor result;
  result.index = index;
  result.isGiven = f.negate(f.isNull(tensor));
  if (isResult || rank == 0)
    f.failIf(f.negate(result.isGiven), FACET_E_NULL, parameter.name);

  Value zero = f.i64(0), one = f.i64(1);
  SmallVector<Value> absent = {f.nullPointer(), f.nullPointer()};
  absent.append(2 * rank, zero);
  SmallVector<Value> read = f.branch(
      result.isGiven,
      [&]() -> SmallVector<Value> {
        auto member = [&](Type type, size_t bytes) -> Value {
          Value value = f.load(type, tensor, bytes);
          if (type.isInteger(64))
            return value;
          return type.isInteger(32)
                     ? Value(arith::ExtSIOp::create(f.b, f.i64Type(), value))
                     : arith::ExtUIOp::create(f.b, f.i64Type(), value);
        };
        auto expect = [&](Value found, int64_t wanted, int32_t code) {
          f.failIf(f.ne(found, f.i64(wanted)), code, parameter.name, -1, found,
                   f.i64(wanted));
        };
        Type i8 = f.b.getI8Type(), i16 = f.b.getIntegerType(16);
        expect(member(f.i32Type(), offsetof(facet_dltensor, device)), dlCpu,
               FACET_E_DEVICE);
        expect(member(i8, offsetof(facet_dltensor, dtype)),
               parameter.element->dlCode, FACET_E_TYPE);
        expect(member(i8, offsetof(facet_dltensor, dtype) + 1),
               parameter.element->bits, FACET_E_TYPE);
        expect(member(i16, offsetof(facet_dltensor, dtype) + 2), 1,
               FACET_E_TYPE);
        expect(member(f.i32Type(), offsetof(facet_dltensor, ndim)), rank,
               FACET_E_RANK);
        Value data =
            f.load(f.pointerType(), tensor, offsetof(facet_dltensor, data));
        Value start =
            f.offset(data, f.load(f.i64Type(), tensor,
                                  offsetof(facet_dltensor, byte_offset)));
        data = f.select(f.isNull(data), data, start);
        if (rank == 0) {
          f.failIf(f.isNull(data), FACET_E_NULL, parameter.name);
          return {data, f.nullPointer()};
        }
        Value shape =
            f.load(f.pointerType(), tensor, offsetof(facet_dltensor, shape));
        Value strides =
            f.load(f.pointerType(), tensor, offsetof(facet_dltensor, strides));
        f.failIf(f.isNull(shape), FACET_E_NULL, parameter.name);
        SmallVector<Value> values = {data, strides}, dense(rank);
        for (unsigned i = 0; i != rank; ++i) {
          Value extent = f.load(f.i64Type(), shape, 8 * i);
          f.failIf(f.lt(extent, zero), FACET_E_SHAPE, parameter.name, i, extent,
                   zero);
          values.push_back(extent);
        }
        Value product = one;
        for (unsigned i = rank; i-- > 0;) {
          dense[i] = product;
          product = f.mul(product, values[2 + i]);
        }
        values.append(f.branch(
            f.negate(f.isNull(strides)),
            [&] {
              SmallVector<Value> given;
              for (unsigned i = 0; i != rank; ++i)
                given.push_back(f.load(f.i64Type(), strides, 8 * i));
              return given;
            },
            dense));
        Value last = values.back();
        Value scattered = f.band(f.lt(one, values[1 + rank]), f.ne(last, one));
        f.failIf(scattered, FACET_E_STRIDE, parameter.name, rank - 1, last,
                 one);
        return values;
      },
      absent);
  result.data = read[0];
  result.stridesPointer = read[1];
  result.extents.assign(read.begin() + 2, read.begin() + 2 + rank);
  result.strides.assign(read.begin() + 2 + rank, read.end());
  return result;
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

namespace {
/// Finds the sizes in the shapes.
class SizeFinder {
public:
  SizeFinder(Function &f, ArrayRef<Tensor> tensors)
      : f(f), tensors(tensors), values(f.signature.sizes.size(), f.i64(0)),
        known(f.signature.sizes.size(), f.boolean(false)) {}

  void run() {
    bool groups = false;
    forEachAxis(
        [&](const Tensor &tensor, unsigned axis, ArrayRef<Attribute> dims) {
          groups |= dims.size() > 1;
          if (auto name = dyn_cast<StringAttr>(dims.front());
              name && dims.size() == 1)
            offer(f.signature.sizeIndex(name), tensor.isGiven,
                  tensor.extents[axis]);
        });
    // One group may need the size that another gives: as many rounds as sizes.
    for (unsigned i = 0; groups && i != roundsNeeded(); ++i)
      forEachAxis(
          [&](const Tensor &tensor, unsigned axis, ArrayRef<Attribute> dims) {
            if (dims.size() > 1)
              divide(tensor, axis, dims);
          });
    for (auto [i, size] : llvm::enumerate(f.signature.sizes)) {
      f.failIf(f.negate(known[i]), FACET_E_SHAPE, size);
      f.setSize(i, values[i]);
    }
    forEachAxis([&](const Tensor &tensor, unsigned axis,
                    ArrayRef<Attribute> dims) { compare(tensor, axis, dims); });
  }

private:
  template <typename Visit>
  void forEachAxis(Visit visit) {
    for (const Tensor &tensor : tensors)
      for (auto [i, axis] :
           llvm::enumerate(f.signature.parameters[tensor.index].axes))
        visit(tensor, i, axis.getDims());
  }

  /// Sizes that some group holds and no plain axis: at most these wait for others.
  unsigned roundsNeeded() {
    llvm::SmallDenseSet<unsigned> plain, grouped;
    forEachAxis([&](const Tensor &tensor, unsigned, ArrayRef<Attribute> dims) {
      for (Attribute dim : dims)
        if (auto name = dyn_cast<StringAttr>(dim)) {
          // An argument may be left out, and its plain axes with it.
          bool certain =
              dims.size() == 1 && tensor.index >= f.signature.numArguments;
          (certain ? plain : grouped).insert(f.signature.sizeIndex(name));
        }
    });
    unsigned rounds = 0;
    for (unsigned size : grouped)
      rounds += !plain.contains(size);
    return rounds;
  }

  /// The first offer counts.
  void offer(unsigned size, Value condition, Value value) {
    Value takes = f.band(condition, f.negate(known[size]));
    values[size] = f.select(takes, value, values[size]);
    known[size] = f.bor(known[size], condition);
  }

  /// Solves a group for the one size that is not known.
  void divide(const Tensor &tensor, unsigned axis, ArrayRef<Attribute> dims) {
    for (Attribute dim : dims) {
      auto name = dyn_cast<StringAttr>(dim);
      if (!name)
        continue;
      unsigned size = f.signature.sizeIndex(name);
      Value product = f.i64(1), condition = tensor.isGiven;
      unsigned times = 0;
      for (Attribute other : dims) {
        auto otherName = dyn_cast<StringAttr>(other);
        if (!otherName) {
          product = f.mul(product, f.i64(cast<IntegerAttr>(other).getInt()));
          continue;
        }
        unsigned otherSize = f.signature.sizeIndex(otherName);
        if (otherSize == size) {
          ++times;
          continue;
        }
        product = f.mul(product, values[otherSize]);
        condition = f.band(condition, known[otherSize]);
      }
      if (times > 1) // (M, M): a plain axis must say what M is
        continue;
      // Of an empty product any factor would do; 0 is one.
      Value usable = f.lt(f.i64(0), product);
      Value divisor = f.select(usable, product, f.i64(1));
      Value quotient =
          arith::DivUIOp::create(f.b, tensor.extents[axis], divisor);
      offer(size, condition, f.select(usable, quotient, f.i64(0)));
    }
  }

  void compare(const Tensor &tensor, unsigned axis, ArrayRef<Attribute> dims) {
    Value product;
    for (Attribute dim : dims) {
      auto name = dyn_cast<StringAttr>(dim);
      Value value = name ? f.size(f.signature.sizeIndex(name))
                         : f.i64(cast<IntegerAttr>(dim).getInt());
      product = product ? f.mul(product, value) : value;
    }
    Value differs = f.ne(tensor.extents[axis], product);
    f.failIf(f.band(tensor.isGiven, differs), FACET_E_SHAPE,
             f.signature.parameters[tensor.index].name, axis,
             tensor.extents[axis], product);
  }

  Function &f;
  ArrayRef<Tensor> tensors;
  SmallVector<Value> values, known;
};
} // namespace

void facet::interface::emitTensors(Emission &emission) {
  const Signature &signature = emission.signature;
  Function f(emission.constants, emission.loc(), signature,
             signature.symbol("dl"), signature.tensors());
  compileFast(f.op);
  f.openExec();
  if (signature.numArguments != 0)
    f.failIf(f.isNull(f.formal(Formal::TensorsIn)), FACET_E_NULL, "in");
  if (signature.numArguments != signature.parameters.size())
    f.failIf(f.isNull(f.formal(Formal::TensorsOut)), FACET_E_NULL, "out");
  SmallVector<Tensor> tensors;
  for (unsigned i = 0, e = signature.parameters.size(); i != e; ++i)
    tensors.push_back(readTensor(f, i));
  SizeFinder(f, tensors).run();

  auto callee = emission.constants.getModule().lookupSymbol<func::FuncOp>(
      signature.cName);
  SmallVector<Value> arguments;
  for (auto [i, formal] : llvm::enumerate(signature.call(/*packed=*/false))) {
    switch (formal.kind) {
    case Formal::Size:
      arguments.push_back(f.size(formal.index));
      break;
    case Formal::Data: {
      Value data = tensors[formal.index].data;
      if (signature.parameters[formal.index].isByValue())
        data = f.load(callee.getArgumentTypes()[i], data);
      arguments.push_back(data);
      break;
    }
    case Formal::Leading:
      arguments.push_back(tensors[formal.index].strides[0]);
      break;
    case Formal::Strides:
      arguments.push_back(tensors[formal.index].stridesPointer);
      break;
    default:
      arguments.push_back(f.formal(Formal::Exec));
      break;
    }
  }
  f.finish(func::CallOp::create(f.b, callee, arguments).getResult(0));
}
