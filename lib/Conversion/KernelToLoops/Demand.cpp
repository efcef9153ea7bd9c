//===- Demand.cpp - which elements of a let are needed, and index checks --===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A `let` has values only where a result needs them, and its subscripts are
// checked only there, before anything is written:
//
//   let u[t] = table[id[t]]
//   y[n] = sum[t | t < len[n]](u[t])
//
// `u` gets a byte per element. Walking the ops backwards, y's pass marks u[t]
// for every n and t < len[n]; u's pass then checks id[t] where marked; only then
// are u and y computed, u where marked. Conditions on computed data count as
// true here, so the walk needs arguments and sizes alone. Loops run over those
// iterators only on which something depends.
//
//===----------------------------------------------------------------------===//

#include "Demand.h"

#include "llvm/ADT/BitVector.h"

using namespace facet;
using namespace facet::loops;
using namespace mlir;
using kernel::isReturned;
using kernel::mayLeaveRange;
using kernel::StructuredOpInterface;

//===----------------------------------------------------------------------===//
// What an atom depends on
//===----------------------------------------------------------------------===//

/// The inputs that `value` depends on inside the guards of `op`.
static llvm::SmallVector<unsigned> inputsOf(StructuredOpInterface op,
                                            Value value) {
  llvm::SmallVector<unsigned> result;
  auto note = [&](Value operand) {
    if (auto argument = dyn_cast<BlockArgument>(operand);
        argument && argument.getOwner() == &op.getGuards().front())
      result.push_back(argument.getArgNumber());
  };
  note(value);
  for (Operation *inner : slice(op.getGuards().front(), value))
    llvm::for_each(inner->getOperands(), note);
  return result;
}

static Value atomValue(StructuredOpInterface op, unsigned i) {
  return op.getGuards().front().getTerminator()->getOperand(i);
}

/// The extent of dimension `dim` is known at the call only.
static bool isUnknown(Value tensor, unsigned dim) {
  return cast<RankedTensorType>(tensor.getType()).isDynamicDim(dim);
}

static bool isParameter(Value tensor) { return isa<BlockArgument>(tensor); }

/// Rounds, so that a road may find another value next to it.
static bool isInexact(Operation *inner) {
  if (!isa<FloatType>(inner->getResult(0).getType()))
    return false;
  if (auto cast = dyn_cast<kernel::CastOp>(inner))
    return cast.getMode() != kernel::CastMode::Exact;
  return !isa<arith::ConstantOp, arith::NegFOp, math::AbsFOp, arith::SelectOp,
              arith::MaximumFOp, arith::MinimumFOp>(inner);
}

/// Atom `i` depends on indices, sizes and arguments alone; with `exactly`, in a
/// way that no road can see differently.
static bool isPure(StructuredOpInterface op, unsigned i, bool exactly) {
  Value value = atomValue(op, i);
  if (exactly)
    for (Operation *inner : slice(op.getGuards().front(), value))
      if (inner->getNumResults() != 1 || isInexact(inner))
        return false;
  return llvm::all_of(inputsOf(op, value), [&](unsigned k) {
    if (!isParameter(op.getInputs()[k]))
      return false;
    return llvm::all_of(op.getAccess(k).getSubscripts(),
                        [&](kernel::Subscript s) {
                          return s.kind != kernel::Subscript::Element ||
                                 isParameter(op.getInputs()[s.value]);
                        });
  });
}

/// Atom `i` is the same at all points: it names no index and reads scalars only.
static bool isUniform(StructuredOpInterface op, unsigned i) {
  Value value = atomValue(op, i);
  for (Operation *inner : slice(op.getGuards().front(), value))
    if (isa<kernel::IndexOp>(inner))
      return false;
  return llvm::all_of(inputsOf(op, value), [&](unsigned k) {
    return isParameter(op.getInputs()[k]) &&
           op.getAccess(k).getSubscripts().empty();
  });
}

//===----------------------------------------------------------------------===//
// A point where subscripts are checked
//===----------------------------------------------------------------------===//

