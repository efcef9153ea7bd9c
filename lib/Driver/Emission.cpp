//===- Emission.cpp - from kernels to the bytes of one output -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   kernel ─▶ mlir ─▶ llvm ─▶ asm, obj ─▶ static, shared
//
// Each stage is printed from the one before, so stopping early shows exactly what
// goes on. An archive is written without times and owners. A shared library is
// linked by lld, whose bytes depend on the object alone; `cc` would add its own
// start files and build number.
//
//===----------------------------------------------------------------------===//

#include "Emission.h"
#include "Crash.h"
#include "EngineCalls.h"
#include "MlirDiagnostics.h"
#include "Planning.h"
#include "Volume.h"
#include "facet/Driver/Help.h"
#include "facet/Target/EmitObject.h"

#include "llvm/MC/TargetRegistry.h"
#include "llvm/Object/ArchiveWriter.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/TargetSelect.h"

using namespace mlir;
using namespace facet;

bool facet::checkTriple(StringRef triple, Diagnostics &diagnostics) {
  if (triple == defaultTriple())
    return true;
  llvm::InitializeAllTargetInfos();
  std::string reason;
  llvm::Triple parsed(llvm::Triple::normalize(triple));
  if (parsed.getArch() != llvm::Triple::UnknownArch &&
      llvm::TargetRegistry::lookupTarget(parsed, reason))
    return true;
  diagnostics.error({}, "no code can be made for the triple '" + triple +
                            "'; the default is " + defaultTriple());
  return false;
}

//===----------------------------------------------------------------------===//
// Archives and shared libraries
//===----------------------------------------------------------------------===//

/// "linear.o" of an output "lib/linear.a".
static std::string memberName(StringRef output) {
  StringRef stem = output == "-" ? "kernels" : llvm::sys::path::stem(output);
  return (stem + ".o").str();
}

static ExitCode makeArchive(StringRef object, StringRef output,
                            Invocation &invocation, std::string &text) {
  std::string name = memberName(output);
  llvm::NewArchiveMember member(llvm::MemoryBufferRef(object, name));
  auto archive = llvm::writeArchiveToBuffer(
      member, llvm::SymtabWritingMode::NormalSymtab,
      llvm::object::Archive::K_GNU, /*Deterministic=*/true, /*Thin=*/false);
  if (!archive)
    return internalError(invocation.line, llvm::toString(archive.takeError()));
  text = (*archive)->getBuffer().str();
  return ExitCode::Ok;
}

/// A temporary file that goes with the object.
namespace {
struct Temporary {
  SmallString<128> path;
  explicit Temporary(StringRef suffix) {
    if (llvm::sys::fs::createTemporaryFile("facet", suffix, path))
      path.clear();
  }
  ~Temporary() {
    if (!path.empty())
      llvm::sys::fs::remove(path);
  }
};
} // namespace

