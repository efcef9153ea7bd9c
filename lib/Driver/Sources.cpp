//===- Sources.cpp - the kernels of the input files -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Several files, written in the language or printed by an earlier run, become one
// module:
//
//   facet compile a.facet b.mlir -o ab.o        kernels of both
//   facet compile --emit=mlir … && facet compile stage.mlir -o x.o
//
// The kind of a file is its suffix, or `-x`. Stages do not mix: kernels beside
// functions that are lowered already are refused, since nothing could say which
// options the latter were made with.
//
//===----------------------------------------------------------------------===//

#include "Sources.h"
#include "MlirDiagnostics.h"
#include "facet/Dialect/Engine/IR/Engine.h"
#include "facet/Dialect/Kernel/IR/Kernel.h"
#include "facet/Frontend/EmitKernel.h"
#include "facet/Frontend/Frontend.h"
#include "facet/Import/Import.h"
#include "facet/Import/ImportLinalg.h"
#include "facet/Pipelines/Pipelines.h"

#include "mlir/Dialect/DLTI/DLTI.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMIRToLLVMTranslation.h"
#include "mlir/Target/LLVMIR/Import.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace facet;
using namespace facet::options;

std::unique_ptr<MLIRContext> facet::makeContext() {
  DialectRegistry registry;
  registerReferenceDialects(registry);
  registry.insert<engine::EngineDialect>();
  registry.insert<DLTIDialect>(); // how LLVM IR's data layout is kept
  registerLLVMDialectImport(registry);
  auto context =
      std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  context->printOpOnDiagnostic(false);
  context->loadAllAvailableDialects();
  return context;
}

std::optional<StringRef> facet::einsumOf(StringRef input) {
  if (!input.consume_front("einsum:"))
    return std::nullopt;
  return input;
}

std::optional<InputKind> facet::kindOf(StringRef input,
                                       Invocation &invocation) {
  if (einsumOf(input))
    return InputKind::Einsum;
  StringRef language =
      invocation.line.value(OPT_language).value_or(StringRef());
  StringRef suffix = language.empty()
                         ? llvm::sys::path::extension(input).drop_front(
                               llvm::sys::path::has_extension(input))
                         : language;
  if (suffix == "facet" || (input == "-" && suffix.empty()))
    return InputKind::Facet;
  if (suffix == "mlir")
    return InputKind::Mlir;
  if (suffix == "ll" || suffix == "llvm")
    return InputKind::Llvm;
  if (suffix == "onnx")
    return InputKind::Onnx;
  invocation.diagnostics.error(
      {}, "the suffix of '" + input +
              "' says nothing about its kind; there are .facet, .mlir, .ll and "
              ".onnx, and -x names the kind");
  return std::nullopt;
}

namespace {

/// Gathers the files one by one.
class Loader {
public:
  Loader(ArrayRef<SizeBinding> sizes, MLIRContext &context,
         Invocation &invocation)
      : context(context), invocation(invocation) {
    for (const SizeBinding &binding : sizes)
      if (!binding.general)
        fixed[binding.name].assign(binding.values.begin(),
                                   binding.values.end());
    result.module = ModuleOp::create(UnknownLoc::get(&context));
  }

  void add(StringRef input);
  std::optional<Sources> finish(ArrayRef<SizeBinding> sizes);

private:
  void addFacet(StringRef name, std::string text);
  void addEinsum(StringRef input);
  void addMlir(StringRef name, std::string text);
  void addLlvm(StringRef name, std::string text);
  void append(ModuleOp module);
  void fixSizes(kernel::FuncOp kernel);
  void refuseTwoOfOneName();

  MLIRContext &context;
  Invocation &invocation;
  FixedSizes fixed;
  Sources result;
  std::vector<std::string> imports;
};

} // namespace

void Loader::add(StringRef input) {
  std::optional<InputKind> kind = kindOf(input, invocation);
  if (!kind)
    return;
  if (*kind == InputKind::Einsum)
    return addEinsum(input);
  std::optional<std::string> text =
      input == "-" && invocation.text
          ? *invocation.text
          : readInput(input, invocation.diagnostics);
  if (!text)
    return;
  if (input != "-")
    result.filesRead.push_back(input.str());
  std::string name = inputName(input, invocation.line);
  result.inputNames.push_back(name);
  switch (*kind) {
  case InputKind::Einsum: // no file
  case InputKind::Facet:
    return addFacet(name, std::move(*text));
  case InputKind::Onnx:
    if (std::optional<std::string> source =
            importOnnx(name, *text, invocation.diagnostics))
      addFacet(name, std::move(*source));
    return;
  case InputKind::Mlir:
    return addMlir(name, std::move(*text));
  case InputKind::Llvm:
    return addLlvm(name, std::move(*text));
  }
}