namespace {

class CheckPoint : public OwnPoint {
public:
  CheckPoint(Frame &frame, StructuredOpInterface op,
             llvm::ArrayRef<Value> iterators, bool exactly)
      : OwnPoint(frame, op, iterators), exactly(exactly) {}

protected:
  bool ignoresAtom(unsigned i) override { return !isPure(op, i, exactly); }
  Value elementSubscript(unsigned k, unsigned dim, unsigned source,
                         Value &guard) override;
  Value constantSubscript(unsigned k, unsigned dim, int64_t value,
                          Value &guard) override;
  /// Reports `value` where it is out of range under `guard`, and narrows that.
  Value check(unsigned k, unsigned dim, Value value, Value &guard);

  bool exactly;
};

/// No point in particular: atoms that are the same at all points. A scalar may be
/// read whatever conditions it stands under.
class UniformPoint : public CheckPoint {
public:
  UniformPoint(Frame &frame, StructuredOpInterface op, bool exactly)
      : CheckPoint(frame, op, {}, exactly) {}

protected:
  bool ignoresAtom(unsigned i) override {
    return !isUniform(op, i) || !isPure(op, i, exactly);
  }
};

} // namespace

/// Address of a zero-terminated string constant; null for an empty one.
static Value textAddress(Frame &frame, llvm::StringRef text) {
  LocBuilder &b = frame.b;
  Type pointer = LLVM::LLVMPointerType::get(b.getContext());
  if (text.empty())
    return LLVM::ZeroOp::create(b, pointer);
  auto module = frame.kernel->getParentOfType<ModuleOp>();
  std::string name = ("facet.text." + text).str();
  if (!module.lookupSymbol(name)) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(module.getBody());
    std::string bytes = text.str();
    bytes.push_back('\0');
    LLVM::GlobalOp::create(
        b, LLVM::LLVMArrayType::get(b.getI8Type(), bytes.size()),
        /*isConstant=*/true, LLVM::Linkage::Internal, name,
        b.getStringAttr(bytes));
  }
  return LLVM::AddressOfOp::create(b, pointer, name);
}

/// facet.index_error(status, error, kernel, argument, axis, found, wanted): keeps
/// the first error; the layout is facet_error's in facet/abi.h.
static void defineIndexError(LocBuilder &b, ValueRange arguments) {
  constexpr int64_t indexError = -9; // FACET_E_INDEX
  Value status = arguments[0], error = arguments[1];
  Type i32 = b.getI32Type();
  Num code{b, LLVM::LoadOp::create(b, i32, status)};
  ifHolds(b, code == 0, [&] {
    Value found = constant(b, i32, indexError);
    LLVM::StoreOp::create(b, found, status);
    Num address{b, LLVM::PtrToIntOp::create(b, b.getI64Type(), error)};
    ifHolds(b, address != 0, [&] {
      Type pointer = error.getType();
      auto record = LLVM::LLVMStructType::getLiteral(
          b.getContext(),
          {i32, i32, pointer, pointer, b.getI64Type(), b.getI64Type()});
      Value fields[] = {found,        arguments[4], arguments[2],
                        arguments[3], arguments[5], arguments[6]};
      for (auto [i, field] : llvm::enumerate(fields)) {
        Value place =
            LLVM::GEPOp::create(b, pointer, record, error,
                                llvm::ArrayRef<LLVM::GEPArg>{0, int32_t(i)});
        LLVM::StoreOp::create(b, field, place);
      }
    });
  });
  func::ReturnOp::create(b);
}

/// Name of a tensor, and the axis in memory of its dimension `dim`.
static std::pair<llvm::StringRef, int64_t>
describe(kernel::FuncOp kernel, Value tensor, unsigned dim) {
  auto argument = dyn_cast<BlockArgument>(tensor);
  if (!argument) {
    auto op = tensor.getDefiningOp<StructuredOpInterface>();
    return {op ? op.getName().value_or("") : "", dim};
  }
  kernel::ParamAttr param = kernel.getParam(argument.getArgNumber());
  int64_t axis = 0;
  for (kernel::AxisAttr group : param.getAxes()) {
    if (dim < group.getDims().size())
      break;
    dim -= group.getDims().size();
    ++axis;
  }
  return {param.getName().getValue(), axis};
}