static ExitCode linkShared(StringRef object, StringRef output,
                           Invocation &invocation, std::string &text) {
  Diagnostics &diagnostics = invocation.diagnostics;
  auto linker = llvm::sys::findProgramByName("ld.lld-22");
  if (!linker)
    linker = llvm::sys::findProgramByName("ld.lld");
  if (!linker) {
    diagnostics.error({}, "a shared library needs ld.lld, which is not here "
                          "(Debian package lld-22); an object or archive does "
                          "not");
    return ExitCode::NotAvailable;
  }
  Temporary input("o"), result("so"), messages("txt");
  std::error_code code;
  {
    llvm::raw_fd_ostream os(input.path, code);
    if (!code) {
      os << object;
      os.close();
      code = os.error();
      os.clear_error();
    }
  }
  if (code || result.path.empty() || messages.path.empty()) {
    diagnostics.error({}, "cannot write temporary files" +
                              (code ? ": " + StringRef(code.message()).lower()
                                    : std::string()));
    return ExitCode::Rejected;
  }
  // memcpy and memset come from whatever loads the library.
  SmallVector<StringRef> arguments = {*linker,     "-shared", "--build-id=none",
                                      "-z",        "now",     "-o",
                                      result.path, input.path};
  std::string soname = llvm::sys::path::filename(output).str();
  if (output != "-") {
    arguments.push_back("-soname");
    arguments.push_back(soname);
  }
  std::optional<StringRef> redirects[] = {StringRef(), messages.path.str(),
                                          messages.path.str()};
  std::string reason;
  int status = llvm::sys::ExecuteAndWait(*linker, arguments, std::nullopt,
                                         redirects, /*SecondsToWait=*/120,
                                         /*MemoryLimit=*/0, &reason);
  auto linked = llvm::MemoryBuffer::getFile(result.path, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (status != 0 || !linked) {
    if (auto said = llvm::MemoryBuffer::getFile(messages.path))
      reason += (*said)->getBuffer().trim();
    diagnostics.error({}, "linking failed: " + reason);
    return ExitCode::Rejected;
  }
  text = (*linked)->getBuffer().str();
  return ExitCode::Ok;
}

//===----------------------------------------------------------------------===//
// Stages
//===----------------------------------------------------------------------===//

/// Plans every kernel and lowers them; a failure has told its reason.
static LogicalResult planAndLower(const Sources &sources,
                                  const Emission &emission,
                                  const CommandLine &line,
                                  Diagnostics &diagnostics) {
  FailureOr<LoadedTargets> targets =
      loadTargets(emission.targets, line, diagnostics);
  if (failed(targets))
    return failure();
  checkSchedules(sources, targets->names(), diagnostics);
  auto plan = [&](kernel::FuncOp kernel, const TargetOnMachine &on) {
    return planKernel(kernel, on, sources, diagnostics);
  };
  return facet::lowerKernels(sources.module.get(), targets->list, plan,
                             emission.interface);
}

ExitCode facet::lowerKernels(Sources &sources, const Emission &emission,
                             Invocation &invocation) {
  if (sources.hasKernels &&
      !checkVolume(*sources.module,
                   std::max<size_t>(emission.targets.size(), 1),
                   invocation.diagnostics))
    return ExitCode::Rejected;
  if (emission.engine) {
    ExitCode code = lowerToEngineCalls(sources, *emission.engine,
                                       emission.interface, invocation);
    if (code != ExitCode::Ok && !invocation.diagnostics.hasErrors())
      return internalError(invocation.line,
                           "no program was made, and no reason given");
    return code;
  }
  if (!sources.hasKernels ||
      succeeded(planAndLower(sources, emission, invocation.line,
                             invocation.diagnostics)))
    return ExitCode::Ok;
  // Refusals of the interface and of a target are told; silence is our fault.
  if (invocation.diagnostics.hasErrors())
    return ExitCode::Rejected;
  return internalError(invocation.line, "the target '" +
                                            emission.targets.front()->name +
                                            "' gave up without a reason");
}

ObjectOptions facet::codeOptions(ArrayRef<TargetRef> targets) {
  ObjectOptions options;
  if (targets.front()->level) {
    // The code of a level says so itself. What runs before the level is known must
    // run everywhere.
    options.cpu = targets.front()->level->base.str();
    options.effort = CodeEffort::Thorough;
  }
  return options;
}

KernelPlaces facet::placesOfKernels(ModuleOp module) {
  KernelPlaces places;
  for (auto kernel : module.getOps<kernel::FuncOp>())
    places.emplace_back(kernel.getSymName().str(), placeOf(kernel.getLoc()));
  return places;
}

void facet::tellSpills(ArrayRef<LoopSpill> spills, const KernelPlaces &kernels,
                       Diagnostics &diagnostics) {
  // A loop that carries fewer is no product, but an epilogue or a function: its
  // constants may well rest in memory.
  constexpr unsigned fewestSums = 4;
  for (const LoopSpill &spill : spills) {
    // `linear.task.0.x86-64-v4`: a kernel, and what the roads append.
    StringRef name = StringRef(spill.function).split('.').first;
    auto kernel = llvm::find_if(
        kernels, [&](const auto &known) { return known.first == name; });
    if (kernel == kernels.end() || spill.sums < fewestSums || !spill.stores)
      continue;
    diagnostics.warning("perf-spills", kernel->second,
                        "the registers do not hold the " + Twine(spill.sums) +
                            " sums of a loop of '" + spill.function +
                            "': each step stores " + Twine(spill.stores) +
                            " of them and loads " + Twine(spill.loads) +
                            "; a smaller tile needs fewer");
  }
}

ExitCode facet::emit(Sources &sources, EmitKind kind, const Emission &emission,
                     Invocation &invocation, std::string &text) {
  ModuleOp module = *sources.module;
  KernelPlaces kernels = placesOfKernels(module);
  LongWork work(invocation, module, emission.targets.size());
  if (kind == EmitKind::Kernel && !sources.hasKernels) {
    invocation.diagnostics.error({}, "these inputs are lowered already; the "
                                     "stage 'kernel' is behind them");
    return ExitCode::Rejected;
  }
  if (kind != EmitKind::Kernel) {
    ExitCode code = lowerKernels(sources, emission, invocation);
    if (code != ExitCode::Ok)
      return code;
  }
  if (kind == EmitKind::Kernel || kind == EmitKind::Mlir) {
    llvm::raw_string_ostream os(text);
    module.print(os);
    os << "\n";
    return ExitCode::Ok;
  }
  if (failed(emission.targets.front()->convertToLLVM(module)))
    return invocation.diagnostics.hasErrors()
               ? ExitCode::Rejected
               : internalError(invocation.line,
                               "the conversion to LLVM gave up");

  ObjectOptions options = codeOptions(emission.targets);
  options.triple = emission.triple;
  options.debugLines = invocation.line.has(options::OPT_debug_lines);
  ObjectKind objectKind = kind == EmitKind::Llvm       ? ObjectKind::LLVMText
                          : kind == EmitKind::Assembly ? ObjectKind::Assembly
                                                       : ObjectKind::Object;
  std::vector<LoopSpill> spills;
  options.spills = &spills;
  SmallVector<char, 0> bytes;
  std::string error;
  bool done = emitObject(module, objectKind, options, bytes, error);
  llvm::CrashRecoveryContext::Enable(); // emitObject switches it off behind it
  if (!done)
    return internalError(invocation.line, error);
  tellSpills(spills, kernels, invocation.diagnostics);
  StringRef object(bytes.data(), bytes.size());
  if (kind == EmitKind::Static)
    return makeArchive(object, emission.output, invocation, text);
  if (kind == EmitKind::Shared)
    return linkShared(object, emission.output, invocation, text);
  text = object.str();
  return ExitCode::Ok;
}
