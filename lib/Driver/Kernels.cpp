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

//===----------------------------------------------------------------------===//
// Targets
//===----------------------------------------------------------------------===//

/// The feature of `level` that this machine lacks; empty: it has them all.
static StringRef missingHere(const Level &level) {
  static const llvm::StringMap<bool> present = llvm::sys::getHostCPUFeatures();
  for (StringRef feature : featuresOf(level))
    if (!present.lookup(feature))
      return feature;
  return "";
}

/// The levels of an architecture, lowest first.
static TargetList ladderOf(StringRef arch) {
  TargetList ladder;
  for (const Target &target : targets())
    if (target.level && target.level->arch == arch)
      ladder.push_back(&target);
  return ladder;
}

static StringRef archOf(StringRef triple) { return triple.split('-').first; }

TargetList facet::levelsHere() {
  TargetList levels = ladderOf(archOf(defaultTriple()));
  llvm::erase_if(levels, [](const Target *target) {
    return !missingHere(*target->level).empty();
  });
  return levels.empty() ? TargetList{findTarget("reference")} : levels;
}

const Target *facet::nativeTarget() { return levelsHere().back(); }

static const Target *findByName(StringRef name, Diagnostics &diagnostics) {
  if (name == "native")
    return nativeTarget();
  if (const Target *target = findTarget(name))
    return target;
  SmallVector<StringRef> names;
  for (const Target &target : targets())
    names.push_back(target.name);
  names.push_back("native");
  diagnostics.error(
      {}, "there is no target '" + name + "' here" + didYouMean(name, names) +
              "; 'facet targets' lists what works: " + listOf(names));
  return nullptr;
}

/// The targets of a list with commas, lowest level first; empty with an error.
static TargetList parseTargets(StringRef text, Diagnostics &diagnostics) {
  TargetList list;
  SmallVector<StringRef> names;
  text.split(names, ',');
  for (StringRef name : names) {
    const Target *target = findByName(name, diagnostics);
    if (!target)
      return {};
    if (llvm::is_contained(list, target)) {
      diagnostics.error({}, "'--target=" + text + "' names '" + target->name +
                                "' twice");
      return {};
    }
    if (names.size() > 1 && !target->level) {
      diagnostics.error({}, "target '" + target->name +
                                "' stands alone; several targets are levels of "
                                "a CPU, of which a call takes the highest");
      return {};
    }
    list.push_back(target);
  }
  llvm::sort(list, [](const Target *x, const Target *y) {
    return x->level && y->level && x->level->number < y->level->number;
  });
  return list;
}

TargetList facet::chooseTargets(Invocation &invocation, StringRef triple) {
  std::optional<StringRef> names = invocation.line.value(OPT_target);
  if (!names) {
    TargetList ladder = ladderOf(archOf(triple));
    return ladder.empty() ? TargetList{findTarget("reference")} : ladder;
  }
  TargetList list = parseTargets(*names, invocation.diagnostics);
  for (const Target *target : list)
    if (target->level && target->level->arch != archOf(triple)) {
      invocation.diagnostics.error(
          {}, "target '" + target->name + "' is for " + target->level->arch +
                  ", and the code is to run on '" + triple + "'");
      return {};
    }
  return list;
}

/// Whether some sum is one of products of narrow numbers.
static bool multipliesNarrow(ModuleOp module) {
  auto isNarrow = [](Type type) {
    return type.isBF16() ||
           (isa<IntegerType>(type) && type.getIntOrFloatBitWidth() > 1 &&
            type.getIntOrFloatBitWidth() <= 16);
  };
  auto found = module.walk([&](kernel::ReduceOp reduce) {
    return llvm::count_if(reduce.getBody().getArgumentTypes(), isNarrow) > 1
               ? WalkResult::interrupt()
               : WalkResult::advance();
  });
  return found.wasInterrupted();
}

void facet::dropIdleLevels(TargetList &ladder, ModuleOp module) {
  if (!multipliesNarrow(module))
    llvm::erase_if(ladder, [](const Target *target) {
      return target->level && target->level->isForDots;
    });
}

TargetList facet::chooseHostTargets(Invocation &invocation) {
  if (!invocation.line.has(OPT_target))
    return {nativeTarget()};
  TargetList list = chooseTargets(invocation, defaultTriple());
  if (list.empty() || !list.front()->level)
    return list;
  // Of several, a call takes the highest that is here: the lowest must be.
  const Target *lowest = list.front();
  StringRef missing = missingHere(*lowest->level);
  if (missing.empty())
    return list;
  invocation.diagnostics.error({}, "this machine cannot run target '" +
                                       lowest->name + "': it lacks " + missing);
  return {};
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

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
  Emission emission{targets, {}, {}, {}};
  emission.interface.nameSpace = HostKernel::nameSpace.str();
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
