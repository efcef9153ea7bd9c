//===- Function.cpp - a C function under construction ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The control flow of a check, and its record:
//
//   f.failIf(cond, code, "x", 0, found, wanted)
//   ─▶   cf.cond_br %cond, ^failed(%code, "x", 0, %found, %wanted), ^next
//      ^failed(...):                   // once per function
//        if (record) *record = {code, axis, kernel, "x", found, wanted}
//        return %code
//
// One failing block keeps the fast path straight and the object small: a check
// costs a compare and a branch, and the values of a record live only behind it.
// func.func with blocks rather than scf: early returns are what cf is for.
//
//===----------------------------------------------------------------------===//

#include "Function.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringExtras.h"

#include <cstddef>

using namespace mlir;
using namespace facet;
using namespace facet::interface;

static_assert(sizeof(void *) == 8 && sizeof(facet_exec) == 64 &&
                  sizeof(facet_error) == 40,
              "layouts are computed on a 64-bit host for 64-bit targets");

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

Value Constants::address(ImplicitLocOpBuilder &b, StringRef global) {
  return LLVM::AddressOfOp::create(
      b, LLVM::LLVMPointerType::get(b.getContext()), global);
}

/// Texts are named by their number; nobody else makes such names.
static constexpr StringLiteral textPrefix = "facet.text.";

Constants::Constants(ModuleOp module) : module(module) {
  for (auto global : module.getOps<LLVM::GlobalOp>())
    if (global.getSymName().starts_with(textPrefix))
      if (auto text = dyn_cast_or_null<StringAttr>(global.getValueOrNull()))
        texts[text.getValue()] = global.getSymName().str();
}

Value Constants::string(ImplicitLocOpBuilder &b, StringRef text) {
  std::string bytes = text.str();
  bytes.push_back('\0');
  auto [entry, isNew] = texts.try_emplace(bytes);
  if (isNew) {
    entry->second = (textPrefix + Twine(texts.size() - 1)).str();
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(module.getBody());
    auto type = LLVM::LLVMArrayType::get(b.getI8Type(), bytes.size());
    auto global = LLVM::GlobalOp::create(b, type, /*isConstant=*/true,
                                         LLVM::Linkage::Private, entry->second,
                                         b.getStringAttr(bytes));
    global.setUnnamedAddr(LLVM::UnnamedAddr::Global);
  }
  return address(b, entry->second);
}

std::string
Constants::global(ImplicitLocOpBuilder &b, StringRef name, Type type,
                  llvm::function_ref<Value(ImplicitLocOpBuilder &)> fill) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(module.getBody());
  auto global = LLVM::GlobalOp::create(b, type, /*isConstant=*/true,
                                       LLVM::Linkage::Internal, name,
                                       Attribute(), /*alignment=*/8);
  b.createBlock(&global.getInitializerRegion());
  LLVM::ReturnOp::create(b, fill(b));
  return name.str();
}

Value facet::interface::aggregate(ImplicitLocOpBuilder &b, Type type,
                                  ArrayRef<Value> members) {
  Value value = LLVM::UndefOp::create(b, type);
  for (auto [i, member] : llvm::enumerate(members))
    value = LLVM::InsertValueOp::create(b, value, member, i);
  return value;
}

//===----------------------------------------------------------------------===//
// Opening and closing
//===----------------------------------------------------------------------===//

/// The type in which a formal arrives.
static Type typeOf(OpBuilder &b, const Signature &signature, Formal formal) {
  switch (formal.kind) {
  case Formal::Size:
  case Formal::Leading:
    return b.getI64Type();
  case Formal::Threads:
  case Formal::At:
    return b.getI32Type();
  case Formal::Data: {
    const Parameter &parameter = signature.parameters[formal.index];
    if (!parameter.isByValue())
      return LLVM::LLVMPointerType::get(b.getContext());
    const ElementType &element = *parameter.element;
    if (element.passed == 'f')
      return element.bits == 32 ? Type(b.getF32Type()) : b.getF64Type();
    return b.getIntegerType(std::max(element.bits, 8u));
  }
  default:
    return LLVM::LLVMPointerType::get(b.getContext());
  }
}

