//===- Simulated.cpp - NAME.impl of a program for a matrix engine ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The interface of a kernel is the same wherever it runs. Behind it stands, for a
// matrix engine, a call of the simulator with the program as constant data:
//
//   linear_trn2(...) ─ checks ─▶ linear.impl ─▶ facet_sim_call(&linear.simulated, data, strides)
//
// The structs are those of facet/sim.h.
//
//===----------------------------------------------------------------------===//

#include "EntryPoints.h"
#include "facet/sim.h"

using namespace mlir;
using namespace facet;
using namespace facet::interface;

static_assert(sizeof(facet_sim_operand) == 32 && sizeof(facet_sim_kernel) == 32,
              "the structs built here are those of facet/sim.h");

namespace {
/// Builds the constants and the two functions.
class SimulatorCall {
public:
  SimulatorCall(kernel::FuncOp kernel, const Signature &signature)
      : kernel(kernel), signature(signature),
        module(cast<ModuleOp>(kernel->getParentOp())), constants(module),
        b(kernel->getLoc(), kernel->getContext()),
        pointer(LLVM::LLVMPointerType::get(b.getContext())) {}

  void emit(StringRef program, ArrayRef<int64_t> below);

private:
  std::string name(const Twine &what) const {
    return (signature.name + "." + what).str();
  }
  int64_t extent(kernel::AxisAttr axis) const;
  std::string emitProgram(StringRef program);
  std::string emitExtents(const Parameter &parameter);
  std::string emitOperands(ArrayRef<int64_t> below);
  LLVM::LLVMFuncOp declareCall();
  void emitImplementation(StringRef description);
  void emitRequirement();

  Value i64(ImplicitLocOpBuilder &b, int64_t value) {
    return LLVM::ConstantOp::create(b, b.getI64IntegerAttr(value));
  }
  Value i32(ImplicitLocOpBuilder &b, int32_t value) {
    return LLVM::ConstantOp::create(b, b.getI32IntegerAttr(value));
  }

  kernel::FuncOp kernel;
  const Signature &signature;
  ModuleOp module;
  Constants constants;
  ImplicitLocOpBuilder b;
  Type pointer;
};
} // namespace

int64_t SimulatorCall::extent(kernel::AxisAttr axis) const {
  int64_t product = 1;
  for (Attribute dim : axis.getDims()) {
    if (auto number = dyn_cast<IntegerAttr>(dim))
      product *= number.getInt();
    else
      product *=
          signature.fixed[signature.sizeIndex(cast<StringAttr>(dim))].front();
  }
  return product;
}

std::string SimulatorCall::emitProgram(StringRef program) {
  std::string symbol = name("program");
  b.setInsertionPointToEnd(module.getBody());
  auto type = LLVM::LLVMArrayType::get(b.getI8Type(), program.size());
  LLVM::GlobalOp::create(b, type, /*isConstant=*/true, LLVM::Linkage::Internal,
                         symbol, b.getStringAttr(program), /*alignment=*/64);
  return symbol;
}

std::string SimulatorCall::emitExtents(const Parameter &parameter) {
  if (parameter.axes.empty())
    return "";
  auto type = LLVM::LLVMArrayType::get(b.getI64Type(), parameter.rank());
  return constants.global(b, name("extents." + parameter.name), type,
                          [&](ImplicitLocOpBuilder &b) {
                            SmallVector<Value> extents;
                            for (kernel::AxisAttr axis : parameter.axes)
                              extents.push_back(i64(b, extent(axis)));
                            return aggregate(b, type, extents);
                          });
}

std::string SimulatorCall::emitOperands(ArrayRef<int64_t> below) {
  auto operand = LLVM::LLVMStructType::getLiteral(
      b.getContext(),
      {pointer, pointer, b.getI64Type(), b.getI32Type(), b.getI32Type()});
  SmallVector<std::string> extents;
  for (const Parameter &parameter : signature.parameters)
    extents.push_back(emitExtents(parameter));
  auto type = LLVM::LLVMArrayType::get(operand, signature.parameters.size());
  return constants.global(
      b, name("operands"), type, [&](ImplicitLocOpBuilder &b) {
        SmallVector<Value> all;
        for (auto [parameter, shape, bound] :
             llvm::zip_equal(signature.parameters, extents, below)) {
          Value axes = shape.empty() ? LLVM::ZeroOp::create(b, pointer)
                                     : constants.address(b, shape);
          all.push_back(
              aggregate(b, operand,
                        {constants.string(b, parameter.name), axes,
                         i64(b, bound), i32(b, int32_t(parameter.rank())),
                         i32(b, parameter.element->number)}));
        }
        return aggregate(b, type, all);
      });
}