void Loader::addEinsum(StringRef input) {
  result.inputNames.push_back(input.str());
  if (std::optional<std::string> text =
          importEinsum(input, *einsumOf(input), invocation.diagnostics))
    addFacet("einsum.facet", std::move(*text));
}

void Loader::addFacet(StringRef name, std::string text) {
  FrontendOptions options;
  options.includeDirs = invocation.line.values(OPT_include_dir);
  std::unique_ptr<CheckedModule> checked =
      parseAndCheck(name, std::move(text), options, invocation.diagnostics);
  if (!checked)
    return;
  imports.insert(imports.end(), std::next(checked->filesRead.begin()),
                 checked->filesRead.end());
  std::move(checked->schedules.begin(), checked->schedules.end(),
            std::back_inserter(result.schedules));
  for (const std::unique_ptr<checked::Kernel> &kernel : checked->kernels)
    emitKernel(*result.module, *kernel, fixed);
}

/// MLIR's and LLVM's parsers recurse without a limit and would exhaust the stack.
/// What we print nests a few dozen levels.
static bool refuseDeepNesting(StringRef name, StringRef text,
                              Diagnostics &diagnostics) {
  constexpr int limit = 500;
  int brackets = 0, angles = 0;
  bool inString = false;
  unsigned line = 1, column = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    ++column;
    if (c == '\n') {
      ++line;
      column = 0;
    }
    if (inString) {
      if (c == '\\')
        ++i, ++column;
      inString = c != '"' && c != '\n';
      continue;
    }
    inString = c == '"';
    if (StringRef("([{").contains(c))
      ++brackets;
    else if (StringRef(")]}").contains(c))
      brackets = std::max(brackets - 1, 0);
    else if (c == '<')
      ++angles;
    else if (c == '>' && (i == 0 || text[i - 1] != '-'))
      angles = std::max(angles - 1, 0);
    if (brackets + angles > limit) {
      diagnostics.error({name.str(), line, column},
                        "this nests more than " + Twine(limit) + " levels");
      return true;
    }
  }
  return false;
}

OwningOpRef<ModuleOp> facet::parseMlir(StringRef name, std::string text,
                                       MLIRContext &context,
                                       Diagnostics &diagnostics) {
  StringRef kept = diagnostics.addBuffer(name, std::move(text));
  if (!kept.starts_with("ML\xefR") && // bytecode
      refuseDeepNesting(name, kept, diagnostics))
    return {};
  // What only imports need costs time to load, so it waits for its name.
  bool isStableHlo = kept.contains("stablehlo");
  bool isForeign =
      kept.contains("linalg") || kept.contains("tosa") || isStableHlo;
  if (isForeign) {
    DialectRegistry registry;
    registerImportDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }
  // JAX leaves notes for XLA (mhlo.num_partitions) in attributes.
  if (isStableHlo)
    context.allowUnregisteredDialects();
  OwningOpRef<ModuleOp> module;
  auto parse = [&] {
    module = parseSourceString<ModuleOp>(kept, ParserConfig(&context), name);
  };
  if (!isForeign) {
    parse();
    return module;
  }
  // Parsers and verifiers of upstream ops trust what a slip of the pen breaks: a list
  // without its bracket, a permutation of more axes than there are.
  llvm::CrashRecoveryContext::Enable(); // a caller in this process has not
  llvm::CrashRecoveryContext guard;
  if (guard.RunSafely(parse))
    return module;
  (void)module.release(); // in an unknown state
  if (!diagnostics.hasErrors())
    diagnostics.error({name.str()},
                      "MLIR's own parser ends on this text by a fault of its "
                      "own; an op has a shape or an attribute that it does not "
                      "expect");
  return {};
}

void Loader::addMlir(StringRef name, std::string text) {
  OwningOpRef<ModuleOp> module =
      parseMlir(name, std::move(text), context, invocation.diagnostics);
  if (!module)
    return;
  if (hasTensorFunctions(*module)) {
    if (std::optional<std::string> source = importLinalg(*module))
      addFacet("imported.facet", std::move(*source));
    return;
  }
  for (auto kernel : module->getOps<kernel::FuncOp>())
    fixSizes(kernel);
  append(*module);
}

