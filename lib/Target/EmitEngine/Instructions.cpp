//===- Instructions.cpp - operands and fields of one ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What an `engine.issue` says in tiles and attributes, in the words of the instruction
// set: a view of a slot becomes an access whose address follows loop counters and the
// ring's slot, a condition becomes a predicate.
//
//   %v = view %slot[%i] at (i) -> (i * 64)      access  dst = sbuf[0:128, 128*i0 + 512*r1, 64]
//
//===----------------------------------------------------------------------===//

#include "Emitter.h"

using namespace mlir;
using namespace facet;
using namespace facet::engine;

uint32_t Emitter::locationOf(mlir::Location location, StringRef mnemonic) {
  facet::Location result;
  if (auto named = dyn_cast<NameLoc>(location)) {
    result.op = named.getName().str();
    location = named.getChildLoc();
  }
  auto file = location->findInstanceOf<FileLineColLoc>();
  if (!file)
    return 0;
  result.file = file.getFilename().str();
  result.line = file.getLine();
  result.column = file.getColumn();
  return builder.location(result);
}

/// Adds `scale` times `expr` to the form.
static void addTo(AffineForm &form, AffineExpr expr, int64_t scale,
                  ArrayRef<unsigned> depths) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
    form.base += scale * constant.getValue();
  } else if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    form.coefficients[depths[dim.getPosition()]] += scale;
  } else {
    auto binary = cast<AffineBinaryOpExpr>(expr);
    if (binary.getKind() == AffineExprKind::Add) {
      addTo(form, binary.getLHS(), scale, depths);
      addTo(form, binary.getRHS(), scale, depths);
    } else {
      addTo(form, binary.getLHS(),
            scale * cast<AffineConstantExpr>(binary.getRHS()).getValue(),
            depths);
    }
  }
}

AffineForm Emitter::formOf(AffineExpr expr, ValueRange counters, Engine queue,
                           int64_t scale) {
  SmallVector<unsigned> depths;
  for (Value counter : counters) {
    Operation *loop = cast<BlockArgument>(counter).getOwner()->getParentOp();
    depths.push_back(llvm::find(loops[unsigned(queue)], loop) -
                     loops[unsigned(queue)].begin());
  }
  AffineForm form;
  addTo(form, expr, scale, depths);
  return form;
}

uint16_t Emitter::predicateOf(IssueOp op) {
  std::optional<IntegerSet> set = op.getCondition();
  if (!set)
    return 0;
  Predicate predicate;
  for (unsigned i = 0; i < set->getNumConstraints(); ++i) {
    AffineForm form = formOf(set->getConstraint(i), op.getCounters(),
                             Engine(op.getQueue()), 1);
    predicate.forms[i] = builder.affine(form) - 1;
    predicate.compares[i] = set->isEq(i) ? Predicate::Eq : Predicate::Ge;
  }
  predicate.conditions = set->getNumConstraints();
  return builder.predicate(predicate);
}

void Emitter::setOperand(IssueOp op, unsigned tile, Instruction &instruction) {
  Value value = op.getTiles()[tile];
  auto type = cast<TileType>(value.getType());
  auto view = value.getDefiningOp<ViewOp>();
  Value root = view ? view.getSource() : value;
  int64_t bytes = dtypeBytes(*dtypeOf(type.getElementType()));

  Access access;
  access.dtype = *dtypeOf(type.getElementType());
  access.partitions = type.getRows();
  access.rank = type.getShape().size() - 1;
  SmallVector<int64_t> steps(access.rank, 1);
  for (unsigned d = access.rank; d-- > 1;)
    steps[d - 1] = steps[d] * type.getShape()[d + 1];
  AffineForm form;
  if (view) {
    steps = view.getAllSteps();
    form = formOf(view.getAt().getResult(0), view.getCounters(),
                  Engine(op.getQueue()), bytes);
    access.offset = form.base;
    form.base = 0;
    access.partition = view.getPartition();
    access.rowStep = type.getRows() == 1 ? 0 : view.getRowStep();
  }
  if (auto index = value.getDefiningOp<IndexOp>()) {
    if (auto given = index.getSteps())
      steps.assign(given->begin(), given->end());
    form = formOf(index.getAt().getResult(0), index.getCounters(),
                  Engine(op.getQueue()), 1);
    access.offset = form.base;
    form.base = 0;
    access.rowStep = type.getRows() == 1 ? 0 : index.getRowStep();
  }
  for (unsigned d = 0; d < access.rank; ++d) {
    // A dimension of one element has no step, by the rules of the file.
    access.step[d] = type.getShape()[d + 1] == 1 ? 0 : steps[d];
    access.count[d] = type.getShape()[d + 1];
  }
  if (type.getMemory() == Memory::Index) {
    access.space = Space::Index;
  } else if (type.getMemory() == Memory::Hbm) {
    access.space = Space::Hbm;
    access.buffer = buffers.lookup(root);
  } else {
    const Slot &slot = slots[root];
    access.space = type.getMemory() == Memory::Psum ? Space::Psum : Space::Sbuf;
    access.offset += slot.ring->address;
    const Cursor *cursor =
        slot.ring->cursor(Engine(op.getQueue()), slot.writes);
    if (cursor && slot.ring->slots() > 1) {
      form.ring = cursor->registers[slot.position].number;
      form.slotStride = slot.ring->stride;
    }
  }
  if (!(form == AffineForm()))
    access.affine = builder.affine(form);
  instruction.operands[op.getSlot(tile)] = builder.access(access);
}

/// Number of `word` in a table of names, or nullopt.
template <typename Name>
static std::optional<unsigned> lookup(StringRef word, unsigned count,
                                      Name name) {
  for (unsigned i = 0; i < count; ++i)
    if (word == name(i))
      return i;
  return std::nullopt;
}

LogicalResult Emitter::setField(IssueOp op, const OpcodeInfo &info,
                                NamedAttribute field,
                                Instruction &instruction) {
  for (const FlagInfo &flag : info.flags)
    if (field.getName() == flag.name) {
      instruction.flags |= 1u << flag.bit;
      return success();
    }
  auto known = llvm::find_if(info.fields, [&](const FieldInfo &candidate) {
    return field.getName() == candidate.name;
  });
  if (auto number = dyn_cast<FloatAttr>(field.getValue())) {
    APFloat value = number.getValue();
    bool lost;
    value.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven, &lost);
    facet::setField(instruction, known->place,
                    uint32_t(value.bitcastToAPInt().getZExtValue()));
    return success();
  }
  if (auto number = dyn_cast<IntegerAttr>(field.getValue())) {
    facet::setField(instruction, known->place, uint32_t(number.getInt()));
    return success();
  }
  StringRef word = cast<StringAttr>(field.getValue()).getValue();
  std::optional<unsigned> code;
  if (known->kind == FieldKind::Alu || known->kind == FieldKind::Compare)
    code = lookup(word, numAlus, [](unsigned i) { return aluName(Alu(i)); });
  else if (known->kind == FieldKind::Function)
    code = lookup(word, numFunctions,
                  [](unsigned i) { return functionName(Function(i)); });
  else if (known->kind == FieldKind::Pass)
    code = lookup(word, 3, [](unsigned i) {
      return i == 0 ? "all" : i == 1 ? "low" : "high";
    });
  if (!code)
    return op.emitOpError("'")
           << word << "' is no value of field '" << known->name << "'";
  facet::setField(instruction, known->place, *code);
  return success();
}
