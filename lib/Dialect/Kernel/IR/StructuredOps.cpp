//===- StructuredOps.cpp - verifiers of map, reduce, softmax --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What ODS cannot say: that iterators, accesses, guards, regions and types of
// one op fit together. Each check is a function that names what it found; the
// order matters, since later checks rely on what earlier ones established.
//
//===----------------------------------------------------------------------===//

#include "Syntax.h"

#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace facet::kernel;

#define GET_OP_CLASSES
#include "facet/Dialect/Kernel/IR/KernelOps.cpp.inc"

bool facet::kernel::isElementType(Type type) {
  if (auto integer = dyn_cast<IntegerType>(type)) {
    unsigned width = integer.getWidth();
    if (integer.isSignless())
      return llvm::is_contained({1u, 4u, 8u, 16u, 32u, 64u}, width);
    return integer.isUnsigned() && (width == 4 || width == 8);
  }
  return isa<Float64Type, Float32Type, Float16Type, BFloat16Type,
             Float8E4M3Type, Float8E4M3FNType, Float8E5M2Type>(type);
}

bool facet::kernel::isArithmeticType(Type type) {
  return type.isSignlessInteger(1) || type.isSignlessInteger(32) ||
         type.isSignlessInteger(64) || type.isF32() || type.isF64();
}

//===----------------------------------------------------------------------===//
// Iterators and operands
//===----------------------------------------------------------------------===//

static LogicalResult verifyIterators(StructuredOpInterface op) {
  size_t count = op.getIteratorNames().size();
  if (op.getStaticExtents().size() != count)
    return op->emitOpError() << "has " << count << " iterators and "
                             << op.getStaticExtents().size() << " extents";
  if (op.getNumParallel() > count)
    return op->emitOpError() << "has " << count << " iterators and says that "
                             << op.getNumParallel() << " are parallel";
  size_t numDynamic = llvm::count(op.getStaticExtents(), ShapedType::kDynamic);
  if (numDynamic != op.getExtents().size())
    return op->emitOpError() << "has " << numDynamic << " dynamic extents and "
                             << op.getExtents().size() << " extent operands";
  llvm::StringSet<> names;
  for (unsigned i = 0; i != count; ++i) {
    StringRef name = op.getIteratorName(i);
    if (name.empty())
      return op->emitOpError("has an iterator without a name");
    if (!names.insert(name).second)
      return op->emitOpError() << "has two iterators named '" << name << "'";
    int64_t extent = op.getStaticExtents()[i];
    if (extent < 0 && !ShapedType::isDynamic(extent))
      return op->emitOpError()
             << "gives iterator '" << name << "' the extent " << extent;
  }
  return success();
}

static LogicalResult verifyExtent(StructuredOpInterface op, unsigned iterator,
                                  int64_t dim, const Twine &where) {
  int64_t extent = op.getStaticExtents()[iterator];
  if (ShapedType::isDynamic(extent) || ShapedType::isDynamic(dim) ||
      extent == dim)
    return success();
  return op->emitOpError() << "has an extent of " << extent << " for iterator '"
                           << op.getIteratorName(iterator) << "' and " << dim
                           << " as " << where;
}

