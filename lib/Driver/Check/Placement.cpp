//===- Placement.cpp - where check puts the arguments of a call -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel has the right to its elements and to nothing else:
//
//   Strided:  ┊ row 0 │ NaN NaN NaN │ row 1 │ NaN NaN NaN │ row 2 ┊ guard
//
// Gaps are odd, so rows lie at every alignment that elements may have; they hold NaN, so
// that a lane read from one and multiplied by zero shows; and they are compared after the
// call. Every result is computed at two placements and must be the same bit for bit.
//
//===----------------------------------------------------------------------===//

#include "Placement.h"

#include "llvm/ADT/STLExtras.h"

#include <cstring>

using namespace llvm;
using namespace facet;

/// Of one element.
static size_t storedBits(ScalarType type) {
  return type == ScalarType::Bool ? 8 : bitWidth(type);
}

/// Strides of all axes but the last with `gap` elements between the ends and beginnings
/// of neighbours on every axis.
static SmallVector<int64_t, 4> gappedStrides(ArrayRef<int64_t> shape,
                                             int64_t least, int64_t gap) {
  SmallVector<int64_t, 4> strides;
  int64_t stride = 1;
  for (size_t axis = shape.size(); axis-- > 1; least = 1) {
    stride = stride * std::max(shape[axis], least) + gap;
    strides.insert(strides.begin(), stride);
  }
  return strides;
}

/// Where the rows along the last axis begin, in bytes. A scalar is a row.
static std::vector<size_t> rowsOf(const Array &array,
                                  ArrayRef<int64_t> strides) {
  std::vector<size_t> rows = {0};
  if (array.bytes.empty())
    return {};
  for (auto [extent, stride] : zip(array.shape, strides)) {
    std::vector<size_t> next;
    for (size_t row : rows)
      for (int64_t j = 0; j < extent; ++j)
        next.push_back(row + storedBits(array.type) * size_t(j * stride) / 8);
    rows = std::move(next);
  }
  return rows;
}

bool PlacedArguments::place(unsigned param, const Array &array,
                            Placement placement) {
  bool isPair = bitWidth(array.type) == 4; // rows and strides are even
  View view;
  if (array.shape.size() > 1)
    view.strides =
        placement == Placement::Strided
            ? gappedStrides(array.shape, isPair ? 2 : 1, isPair ? 2 : 3)
            : denseStrides(array.type, array.shape);
  std::vector<size_t> rows = rowsOf(array, view.strides);
  size_t rowBytes = rows.empty() ? 0 : array.bytes.size() / rows.size();
  size_t bytes = rows.empty() ? 0 : rows.back() + rowBytes;
  std::optional<GuardedMemory> memory = GuardedMemory::create(
      bytes, placement == Placement::AtStart ? GuardedMemory::Side::Start
                                             : GuardedMemory::Side::End);
  if (!memory)
    return false;
  std::memset(memory->data(), 0xff, bytes);
  for (auto [k, row] : enumerate(rows))
    std::memcpy(memory->data() + row, array.bytes.data() + k * rowBytes,
                rowBytes);
  view.data = memory->data();
  std::vector<uint8_t> before(memory->data(), memory->data() + bytes);
  placed.push_back({param, std::move(view), std::move(*memory),
                    std::move(before), std::move(rows), rowBytes});
  return true;
}

std::optional<PlacedArguments>
PlacedArguments::create(const HostKernel &kernel, const Arguments &arguments,
                        Placement placement) {
  PlacedArguments result(kernel, arguments.size());
  for (auto [i, array] : enumerate(arguments))
    if (array && !result.place(i, *array, placement))
      return std::nullopt;
  return result;
}

std::vector<View> PlacedArguments::views() const {
  std::vector<View> views(count);
  for (const Placed &argument : placed)
    views[argument.param] = argument.view;
  return views;
}

void PlacedArguments::readOutputs(Arguments &arguments) const {
  for (const Placed &argument : placed)
    if (kernel.params[argument.param].isOutput())
      for (auto [k, row] : enumerate(argument.rows))
        std::memcpy(arguments[argument.param]->bytes.data() +
                        k * argument.rowBytes,
                    argument.memory.data() + row, argument.rowBytes);
}

std::string PlacedArguments::disturbed(bool isRefused) const {
  for (const Placed &argument : placed) {
    const HostParam &param = kernel.params[argument.param];
    const uint8_t *now = argument.memory.data();
    const std::vector<uint8_t> &before = argument.before;
    if (isRefused || !param.isOutput()) {
      if (std::memcmp(now, before.data(), before.size()) != 0)
        return (param.isOutput() ? "wrote '" : "wrote the input '") +
               param.name + "'";
      continue;
    }
    size_t end = 0;
    for (size_t row : argument.rows) {
      if (std::memcmp(now + end, before.data() + end, row - end) != 0)
        return "wrote between the rows of '" + param.name + "'";
      end = row + argument.rowBytes;
    }
  }
  return "";
}

void PlacedArguments::misbehave(Mischief mischief) const {
  bool wantsOutput = mischief == Mischief::Past || mischief == Mischief::Gap;
  if (!wantsOutput && mischief != Mischief::Input)
    return;
  for (const Placed &argument : placed) {
    if (kernel.params[argument.param].isOutput() != wantsOutput ||
        argument.rows.empty())
      continue;
    volatile uint8_t *data = argument.memory.data();
    bool hasGap =
        argument.rows.size() > 1 && argument.rows[1] > argument.rowBytes;
    if (mischief == Mischief::Past)
      data[argument.before.size()] = 1;
    else if (mischief == Mischief::Input)
      data[0] = data[0] ^ 1;
    else if (hasGap)
      data[argument.rowBytes] = 1;
    return;
  }
}

std::string PlacedArguments::whatLiesAt(uintptr_t address) const {
  for (const Placed &argument : placed) {
    const std::string &name = kernel.params[argument.param].name;
    switch (argument.memory.relationOf(address)) {
    case GuardedMemory::Relation::Elsewhere:
      break;
    case GuardedMemory::Relation::Before:
      return "before the beginning of '" + name + "'";
    case GuardedMemory::Relation::Inside:
      return "inside '" + name + "'";
    case GuardedMemory::Relation::Past:
      return "past the end of '" + name + "'";
    }
  }
  return "";
}
