//===- Walk.cpp - the loops of a contraction, and where the code stands ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   for each batch, for kc in blocks of k, for each group of k: at = (…)
//
// A loop whose count is known and small is no loop: bodies are emitted with
// constants, which fold away what depends on them.
//
//===----------------------------------------------------------------------===//

#include "Walk.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace facet;
using namespace facet::cpu;
using namespace mlir;
using kernel::StructuredOpInterface;

std::optional<int64_t> cpu::known(Value value) {
  llvm::APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return constant.getSExtValue();
  return std::nullopt;
}

Walk::Walk(Frame &frame, const Contraction &contraction, Dot dot)
    : frame(frame), b(frame.b), c(contraction),
      op(cast<StructuredOpInterface>(c.reduce.getOperation())),
      group(MicroKernelOp::groupSize(dot)), depthUnit(groupsPerStep(dot)),
      element(cast<RankedTensorType>(c.reduce.getResult(0).getType())
                  .getElementType()),
      extents(frame.extents(op)), at(extents.size(), frame.i64(0)) {}

Value Walk::pointer(Value base, Value elements) {
  return LLVM::GEPOp::create(b, base.getType(), element, base,
                             llvm::ArrayRef<LLVM::GEPArg>{elements});
}

Value Walk::allocate(Type type, int64_t count, int64_t alignment) {
  Block *block = stack;
  if (!block) {
    Operation *parent = b.getInsertionBlock()->getParentOp();
    auto function = dyn_cast<func::FuncOp>(parent);
    if (!function)
      function = parent->getParentOfType<func::FuncOp>();
    block = &function.getBody().front();
  }
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(block);
  return LLVM::AllocaOp::create(b, LLVM::LLVMPointerType::get(b.getContext()),
                                type, frame.i64(count), alignment);
}

void Walk::forEach(llvm::ArrayRef<unsigned> iterators, Body body) {
  llvm::SmallVector<Value> bounds;
  for (unsigned i : iterators)
    bounds.push_back(extents[i]);
  llvm::SmallVector<Value> before = at;
  loops::forNest(b, bounds, [&](llvm::ArrayRef<Value> index) {
    for (auto [i, value] : llvm::zip_equal(iterators, index))
      at[i] = value;
    body();
  });
  at = before;
}

void Walk::forDepth(int64_t step, Body body) {
  unsigned k = c.k.front();
  Num whole = frame.num(extents[k]);
  std::optional<int64_t> count = known(whole);
  if (step == 0 || (count && *count <= step))
    return body();
  // One block at least: sums over nothing are stored, too.
  auto loop = scf::ForOp::create(b, frame.i64(0), loops::max(whole, one()),
                                 frame.i64(step));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  kBase = frame.num(loop.getInductionVar());
  extents[k] = count && *count % step == 0
                   ? frame.i64(step)
                   : loops::min(whole - kBase, frame.i64(step));
  isFirst = kBase == 0;
  isLast = kBase + step >= whole;
  body();
  kBase = Num();
  isFirst = isLast = Value();
  extents[k] = whole;
}

void Walk::forBlocks(Value n, int64_t step, BlockBody body) {
  std::optional<int64_t> count = known(n);
  if (count && *count <= step) {
    if (*count > 0)
      body(frame.i64(0), frame.num(n));
    return;
  }
  Value whole = count ? frame.i64(*count / step * step) : n;
  {
    auto loop = scf::ForOp::create(b, frame.i64(0), whole, frame.i64(step));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Num i = frame.num(loop.getInductionVar());
    body(i, count ? frame.i64(step)
                  : loops::min(frame.num(n) - i, frame.i64(step)));
  }
  // The last block is code of its own, for a size that is known.
  if (count && *count % step != 0)
    body(frame.num(whole), frame.i64(*count % step));
}

void Walk::forGroups(llvm::function_ref<void(Value)> body,
                     llvm::function_ref<Num(Num)> head) {
  unsigned k = c.k.back();
  auto outer = llvm::ArrayRef(c.k).drop_back();
  forEach(outer, [&] {
    Num extent = frame.num(extents[k]);
    Num whole = extent & -group;
    Value before = at[k];
    Num begin = head ? head(extent) : frame.i64(0);
    auto loop = scf::ForOp::create(b, begin, whole, frame.i64(group));
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(loop.getBody());
      at[k] = loop.getInductionVar();
      body(Value());
    }
    std::optional<int64_t> rest = known(extent - whole);
    if (group > 1 && (!rest || *rest > 0))
      loops::ifHolds(b, rest ? Value() : Value(whole < extent), [&] {
        at[k] = whole;
        body(extent - whole);
      });
    at[k] = before;
  });
}

llvm::SmallVector<Value> Walk::iterators() {
  llvm::SmallVector<Value> result = at;
  if (kBase)
    result[c.k.front()] = frame.num(at[c.k.front()]) + kBase;
  return result;
}

Num Walk::groupsOf(unsigned k) {
  Num extent = frame.num(extents[k]);
  if (k != c.k.back() || group == 1)
    return extent;
  return loops::quotient(extent + (group - 1), group);
}

Num Walk::linearK() {
  Num linear = frame.i64(0);
  for (unsigned i : c.k) {
    Num position = frame.num(at[i]);
    if (i == c.k.back() && group > 1)
      position = loops::quotient(position, group);
    linear = linear * groupsOf(i) + position;
  }
  return linear;
}

Num Walk::depth() {
  Num product = frame.i64(1);
  for (unsigned i : c.k)
    product = product * groupsOf(i);
  return product;
}

Num Walk::panelDepth() {
  Num words = depth();
  if (depthUnit == 1)
    return words;
  return loops::quotient(words + (depthUnit - 1), depthUnit) * depthUnit;
}

Num Walk::depthBefore() {
  if (!kBase)
    return frame.i64(0);
  if (c.k.size() == 1) // whole groups: a block is made of them
    return group > 1 ? loops::quotient(kBase, group) : kBase;
  Num product = kBase;
  for (unsigned i : llvm::ArrayRef(c.k).drop_front())
    product = product * groupsOf(i);
  return product;
}