Function::Function(Constants &constants, Location loc,
                   const Signature &signature, StringRef symbol,
                   ArrayRef<Formal> formals, Type result)
    : b(loc, loc.getContext()), constants(constants), signature(signature),
      formals(formals), sizes(signature.sizes.size()) {
  SmallVector<Type> types;
  for (Formal formal : formals)
    types.push_back(typeOf(b, signature, formal));
  b.setInsertionPointToEnd(constants.getModule().getBody());
  op = func::FuncOp::create(
      b, symbol, b.getFunctionType(types, result ? result : b.getI32Type()));
  b.setInsertionPointToStart(op.addEntryBlock());
  for (auto [i, formal] : llvm::enumerate(formals))
    if (formal.kind == Formal::Size)
      sizes[formal.index] = op.getArgument(i);
}

Value Function::formal(Formal::Kind kind, unsigned index) {
  for (auto [i, formal] : llvm::enumerate(formals))
    if (formal.kind == kind && formal.index == index)
      return op.getArgument(i);
  return {};
}

void Function::openExec() {
  Value given = formal(Formal::Exec);
  // What NULL means, as an exec: FACET_EXEC_INIT.
  static constexpr StringLiteral name = "facet.serial";
  if (!constants.getModule().lookupSymbol(name)) {
    Type rest = LLVM::LLVMArrayType::get(b.getI8Type(), sizeof(facet_exec) - 8);
    auto type = LLVM::LLVMStructType::getLiteral(
        b.getContext(), {b.getI32Type(), b.getI32Type(), rest});
    constants.global(b, name, type, [&](ImplicitLocOpBuilder &b) -> Value {
      auto set = [&](Value value, int64_t member, int32_t number) -> Value {
        Value constant =
            LLVM::ConstantOp::create(b, b.getI32IntegerAttr(number));
        return LLVM::InsertValueOp::create(b, value, constant, member);
      };
      Value zero = LLVM::ZeroOp::create(b, type);
      return set(set(zero, 0, sizeof(facet_exec)), 1, /*threads=*/1);
    });
  }
  exec = select(isNull(given), constants.address(b, name), given);
  // A smaller exec has no error record that could be trusted.
  Value size = load(i32Type(), exec, offsetof(facet_exec, size));
  Value tooSmall =
      compare(arith::CmpIPredicate::ult, size, i32(sizeof(facet_exec)));
  Block *from = b.getInsertionBlock();
  Block *refuse = b.createBlock(&op.getBody(), op.getBody().end());
  func::ReturnOp::create(b, i32(FACET_E_EXEC));
  Block *next = b.createBlock(&op.getBody(), std::next(from->getIterator()));
  b.setInsertionPointToEnd(from);
  cf::CondBranchOp::create(b, tooSmall, refuse, next);
  b.setInsertionPointToStart(next);

  record = load(pointerType(), exec, offsetof(facet_exec, error));
  Value level = arith::ExtSIOp::create(
      b, i64Type(), load(i32Type(), exec, offsetof(facet_exec, max_level)));
  failIf(lt(level, i64(0)), FACET_E_EXEC, "max_level", -1, level, i64(0));
}

Block *Function::failBlock() {
  if (failed)
    return failed;
  OpBuilder::InsertionGuard guard(b);
  Location loc = b.getLoc();
  Type pointer = pointerType();
  failed = b.createBlock(&op.getBody(), op.getBody().end(),
                         {i32Type(), pointer, i32Type(), i64Type(), i64Type()},
                         SmallVector<Location>(5, loc));
  Block *write = b.createBlock(&op.getBody());
  Block *leave = b.createBlock(&op.getBody());
  b.setInsertionPointToEnd(failed);
  Value result = failureResult ? failureResult : failed->getArgument(0);
  if (!record) {
    cf::BranchOp::create(b, leave);
    write->erase();
  } else {
    cf::CondBranchOp::create(b, isNull(record), leave, write);
    b.setInsertionPointToEnd(write);
    store(failed->getArgument(0), record, offsetof(facet_error, code));
    store(failed->getArgument(2), record, offsetof(facet_error, axis));
    store(string(signature.name), record, offsetof(facet_error, kernel));
    store(failed->getArgument(1), record, offsetof(facet_error, argument));
    store(failed->getArgument(3), record, offsetof(facet_error, found));
    store(failed->getArgument(4), record, offsetof(facet_error, wanted));
    cf::BranchOp::create(b, leave);
  }
  b.setInsertionPointToEnd(leave);
  func::ReturnOp::create(b, result);
  return failed;
}