LLVM::LLVMFuncOp SimulatorCall::declareCall() {
  constexpr StringLiteral symbol = "facet_sim_call";
  if (auto known = module.lookupSymbol<LLVM::LLVMFuncOp>(symbol))
    return known;
  b.setInsertionPointToEnd(module.getBody());
  auto type = LLVM::LLVMFunctionType::get(b.getI32Type(),
                                          {pointer, pointer, pointer, pointer});
  return LLVM::LLVMFuncOp::create(b, symbol, type);
}

void SimulatorCall::emitImplementation(StringRef description) {
  LLVM::LLVMFuncOp callee = declareCall();
  size_t numStrides = 0;
  for (const Parameter &parameter : signature.parameters)
    numStrides += parameter.numStrides();
  b.setInsertionPoint(kernel);
  auto function =
      func::FuncOp::create(b, name("impl"),
                           implementationType(b, signature, /*takesExec=*/false,
                                              /*takesLevel=*/false));
  b.setInsertionPointToStart(function.addEntryBlock());
  auto room = [&](size_t count) -> Value {
    return LLVM::AllocaOp::create(b, pointer, b.getI64Type(),
                                  i64(b, int64_t(std::max<size_t>(count, 1))),
                                  /*alignment=*/8);
  };
  auto store = [&](Value value, Value array, size_t index) {
    Value at = LLVM::GEPOp::create(b, pointer, b.getI64Type(), array,
                                   LLVM::GEPArg(int32_t(index)));
    LLVM::StoreOp::create(b, value, at, /*alignment=*/8);
  };
  Value data = room(signature.parameters.size()), strides = room(numStrides);
  unsigned argument = signature.sizes.size();
  size_t nextStride = 0;
  for (auto [i, parameter] : llvm::enumerate(signature.parameters)) {
    store(function.getArgument(argument++), data, i);
    for (unsigned n = 0; n < parameter.numStrides(); ++n)
      store(function.getArgument(argument++), strides, nextStride++);
  }
  Value error = function.getArguments().back();
  auto code = LLVM::CallOp::create(
      b, callee,
      ValueRange{constants.address(b, description), data, strides, error});
  func::ReturnOp::create(b, code.getResults());
}

void SimulatorCall::emitRequirement() {
  SmallVector<Type> sizes(signature.sizes.size(), b.getI64Type());
  b.setInsertionPoint(kernel);
  auto function = func::FuncOp::create(
      b, name("workspace"), b.getFunctionType(sizes, b.getI64Type()));
  b.setInsertionPointToStart(function.addEntryBlock());
  func::ReturnOp::create(b, i64(b, 0));
}

void SimulatorCall::emit(StringRef program, ArrayRef<int64_t> below) {
  std::string bytes = emitProgram(program), operands = emitOperands(below);
  auto type = LLVM::LLVMStructType::getLiteral(
      b.getContext(), {pointer, b.getI64Type(), pointer, b.getI64Type()});
  std::string description = constants.global(
      b, name("simulated"), type, [&](ImplicitLocOpBuilder &b) {
        return aggregate(b, type,
                         {constants.address(b, bytes),
                          i64(b, int64_t(program.size())),
                          constants.address(b, operands),
                          i64(b, int64_t(signature.parameters.size()))});
      });
  emitImplementation(description);
  emitRequirement();
}

LogicalResult facet::callSimulator(kernel::FuncOp kernel, StringRef program,
                                   ArrayRef<int64_t> below) {
  FailureOr<Signature> signature = describe(kernel, {});
  if (failed(signature))
    return failure();
  SimulatorCall(kernel, *signature).emit(program, below);
  return success();
}
