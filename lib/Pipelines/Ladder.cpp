//===- Ladder.cpp - kernels to functions, for one target or several -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One target: its code, and the C interface around it. Several levels: the code of
// each under a name of its own, compiled for its own CPU, and one switch:
//
//   @linear.impl.x86-64-v3, @linear.impl.x86-64-v4        each with its target-cpu
//   @linear.impl(…, level) { switch (level) { … } }       linear_workspace alike
//
// The interface, which runs before the CPU is known, is compiled for any CPU of the
// architecture. Each level is converted in a module of its own and moved over, so
// that conversions need not know of each other's names. The promises of a kernel,
// which are no hot path, are computed by the lowest level.
//
//===----------------------------------------------------------------------===//

#include "facet/Machine/Machine.h"
#include "facet/Target/Target.h"
#include "facet/abi.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace facet;

static void makeLocal(func::FuncOp function) {
  function.setPrivate();
  function->setAttr(
      "llvm.linkage",
      LLVM::LinkageAttr::get(function->getContext(), LLVM::Linkage::Internal));
}

/// Says for which CPU `function` is compiled: the instructions are the level's, their
/// order is made for the machine. What tells sizes and layouts is asked about every
/// level, also those that this CPU lacks, and runs anywhere.
static void compileFor(func::FuncOp function, const TargetOnMachine &on) {
  StringRef name = function.getName();
  if (!on.target->level || name.contains(".workspace") ||
      name.ends_with(".bytes") || name.ends_with(".layout"))
    return;
  const Level &level = *on.target->level;
  Builder b(function->getContext());
  SmallVector<Attribute> attributes;
  if (auto given = function->getAttrOfType<ArrayAttr>("passthrough"))
    llvm::append_range(attributes, given);
  auto add = [&](StringRef name, StringRef value) {
    if (!value.empty())
      attributes.push_back(
          b.getArrayAttr({b.getStringAttr(name), b.getStringAttr(value)}));
  };
  add("target-cpu", level.cpu);
  add("target-features", level.extra);
  if (on.machine && on.machine->cpu.llvmCpu != level.cpu)
    add("tune-cpu", on.machine->cpu.llvmCpu);
  function->setAttr("passthrough", b.getArrayAttr(attributes));
}

/// Puts `.suffix` behind every symbol of `module`, which only it uses.
static void renameSymbols(ModuleOp module, StringRef suffix) {
  llvm::StringSet<> names;
  for (auto symbol : module.getOps<SymbolOpInterface>()) {
    names.insert(symbol.getName());
    symbol.setName((symbol.getName() + "." + suffix).str());
    if (auto function = dyn_cast<func::FuncOp>(symbol.getOperation()))
      makeLocal(function);
  }
  AttrTypeReplacer uses;
  uses.addReplacement([&](FlatSymbolRefAttr use) -> std::optional<Attribute> {
    if (!names.contains(use.getValue()))
      return std::nullopt;
    return FlatSymbolRefAttr::get(use.getContext(),
                                  (use.getValue() + "." + suffix).str());
  });
  uses.recursivelyReplaceElementsIn(module);
}

/// `NAME + suffix` of `kernel`, which hands its arguments to the function of the
/// level that is its last one. Where levels take different numbers of arguments,
/// those at the end are for the ones that take more.
static void emitSwitch(kernel::FuncOp kernel, StringRef suffix,
                       ArrayRef<TargetOnMachine> targets) {
  std::string name = (kernel.getSymName() + suffix).str();
  auto module = kernel->getParentOfType<ModuleOp>();
  SmallVector<func::FuncOp> variants;
  for (const TargetOnMachine &on : targets)
    variants.push_back(
        module.lookupSymbol<func::FuncOp>(name + "." + on.target->name));
  func::FuncOp widest = *std::max_element(
      variants.begin(), variants.end(), [](func::FuncOp x, func::FuncOp y) {
        return x.getNumArguments() < y.getNumArguments();
      });
  ImplicitLocOpBuilder b(kernel->getLoc(), kernel->getContext());
  b.setInsertionPoint(kernel);
  SmallVector<Type> types(widest.getArgumentTypes());
  types.push_back(b.getI32Type());
  auto function = func::FuncOp::create(
      b, name, b.getFunctionType(types, widest.getResultTypes()));
  Block *entry = function.addEntryBlock();
  SmallVector<Block *> blocks;
  SmallVector<int32_t> numbers;
  for (auto [on, variant] : llvm::zip_equal(targets, variants)) {
    blocks.push_back(b.createBlock(&function.getBody(), function.end()));
    numbers.push_back(on.target->level->number);
    ValueRange arguments =
        ValueRange(entry->getArguments()).take_front(variant.getNumArguments());
    auto call = func::CallOp::create(b, variant, arguments);
    func::ReturnOp::create(b, call.getResults());
  }
  // The interface hands in a level of the list: the lowest is the default.
  b.setInsertionPointToEnd(entry);
  SmallVector<ValueRange> none(blocks.size() - 1);
  cf::SwitchOp::create(b, entry->getArguments().back(), blocks.front(),
                       ValueRange{}, ArrayRef(numbers).drop_front(),
                       ArrayRef(blocks).drop_front(), none);
}

