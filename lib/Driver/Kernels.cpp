//===- Kernels.cpp - choosing and loading kernels, for run and check ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which target, which kernel of the files given, and from there to code in this
// process: the same lowering that compile uses, linked in memory.
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"
#include "Crash.h"
#include "HostKernel.h"
#include "facet/Driver/Help.h"

#include "llvm/TargetParser/Host.h"

using namespace mlir;
using namespace facet;
using namespace facet::options;

const Target *facet::chooseTarget(Invocation &invocation) {
  std::optional<StringRef> name = invocation.line.value(OPT_target);
  if (!name)
    return &targets().front();
  if (const Target *target = findTarget(*name))
    return target;
  SmallVector<StringRef> names;
  for (const Target &target : targets())
    names.push_back(target.name);
  invocation.diagnostics.error(
      {}, "there is no target '" + *name + "' here" + didYouMean(*name, names) +
              "; 'facet targets' lists what works: " + listOf(names));
  return nullptr;
}

bool facet::checkArchitecture(const Target &target, StringRef triple,
                              Diagnostics &diagnostics) {
  if (target.arch.empty() || StringRef(target.arch) == triple.split('-').first)
    return true;
  diagnostics.error({}, "target '" + target.name + "' is for " + target.arch +
                            ", and the code is to run on '" + triple + "'");
  return false;
}

const Target *facet::chooseHostTarget(Invocation &invocation) {
  const Target *target = chooseTarget(invocation);
  if (!target ||
      !checkArchitecture(*target, defaultTriple(), invocation.diagnostics))
    return nullptr;
  SmallVector<StringRef> wanted;
  StringRef(target->features).split(wanted, ',', -1, /*KeepEmpty=*/false);
  if (wanted.empty())
    return target;
  llvm::StringMap<bool> present = llvm::sys::getHostCPUFeatures();
  for (StringRef feature : wanted)
    if (!present.lookup(feature)) {
      invocation.diagnostics.error({}, "this machine cannot run target '" +
                                           target->name + "': it lacks " +
                                           feature);
      return nullptr;
    }
  return target;
}

kernel::FuncOp facet::chooseKernel(ModuleOp module, Invocation &invocation) {
  SmallVector<kernel::FuncOp> kernels(module.getOps<kernel::FuncOp>());
  SmallVector<StringRef> names;
  for (kernel::FuncOp kernel : kernels)
    names.push_back(kernel.getSymName());
  std::optional<StringRef> wanted = invocation.line.value(OPT_kernel);
  if (!wanted && kernels.size() == 1)
    return kernels.front();
  if (!wanted) {
    invocation.diagnostics.error({},
                                 "there are several kernels: " + listOf(names) +
                                     "; --kernel=NAME chooses one");
    return nullptr;
  }
  for (kernel::FuncOp kernel : kernels)
    if (kernel.getSymName() == *wanted)
      return kernel;
  invocation.diagnostics.error({}, "there is no kernel '" + *wanted + "'" +
                                       didYouMean(*wanted, names) +
                                       "; there is " + listOf(names));
  return nullptr;
}

void facet::keepOnly(kernel::FuncOp kernel) {
  auto module = kernel->getParentOfType<ModuleOp>();
  for (auto other : llvm::make_early_inc_range(module.getOps<kernel::FuncOp>()))
    if (other != kernel)
      other.erase();
}

std::unique_ptr<Loaded> facet::loadKernels(Sources &sources,
                                           const Target &target,
                                           Invocation &invocation,
                                           ExitCode &code) {
  Emission emission{target, {}, {}, {}};
  emission.interface.nameSpace = HostKernel::nameSpace.str();
  code = lowerKernels(sources, emission, invocation);
  if (code != ExitCode::Ok)
    return nullptr;
  std::string error;
  std::unique_ptr<Loaded> loaded;
  if (failed(target.convertToLLVM(*sources.module)))
    error = "the conversion to LLVM gave up";
  else
    loaded = Loaded::create(*sources.module, codeOptions(target), error);
  if (!loaded)
    code = internalError(invocation.line, error);
  return loaded;
}