Value CheckPoint::check(unsigned k, unsigned dim, Value value, Value &guard) {
  Value tensor = op.getInputs()[k];
  const Storage &storage = frame.tensors[tensor];
  if (storage.dims.empty())
    return value; // the same everywhere
  Num extent = frame.num(storage.dims[dim]);
  Num inRange = (frame.num(value) >= 0) & (frame.num(value) < extent);
  Value holds = guard;
  guard = guard ? Value(frame.num(guard) & inRange) : inRange.get();
  if (exactly)
    return value; // the road under test has checked it, by its own conditions
  Num wrong = holds ? invert(inRange) & frame.num(holds) : invert(inRange);
  llvm::StringRef name;
  int64_t axis;
  std::tie(name, axis) = describe(frame.kernel, tensor, dim);
  ifHolds(b, wrong, [&] {
    Value operands[] = {frame.status,
                        frame.error,
                        textAddress(frame, frame.kernel.getSymName()),
                        textAddress(frame, name),
                        constant(b, b.getI32Type(), axis),
                        value,
                        extent};
    llvm::SmallVector<Type> types;
    for (Value operand : operands)
      types.push_back(operand.getType());
    frame.functions.call(b, "facet.index_error", b.getFunctionType(types, {}),
                         operands, defineIndexError);
  });
  return value;
}

Value CheckPoint::elementSubscript(unsigned k, unsigned dim, unsigned source,
                                   Value &guard) {
  return check(k, dim, OwnPoint::elementSubscript(k, dim, source, guard),
               guard);
}

Value CheckPoint::constantSubscript(unsigned k, unsigned dim, int64_t value,
                                    Value &guard) {
  Value number = frame.i64(value);
  return isUnknown(op.getInputs()[k], dim) ? check(k, dim, number, guard)
                                           : number;
}

//===----------------------------------------------------------------------===//
// Demand
//===----------------------------------------------------------------------===//

Demand::Demand(kernel::FuncOp kernel, bool everywhere)
    : kernel(kernel), everywhere(everywhere), live(kernel, everywhere) {}

void Demand::reserve(Workspace &workspace) {
  for (StructuredOpInterface op : live.ops)
    if (isTracked(op))
      slots[op] = workspace.add(
          IntegerType::get(op->getContext(), 8),
          llvm::ArrayRef(op.getMixedExtents()).take_front(op.getNumParallel()));
}

Storage Demand::array(Operation *op, llvm::ArrayRef<Storage> placed) const {
  auto it = slots.find(op);
  return it == slots.end() ? Storage() : placed[it->second];
}

/// i1 per op: could a use of it be reached, judging by what holds everywhere?
void Demand::emitNeeded(Frame &frame) {
  for (StructuredOpInterface op : llvm::reverse(live.ops)) {
    if (isReturned(op))
      continue;
    Value any = frame.i1(false);
    for (StructuredOpInterface user : live.ops) {
      for (auto [k, input] : llvm::enumerate(user.getInputs())) {
        if (!any || input.getDefiningOp() != op)
          continue;
        UniformPoint point(frame, user, everywhere);
        Value use = point.holds(llvm::to_vector(llvm::concat<const int64_t>(
            user.getGuardsOfInput(k), user.getFilter())));
        if (Value outer = isNeeded(user))
          use = use ? Value(frame.num(use) & frame.num(outer)) : outer;
        any = use ? Value(frame.num(any) | frame.num(use)) : Value();
      }
    }
    if (any)
      needed[op] = any;
  }
}