/// What the functions of kernel `name` in `module` that the interface calls have
/// behind its name. Every level has the same ones: which arrays have packed layouts
/// is a matter of the kernel.
static SmallVector<std::string> suffixesOf(StringRef name, ModuleOp module) {
  SmallVector<std::string> suffixes;
  for (auto function : module.getOps<func::FuncOp>()) {
    StringRef rest = function.getName();
    if (function.isPublic() && rest.consume_front(name) &&
        rest.starts_with("."))
      suffixes.push_back(rest.str());
  }
  return suffixes;
}

/// What `on` makes of `kernels`, in a module of its own; the keys of its plans
/// go to `keys`.
static OwningOpRef<ModuleOp> convert(ArrayRef<kernel::FuncOp> kernels,
                                     const TargetOnMachine &on,
                                     PlanFunction plan,
                                     MutableArrayRef<std::string> keys) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(kernels.front()->getLoc());
  for (auto [kernel, key] : llvm::zip_equal(kernels, keys)) {
    kernel::PlanAttrInterface chosen = plan(kernel, on);
    if (!chosen)
      return nullptr;
    key += (key.empty() ? "" : "\n") + chosen.key();
    OpBuilder b = OpBuilder::atBlockEnd(module->getBody());
    auto copy = cast<kernel::FuncOp>(b.clone(*kernel));
    copy.setPlan(chosen);
    if (failed(on.target->convert(copy, on.machine)))
      return nullptr;
    copy.erase();
  }
  for (auto function : module->getOps<func::FuncOp>())
    compileFor(function, on);
  return module;
}

/// Converts a kernel that the interface needs for itself, in place.
static LogicalResult convertInPlace(kernel::FuncOp kernel,
                                    const TargetOnMachine &on) {
  auto module = kernel->getParentOfType<ModuleOp>();
  auto functions = module.getOps<func::FuncOp>();
  llvm::DenseSet<Operation *> before(functions.begin(), functions.end());
  kernel.setPlan(on.target->plan(kernel, on.machine));
  if (failed(on.target->convert(kernel, on.machine)))
    return failure();
  for (auto function : module.getOps<func::FuncOp>())
    if (!before.contains(function))
      compileFor(function, on);
  return success();
}

LogicalResult facet::lowerKernels(ModuleOp module,
                                  ArrayRef<TargetOnMachine> targets,
                                  PlanFunction plan, InterfaceOptions options) {
  SmallVector<kernel::FuncOp> kernels(module.getOps<kernel::FuncOp>());
  if (kernels.empty())
    return success();
  SmallVector<std::string> keys(kernels.size());
  SmallVector<SmallVector<std::string>> suffixes(kernels.size());
  options.levels.clear();
  for (const TargetOnMachine &on : targets) {
    const Level *level = on.target->level;
    options.levels.push_back(level ? level->number : FACET_LEVEL_ANY);
    OwningOpRef<ModuleOp> made = convert(kernels, on, plan, keys);
    if (!made)
      return failure();
    for (auto [kernel, list] : llvm::zip_equal(kernels, suffixes))
      if (list.empty())
        list = suffixesOf(kernel.getSymName(), *made);
    if (targets.size() > 1)
      renameSymbols(*made, on.target->name);
    for (Operation &op : llvm::make_early_inc_range(*made->getBody()))
      op.moveBefore(kernels.front());
  }

  // The lowest level's code runs wherever the object does.
  options.computeKernel = [&](kernel::FuncOp kernel) {
    return convertInPlace(kernel, targets.front());
  };
  for (auto [kernel, key, list] : llvm::zip_equal(kernels, keys, suffixes)) {
    if (targets.size() > 1)
      for (StringRef suffix : list)
        emitSwitch(kernel, suffix, targets);
    options.plan = key;
    if (failed(emitInterface(kernel, options)))
      return failure();
  }
  return success();
}
