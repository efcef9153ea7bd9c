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
// every level. Where the road has layouts of its own, a buffer is written for the
// highest level that this CPU has, and its level says which code reads it: all
// buffers of a call must be of one level, and max_level must allow it.
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
static constexpr int32_t denseRows = 0;

static int64_t headerBytes(const Parameter &parameter) {
  return llvm::alignTo(sizeof(facet_packed) + 8 * parameter.rank(),
                       bufferAlignment);
}

Emission::PackFunctions Emission::packFunctions(unsigned index) const {
  std::string name =
      signature.name + ".pack." + signature.parameters[index].name;
  auto find = [&](StringRef suffix) {
    auto function =
        constants.getModule().lookupSymbol<func::FuncOp>((name + suffix).str());
    if (function)
      makeLocal(function);
    return function;
  };
  return {find(""), find(".bytes"), find(".layout")};
}

Value Emission::callPacker(Function &f, func::FuncOp callee,
                           ArrayRef<Value> more, Value level) const {
  SmallVector<Value> arguments;
  if (callee.getNumArguments() > takesLevel())
    for (unsigned i = 0, e = signature.sizes.size(); i != e; ++i)
      arguments.push_back(f.size(i) ? f.size(i) : f.i64(0));
  arguments.append(more.begin(), more.end());
  if (takesLevel())
    arguments.push_back(level);
  return func::CallOp::create(f.b, callee, arguments).getResult(0);
}

/// The level to pack for; the functions of `emission` may have no code for it.
static Value levelToPackFor(Function &f, Emission &emission) {
  if (!emission.hasLevels())
    return f.i32(FACET_LEVEL_ANY);
  Value level = highestLevel(f, emission);
  f.failIf(f.eq(level, f.i32(0)), FACET_E_LEVEL, "");
  return level;
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
  Array array = measure(f, index, /*isDense=*/true);
  Value bytes;
  if (Emission::PackFunctions pack = emission.packFunctions(index);
      pack.write) {
    bytes = emission.callPacker(f, pack.bytes, {}, levelToPackFor(f, emission));
    f.failIf(f.lt(bytes, f.i64(0)), FACET_E_OVERFLOW, parameter.name);
  } else {
    bytes = denseBytes(f, array);
  }
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
  Emission::PackFunctions pack = emission.packFunctions(index);
  Value level = f.i32(FACET_LEVEL_ANY), layout = f.i32(denseRows);
  if (pack.write) {
    level = levelToPackFor(f, emission);
    layout = emission.callPacker(f, pack.layout, {}, level);
  }

  f.store(f.i64(magic), target, offsetof(facet_packed, magic));
  f.store(f.i32(headerBytes(parameter)), target,
          offsetof(facet_packed, header_bytes));
  f.store(f.i32(parameter.rank()), target, offsetof(facet_packed, rank));
  f.store(f.i32(parameter.element->number), target,
          offsetof(facet_packed, type));
  f.store(level, target, offsetof(facet_packed, level));
  f.store(layout, target, offsetof(facet_packed, layout));
  f.store(f.i32(0), target, offsetof(facet_packed, reserved));
  int64_t end = sizeof(facet_packed);
  for (Value extent : array.extents) {
    f.store(extent, target, end);
    end += 8;
  }
  for (; end != headerBytes(parameter); end += 8) // same input, same bytes
    f.store(f.i64(0), target, end);
  if (pack.write) { // sums over nothing, for one, are written, too
    SmallVector<Value> arguments{array.pointer};
    arguments.append(array.strides);
    arguments.push_back(f.offset(target, headerBytes(parameter)));
    f.finish(emission.callPacker(f, pack.write, arguments, level));
    return;
  }
  f.branch(f.negate(array.isEmpty),
           [&]() -> SmallVector<Value> {
             copyRows(f, array, f.offset(target, headerBytes(parameter)));
             return {};
           },
           {});
  f.finish(f.i32(FACET_OK));
}