void Demand::emitPass(Frame &frame, StructuredOpInterface op,
                      llvm::ArrayRef<Storage> placed) {
  LocBuilder &b = frame.b;
  b.setLoc(op.getLoc());
  // Inputs whose subscripts are to be checked, or whose element is to be marked.
  llvm::SmallVector<unsigned> interesting;
  auto marks = [&](unsigned k) -> Operation * {
    Operation *def = op.getInputs()[k].getDefiningOp();
    return def && isTracked(def) && !isReturned(def) ? def : nullptr;
  };
  for (unsigned k = 0; k < op.getInputs().size(); ++k)
    if (marks(k) || mayLeaveRange(op, k))
      interesting.push_back(k);
  if (interesting.empty())
    return;

  // The iterators that these depend on.
  unsigned numParallel = op.getNumParallel();
  llvm::BitVector used(op.getNumIterators());
  if (isTracked(op))
    used.set(0, numParallel);
  auto useAtoms = [&](llvm::ArrayRef<int64_t> atoms, auto &&self,
                      auto &&useInput) -> void {
    for (int64_t i : atoms) {
      if (!isPure(op, i, everywhere))
        continue;
      Value value = atomValue(op, i);
      for (Operation *inner : slice(op.getGuards().front(), value))
        if (auto index = dyn_cast<kernel::IndexOp>(inner))
          for (unsigned n = 0; n < op.getNumIterators(); ++n)
            if (op.getIteratorName(n) == index.getIterator())
              used.set(n);
      for (unsigned k : inputsOf(op, value))
        useInput(k, self, useInput);
    }
  };
  auto useInput = [&](unsigned k, auto &&atoms, auto &&self) -> void {
    for (kernel::Subscript subscript : op.getAccess(k).getSubscripts()) {
      if (subscript.kind == kernel::Subscript::Iterator)
        used.set(subscript.value);
      else if (subscript.kind == kernel::Subscript::Element)
        self(subscript.value, atoms, self);
    }
    atoms(op.getGuardsOfInput(k), atoms, self);
  };
  useAtoms(op.getFilter(), useAtoms, useInput);
  for (unsigned k : interesting)
    useInput(k, useAtoms, useInput);

  llvm::SmallVector<Value> extents = frame.extents(op);
  llvm::SmallVector<Value> outer, inner;
  Value condition = isNeeded(op);
  for (auto [i, extent] : llvm::enumerate(extents)) {
    if (used[i]) {
      (i < numParallel ? outer : inner).push_back(extent);
      continue;
    }
    Num some = frame.num(extent) > 0;
    condition = condition ? Value(frame.num(condition) & some) : some.get();
  }
  Storage demanded = array(op, placed);

  ifHolds(b, condition, [&] {
    forNest(b, outer, [&](llvm::ArrayRef<Value> outerIndices) {
      Value wanted;
      if (demanded.kind == Storage::Memory)
        wanted = frame.num(load(b, demanded, outerIndices)) != 0;
      ifHolds(b, wanted, [&] {
        forNest(b, inner, [&](llvm::ArrayRef<Value> innerIndices) {
          llvm::SmallVector<Value> iterators;
          auto outerIt = outerIndices.begin(), innerIt = innerIndices.begin();
          for (unsigned i = 0; i < extents.size(); ++i)
            iterators.push_back(!used[i]          ? Value(frame.i64(0))
                                : i < numParallel ? *outerIt++
                                                  : *innerIt++);
          CheckPoint point(frame, op, iterators, everywhere);
          ifHolds(b, point.holds(op.getFilter()), [&] {
            for (unsigned k : interesting) {
              Value guard = point.holds(op.getGuardsOfInput(k));
              llvm::SmallVector<Value> index = point.subscripts(k, guard);
              Operation *producer = marks(k);
              if (!producer)
                continue;
              ifHolds(b, guard, [&] {
                Storage array = this->array(producer, placed);
                index.resize(array.dims.size());
                store(b, array, index, constant(b, b.getI8Type(), int64_t(1)));
              });
            }
          });
        });
      });
    });
  });
}

void Demand::emit(Frame &frame, llvm::ArrayRef<Storage> placed) {
  LocBuilder &b = frame.b;
  emitNeeded(frame);
  for (StructuredOpInterface op : live.ops) {
    Storage demanded = array(op, placed);
    if (demanded.kind != Storage::Memory || isReturned(op))
      continue;
    forNest(b, demanded.dims, [&](llvm::ArrayRef<Value> index) {
      store(b, demanded, index, constant(b, b.getI8Type(), int64_t(0)));
    });
  }
  for (StructuredOpInterface op : llvm::reverse(live.ops))
    emitPass(frame, op, placed);
}