void Function::failIf(Value condition, Value code, StringRef argument,
                      int32_t axis, Value found, Value wanted) {
  if (matchPattern(condition, m_Zero()))
    return;
  Value name = argument.empty() ? nullPointer() : string(argument);
  Value axisValue = i32(axis);
  Block *target = failBlock(), *from = b.getInsertionBlock();
  Block *next = b.createBlock(&op.getBody(), std::next(from->getIterator()));
  b.setInsertionPointToEnd(from);
  cf::CondBranchOp::create(b, condition, target,
                           ValueRange{code, name, axisValue, found, wanted},
                           next, ValueRange{});
  b.setInsertionPointToStart(next);
}

void Function::finish(Value value) { func::ReturnOp::create(b, value); }

void facet::interface::makeLocal(Operation *function) {
  function->setAttr(
      "llvm.linkage",
      LLVM::LinkageAttr::get(function->getContext(), LLVM::Linkage::Internal));
  SymbolTable::setSymbolVisibility(function, SymbolTable::Visibility::Private);
}

void facet::interface::forbidInlining(Operation *function) {
  Builder b(function->getContext());
  function->setAttr("passthrough",
                    b.getArrayAttr({b.getStringAttr("noinline")}));
}

void facet::interface::compileFast(Operation *function) {
  Builder b(function->getContext());
  function->setAttr("passthrough",
                    b.getArrayAttr({b.getStringAttr("noinline"),
                                    b.getStringAttr("optnone")}));
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

SmallVector<Value>
Function::branch(Value condition, llvm::function_ref<SmallVector<Value>()> then,
                 ArrayRef<Value> otherwise) {
  SmallVector<Type> types;
  for (Value value : otherwise)
    types.push_back(value.getType());
  Block *from = b.getInsertionBlock();
  Region *region = &op.getBody();
  Block *taken = b.createBlock(region, std::next(from->getIterator()));
  SmallVector<Value> values = then();
  assert(values.size() == otherwise.size() &&
         "both sides give the same values");
  Block *last = b.getInsertionBlock();
  Block *joined =
      b.createBlock(region, std::next(last->getIterator()), types,
                    SmallVector<Location>(types.size(), b.getLoc()));
  b.setInsertionPointToEnd(last);
  cf::BranchOp::create(b, joined, values);
  b.setInsertionPointToEnd(from);
  cf::CondBranchOp::create(b, condition, taken, ValueRange{}, joined,
                           otherwise);
  b.setInsertionPointToStart(joined);
  return llvm::to_vector_of<Value>(joined->getArguments());
}

void Function::loop(Value count, llvm::function_ref<void(Value)> body) {
  Block *from = b.getInsertionBlock();
  Region *region = &op.getBody();
  Value zero = i64(0), one = i64(1);
  Block *head = b.createBlock(region, std::next(from->getIterator()),
                              {i64Type()}, {b.getLoc()});
  b.setInsertionPointToEnd(from);
  cf::BranchOp::create(b, head, zero);
  Block *inside = b.createBlock(region, std::next(head->getIterator()));
  Value i = head->getArgument(0);
  body(i);
  Block *last = b.getInsertionBlock();
  cf::BranchOp::create(b, head, add(i, one));
  Block *after = b.createBlock(region, std::next(last->getIterator()));
  b.setInsertionPointToEnd(head);
  cf::CondBranchOp::create(b, lt(i, count), inside, ValueRange{}, after,
                           ValueRange{});
  b.setInsertionPointToStart(after);
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Value Function::atEntry(Attribute key, llvm::function_ref<Value()> make) {
  Value &value = entryValues[key];
  if (!value) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&op.getBody().front());
    value = make();
  }
  return value;
}

