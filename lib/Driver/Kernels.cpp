//===- Kernels.cpp - choosing and loading kernels, for run and check ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which kernel of the files given, and from there to code in this process: the same
// lowering that compile uses, linked in memory.
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"
#include "Crash.h"
#include "HostKernel.h"
#include "Volume.h"
#include "facet/Driver/Help.h"

using namespace mlir;
using namespace facet;
using namespace facet::options;

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
                                           const TargetList &targets,
                                           Invocation &invocation,
                                           ExitCode &code) {
  Emission emission{targets, {}, {}, nullptr, {}};
  emission.interface.nameSpace = HostKernel::nameSpace.str();
  LongWork work(invocation, *sources.module, targets.size());
  code = lowerKernels(sources, emission, invocation);
  if (code != ExitCode::Ok)
    return nullptr;
  std::string error;
  std::unique_ptr<Loaded> loaded;
  if (failed(targets.front()->convertToLLVM(*sources.module)))
    error = "the conversion to LLVM gave up";
  else
    loaded = Loaded::create(*sources.module, codeOptions(targets), error);
  if (!loaded)
    code = internalError(invocation.line, error);
  return loaded;
}