/// Refuses a buffer whose head is not the one that NAME_pack_w writes. `allowed` is
/// the highest level that the call may use, `level` that of the buffers before this
/// one, negative for none; the result is that of this one.
static Value checkHead(Function &f, Emission &emission, const Array &array,
                       Value allowed, Value level) {
  const Parameter &parameter = f.signature.parameters[array.index];
  Value buffer = array.pointer, address = f.toInt(buffer);
  f.failIf(f.ne(f.band(address, f.i64(bufferAlignment - 1)), f.i64(0)),
           FACET_E_ALIGN, parameter.name, -1, address, f.i64(bufferAlignment));
  auto wide = [&](Value value) -> Value {
    if (value.getType() == f.i64Type())
      return value;
    return arith::ExtSIOp::create(f.b, f.i64Type(), value);
  };
  auto expect = [&](Value found, Value wanted, int32_t axis) {
    f.failIf(f.ne(wide(found), wide(wanted)), FACET_E_PACKED, parameter.name,
             axis, wide(found), wide(wanted));
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
  Value found = member(offsetof(facet_packed, level));
  Value layout = f.i32(denseRows), result = level;
  if (Emission::PackFunctions pack = emission.packFunctions(array.index);
      pack.write) {
    // One of the object's, allowed, and that of the others.
    Value isKnown = f.boolean(false);
    for (int32_t number : emission.options.levels)
      isKnown = f.bor(isKnown, f.eq(found, f.i32(number)));
    Value isAllowed = f.band(isKnown, hasLevel(f, emission, found, allowed));
    f.failIf(f.negate(isAllowed), FACET_E_PACKED, parameter.name, -1,
             wide(found), wide(allowed));
    result = f.select(f.lt(level, f.i32(0)), found, level);
    expect(found, result, -1);
    layout = emission.callPacker(f, pack.layout, {}, found);
  } else {
    expect(found, f.i32(FACET_LEVEL_ANY), -1);
  }
  expect(member(offsetof(facet_packed, layout)), layout, -1);
  for (auto [axis, extent] : llvm::enumerate(array.extents))
    expect(f.load(f.i64Type(), buffer, sizeof(facet_packed) + 8 * axis), extent,
           axis);
  return result;
}

static void emitPackedCall(Emission &emission) {
  const Signature &signature = emission.signature;
  Function f(emission.constants, emission.loc(), signature,
             signature.symbol("packed"), signature.call(/*packed=*/true));
  f.openExec();
  SmallVector<unsigned> sizes =
      llvm::to_vector(llvm::seq<unsigned>(signature.sizes.size()));
  checkSizes(f, sizes);
  Value allowed = f.i32(FACET_LEVEL_ANY), level = f.i32(-1);
  if (emission.packedImplementation && emission.hasLevels()) {
    allowed = chooseLevel(f, emission);
    Value cap = f.load(f.i32Type(), f.exec, offsetof(facet_exec, max_level));
    f.failIf(f.eq(allowed, f.i32(0)), FACET_E_LEVEL, "max_level", -1,
             arith::ExtSIOp::create(f.b, f.i64Type(), cap),
             f.i64(emission.options.levels.front()));
  }
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
    SmallVector<Value> checked = f.branch(
        f.negate(f.isNull(array.pointer)),
        [&]() -> SmallVector<Value> {
          Value its = checkHead(f, emission, array, allowed, level);
          return {f.offset(array.pointer, headerBytes(parameter)), its};
        },
        {f.nullPointer(), level});
    arguments.push_back(checked[0]);
    level = checked[1];
  }
  if (emission.packedImplementation) // NULL alone is of any level
    arguments.push_back(f.select(f.lt(level, f.i32(0)), allowed, level));
  auto callee = emission.constants.getModule().lookupSymbol<func::FuncOp>(
      emission.callSymbol());
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
