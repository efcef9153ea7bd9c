//===- EmitObject.cpp - LLVM dialect to object, assembly, LLVM text -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Translation, LLVM's passes (Optimise.cpp), code generation. What LLVM would
// report by ending the process (a fatal error, a crash) is caught and becomes
// the reason of a failure: whoever calls us says it as an internal error.
//
// A sum that does not stay in its register costs half of the speed, and nobody sees it
// in the numbers: the register allocator's remark on spills in loops is read.
//
// Floating-point contraction is off in the optimiser and in code generation, so
// the bits depend on the text alone.
//
//===----------------------------------------------------------------------===//

#include "facet/Target/EmitObject.h"
#include "LoneLaneStores.h"
#include "LongLoops.h"
#include "Optimise.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/CodeGen/MachineBasicBlock.h"
#include "llvm/CodeGen/MachineOptimizationRemarkEmitter.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"

#include <mutex>

using namespace facet;

std::string facet::hostTriple() { return llvm::sys::getDefaultTargetTriple(); }

//===----------------------------------------------------------------------===//
// The machine
//===----------------------------------------------------------------------===//

static llvm::CodeGenOptLevel codeGenLevel(CodeEffort effort) {
  switch (effort) {
  case CodeEffort::Quick:
    return llvm::CodeGenOptLevel::None;
  case CodeEffort::Plain:
    return llvm::CodeGenOptLevel::Less;
  case CodeEffort::Thorough:
    return llvm::CodeGenOptLevel::Aggressive;
  }
  llvm_unreachable("all efforts are listed");
}

static void initializeTargets() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeAllTargetInfos();
    llvm::InitializeAllTargets();
    llvm::InitializeAllTargetMCs();
    llvm::InitializeAllAsmPrinters();
    llvm::InitializeAllAsmParsers(); // of the CPUID in what asks for the level
  });
}

static bool isCpuOf(const llvm::Target &target, const llvm::Triple &triple,
                    llvm::StringRef cpu) {
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget(
      target.createMCSubtargetInfo(triple, "", ""));
  return subtarget && subtarget->isCPUStringValid(cpu);
}

bool facet::isKnownCpu(llvm::StringRef triple, llvm::StringRef cpu) {
  initializeTargets();
  llvm::Triple parsed(llvm::Triple::normalize(triple));
  std::string reason;
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(parsed, reason);
  return target && isCpuOf(*target, parsed, cpu);
}

static std::unique_ptr<llvm::TargetMachine>
createMachine(const ObjectOptions &options, std::string &error) {
  initializeTargets();
  llvm::Triple triple(llvm::Triple::normalize(
      options.triple.empty() ? hostTriple() : options.triple));
  std::string reason;
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(triple, reason);
  if (!target) {
    error = "no code generator for triple '" + triple.str() + "': " + reason;
    return nullptr;
  }
  std::string cpu = options.cpu;
  if (cpu.empty())
    cpu = triple.getArch() == llvm::Triple::x86_64 ? "x86-64-v2" : "generic";
  if (!isCpuOf(*target, triple, cpu)) {
    error = "unknown CPU '" + cpu + "' for triple '" + triple.str() + "'";
    return nullptr;
  }
  llvm::TargetOptions codegen;
  codegen.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  std::unique_ptr<llvm::TargetMachine> machine(target->createTargetMachine(
      triple, cpu, options.features, codegen, llvm::Reloc::PIC_, std::nullopt,
      codeGenLevel(options.effort)));
  if (!machine)
    error = "no code generator for triple '" + triple.str() + "'";
  return machine;
}

//===----------------------------------------------------------------------===//
// LLVM IR
//===----------------------------------------------------------------------===//

/// Gives every function a subprogram and every op in it a place: LLVM wants one at
/// each call. What has none takes its function's, a function without one the
/// first of the module.
static bool attachLines(mlir::ModuleOp module) {
  namespace LLVM = mlir::LLVM;
  auto hasPlace = [](mlir::Operation *op) {
    return bool(op->getLoc()->findInstanceOf<mlir::FileLineColLoc>());
  };
  mlir::Location first = module.getLoc();
  module.walk([&](mlir::Operation *op) {
    if (!hasPlace(op))
      return mlir::WalkResult::advance();
    first = op->getLoc();
    return mlir::WalkResult::interrupt();
  });
  for (auto function : module.getOps<LLVM::LLVMFuncOp>()) {
    if (!hasPlace(function))
      function->setLoc(first);
    function.walk([&](mlir::Operation *op) {
      if (!hasPlace(op))
        op->setLoc(function.getLoc());
    });
  }
  mlir::PassManager passes(module.getContext());
  LLVM::DIScopeForLLVMFuncOpPassOptions lines;
  lines.emissionKind = LLVM::DIEmissionKind::LineTablesOnly;
  passes.addPass(LLVM::createDIScopeForLLVMFuncOpPass(lines));
  return mlir::succeeded(passes.run(module));
}

