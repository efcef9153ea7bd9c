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

/// The function of the implementation with this suffix; reports its absence, or
/// another type than one of `types`.
static func::FuncOp findImplementation(kernel::FuncOp kernel, ModuleOp module,
                                       StringRef suffix,
                                       ArrayRef<FunctionType> types) {
  std::string name = (kernel.getSymName() + suffix).str();
  auto function = module.lookupSymbol<func::FuncOp>(name);
  if (!function) {
    kernel.emitError() << "kernel '" << kernel.getSymName() << "' has no '"
                       << name << "' beside it; convert it first";
    return {};
  }
  if (!llvm::is_contained(types, function.getFunctionType())) {
    function.emitError() << "'" << name << "' has type "
                         << function.getFunctionType() << ", the interface of '"
                         << kernel.getSymName() << "' needs " << types.front();
    return {};
  }
  return function;
}

FunctionType facet::interface::implementationType(Builder &b,
                                                  const Signature &signature,
                                                  bool takesExec,
                                                  bool takesLevel) {
  SmallVector<Type> types(signature.sizes.size(), b.getI64Type());
  Type pointer = LLVM::LLVMPointerType::get(b.getContext());
  for (const Parameter &parameter : signature.parameters) {
    types.push_back(pointer);
    types.append(parameter.numStrides(), b.getI64Type());
  }
  types.append(takesExec ? 3 : 2, pointer);
  if (takesLevel)
    types.push_back(b.getI32Type());
  return b.getFunctionType(types, b.getI32Type());
}

LogicalResult facet::emitInterface(kernel::FuncOp kernel,
                                   const InterfaceOptions &options) {
  FailureOr<Signature> signature = describe(kernel, options);
  if (failed(signature))
    return failure();
  auto module = cast<ModuleOp>(kernel->getParentOp());
  Builder b(kernel->getContext());
  assert(!options.levels.empty() && "FACET_LEVEL_ANY where there are none");
  const bool takesLevel = options.levels.size() > 1;
  FunctionType serial = implementationType(b, *signature, false, takesLevel);
  FunctionType parallel = implementationType(b, *signature, true, takesLevel);
  func::FuncOp implementation =
      findImplementation(kernel, module, ".impl", {serial, parallel});
  SmallVector<Type> counts(signature->sizes.size(), b.getI64Type());
  if (takesLevel)
    counts.push_back(b.getI32Type());
  FunctionType ofSizes = b.getFunctionType(counts, b.getI64Type());
  counts.push_back(b.getI32Type());
  FunctionType ofThreads = b.getFunctionType(counts, b.getI64Type());
  func::FuncOp requirement =
      findImplementation(kernel, module, ".workspace", {ofSizes, ofThreads});
  if (!implementation || !requirement)
    return failure();
  makeLocal(implementation);
  makeLocal(requirement);
  auto ofPacked = [&](StringRef suffix) {
    auto function = module.lookupSymbol<func::FuncOp>(
        (kernel.getSymName() + ".packed" + suffix).str());
    if (function)
      makeLocal(function);
    return function;
  };
  func::FuncOp packedImplementation = ofPacked(".impl");
  func::FuncOp packedRequirement = ofPacked(".workspace");

  // Out of the symbol table while its C namesake is made.
  kernel->remove();
  Constants constants(module);
  Emission emission{kernel,
                    *signature,
                    options,
                    constants,
                    implementation,
                    requirement,
                    implementation.getFunctionType() == parallel,
                    packedImplementation,
                    packedRequirement};
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
