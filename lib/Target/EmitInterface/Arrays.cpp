//===- Arrays.cpp - the arrays of a call, measured and checked ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Everything that can be wrong with an array before its elements are looked at:
//
//   x: bf16[M, K], ld_x   M, K ≥ 0 · M·K·2 < 2^63 · M > 1 ⇒ ld_x ≥ K
//                         (M−1)·ld_x + K elements fit in 2^63 − 1 bytes
//   y: f32[B, S, (H, D)]  each stride ≥ 0; of a result: no two elements meet
//   w: u4[K, N]           N even, strides even
//
// Order matters: products are checked before anything is compared with them. An
// array without elements passes whatever its other sizes multiply to.
//
//===----------------------------------------------------------------------===//

#include "Arrays.h"

#include <cstddef>

using namespace mlir;
using namespace facet;
using namespace facet::interface;

void facet::interface::checkSizes(Function &f, ArrayRef<unsigned> sizes) {
  for (unsigned i : sizes) {
    Value size = f.size(i);
    StringRef name = f.signature.sizes[i];
    f.failIf(f.lt(size, f.i64(0)), FACET_E_SIZE, name, -1, size, f.i64(0));
    ArrayRef<int64_t> values = f.signature.fixed[i];
    if (values.empty())
      continue;
    Value isOther = f.boolean(true);
    for (int64_t value : values)
      isOther = f.band(isOther, f.ne(size, f.i64(value)));
    f.failIf(isOther, FACET_E_FIXED, name, -1, size, f.i64(values.front()));
  }
}

Array facet::interface::measure(Function &f, unsigned index, bool isDense) {
  const Parameter &parameter = f.signature.parameters[index];
  Array array;
  array.index = index;
  array.isEmpty = f.boolean(false);
  Value overflow = f.boolean(false), elements = f.i64(1);
  // Strides of up to two axes step over the rows, so that their span tells.
  bool countsElements = isDense || parameter.rank() > 2;
  for (kernel::AxisAttr axis : parameter.axes) {
    Value extent;
    for (Attribute dim : axis.getDims()) {
      auto name = dyn_cast<StringAttr>(dim);
      Value size = name ? f.size(f.signature.sizeIndex(name))
                        : f.i64(cast<IntegerAttr>(dim).getInt());
      array.isEmpty = f.bor(array.isEmpty, f.eq(size, f.i64(0)));
      extent = extent ? f.mulChecked(extent, size, overflow) : size;
    }
    array.extents.push_back(extent);
    if (countsElements)
      elements = f.mulChecked(elements, extent, overflow);
  }
  unsigned bytes = parameter.element->bits / 8;
  if (countsElements && bytes > 1)
    f.mulChecked(elements, f.i64(bytes), overflow);
  if (parameter.rank() == 0)
    return array;
  f.failIf(f.band(overflow, f.negate(array.isEmpty)), FACET_E_OVERFLOW,
           parameter.name);
  if (parameter.element->isNibble()) {
    Value last = array.extents.back();
    f.failIf(f.ne(f.band(last, f.i64(1)), f.i64(0)), FACET_E_ODD,
             parameter.name, parameter.rank() - 1, last, f.add(last, f.i64(1)));
  }
  return array;
}

SmallVector<Value> facet::interface::denseStrides(Function &f,
                                                  const Array &array) {
  SmallVector<Value> strides(f.signature.parameters[array.index].numStrides());
  Value stride;
  for (unsigned i = strides.size(); i-- > 0;) {
    Value extent = array.extents[i + 1];
    stride = stride ? f.mul(stride, extent) : extent;
    strides[i] = stride;
  }
  return strides;
}

SmallVector<Value> facet::interface::givenStrides(Function &f,
                                                  const Array &array) {
  unsigned count = f.signature.parameters[array.index].numStrides();
  if (count == 0)
    return {};
  if (count == 1)
    return {f.formal(Formal::Leading, array.index)};
  Value pointer = f.formal(Formal::Strides, array.index);
  return f.branch(
      f.negate(f.isNull(pointer)),
      [&] {
        SmallVector<Value> strides;
        for (unsigned i = 0; i != count; ++i)
          strides.push_back(f.load(f.i64Type(), pointer, 8 * i));
        return strides;
      },
      denseStrides(f, array));
}

