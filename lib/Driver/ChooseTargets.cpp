//===- ChooseTargets.cpp - from --target to targets -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   x86-64-v3          a level: its instructions, planned for the machine of its name
//   znver5, mine.yaml  a machine file, which names its level
//   native             this machine: probed, in the highest level that it has
//
// A list holds levels of one architecture, each once: at a call the object asks its
// CPU which of them it has.
//
//===----------------------------------------------------------------------===//

#include "ChooseTargets.h"
#include "../Runtime/TileRegisters.h"
#include "facet/Dialect/Kernel/IR/Kernel.h"
#include "facet/Driver/CommandLine.h"
#include "facet/Driver/Help.h"
#include "facet/Machine/ProbeMachine.h"

#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

using namespace mlir;
using namespace facet;
using namespace facet::options;

/// The feature of `level` that this machine lacks; empty: it has them all.
static StringRef missingHere(const Level &level) {
  static const llvm::StringMap<bool> present = llvm::sys::getHostCPUFeatures();
  for (StringRef feature : featuresOf(level))
    if (!present.lookup(feature))
      return feature;
  static const bool hasTiles =
      present.lookup("amx-tile") && requestTileRegisters();
  if (level.dots == LevelDots::Tiles && !hasTiles)
    return "the system's permission for amx-tile";
  return "";
}

/// The levels of an architecture, lowest first.
static TargetList ladderOf(StringRef arch) {
  TargetList ladder;
  for (const Target &target : targets())
    if (target.level && target.level->arch == arch)
      ladder.push_back(findTarget(target.name));
  return ladder;
}

/// `aarch64` of "arm64-apple-macos", as levels name it.
static StringRef archOf(StringRef triple) {
  return llvm::Triple::getArchTypeName(llvm::Triple(triple).getArch());
}

//===----------------------------------------------------------------------===//
// This machine
//===----------------------------------------------------------------------===//

TargetList facet::levelsHere() {
  TargetList levels = ladderOf(archOf(defaultTriple()));
  llvm::erase_if(levels, [](const TargetRef &target) {
    return !missingHere(*target->level).empty();
  });
  return levels.empty() ? TargetList{findTarget("reference")} : levels;
}

std::optional<Machine> facet::nativeMachine(Diagnostics &diagnostics) {
  TargetRef level = levelsHere().back();
  if (!level->level)
    return std::nullopt;
  StringRef cpu = llvm::sys::getHostCPUName();
  // The file of this CPU, where there is one and all of its level's instructions are
  // here: a virtual machine may hide some.
  std::optional<Machine> nearest;
  if (!findMachine(cpu).empty())
    nearest = loadMachine(cpu, diagnostics);
  const Level *fileLevel =
      nearest ? findLevel(int32_t(nearest->cpu.level)) : nullptr;
  if (fileLevel && fileLevel->dots == LevelDots::Tiles &&
      fileLevel->includes == level->level->number) {
    // The same CPU without its tile registers.
    nearest->cpu.level = level->level->number;
    nearest->cpu.tileMatrix = false;
  }
  if (!nearest || nearest->cpu.level != level->level->number)
    nearest = loadMachine(level->machine, diagnostics);
  if (!nearest)
    return std::nullopt;
  return probeMachine(std::move(*nearest), cpu);
}

