//===- Packing.cpp - NAME_pack_w_bytes, NAME_pack_w, NAME_packed ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A packed buffer is a head that says what it holds, then the elements:
//
//   "facetpk1" | header_bytes | rank | type | level | layout | 0 | extents | … | rows
//
// NAME_packed compares the head with what this kernel and this call expect and
// refuses anything else: the wrong operand, other sizes, a buffer packed for
// other code, or plain weights passed by mistake. Layout 0 is dense rows, good at
// every level, so the packed call is the plain call on what follows the head.
//
//===----------------------------------------------------------------------===//

#include "Arrays.h"
#include "EntryPoints.h"

#include <cstddef>

using namespace mlir;
using namespace facet;
using namespace facet::interface;

static constexpr int64_t bufferAlignment = 64;

/// "facetpk1" as the eight bytes in memory of a little-endian machine.
static constexpr int64_t magic = 0x316b707465636166;
static constexpr int32_t layout = 0;

static int64_t headerBytes(const Parameter &parameter) {
  return llvm::alignTo(sizeof(facet_packed) + 8 * parameter.rank(),
                       bufferAlignment);
}

/// Bytes of the dense rows of `array`; measure has seen that they fit.
static Value denseBytes(Function &f, const Array &array) {
  const Parameter &parameter = f.signature.parameters[array.index];
  Value elements = f.i64(1);
  for (Value extent : array.extents)
    elements = f.mul(elements, extent);
  if (parameter.element->isNibble())
    return arith::ShRUIOp::create(f.b, elements, f.i64(1));
  return f.mul(elements, f.i64(parameter.element->bits / 8));
}

static void emitPackBytes(Emission &emission, unsigned index) {
  const Signature &signature = emission.signature;
  const Parameter &parameter = signature.parameters[index];
  Function f(emission.constants, emission.loc(), signature,
             signature.symbol("pack_" + parameter.name + "_bytes"),
             signature.packBytes(index), Builder(emission.kernel).getI64Type());
  compileFast(f.op);
  f.failureResult = f.i64(-1); // SIZE_MAX
  checkSizes(f, signature.sizesOf(parameter));
  Value bytes = denseBytes(f, measure(f, index, /*isDense=*/true));
  // Head and rounding must fit as well.
  int64_t room = headerBytes(parameter) + bufferAlignment - 1;
  f.failIf(f.lt(f.i64(INT64_MAX - room), bytes), FACET_E_OVERFLOW,
           parameter.name);
  f.finish(f.band(f.add(bytes, f.i64(room)), f.i64(-bufferAlignment)));
}

/// Copies the rows of `array` densely to `target`.
static void copyRows(Function &f, const Array &array, Value target) {
  const Parameter &parameter = f.signature.parameters[array.index];
  unsigned bits = parameter.element->bits;
  auto toBytes = [&](Value elements) -> Value {
    if (bits == 4)
      return arith::ShRSIOp::create(f.b, elements, f.i64(1));
    return f.mul(elements, f.i64(bits / 8));
  };
  SmallVector<Value> dense = denseStrides(f, array);
  Value rowBytes = toBytes(array.extents.back());
  // Addresses as offsets until the row is known.
  auto copyFrom = [&](auto &self, unsigned axis, Value from, Value to) -> void {
    if (axis + 1 == parameter.rank()) {
      LLVM::MemcpyOp::create(f.b, f.offset(target, to),
                             f.offset(array.pointer, from), rowBytes,
                             /*isVolatile=*/false);
      return;
    }
    f.loop(array.extents[axis], [&](Value i) {
      self(self, axis + 1, f.add(from, toBytes(f.mul(i, array.strides[axis]))),
           f.add(to, toBytes(f.mul(i, dense[axis]))));
    });
  };
  copyFrom(copyFrom, 0, f.i64(0), f.i64(0));
}

static void emitPack(Emission &emission, unsigned index) {
  const Signature &signature = emission.signature;
  const Parameter &parameter = signature.parameters[index];
  Function f(emission.constants, emission.loc(), signature,
             signature.symbol("pack_" + parameter.name), signature.pack(index));
  compileFast(f.op);
  checkSizes(f, signature.sizesOf(parameter));
  Array array = measure(f, index, /*isDense=*/true);
  array.pointer = f.formal(Formal::Data, index);
  takeStrides(f, array, givenStrides(f, array));
  Value target = f.formal(Formal::Target);
  f.failIf(f.band(f.negate(array.isEmpty), f.isNull(array.pointer)),
           FACET_E_NULL, parameter.name);
  f.failIf(f.isNull(target), FACET_E_NULL, "dst");
  f.failIf(f.ne(f.band(f.toInt(target), f.i64(bufferAlignment - 1)), f.i64(0)),
           FACET_E_ALIGN, "dst");

  f.store(f.i64(magic), target, offsetof(facet_packed, magic));
  f.store(f.i32(headerBytes(parameter)), target,
          offsetof(facet_packed, header_bytes));
  f.store(f.i32(parameter.rank()), target, offsetof(facet_packed, rank));
  f.store(f.i32(parameter.element->number), target,
          offsetof(facet_packed, type));
  f.store(f.i32(FACET_LEVEL_ANY), target, offsetof(facet_packed, level));
  f.store(f.i32(layout), target, offsetof(facet_packed, layout));
  f.store(f.i32(0), target, offsetof(facet_packed, reserved));
  int64_t end = sizeof(facet_packed);
  for (Value extent : array.extents) {
    f.store(extent, target, end);
    end += 8;
  }
  for (; end != headerBytes(parameter); end += 8) // same input, same bytes
    f.store(f.i64(0), target, end);
  f.branch(f.negate(array.isEmpty),
           [&]() -> SmallVector<Value> {
             copyRows(f, array, f.offset(target, headerBytes(parameter)));
             return {};
           },
           {});
  f.finish(f.i32(FACET_OK));
}

