//===- KernelToCpu.cpp - the functions of a kernel on a CPU ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every variant of the plan becomes functions of its own; where there are several,
// the first whose guards hold is called:
//
//   @linear.impl.0, @linear.impl.1            M <= 16, any M
//   @linear.impl(…) { M <= 16 ? @linear.impl.0(…) : @linear.impl.1(…) }
//
// NAME.workspace alike, so that a call with few rows asks for no more than it needs.
// Where constants have packed arrays with panels, @linear.packed.impl and its
// workspace are the same for the packed variants, and @linear.pack.w writes them.
//
//===----------------------------------------------------------------------===//

#include "CpuForm.h"
#include "LaneFunctions.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace facet;
using namespace facet::cpu;
using namespace mlir;

/// i1: `sizes`, in the kernel's order, are those of a call that `variant` is for.
static Value guardsHold(LocBuilder &b, kernel::FuncOp kernel,
                        VariantAttr variant, ValueRange sizes) {
  Value all;
  for (GuardAttr guard : variant.getGuards()) {
    auto size = StringAttr::get(kernel.getContext(), guard.getSize());
    auto position = llvm::find(kernel.getSizes(), Attribute(size)) -
                    kernel.getSizes().begin();
    Value holds = Num(b, sizes[position]) <= guard.getMost();
    all = all ? arith::AndIOp::create(b, all, holds).getResult() : holds;
  }
  return all;
}

/// `NAME + suffix`, which hands its arguments to the first of `functions` whose variant
/// is for the call.
static void emitChoice(kernel::FuncOp kernel, const llvm::Twine &suffix,
                       ArrayRef<VariantAttr> variants,
                       MutableArrayRef<func::FuncOp> functions) {
  LocBuilder b(kernel.getLoc(), kernel.getContext());
  b.setInsertionPoint(kernel);
  auto choice = func::FuncOp::create(b, (kernel.getSymName() + suffix).str(),
                                     functions.front().getFunctionType());
  Block *entry = choice.addEntryBlock();
  b.setInsertionPointToStart(entry);
  SmallVector<scf::IfOp> ifs;
  Type type = functions.front().getResultTypes().front();
  for (auto [variant, function] : llvm::zip_equal(variants, functions)) {
    if (!variant.getGuards().empty()) {
      Value holds = guardsHold(b, kernel, variant, entry->getArguments());
      auto ifOp = scf::IfOp::create(b, type, holds, /*withElseRegion=*/true);
      ifs.push_back(ifOp);
      b.setInsertionPointToStart(ifOp.thenBlock());
    }
    Value code =
        func::CallOp::create(b, function, entry->getArguments()).getResult(0);
    if (!variant.getGuards().empty()) {
      scf::YieldOp::create(b, code);
      b.setInsertionPointToStart(ifs.back().elseBlock());
      continue;
    }
    // The last one: its code goes up through all conditions.
    for (scf::IfOp ifOp : llvm::reverse(ifs)) {
      scf::YieldOp::create(b, code);
      b.setInsertionPointAfter(ifOp);
      code = ifOp.getResult(0);
    }
    func::ReturnOp::create(b, code);
  }
}

/// The functions of all variants for plain or packed calls, and the choice.
static LogicalResult emitVariants(kernel::FuncOp kernel,
                                  loops::Functions &functions, PlanAttr plan,
                                  bool packed, const CpuFeatures &features) {
  auto module = kernel->getParentOfType<ModuleOp>();
  SmallVector<VariantAttr> variants;
  for (VariantAttr variant : plan.getVariants())
    if (variant.getPacked() == packed)
      variants.push_back(variant);
  static constexpr StringLiteral suffixes[] = {".impl", ".workspace"};
  SmallVector<func::FuncOp> made[2];
  for (VariantAttr variant : variants) {
    if (failed(CpuForm(kernel, functions, plan, variant, features).run()))
      return failure();
    for (auto [suffix, list] : llvm::zip(suffixes, made)) {
      auto function = module.lookupSymbol<func::FuncOp>(
          (kernel.getSymName() + suffix).str());
      std::string name =
          (kernel.getSymName() + (packed ? ".packed" : "") + suffix).str();
      if (variants.size() > 1) {
        name += "." + std::to_string(list.size());
        function.setPrivate();
        function->setAttr("llvm.linkage",
                          LLVM::LinkageAttr::get(kernel.getContext(),
                                                 LLVM::Linkage::Internal));
      }
      function.setSymName(name);
      list.push_back(function);
    }
  }
  if (variants.size() > 1)
    for (auto [suffix, list] : llvm::zip(suffixes, made))
      emitChoice(kernel, (packed ? ".packed" : "") + suffix, variants, list);
  return success();
}

LogicalResult facet::convertKernelToCpu(kernel::FuncOp kernel,
                                        cpu::PlanAttr plan,
                                        const CpuFeatures &features) {
  auto module = kernel->getParentOfType<ModuleOp>();
  if (!module || kernel->getParentOp() != module)
    return kernel.emitOpError("stands in no module");
  LaneFunctions functions(module, features);
  // Packed ones first: each takes the name of the plain one for a while.
  if (!plan.getLayouts().empty() &&
      failed(emitVariants(kernel, functions, plan, /*packed=*/true, features)))
    return failure();
  if (failed(emitVariants(kernel, functions, plan, /*packed=*/false, features)))
    return failure();
  for (LayoutAttr layout : plan.getLayouts())
    if (failed(emitPackFunctions(kernel, functions, layout)))
      return failure();
  if (failed(lowerTileKernels(module, features)))
    return failure();
  return lowerMicroKernels(module, features);
}