static std::unique_ptr<llvm::Module> translate(mlir::ModuleOp module,
                                               const ObjectOptions &options,
                                               llvm::LLVMContext &context,
                                               llvm::TargetMachine &machine,
                                               std::string &error) {
  namespace LLVM = mlir::LLVM;
  module->setAttr(LLVM::LLVMDialect::getDataLayoutAttrName(),
                  mlir::StringAttr::get(
                      module.getContext(),
                      machine.createDataLayout().getStringRepresentation()));
  module->setAttr(LLVM::LLVMDialect::getTargetTripleAttrName(),
                  mlir::StringAttr::get(module.getContext(),
                                        machine.getTargetTriple().str()));
  if (options.debugLines && !attachLines(module)) {
    error = "could not attach source lines";
    return nullptr;
  }
  auto result = mlir::translateModuleToLLVMIR(module, context, "facet");
  if (!result) {
    error = "the translation to LLVM IR failed";
    return nullptr;
  }
  for (llvm::Function &function : *result) {
    if (!function.hasFnAttribute("target-cpu")) { // else of a level of several
      function.addFnAttr("target-cpu", machine.getTargetCPU());
      if (!machine.getTargetFeatureString().empty())
        function.addFnAttr("target-features", machine.getTargetFeatureString());
    }
    // Vectors are as wide as the road made them.
    if (machine.getTargetTriple().isX86())
      function.addFnAttr("prefer-vector-width", "512");
    function.addFnAttr("no-builtins"); // no loop becomes a call to a library
  }
  return result;
}

//===----------------------------------------------------------------------===//
// What LLVM reports
//===----------------------------------------------------------------------===//

namespace {

/// Collects what LLVM reports through its context: errors, and how many registers the
/// allocator spilled in loops.
class Collector : public llvm::DiagnosticHandler {
public:
  Collector(std::string &error, std::vector<LoopSpill> *spills)
      : error(error), spills(spills) {}
  bool handleDiagnostics(const llvm::DiagnosticInfo &info) override {
    if (info.getSeverity() == llvm::DS_Error) {
      llvm::raw_string_ostream os(error);
      llvm::DiagnosticPrinterRawOStream printer(os);
      info.print(printer);
    } else if (auto *remark =
                   llvm::dyn_cast<llvm::DiagnosticInfoMIROptimization>(&info)) {
      takeRemark(*remark);
    }
    return true;
  }
  bool isMissedOptRemarkEnabled(llvm::StringRef pass) const override {
    return spills && pass == "regalloc";
  }
  bool isAnyRemarkEnabled() const override { return spills; }

private:
  void takeRemark(const llvm::DiagnosticInfoMIROptimization &remark) {
    // An innermost loop of straight code is one block, which goes back to itself; a
    // loop around others tells their spills once more.
    const llvm::MachineBasicBlock *block = remark.getBlock();
    if (!spills || remark.getRemarkName() != "LoopSpillReloadCopies" ||
        !block->isSuccessor(block))
      return;
    LoopSpill spill{remark.getFunction().getName().str()};
    if (const llvm::BasicBlock *code = block->getBasicBlock())
      for (const llvm::PHINode &carried : code->phis())
        spill.sums += carried.getType()->isVectorTy();
    for (const auto &argument : remark.getArgs()) {
      unsigned count = 0;
      if (llvm::StringRef(argument.Val).getAsInteger(10, count))
        continue;
      llvm::StringRef key = argument.Key;
      if (key == "NumSpills" || key == "NumFoldedSpills")
        spill.stores += count;
      else if (key == "NumReloads" || key == "NumFoldedReloads")
        spill.loads += count;
    }
    if (spill.stores + spill.loads)
      spills->push_back(std::move(spill));
  }

  std::string &error;
  std::vector<LoopSpill> *spills;
};

} // namespace