static LogicalResult verifyAccess(StructuredOpInterface op, unsigned input) {
  auto access = dyn_cast<AccessAttr>(op.getAccesses()[input]);
  if (!access)
    return op->emitOpError()
           << "describes the access of input " << input << " by "
           << op.getAccesses()[input] << ", a #kernel.access is needed";
  auto type = cast<RankedTensorType>(op.getInputs()[input].getType());
  if (!isElementType(type.getElementType()))
    return op->emitOpError()
           << "reads elements of type " << type.getElementType()
           << ", which is no element type of a kernel";
  ArrayRef<Subscript> subscripts = access.getSubscripts();
  if (static_cast<int64_t>(subscripts.size()) != type.getRank())
    return op->emitOpError()
           << "gives input " << input << " " << subscripts.size()
           << " subscripts; it has rank " << type.getRank();
  for (auto [i, subscript] : llvm::enumerate(subscripts)) {
    int64_t dim = type.getDimSize(i), value = subscript.value;
    switch (subscript.kind) {
    case Subscript::Iterator:
      if (value < 0 || value >= static_cast<int64_t>(op.getNumIterators()))
        return op->emitOpError()
               << "subscripts input " << input << " by iterator " << value
               << "; it has " << op.getNumIterators();
      if (failed(verifyExtent(op, value, dim,
                              "dimension " + Twine(i) + " of input " +
                                  Twine(input))))
        return failure();
      break;
    case Subscript::Constant:
      if (value < 0 || (!ShapedType::isDynamic(dim) && value >= dim)) {
        InFlightDiagnostic diagnostic = op->emitOpError()
                                        << "subscripts input " << input
                                        << " by " << value;
        if (value < 0)
          return diagnostic << ", a negative number";
        return diagnostic << "; its dimension " << i << " is " << dim;
      }
      break;
    case Subscript::Element: {
      if (value < 0 || value >= static_cast<int64_t>(input))
        return op->emitOpError()
               << "subscripts input " << input << " by the element of input "
               << value << "; only an earlier input can be a subscript";
      Type element = getElementTypeOrSelf(op.getInputs()[value].getType());
      if (!element.isInteger() || element.isInteger(1))
        return op->emitOpError()
               << "subscripts input " << input << " by elements of type "
               << element << "; a subscript is an integer";
      break;
    }
    }
  }
  return success();
}