/// Refuses a buffer whose head is not the one that NAME_pack_w writes.
static void checkHead(Function &f, const Array &array) {
  const Parameter &parameter = f.signature.parameters[array.index];
  Value buffer = array.pointer, address = f.toInt(buffer);
  f.failIf(f.ne(f.band(address, f.i64(bufferAlignment - 1)), f.i64(0)),
           FACET_E_ALIGN, parameter.name, -1, address, f.i64(bufferAlignment));
  auto expect = [&](Value found, Value wanted, int32_t axis) {
    if (found.getType() != f.i64Type())
      found = arith::ExtSIOp::create(f.b, f.i64Type(), found);
    f.failIf(f.ne(found, wanted), FACET_E_PACKED, parameter.name, axis, found,
             wanted);
  };
  auto member = [&](size_t bytes) {
    return f.load(f.i32Type(), buffer, bytes);
  };
  expect(f.load(f.i64Type(), buffer, offsetof(facet_packed, magic)),
         f.i64(magic), -1);
  expect(member(offsetof(facet_packed, header_bytes)),
         f.i64(headerBytes(parameter)), -1);
  expect(member(offsetof(facet_packed, rank)), f.i64(parameter.rank()), -1);
  expect(member(offsetof(facet_packed, type)), f.i64(parameter.element->number),
         -1);
  expect(member(offsetof(facet_packed, level)), f.i64(FACET_LEVEL_ANY), -1);
  expect(member(offsetof(facet_packed, layout)), f.i64(layout), -1);
  for (auto [axis, extent] : llvm::enumerate(array.extents))
    expect(f.load(f.i64Type(), buffer, sizeof(facet_packed) + 8 * axis), extent,
           axis);
}

static void emitPackedCall(Emission &emission) {
  const Signature &signature = emission.signature;
  Function f(emission.constants, emission.loc(), signature,
             signature.symbol("packed"), signature.call(/*packed=*/true));
  f.openExec();
  SmallVector<unsigned> sizes =
      llvm::to_vector(llvm::seq<unsigned>(signature.sizes.size()));
  checkSizes(f, sizes);
  SmallVector<Value> arguments;
  for (Formal formal : signature.call(/*packed=*/false)) {
    const bool isPacked =
        (formal.kind == Formal::Data || formal.kind == Formal::Leading ||
         formal.kind == Formal::Strides) &&
        signature.parameters[formal.index].isPackable();
    if (!isPacked) {
      arguments.push_back(f.formal(formal.kind, formal.index));
      continue;
    }
    if (formal.kind == Formal::Strides) {
      arguments.push_back(f.nullPointer()); // dense
      continue;
    }
    const Parameter &parameter = signature.parameters[formal.index];
    Array array = measure(f, formal.index, /*isDense=*/false);
    if (formal.kind == Formal::Leading) {
      arguments.push_back(array.extents[1]);
      continue;
    }
    // NULL stays NULL: the call knows whether the operand is needed.
    array.pointer = f.formal(Formal::Packed, formal.index);
    arguments.push_back(
        f.branch(f.negate(f.isNull(array.pointer)),
                 [&]() -> SmallVector<Value> {
                   checkHead(f, array);
                   return {f.offset(array.pointer, headerBytes(parameter))};
                 },
                 {f.nullPointer()})[0]);
  }
  auto callee = emission.constants.getModule().lookupSymbol<func::FuncOp>(
      signature.cName);
  f.finish(func::CallOp::create(f.b, callee, arguments).getResult(0));
}

void facet::interface::emitPacking(Emission &emission) {
  const Signature &signature = emission.signature;
  for (unsigned i = 0, e = signature.parameters.size(); i != e; ++i)
    if (signature.parameters[i].isPackable()) {
      emitPackBytes(emission, i);
      emitPack(emission, i);
    }
  if (signature.hasPackable())
    emitPackedCall(emission);
}