/// Runs `work`; what would end the process makes it return false. A caller that
/// guards itself already (the driver does) keeps its own handlers.
static bool runGuarded(llvm::function_ref<void()> work, std::string &error) {
  if (llvm::CrashRecoveryContext::GetCurrent()) {
    work();
    return true;
  }
  static std::mutex mutex; // the handlers are the process's
  std::lock_guard<std::mutex> lock(mutex);
  llvm::CrashRecoveryContext::Enable();
  llvm::CrashRecoveryContext recovery;
  llvm::ScopedFatalErrorHandler handler(
      [](void *data, const char *reason, bool) {
        *static_cast<std::string *>(data) = reason;
        if (auto *current = llvm::CrashRecoveryContext::GetCurrent())
          current->HandleExit(70);
      },
      &error);
  bool done = recovery.RunSafely(work);
  llvm::CrashRecoveryContext::Disable();
  if (!done && error.empty())
    error = "the code generator crashed";
  return done;
}

/// Objects call nothing but memcpy and memset, and what the module itself
/// declares. A CPU without floating point, say, would need more: a runtime library
/// that whoever links the object may not have.
static bool callsOnly(const llvm::StringSet<> &declared, llvm::StringRef object,
                      const llvm::Triple &triple, std::string &error) {
  auto file = llvm::object::ObjectFile::createObjectFile(
      llvm::MemoryBufferRef(object, "kernel.o"));
  if (!file) {
    error = llvm::toString(file.takeError());
    return false;
  }
  for (const llvm::object::SymbolRef &symbol : (*file)->symbols()) {
    llvm::Expected<uint32_t> flags = symbol.getFlags();
    llvm::Expected<llvm::StringRef> name = symbol.getName();
    if (!flags || !name) {
      llvm::consumeError(flags.takeError());
      llvm::consumeError(name.takeError());
      continue;
    }
    llvm::StringRef plain = *name;
    if (triple.isOSBinFormatMachO())
      plain.consume_front("_");
    if (!(*flags & llvm::object::SymbolRef::SF_Undefined) || plain.empty() ||
        declared.contains(plain))
      continue;
    error = ("code for '" + triple.str() + "' would need '" + plain +
             "' of a runtime library; name a CPU that has the instructions")
                .str();
    return false;
  }
  return true;
}

bool facet::emitObject(mlir::ModuleOp module, ObjectKind kind,
                       const ObjectOptions &options,
                       llvm::SmallVectorImpl<char> &out, std::string &error) {
  std::unique_ptr<llvm::TargetMachine> machine = createMachine(options, error);
  if (!machine)
    return false;
  llvm::Triple triple = machine->getTargetTriple();
  auto context = std::make_unique<llvm::LLVMContext>();
  context->setDiagnosticHandler(
      std::make_unique<Collector>(error, options.spills));
  std::unique_ptr<llvm::Module> ir =
      translate(module, options, *context, *machine, error);
  if (!ir)
    return false;

  // The last two are marks for the linker, not calls.
  llvm::StringSet<> declared;
  for (llvm::StringRef name :
       {"memcpy", "memset", "memmove", "_GLOBAL_OFFSET_TABLE_", "_fltused"})
    declared.insert(name);
  for (llvm::Function &function : *ir)
    if (function.isDeclaration() && !function.isIntrinsic())
      declared.insert(function.getName());

  bool done = runGuarded(
      [&] {
        if (options.effort == CodeEffort::Thorough)
          markLongLoops(*ir);
        optimise(*ir, *machine, options.effort);
        replaceLoneLaneStores(*ir);
        llvm::raw_svector_ostream os(out);
        if (kind == ObjectKind::LLVMText) {
          ir->print(os, nullptr);
          return;
        }
        llvm::legacy::PassManager passes;
        if (machine->addPassesToEmitFile(
                passes, os, nullptr,
                kind == ObjectKind::Object
                    ? llvm::CodeGenFileType::ObjectFile
                    : llvm::CodeGenFileType::AssemblyFile))
          error = "this target writes no such file";
        else
          passes.run(*ir);
      },
      error);
  if (!done) { // in an unknown state, not to be touched again
    (void)ir.release();
    (void)machine.release();
    (void)context.release();
  }
  if (!done || !error.empty())
    return false;
  return kind != ObjectKind::Object ||
         callsOnly(declared, llvm::StringRef(out.data(), out.size()), triple,
                   error);
}
