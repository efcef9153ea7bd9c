//===- Contraction.cpp - sums of products, recognised ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tensor engine takes sums of products of two tensors in the types its array
// multiplies exactly into f32:
//
//   sum[k](x[m, k] * w[k, n])             bf16 · bf16
//   sum[k](bf16(x[m, k]) * w[k, n])       x f32: rounded to bf16 on the way in
//
//===----------------------------------------------------------------------===//

#include "facet/Planner/Engine/Contraction.h"

using namespace mlir;
using namespace facet;
using namespace facet::engine;
using kernel::StructuredOpInterface;

namespace {
struct Factor {
  unsigned input;
  Type type;
};
} // namespace

/// One input, read as it is or rounded once to another type.
static std::optional<Factor> traceFactor(StructuredOpInterface op,
                                         Value value) {
  SmallVector<kernel::CastOp> casts;
  while (auto cast = value.getDefiningOp<kernel::CastOp>()) {
    casts.push_back(cast);
    value = cast.getValue();
  }
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || argument.getOwner() != &op.getBody().front() ||
      argument.getArgNumber() >= op.getInputs().size())
    return std::nullopt;
  unsigned input = argument.getArgNumber();
  if (!op.getGuardsOfInput(input).empty())
    return std::nullopt;
  Type type = argument.getType();
  bool rounded = false;
  for (kernel::CastOp cast : llvm::reverse(casts)) {
    if (cast.getMode() == kernel::CastMode::Exact)
      continue;
    if (cast.getMode() != kernel::CastMode::Round || rounded ||
        !isa<FloatType>(type))
      return std::nullopt;
    rounded = true;
    type = cast.getResult().getType();
  }
  return Factor{input, type};
}

static bool multiplies(Type type, const Machine *machine) {
  if (isa<Float8E4M3FNType>(type))
    return !machine || machine->tensor.f8e4m3fn;
  return type.isF32() || type.isTF32() || type.isBF16() || type.isF16() ||
         isa<Float8E4M3Type, Float8E5M2Type>(type);
}

/// The types the array sees: narrow ones may be mixed, a wide one makes both wide.
static void agree(Type &a, Type &b) {
  bool wideA = a.isF32() || a.isTF32(), wideB = b.isF32() || b.isTF32();
  if (wideA == wideB && !(wideA && a != b))
    return;
  a = b = Float32Type::get(a.getContext());
}

std::optional<Contraction> engine::matchContraction(kernel::ReduceOp reduce,
                                                    const Machine *machine,
                                                    bool filtered) {
  auto op = cast<StructuredOpInterface>(reduce.getOperation());
  if (reduce.getKind() != kernel::ReduceKind::Sum ||
      (!filtered && op.getNumGuardAtoms() != 0))
    return std::nullopt;
  auto product = op.getBody()
                     .front()
                     .getTerminator()
                     ->getOperand(0)
                     .getDefiningOp<arith::MulFOp>();
  if (!product || !product.getType().isF32())
    return std::nullopt;
  std::optional<Factor> a = traceFactor(op, product.getLhs()),
                        b = traceFactor(op, product.getRhs());
  if (!a || !b || !multiplies(a->type, machine) ||
      !multiplies(b->type, machine))
    return std::nullopt;
  Contraction result;
  result.reduce = reduce;
  result.a = a->input;
  result.b = b->input;
  result.aType = a->type;
  result.bType = b->type;
  agree(result.aType, result.bType);
  if (isa<Float8E4M3FNType>(result.aType) !=
      isa<Float8E4M3FNType>(result.bType))
    return std::nullopt;

  // Through an index as well: the rows it chooses are laid out before.
  std::function<bool(unsigned, unsigned)> uses = [&](unsigned input,
                                                     unsigned iterator) {
    return llvm::any_of(op.getAccess(input).getSubscripts(),
                        [&](const kernel::Subscript &subscript) {
                          return subscript.kind == kernel::Subscript::Element
                                     ? uses(subscript.value, iterator)
                                     : subscript.kind ==
                                               kernel::Subscript::Iterator &&
                                           subscript.value == int64_t(iterator);
                        });
  };
  for (unsigned i = 0; i < op.getNumIterators(); ++i) {
    bool inA = uses(result.a, i), inB = uses(result.b, i);
    if (i >= op.getNumParallel()) {
      if (!inA || !inB)
        return std::nullopt;
      result.k.push_back(i);
    } else {
      (inA == inB ? result.both
       : inA      ? result.onlyA
                  : result.onlyB)
          .push_back(i);
    }
  }
  if (result.k.empty())
    return std::nullopt;
  result.epilogue = kernel::matchEpilogue(reduce);
  return result;
}

bool Contraction::isOnlyRounded() const {
  if (!epilogue)
    return true;
  auto map = llvm::cast<kernel::StructuredOpInterface>(
      kernel::MapOp(epilogue->map).getOperation());
  if (!map.getFilter().empty() || map->getNumResults() != 1)
    return false;
  mlir::Block &body = map.getBody().front();
  Value value = body.getTerminator()->getOperand(0);
  if (auto cast = value.getDefiningOp<kernel::CastOp>();
      cast && (cast.getMode() == kernel::CastMode::Round ||
               cast.getMode() == kernel::CastMode::Exact))
    value = cast.getValue();
  return value == body.getArgument(epilogue->sumsInput);
}