TargetRef facet::nativeTarget(Diagnostics &diagnostics) {
  std::optional<Machine> machine = nativeMachine(diagnostics);
  if (!machine)
    return diagnostics.hasErrors() ? nullptr : levelsHere().back();
  std::optional<Target> target =
      targetOnMachine(std::move(*machine), diagnostics);
  return target ? std::make_shared<const Target>(std::move(*target)) : nullptr;
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

/// A machine file that --target names; null with an error.
static TargetRef targetFromFile(StringRef name, Diagnostics &diagnostics) {
  std::optional<Machine> machine = loadMachine(name, diagnostics);
  if (!machine)
    return nullptr;
  if (machine->isEngine()) {
    diagnostics.error({}, "'" + name +
                              "' is a matrix engine; compile, run, check and "
                              "explain take one");
    return nullptr;
  }
  std::optional<Target> target =
      targetOnMachine(std::move(*machine), diagnostics);
  return target ? std::make_shared<const Target>(std::move(*target)) : nullptr;
}

static TargetRef findByName(StringRef name, Diagnostics &diagnostics) {
  if (name == "native")
    return nativeTarget(diagnostics);
  if (TargetRef target = findTarget(name))
    return target;
  if (name.contains('/') || name.ends_with(".yaml") ||
      !findMachine(name).empty())
    return targetFromFile(name, diagnostics);
  SmallVector<StringRef> names;
  for (const Target &target : targets())
    names.push_back(target.name);
  std::vector<std::string> machines = machineNames();
  for (StringRef machine : machines)
    if (!llvm::is_contained(names, machine))
      names.push_back(machine);
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
    TargetRef target = findByName(name, diagnostics);
    if (!target)
      return {};
    for (const TargetRef &other : list)
      if (other->name == target->name) {
        diagnostics.error({}, "'--target=" + text + "' names '" + target->name +
                                  "' twice");
        return {};
      } else if (other->level == target->level) {
        diagnostics.error({}, "'" + other->name + "' and '" + target->name +
                                  "' are both code for level '" +
                                  target->level->name +
                                  "', of which an object holds one");
        return {};
      }
    if (names.size() > 1 && !target->level) {
      diagnostics.error({}, "target '" + target->name +
                                "' stands alone; several targets are levels of "
                                "a CPU, of which a call takes the highest");
      return {};
    }
    list.push_back(std::move(target));
  }
  llvm::sort(list, [](const TargetRef &x, const TargetRef &y) {
    return x->level && y->level && x->level < y->level; // as in their table
  });
  return list;
}

TargetList facet::chooseTargets(Invocation &invocation, StringRef triple) {
  std::optional<StringRef> names = invocation.line.value(OPT_target);
  if (!names) {
    TargetList ladder = ladderOf(archOf(triple));
    llvm::erase_if(ladder, [](const TargetRef &target) {
      return target->level->dots == LevelDots::Tiles;
    });
    return ladder.empty() ? TargetList{findTarget("reference")} : ladder;
  }
  TargetList list = parseTargets(*names, invocation.diagnostics);
  for (const TargetRef &target : list)
    if (target->level && target->level->dots == LevelDots::Tiles &&
        !llvm::Triple(triple).isOSLinux()) {
      invocation.diagnostics.error(
          {}, "target '" + target->name +
                  "' asks Linux whether it saves tile registers, and the code "
                  "is to run on '" +
                  triple + "'");
      return {};
    } else if (target->level && target->level->arch != archOf(triple)) {
      invocation.diagnostics.error(
          {}, "target '" + target->name + "' is for " + target->level->arch +
                  ", and the code is to run on '" + triple + "'");
      return {};
    }
  return list;
}

/// Whether some sum is one of products of numbers that `isNarrow`.
static bool multiplies(ModuleOp module,
                       llvm::function_ref<bool(Type)> isNarrow) {
  auto found = module.walk([&](kernel::ReduceOp reduce) {
    return llvm::count_if(reduce.getBody().getArgumentTypes(), isNarrow) > 1
               ? WalkResult::interrupt()
               : WalkResult::advance();
  });
  return found.wasInterrupted();
}

static bool isIntegerUpTo(Type type, unsigned bits) {
  return isa<IntegerType>(type) && type.getIntOrFloatBitWidth() > 1 &&
         type.getIntOrFloatBitWidth() <= bits;
}

void facet::dropIdleLevels(TargetList &ladder, ModuleOp module) {
  bool bytes =
      multiplies(module, [](Type type) { return isIntegerUpTo(type, 8); });
  bool narrow = multiplies(module, [](Type type) {
    return type.isBF16() || isIntegerUpTo(type, 16);
  });
  llvm::erase_if(ladder, [&](const TargetRef &target) {
    LevelDots dots = target->level ? target->level->dots : LevelDots::None;
    return (dots == LevelDots::Bytes && !bytes) ||
           (dots >= LevelDots::All && !narrow);
  });
}

TargetList facet::chooseHostTargets(Invocation &invocation) {
  Diagnostics &diagnostics = invocation.diagnostics;
  if (!invocation.line.has(OPT_target)) {
    TargetRef native = nativeTarget(diagnostics);
    return native ? TargetList{native} : TargetList{};
  }
  TargetList list = chooseTargets(invocation, defaultTriple());
  if (list.empty() || !list.front()->level)
    return list;
  // Of several, a call takes the highest that is here: the lowest must be.
  const Target &lowest = *list.front();
  StringRef missing = missingHere(*lowest.level);
  if (missing.empty())
    return list;
  diagnostics.error({}, "this machine cannot run target '" + lowest.name +
                            "': it lacks " + missing);
  return {};
}