Value Function::constant(TypedAttr value) {
  return atEntry(
      value, [&]() -> Value { return arith::ConstantOp::create(b, value); });
}
Value Function::i64(int64_t value) {
  return constant(b.getI64IntegerAttr(value));
}
Value Function::i32(int32_t value) {
  return constant(b.getI32IntegerAttr(value));
}
Value Function::boolean(bool value) { return constant(b.getBoolAttr(value)); }
Value Function::nullPointer() {
  return atEntry(TypeAttr::get(pointerType()), [&]() -> Value {
    return LLVM::ZeroOp::create(b, pointerType());
  });
}
Value Function::string(StringRef text) {
  return atEntry(b.getStringAttr(text),
                 [&] { return constants.string(b, text); });
}

/// Builds `Op`, or finds that it is one of its operands or a constant: checks are
/// built for any kernel, and for most a good part of them is known.
template <typename Op, typename... Args>
static Value fold(Function &f, Args... args) {
  Value result = f.b.createOrFold<Op>(args...);
  Attribute known;
  if (matchPattern(result, m_Constant(&known)))
    return f.constant(cast<TypedAttr>(known));
  return result;
}

Value Function::add(Value x, Value y) {
  return fold<arith::AddIOp>(*this, x, y);
}
Value Function::sub(Value x, Value y) {
  return fold<arith::SubIOp>(*this, x, y);
}
Value Function::mul(Value x, Value y) {
  return fold<arith::MulIOp>(*this, x, y);
}
Value Function::band(Value x, Value y) {
  return fold<arith::AndIOp>(*this, x, y);
}
Value Function::bor(Value x, Value y) {
  return fold<arith::OrIOp>(*this, x, y);
}
Value Function::negate(Value condition) {
  return fold<arith::XOrIOp>(*this, condition, boolean(true));
}
Value Function::select(Value condition, Value x, Value y) {
  return fold<arith::SelectOp>(*this, condition, x, y);
}
Value Function::compare(arith::CmpIPredicate predicate, Value x, Value y) {
  return fold<arith::CmpIOp>(*this, predicate, x, y);
}
Value Function::isNull(Value pointer) {
  return LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::eq, pointer,
                              nullPointer());
}
Value Function::toInt(Value pointer) {
  return LLVM::PtrToIntOp::create(b, i64Type(), pointer);
}

template <typename OverflowOp>
static Value checked(Function &f, Value x, Value y, Value &overflowed) {
  ImplicitLocOpBuilder &b = f.b;
  auto type = LLVM::LLVMStructType::getLiteral(b.getContext(),
                                               {b.getI64Type(), b.getI1Type()});
  Value both = OverflowOp::create(b, type, x, y);
  Value flag = LLVM::ExtractValueOp::create(b, both, 1);
  overflowed = overflowed ? f.bor(overflowed, flag) : flag;
  return LLVM::ExtractValueOp::create(b, both, 0);
}

Value Function::mulChecked(Value x, Value y, Value &overflowed) {
  if (matchPattern(x, m_One()))
    return y;
  if (matchPattern(y, m_One()))
    return x;
  return checked<LLVM::SMulWithOverflowOp>(*this, x, y, overflowed);
}
Value Function::addChecked(Value x, Value y, Value &overflowed) {
  return checked<LLVM::SAddWithOverflowOp>(*this, x, y, overflowed);
}

Type Function::pointerType() {
  return LLVM::LLVMPointerType::get(b.getContext());
}

Value Function::offset(Value pointer, int64_t bytes) {
  if (bytes == 0)
    return pointer;
  return LLVM::GEPOp::create(
      b, pointerType(), b.getI8Type(), pointer,
      ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(bytes)});
}
Value Function::offset(Value pointer, Value bytes) {
  return LLVM::GEPOp::create(b, pointerType(), b.getI8Type(), pointer,
                             ArrayRef<LLVM::GEPArg>{bytes});
}
Value Function::load(Type type, Value pointer, int64_t bytes) {
  return LLVM::LoadOp::create(b, type, offset(pointer, bytes));
}
void Function::store(Value value, Value pointer, int64_t bytes) {
  LLVM::StoreOp::create(b, value, offset(pointer, bytes));
}

Value Function::frame(int64_t bytes, int64_t alignment) {
  Value count = i64(bytes);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointAfterValue(count);
  return LLVM::AllocaOp::create(b, pointerType(), b.getI8Type(), count,
                                alignment);
}