/// Refuses strides under which two elements of a written array would meet. Sorted
/// by stride, each axis must step over all that the smaller ones reach; without
/// sorting: over the sum of the reaches of all axes that do not stride further.
static void checkDistinct(Function &f, const Array &array,
                          const Parameter &parameter) {
  unsigned rank = parameter.rank();
  Value one = f.i64(1), zero = f.i64(0);
  SmallVector<Value> strides(array.strides), reaches;
  strides.push_back(one);
  for (auto [extent, stride] : llvm::zip(array.extents, strides))
    reaches.push_back(f.mul(f.sub(extent, one), stride));
  for (unsigned i = 0; i + 1 < rank; ++i) {
    Value reach = zero;
    for (unsigned j = 0; j != rank; ++j)
      if (j != i)
        reach = f.add(reach,
                      f.select(f.le(strides[j], strides[i]), reaches[j], zero));
    Value meets = f.band(f.lt(one, array.extents[i]), f.le(strides[i], reach));
    f.failIf(f.band(meets, f.negate(array.isEmpty)), FACET_E_STRIDE,
             parameter.name, i, strides[i], f.add(reach, one));
  }
}

void facet::interface::takeStrides(Function &f, Array &array,
                                   ArrayRef<Value> strides) {
  const Parameter &parameter = f.signature.parameters[array.index];
  unsigned rank = parameter.rank(), bits = parameter.element->bits;
  Value one = f.i64(1), zero = f.i64(0);
  if (rank == 0) {
    array.bytes = f.i64(std::max(bits / 8, 1u));
    return;
  }
  Value overflow = f.boolean(false), span = array.extents.back();
  SmallVector<Value> dense = denseStrides(f, array);
  for (unsigned i = 0, e = strides.size(); i != e; ++i) {
    Value hasSteps = f.lt(one, array.extents[i]), stride = strides[i];
    Value least = rank == 2 ? array.extents[1] : zero;
    f.failIf(f.band(hasSteps, f.lt(stride, least)), FACET_E_STRIDE,
             parameter.name, i, stride, least);
    if (parameter.element->isNibble()) {
      Value isOdd = f.ne(f.band(stride, one), zero);
      f.failIf(f.band(hasSteps, isOdd), FACET_E_STRIDE, parameter.name, i,
               stride, f.add(stride, one));
    }
    stride = f.select(hasSteps, stride, dense[i]);
    array.strides.push_back(stride);
    Value reach = f.mulChecked(f.sub(array.extents[i], one), stride, overflow);
    span = f.addChecked(span, reach, overflow);
  }
  if (parameter.element->isNibble())
    array.bytes = arith::ShRUIOp::create(f.b, span, one);
  else
    array.bytes = f.mulChecked(span, f.i64(bits / 8), overflow);
  f.failIf(f.band(overflow, f.negate(array.isEmpty)), FACET_E_OVERFLOW,
           parameter.name);
  if (rank > 2 && parameter.isWritten())
    checkDistinct(f, array, parameter);
}

//===----------------------------------------------------------------------===//
// FACET_CHECK
//===----------------------------------------------------------------------===//

void facet::interface::checkMemory(Function &f, ArrayRef<Array> arrays) {
  Value flags = f.load(f.i32Type(), f.exec, offsetof(facet_exec, flags));
  Value wanted = f.ne(f.band(flags, f.i32(FACET_CHECK)), f.i32(0));
  f.branch(wanted,
           [&]() -> SmallVector<Value> {
             for (const Array &array : arrays) {
               const Parameter &parameter = f.signature.parameters[array.index];
               int64_t alignment = std::max(parameter.element->bits / 8, 1u);
               if (alignment == 1)
                 continue;
               Value address = f.toInt(array.pointer);
               Value odd =
                   f.ne(f.band(address, f.i64(alignment - 1)), f.i64(0));
               f.failIf(f.band(odd, f.negate(array.isEmpty)), FACET_E_ALIGN,
                        parameter.name, -1, address, f.i64(alignment));
             }
             auto isWritten = [&](unsigned i) {
               return f.signature.parameters[arrays[i].index].isWritten();
             };
             Overlap overlap(f, arrays);
             for (unsigned i = 0, e = arrays.size(); i != e; ++i)
               for (unsigned j = 0; j != e; ++j)
                 if (i != j && isWritten(i) && (j < i || !isWritten(j)))
                   f.failIf(overlap.ofPair(i, j), FACET_E_OVERLAP,
                            f.signature.parameters[arrays[i].index].name);
             return {};
           },
           {});
}
