//===- Constants.cpp - packed arrays of constants -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   w: const bf16[K, N], dot bf16, 48 columns, 16 lanes; K = 5, N = 100
//   ─▶ 48 × 3 pairs, 48 × 3 pairs, 16 × 3 pairs     the last k and 12 columns are 0
//
// The panels of a packed array are those that a call would make for itself, with two
// differences: each holds all of k, and the last is no wider than it must be, so that
// few rows read little more than the constant has. What a call evaluates on its way
// into a panel (a conversion, pairs and quads) is done here once.
//
//===----------------------------------------------------------------------===//

#include "Constants.h"
#include "../KernelToLoops/Interface.h"
#include "Panels.h"
#include "facet/Dialect/Kernel/IR/Operations.h"

using namespace facet;
using namespace facet::cpu;
using namespace mlir;
using kernel::StructuredOpInterface;
using loops::Workspace;

static Workspace::Extent extentOf(StructuredOpInterface op, unsigned i,
                                  int64_t unit) {
  OpFoldResult mixed = op.getMixedExtents()[i];
  return [=](Frame &f) {
    Num count = f.num(f.extent(mixed));
    return unit == 1 ? count : loops::quotient(count + (unit - 1), unit) * unit;
  };
}

PackedArray::PackedArray(const Contraction &c, LayoutAttr layout)
    : hasSums(shiftsA(c, layout.getDot())) {
  kernel::ReduceOp reduce = c.reduce;
  auto op = cast<StructuredOpInterface>(reduce.getOperation());
  BlockArgument array = constantOf(c);
  for (unsigned i : c.batch)
    for (auto [k, input] : llvm::enumerate(op.getInputs()))
      if (input == array &&
          llvm::is_contained(
              op.getAccess(k).getSubscripts(),
              kernel::Subscript{kernel::Subscript::Iterator, int64_t(i)}))
        regions.push_back(i);
  llvm::append_range(regions, ArrayRef(c.n).drop_back());
  std::vector<Workspace::Extent> dims;
  for (unsigned i : regions)
    dims.push_back(extentOf(op, i, 1));
  dims.push_back(extentOf(op, c.n.back(), layout.getLanes()));
  std::vector<Workspace::Extent> columns = dims;
  int64_t group = MicroKernelOp::groupSize(layout.getDot());
  std::vector<Workspace::Extent> words;
  for (unsigned i : c.k) {
    Workspace::Extent steps = extentOf(op, i, i == c.k.back() ? group : 1);
    words.push_back([=](Frame &f) {
      Num count = steps(f);
      return i == c.k.back() ? loops::quotient(count, group) : count;
    });
  }
  appendDepth(dims, std::move(words), groupsPerStep(layout.getDot()));
  Type word = loops::elementType(reduce.getResult(0));
  arrays.add(word, std::move(dims));
  if (hasSums)
    arrays.add(word, std::move(columns));
}

/// The contraction that reads `array`.
static Contraction readerOf(BlockArgument array) {
  return *matchContraction(cast<kernel::ReduceOp>(*array.user_begin()));
}

LogicalResult cpu::emitPackFunctions(kernel::FuncOp kernel,
                                     loops::Functions &functions,
                                     LayoutAttr layout) {
  unsigned number = layout.getArgument();
  BlockArgument array = kernel.getBody().getArgument(number);
  kernel::ParamAttr param = kernel.getParam(number);
  Contraction c = readerOf(array);
  PackedArray packed(c, layout);
  MLIRContext *context = kernel.getContext();
  std::string name = ".pack." + param.getName().str();

  Frame size(kernel, functions);
  packed.arrays.emitSizeFunction(size, name + ".bytes");
  Frame tag(kernel, functions);
  tag.open(name + ".layout", {}, tag.b.getI32Type());
  func::ReturnOp::create(tag.b, loops::constant(tag.b, tag.b.getI32Type(),
                                                int64_t(layout.getTag())));

  Frame frame(kernel, functions);
  LocBuilder &b = frame.b;
  SmallVector<Type> types;
  loops::appendMemoryTypes(param, context, types);
  types.push_back(LLVM::LLVMPointerType::get(context));
  ValueRange arguments = frame.open(name, types, b.getI32Type());
  frame.emitTopLevel();
  frame.tensors[array] =
      loops::takeMemory(frame, param, loops::elementType(array), arguments);
  SmallVector<Storage> placed = packed.arrays.place(frame, arguments[0]);

  int64_t lanes = layout.getLanes(), columns = layout.getColumns();
  auto tile = ContractionAttr::get(
      context, /*rows=*/1, columns / lanes, lanes, /*rowBlock=*/1, columns,
      Pack::AB, layout.getDot(), /*depthBlock=*/0, Split::None, /*grain=*/0,
      /*constant=*/false, /*prefetch=*/0);
  Walk walk(frame, c, layout.getDot());
  walk.forEach(packed.regions, [&] {
    auto region = [&](const Storage &all) {
      Num offset = frame.i64(0);
      for (auto [i, iterator] : llvm::enumerate(packed.regions))
        offset =
            offset + frame.num(walk.at[iterator]) * frame.num(all.strides[i]);
      return walk.pointer(all.pointer, offset);
    };
    Panels panels(walk, tile, packed.hasSums ? region(placed[1]) : Value(),
                  packed.hasSums);
    panels.packExactly(region(placed[0]));
  });
  func::ReturnOp::create(b, loops::constant(b, b.getI32Type(), int64_t(0)));
  return success(!frame.failed && !size.failed && !tag.failed);
}
