//===- LoneLaneStores.cpp - masked stores of one lane ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   masked.store <16 x i16> %v, %p, <true, false, …>   ─▶   store i16 (extractelement %v, 0), %p
//
// LLVM 22.1's code for x86 makes this step itself, but where %v is a truncation it stores
// the element as it was before, with twice or four times the bytes: the last column of a
// bf16 result then overwrites what lies behind it (llvm-project issue 179489). Masks
// become constants when sizes are fixed, so this runs on the optimised module.
//
//===----------------------------------------------------------------------===//

#include "LoneLaneStores.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

/// The only lane of a constant mask.
static std::optional<unsigned> loneLane(const Value *mask) {
  const auto *constant = dyn_cast<Constant>(mask);
  auto *type = dyn_cast<FixedVectorType>(mask->getType());
  if (!constant || !type)
    return std::nullopt;
  std::optional<unsigned> found;
  for (unsigned lane = 0; lane < type->getNumElements(); ++lane) {
    const Constant *bit = constant->getAggregateElement(lane);
    if (!bit || !isa<ConstantInt>(bit) || (bit->isOneValue() && found))
      return std::nullopt;
    if (bit->isOneValue())
      found = lane;
  }
  return found;
}

void facet::replaceLoneLaneStores(Module &module) {
  SmallVector<IntrinsicInst *> stores;
  for (Function &function : module)
    for (Instruction &instruction : instructions(function))
      if (auto *call = dyn_cast<IntrinsicInst>(&instruction);
          call && call->getIntrinsicID() == Intrinsic::masked_store)
        stores.push_back(call);
  for (IntrinsicInst *masked : stores) {
    Value *value = masked->getArgOperand(0), *to = masked->getArgOperand(1);
    // The mask is the last operand; the alignment is an attribute of the pointer.
    Value *mask = masked->getArgOperand(masked->arg_size() - 1);
    std::optional<unsigned> lane = loneLane(mask);
    if (!lane)
      continue;
    IRBuilder<> builder(masked);
    Type *element = cast<VectorType>(value->getType())->getElementType();
    Value *at = builder.CreateConstInBoundsGEP1_64(element, to, *lane);
    Align align = commonAlignment(
        masked->getParamAlign(1).valueOrOne(),
        *lane *
            module.getDataLayout().getTypeStoreSize(element).getFixedValue());
    StoreInst *store = builder.CreateAlignedStore(
        builder.CreateExtractElement(value, *lane), at, align);
    store->copyMetadata(*masked);
    masked->eraseFromParent();
  }
}
