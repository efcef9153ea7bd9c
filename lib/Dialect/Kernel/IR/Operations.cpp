//===- Operations.cpp - structured ops in words and counts ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   y[m, n] = gelu(sum[k](x[m, k] * w[k, n]) + b[n])
//
// is a sum without a name, `f32[M, N]`, "sum over k for m, n", 2 operations, of the
// statement y; then a map, 2 operations.
//
//===----------------------------------------------------------------------===//

#include "facet/Dialect/Kernel/IR/Operations.h"

#include "llvm/ADT/BitVector.h"

using namespace mlir;
using namespace facet;
using namespace facet::kernel;

/// An extent as the text writes it: the name of its size, or a number.
static std::string nameOfExtent(OpFoldResult extent) {
  if (auto value = dyn_cast<Value>(extent)) {
    auto size = value.getDefiningOp<SizeOp>();
    return size ? size.getName().str() : "?";
  }
  return std::to_string(cast<IntegerAttr>(cast<Attribute>(extent)).getInt());
}

std::string kernel::describeType(StructuredOpInterface op) {
  std::string text;
  llvm::raw_string_ostream os(text);
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  os << type.getElementType();
  SmallVector<OpFoldResult> extents = op.getMixedExtents();
  extents.truncate(type.getRank());
  if (!extents.empty()) {
    os << '[';
    llvm::interleaveComma(
        extents, os, [&](OpFoldResult extent) { os << nameOfExtent(extent); });
    os << ']';
  }
  return text;
}

std::string kernel::describeIterators(StructuredOpInterface op) {
  std::string text;
  llvm::raw_string_ostream os(text);
  auto list = [&](StringRef word, unsigned begin, unsigned end) {
    if (begin == end)
      return;
    os << ' ' << word << ' ';
    llvm::interleaveComma(llvm::seq(begin, end), os,
                          [&](unsigned i) { os << op.getIteratorName(i); });
  };
  if (auto reduce = dyn_cast<ReduceOp>(op.getOperation()))
    os << stringifyReduceKind(reduce.getKind());
  else
    os << (isa<SoftmaxOp>(op) ? "softmax" : "map");
  list("over", op.getNumParallel(), op.getNumIterators());
  list("for", 0, op.getNumParallel());
  if (!op.getFilter().empty())
    os << ", filtered";
  return text;
}

/// True for an operation that a person would count.
static bool isCounted(Operation &op) {
  if (op.getNumResults() != 1)
    return false;
  Type type = op.getResult(0).getType();
  if (!type.isF32() && !type.isF64() && !type.isSignlessInteger(32))
    return false;
  if (isa<ApplyOp>(op) || isa<math::MathDialect>(op.getDialect()))
    return true;
  return isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp,
             arith::NegFOp, arith::MaximumFOp, arith::MinimumFOp,
             arith::MaxNumFOp, arith::MinNumFOp, arith::AddIOp, arith::SubIOp,
             arith::MulIOp, arith::MaxSIOp, arith::MinSIOp>(op);
}

unsigned kernel::operationsPerPoint(StructuredOpInterface op) {
  unsigned count = llvm::count_if(op.getBody().front(), isCounted);
  if (isa<SoftmaxOp>(op))
    return count + 4; // subtract, exp, add, divide
  if (auto reduce = dyn_cast<ReduceOp>(op.getOperation()))
    count += reduce.getKind() != ReduceKind::Any &&
             reduce.getKind() != ReduceKind::All;
  return count;
}

StringRef kernel::statementOf(StructuredOpInterface op) {
  for (Operation *at = op; at; at = at->getNextNode())
    if (auto structured = dyn_cast<StructuredOpInterface>(at))
      if (std::optional<StringRef> name = structured.getName())
        return *name;
  return {};
}

std::optional<int64_t> kernel::knownExtent(StructuredOpInterface op,
                                           unsigned iterator) {
  OpFoldResult extent = op.getMixedExtents()[iterator];
  if (auto attribute = dyn_cast<Attribute>(extent))
    return cast<IntegerAttr>(attribute).getInt();
  auto size = cast<Value>(extent).getDefiningOp<SizeOp>();
  auto function = op->getParentOfType<FuncOp>();
  if (!size || !function)
    return std::nullopt;
  return function.getFixedSize(size.getName());
}

std::optional<Epilogue> kernel::matchEpilogue(ReduceOp reduce) {
  Value sums = reduce.getResult(0);
  if (!sums.hasOneUse())
    return std::nullopt;
  auto map = dyn_cast<MapOp>(*sums.user_begin());
  unsigned numParallel = reduce.getNumParallel();
  if (!map)
    return std::nullopt;
  auto op = cast<StructuredOpInterface>(map.getOperation());
  unsigned input =
      sums.use_begin()->getOperandNumber() - map.getExtents().size();
  if (input >= op.getInputs().size() || op.getNumIterators() != numParallel)
    return std::nullopt;
  llvm::BitVector seen(numParallel);
  Epilogue epilogue{map, input, {}};
  for (const Subscript &subscript : op.getAccess(input).getSubscripts()) {
    if (subscript.kind != Subscript::Iterator || seen.test(subscript.value))
      return std::nullopt;
    seen.set(subscript.value);
    epilogue.iterators.push_back(subscript.value);
  }
  return epilogue;
}
