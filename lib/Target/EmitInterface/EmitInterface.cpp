//===- EmitInterface.cpp - from a kernel to its C functions ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Takes a kernel whose computation stands beside it as NAME.impl, and leaves the
// C functions around that computation in its place:
//
//   kernel.func @linear, func.func @linear.impl, @linear.workspace
//   ─▶ @linear, @linear_workspace, @linear_pack_w_bytes, @linear_pack_w,
//      @linear_packed, @linear_dl, @linear_info; the implementation is local
//
// Last in every pipeline, because NAME the kernel and NAME the C function cannot
// both stand in a module. All checks live here and none in a road, so that every
// road refuses the same calls by the same codes.
//
//===----------------------------------------------------------------------===//

#include "facet/Target/EmitInterface.h"

#include "EntryPoints.h"

using namespace mlir;
using namespace facet;
using namespace facet::interface;

/// The function of the implementation with this suffix, with the type that the
/// signature asks for; reports its absence.
static func::FuncOp findImplementation(kernel::FuncOp kernel, ModuleOp module,
                                       StringRef suffix, FunctionType type) {
  std::string name = (kernel.getSymName() + suffix).str();
  auto function = module.lookupSymbol<func::FuncOp>(name);
  if (!function) {
    kernel.emitError() << "kernel '" << kernel.getSymName() << "' has no '"
                       << name << "' beside it; convert it first";
    return {};
  }
  if (function.getFunctionType() != type) {
    function.emitError() << "'" << name << "' has type "
                         << function.getFunctionType() << ", the interface of '"
                         << kernel.getSymName() << "' needs " << type;
    return {};
  }
  return function;
}

/// The types of NAME.impl and NAME.workspace (Conversion/KernelToLoops.h).
static FunctionType implementationType(Builder &b, const Signature &signature) {
  SmallVector<Type> types(signature.sizes.size(), b.getI64Type());
  Type pointer = LLVM::LLVMPointerType::get(b.getContext());
  for (const Parameter &parameter : signature.parameters) {
    types.push_back(pointer);
    types.append(parameter.numStrides(), b.getI64Type());
  }
  types.append(2, pointer);
  return b.getFunctionType(types, b.getI32Type());
}

LogicalResult facet::emitInterface(kernel::FuncOp kernel,
                                   const InterfaceOptions &options) {
  FailureOr<Signature> signature = describe(kernel, options);
  if (failed(signature))
    return failure();
  auto module = cast<ModuleOp>(kernel->getParentOp());
  Builder b(kernel->getContext());
  SmallVector<Type> sizes(signature->sizes.size(), b.getI64Type());
  func::FuncOp implementation = findImplementation(
      kernel, module, ".impl", implementationType(b, *signature));
  func::FuncOp requirement = findImplementation(
      kernel, module, ".workspace", b.getFunctionType(sizes, b.getI64Type()));
  if (!implementation || !requirement)
    return failure();
  makeLocal(implementation);
  makeLocal(requirement);

  // Out of the symbol table while its C namesake is made.
  kernel->remove();
  Constants constants(module);
  Emission emission{kernel,    *signature,     options,
                    constants, implementation, requirement};
  LogicalResult result = emitCall(emission);
  if (succeeded(result)) {
    emitWorkspace(emission);
    emitPacking(emission);
    emitTensors(emission);
    emitInfo(emission);
  }
  kernel->erase();
  return result;
}