void Loader::addLlvm(StringRef name, std::string text) {
  StringRef kept = invocation.diagnostics.addBuffer(name, std::move(text));
  if (refuseDeepNesting(name, kept, invocation.diagnostics))
    return;
  llvm::LLVMContext llvmContext;
  llvm::SMDiagnostic problem;
  std::unique_ptr<llvm::Module> ir =
      llvm::parseAssemblyString(kept, problem, llvmContext);
  if (!ir) {
    invocation.diagnostics.error({name.str(),
                                  unsigned(std::max(problem.getLineNo(), 0)),
                                  unsigned(problem.getColumnNo() + 1)},
                                 problem.getMessage());
    return;
  }
  OwningOpRef<ModuleOp> module = translateLLVMIRToModule(
      std::move(ir), &context, /*emitExpensiveWarnings=*/false);
  if (module)
    append(*module);
  else if (!invocation.diagnostics.hasErrors())
    invocation.diagnostics.error({name.str()}, "this LLVM IR cannot be read");
}

void Loader::append(ModuleOp module) {
  Block *body = result.module->getBody();
  body->getOperations().splice(body->end(), module.getBody()->getOperations());
  // A lowered stage carries its data layout and triple on the module.
  for (NamedAttribute attribute : module->getAttrs())
    (*result.module)->setAttr(attribute.getName(), attribute.getValue());
}

void Loader::fixSizes(kernel::FuncOp kernel) {
  Builder builder(&context);
  SmallVector<NamedAttribute> entries;
  for (Attribute size : kernel.getSizes())
    if (auto found = fixed.find(cast<StringAttr>(size).str());
        found != fixed.end())
      entries.push_back(builder.getNamedAttr(
          found->first, builder.getDenseI64ArrayAttr(found->second)));
  if (!entries.empty())
    kernel.setFixedAttr(builder.getDictionaryAttr(entries));
}

void Loader::refuseTwoOfOneName() {
  llvm::StringMap<Operation *> seen;
  for (Operation &op : *result.module->getBody()) {
    auto name = op.getAttrOfType<StringAttr>(SymbolTable::getSymbolAttrName());
    if (!name)
      continue;
    auto [at, isNew] = seen.try_emplace(name.getValue(), &op);
    if (!isNew)
      invocation.diagnostics
          .error(placeOf(op.getLoc()),
                 "there is a kernel '" + name.getValue() + "' already")
          .note(placeOf(at->second->getLoc()), "the other one is here");
  }
}

std::optional<Sources> Loader::finish(ArrayRef<SizeBinding> sizes) {
  Diagnostics &diagnostics = invocation.diagnostics;
  if (diagnostics.hasErrors())
    return std::nullopt;

  // Inputs first, imports after them, each once, as the depfile lists them.
  for (std::string &import : imports)
    if (!llvm::is_contained(result.filesRead, import))
      result.filesRead.push_back(std::move(import));

  auto kernels = result.module->getOps<kernel::FuncOp>();
  result.hasKernels = !kernels.empty();
  for (kernel::FuncOp kernel : kernels)
    result.kernelNames.push_back(kernel.getSymName().str());
  bool lowered = llvm::any_of(*result.module->getBody(), [](Operation &op) {
    return !isa<kernel::FuncOp>(op);
  });
  if (result.hasKernels && lowered) {
    diagnostics.error({},
                      "the inputs are at different stages; compile them one "
                      "by one and link the objects");
    return std::nullopt;
  }
  if (!result.hasKernels && !lowered) {
    diagnostics.error({}, "there is no kernel in any input");
    return std::nullopt;
  }

  for (const SizeBinding &binding : sizes) {
    SmallVector<StringRef> known;
    for (kernel::FuncOp kernel : kernels)
      for (Attribute size : kernel.getSizes())
        if (StringRef name = cast<StringAttr>(size);
            !llvm::is_contained(known, name))
          known.push_back(name);
    if (!llvm::is_contained(known, binding.name))
      diagnostics.error(
          {},
          "'-D " + binding.name + "': no kernel has this size" +
              (known.empty() ? std::string() : "; there are " + listOf(known)));
  }
  refuseTwoOfOneName();
  if (diagnostics.hasErrors() || failed(verify(*result.module)))
    return std::nullopt;
  return std::move(result);
}

std::optional<Sources> facet::loadSources(ArrayRef<std::string> inputs,
                                          ArrayRef<SizeBinding> sizes,
                                          MLIRContext &context,
                                          Invocation &invocation) {
  Loader loader(sizes, context, invocation);
  for (const std::string &input : inputs)
    loader.add(input);
  return loader.finish(sizes);
}