static LogicalResult verifyInits(StructuredOpInterface op) {
  // The dimensions of a softmax are all its iterators.
  unsigned rank =
      isa<SoftmaxOp>(op) ? op.getNumIterators() : op.getNumParallel();
  for (auto [i, init] : llvm::enumerate(op.getInits())) {
    auto type = cast<RankedTensorType>(init.getType());
    if (!isElementType(type.getElementType()))
      return op->emitOpError()
             << "writes elements of type " << type.getElementType()
             << ", which is no element type of a kernel";
    if (type.getRank() != rank)
      return op->emitOpError() << "has an init of rank " << type.getRank()
                               << "; its result has " << rank << " dimensions";
    for (unsigned dim = 0; dim != rank; ++dim)
      if (failed(verifyExtent(op, dim, type.getDimSize(dim),
                              "dimension " + Twine(dim) + " of its init")))
        return failure();
    if (i >= op->getNumResults() || op->getResult(i).getType() != type)
      return op->emitOpError() << "has an init of type " << type
                               << " without a result of that type";
  }
  if (op->getNumResults() != op.getInits().size())
    return op->emitOpError() << "has " << op.getInits().size() << " inits and "
                             << op->getNumResults() << " results";
  return success();
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

LogicalResult facet::kernel::verifyScalarRegion(Operation *op, Region &region,
                                                StringRef what) {
  auto isScalar = [](Type type) { return type.isIntOrIndexOrFloat(); };
  for (Operation &nested : region.front()) {
    if (nested.getNumRegions() != 0 || nested.getNumSuccessors() != 0 ||
        !llvm::all_of(nested.getOperandTypes(), isScalar) ||
        !llvm::all_of(nested.getResultTypes(), isScalar) ||
        !isMemoryEffectFree(&nested))
      return op->emitOpError()
             << "has '" << nested.getName() << "' in its " << what
             << "; only scalar operations without effects may stand there";
    for (Value operand : nested.getOperands())
      if (operand.getParentRegion() != &region &&
          !operand.getType().isIntOrIndex() &&
          !matchPattern(operand, m_Constant()))
        return op->emitOpError()
               << "uses a value of type " << operand.getType()
               << " from outside in its " << what
               << "; sizes, constants and offsets may come from there";
  }
  return success();
}

/// Arguments and terminator; `numAtoms` i1 arguments follow the elements.
static LogicalResult verifyRegion(StructuredOpInterface op, Region &region,
                                  StringRef what, unsigned numAtoms) {
  unsigned numInputs = op.getInputs().size();
  Block &block = region.front();
  if (block.getNumArguments() != numInputs + numAtoms)
    return op->emitOpError()
           << "has " << block.getNumArguments() << " arguments in its " << what
           << "; " << numInputs << " elements and " << numAtoms
           << " guards are needed";
  for (BlockArgument argument : block.getArguments()) {
    unsigned i = argument.getArgNumber();
    Type wanted = i < numInputs
                      ? getElementTypeOrSelf(op.getInputs()[i].getType())
                      : IntegerType::get(op->getContext(), 1);
    if (argument.getType() != wanted)
      return op->emitOpError()
             << "has " << argument.getType() << " as argument " << i
             << " of its " << what << ", which must be " << wanted;
  }
  if (block.empty() || !isa<YieldOp>(block.back()))
    return op->emitOpError() << "must end its " << what << " in kernel.yield";
  return verifyScalarRegion(op, region, what);
}

static LogicalResult verifyGuards(StructuredOpInterface op) {
  if (op.getGuards().empty())
    return success();
  if (failed(verifyRegion(op, op.getGuards(), "guards", 0)))
    return failure();
  TypeRange atoms = op.getGuards().front().getTerminator()->getOperandTypes();
  if (atoms.empty())
    return op->emitOpError("has a guards region that yields nothing");
  for (Type type : atoms)
    if (!type.isSignlessInteger(1))
      return op->emitOpError()
             << "yields " << type << " as a guard, which must be i1";
  return success();
}

static LogicalResult verifyAtoms(StructuredOpInterface op,
                                 ArrayRef<int64_t> atoms, const Twine &what) {
  llvm::SmallDenseSet<int64_t, 4> seen;
  for (int64_t atom : atoms) {
    if (atom < 0 || atom >= static_cast<int64_t>(op.getNumGuardAtoms()))
      return op->emitOpError() << "names guard " << atom << " in " << what
                               << "; it has " << op.getNumGuardAtoms();
    if (!seen.insert(atom).second)
      return op->emitOpError()
             << "names guard " << atom << " twice in " << what;
  }
  return success();
}

/// The atoms that must hold before input `i` may be read: its own and those of
/// the inputs it is subscripted by.
static llvm::BitVector atomsToRead(StructuredOpInterface op, unsigned i,
                                   ArrayRef<llvm::BitVector> earlier) {
  llvm::BitVector atoms(op.getNumGuardAtoms());
  for (int64_t atom : op.getGuardsOfInput(i))
    atoms.set(atom);
  for (const Subscript &subscript : op.getAccess(i).getSubscripts())
    if (subscript.kind == Subscript::Element)
      atoms |= earlier[subscript.value];
  return atoms;
}

static LogicalResult verifyConditions(StructuredOpInterface op) {
  unsigned numInputs = op.getInputs().size();
  if (op.getInputGuards().size() != numInputs)
    return op->emitOpError()
           << "has " << numInputs << " inputs and "
           << op.getInputGuards().size() << " lists of guards";
  if (failed(verifyAtoms(op, op.getFilter(), "its filter")))
    return failure();
  SmallVector<llvm::BitVector> needed;
  for (unsigned i = 0; i != numInputs; ++i) {
    if (!isa<DenseI64ArrayAttr>(op.getInputGuards()[i]))
      return op->emitOpError()
             << "describes the guards of input " << i << " by "
             << op.getInputGuards()[i] << ", an array<i64: ...> is needed";
    if (failed(verifyAtoms(op, op.getGuardsOfInput(i),
                           "the guards of input " + Twine(i))))
      return failure();
    needed.push_back(atomsToRead(op, i, needed));

    // An index that may not be read cannot say where to read.
    llvm::BitVector known(op.getNumGuardAtoms());
    for (int64_t atom : op.getGuardsOfInput(i))
      known.set(atom);
    for (int64_t atom : op.getFilter())
      known.set(atom);
    llvm::BitVector missing = needed.back();
    missing.reset(known);
    if (missing.any())
      return op->emitOpError()
             << "reads input " << i
             << " at the element of an input that is guarded by "
             << missing.find_first() << "; input " << i
             << " must have that guard too";
    if (needed.back().none() || op.getGuards().empty())
      continue;

    // Inside the guards region an input exists once its atoms are computed.
    Operation *yield = op.getGuards().front().getTerminator();
    for (Operation *user : op.getGuards().getArgument(i).getUsers()) {
      for (unsigned atom : needed.back().set_bits()) {
        Operation *condition = yield->getOperand(atom).getDefiningOp();
        bool before = !condition || condition->getBlock() != user->getBlock() ||
                      condition->isBeforeInBlock(user);
        bool itself = yield->getOperand(atom) == op.getGuards().getArgument(i);
        if (!before || itself)
          return op->emitOpError()
                 << "uses input " << i << " in its guards before guard " << atom
                 << ", under which it is read, is computed";
      }
    }
  }
  return success();
}

static LogicalResult verifyYield(StructuredOpInterface op) {
  Operation *yield = op.getBody().front().getTerminator();
  if (yield->getNumOperands() != op.getInits().size())
    return op->emitOpError()
           << "yields " << yield->getNumOperands() << " values for "
           << op.getInits().size() << " inits";
  for (auto [value, init] : llvm::zip(yield->getOperands(), op.getInits()))
    if (value.getType() != getElementTypeOrSelf(init.getType()))
      return op->emitOpError()
             << "yields " << value.getType() << " for elements of type "
             << getElementTypeOrSelf(init.getType());
  return success();
}

static LogicalResult verifyStructured(StructuredOpInterface op) {
  if (failed(verifyIterators(op)))
    return failure();
  if (op.getAccesses().size() != op.getInputs().size())
    return op->emitOpError()
           << "has " << op.getInputs().size() << " inputs and "
           << op.getAccesses().size() << " accesses";
  for (unsigned i = 0, e = op.getInputs().size(); i != e; ++i)
    if (failed(verifyAccess(op, i)))
      return failure();
  if (failed(verifyInits(op)) || failed(verifyGuards(op)) ||
      failed(verifyConditions(op)) ||
      failed(verifyRegion(op, op.getBody(), "body", op.getNumGuardAtoms())))
    return failure();
  return verifyYield(op);
}

//===----------------------------------------------------------------------===//
// The three ops
//===----------------------------------------------------------------------===//

LogicalResult MapOp::verify() {
  if (failed(verifyStructured(*this)))
    return failure();
  if (getNumParallel() != getIteratorNames().size())
    return emitOpError(
        "has iterators that are not parallel; reductions are kernel.reduce");
  if (!getFilter().empty())
    return emitOpError("has a filter; a map has a value everywhere");
  if (getInits().size() != 1)
    return emitOpError() << "has " << getInits().size()
                         << " inits, one is needed";
  return success();
}

LogicalResult ReduceOp::verify() {
  if (failed(verifyStructured(*this)))
    return failure();
  if (getNumParallel() == getIteratorNames().size())
    return emitOpError("has no iterator to reduce over");
  StringRef kind = stringifyReduceKind(getKind());
  bool isArg =
      getKind() == ReduceKind::Argmax || getKind() == ReduceKind::Argmin;
  if (getInits().size() != (isArg ? 2 : 1))
    return emitOpError() << "has " << getInits().size() << " inits; " << kind
                         << (isArg ? " needs two, the value and its index"
                                   : " needs one");
  Type type = getElementTypeOrSelf(getInits().front().getType());
  bool isBool = getKind() == ReduceKind::Any || getKind() == ReduceKind::All;
  if (!isArithmeticType(type) || type.isSignlessInteger(1) != isBool)
    return emitOpError() << "reduces " << type << " by " << kind
                         << ", which takes "
                         << (isBool ? "i1" : "i32, i64, f32 or f64");
  if (isArg &&
      !getElementTypeOrSelf(getInits().back().getType()).isSignlessInteger(64))
    return emitOpError() << "has an index of type "
                         << getElementTypeOrSelf(getInits().back().getType())
                         << ", which must be i64";
  if (isArg && getIteratorNames().size() != getNumParallel() + 1)
    return emitOpError() << "reduces over "
                         << getIteratorNames().size() - getNumParallel()
                         << " iterators; " << kind << " takes one";
  return success();
}

LogicalResult SoftmaxOp::verify() {
  if (failed(verifyStructured(*this)))
    return failure();
  if (getNumParallel() == getIteratorNames().size())
    return emitOpError("has no iterator to normalise over");
  if (getInits().size() != 1)
    return emitOpError() << "has " << getInits().size()
                         << " inits, one is needed";
  Type type = getElementTypeOrSelf(getInits().front().getType());
  if (!type.isF32() && !type.isF64())
    return emitOpError() << "normalises " << type << "; f32 or f64 is needed";
  return success();
}
