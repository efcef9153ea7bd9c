//===- Compile.cpp - `facet compile` --------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   inputs ─ Sources ─▶ kernels ─ target.lower ─▶ LLVM dialect ─ EmitObject ─▶ -o
//                          └─ EmitInterface ─▶ --header
//
// One request, one answer: everything asked for is made in memory and put in place
// together (Outputs), so that a build never sees a new object beside an old header.
//
//===----------------------------------------------------------------------===//

#include "Crash.h"
#include "EngineCalls.h"
#include "Kernels.h"
#include "MlirDiagnostics.h"
#include "OnText.h"
#include "Planning.h"
#include "Road.h"
#include "Sources.h"
#include "Volume.h"
#include "facet/Dialect/Kernel/IR/Kernel.h"
#include "facet/Driver/CompileText.h"
#include "facet/Driver/Depfile.h"
#include "facet/Driver/Help.h"
#include "facet/Isa/Assembler.h"
#include "facet/Isa/Container.h"
#include "facet/Pipelines/Engine.h"
#include "facet/Support/Outputs.h"

#include "llvm/Support/Path.h"
#include "llvm/Support/ThreadPool.h"

using namespace mlir;
using namespace facet;
using namespace facet::options;

namespace {

/// What the command line asks for, checked as far as that goes without reading an
/// input.
struct Request {
  EmitKind kind = EmitKind::Object;
  std::string output; ///< of `kind`; empty when only the header is wanted
  std::string header; ///< of --header, or empty
  std::vector<SizeBinding> sizes;
  TargetList targets;
  std::optional<Machine> engine; ///< instead of targets
  std::string triple;
  unsigned jobs = 1;
  InterfaceOptions interface;

  /// The outputs in the order of a depfile's targets.
  std::vector<std::string> outputs() const {
    std::vector<std::string> all;
    for (const std::string &path : {output, header})
      if (!path.empty() && path != "-")
        all.push_back(path);
    return all;
  }
};

} // namespace

/// What `--emit` says, or the suffix of the output.
static std::optional<EmitKind> kindOf(Invocation &invocation,
                                      StringRef output) {
  static constexpr std::pair<StringLiteral, EmitKind> kinds[] = {
      {"obj", EmitKind::Object},    {"asm", EmitKind::Assembly},
      {"llvm", EmitKind::Llvm},     {"mlir", EmitKind::Mlir},
      {"kernel", EmitKind::Kernel}, {"header", EmitKind::Header},
      {"static", EmitKind::Static}, {"shared", EmitKind::Shared},
      {"engine", EmitKind::Engine}};
  static constexpr std::pair<StringLiteral, EmitKind> suffixes[] = {
      {".o", EmitKind::Object},  {".s", EmitKind::Assembly},
      {".ll", EmitKind::Llvm},   {".mlir", EmitKind::Mlir},
      {".h", EmitKind::Header},  {".a", EmitKind::Static},
      {".so", EmitKind::Shared}, {".engine", EmitKind::Engine}};
  if (std::optional<StringRef> emit = invocation.line.value(OPT_emit)) {
    for (auto [name, kind] : kinds)
      if (*emit == name)
        return kind;
    llvm_unreachable("the command line checked the value");
  }
  for (auto [suffix, kind] : suffixes)
    if (llvm::sys::path::extension(output) == suffix)
      return kind;
  invocation.diagnostics.error(
      {}, "the suffix of '" + output +
              "' says nothing about what to write; .o, .s, .ll, .mlir, .h, "
              ".a, .so and .engine do, and --emit names the kind");
  return std::nullopt;
}

/// Of a matrix engine: C functions that run the program, and not the program.
static bool isProgramCalled(EmitKind kind) {
  return kind == EmitKind::Object || kind == EmitKind::Static ||
         kind == EmitKind::Llvm || kind == EmitKind::Header;
}

/// What a matrix engine can be asked for.
static ExitCode checkEngineRequest(const Request &request,
                                   Diagnostics &diagnostics) {
  if (request.kind == EmitKind::Shared)
    diagnostics.error({}, "no shared library is made for a matrix engine; an "
                          "object (.o) or archive (.a) is, and needs "
                          "libfacet-sim");
  else if (!request.header.empty() && !request.output.empty() &&
           !isProgramCalled(request.kind))
    diagnostics.error({}, "the header is of functions that run the program on "
                          "the simulator; these are in an object: -o FILE.o");
  else if (isProgramCalled(request.kind))
    return checkTriple(request.triple, diagnostics) ? ExitCode::Ok
                                                    : ExitCode::NotAvailable;
  return diagnostics.hasErrors() ? ExitCode::Usage : ExitCode::Ok;
}

/// Writes the one kernel of `sources` as a program for a matrix engine.
static ExitCode emitForEngine(Invocation &invocation, const Request &request,
                              Sources &sources, std::string &text) {
  Diagnostics &diagnostics = invocation.diagnostics;
  kernel::FuncOp kernel = chooseKernel(*sources.module, invocation);
  if (!kernel)
    return ExitCode::Usage;
  keepOnly(kernel);
  if (!checkVolume(*sources.module, 1, diagnostics))
    return ExitCode::Rejected;
  LongWork work(invocation, *sources.module, 1);
  checkSchedules(sources, StringRef(request.engine->name), diagnostics);
  FailureOr<engine::ProgramOp> lowered =
      lowerToEngine(kernel, *request.engine, [&](kernel::FuncOp simplified) {
        return planForEngineAloud(simplified, *request.engine, sources,
                                  diagnostics);
      });
  if (failed(lowered))
    return ExitCode::Rejected;
  llvm::raw_string_ostream os(text);
  if (request.kind == EmitKind::Mlir) {
    sources.module->print(os);
    os << "\n";
    return ExitCode::Ok;
  }
  FailureOr<Program> program = emitEngineProgram(*lowered, *request.engine);
  if (failed(program))
    return ExitCode::Rejected;
  if (request.kind == EmitKind::Assembly) {
    disassemble(*program, os);
    return ExitCode::Ok;
  }
  std::vector<uint8_t> bytes = writeProgram(*program);
  text.assign(bytes.begin(), bytes.end());
  return ExitCode::Ok;
}

/// Reads the options; Ok, or the exit code with errors reported.
static ExitCode readRequest(Invocation &invocation, Request &request) {
  const CommandLine &line = invocation.line;
  Diagnostics &diagnostics = invocation.diagnostics;
  if (line.inputs().empty()) {
    diagnostics.error({}, "no input file");
    return ExitCode::Usage;
  }
  if (llvm::count(line.inputs(), "-") > 1)
    diagnostics.error({}, "standard input is given twice");
  request.output = line.value(OPT_output).value_or("").str();
  request.header = line.value(OPT_header).value_or("").str();
  if (line.has(OPT_output) && request.output.empty())
    diagnostics.error({}, "the name of an output is empty");
  if (request.output.empty() && (request.header.empty() || line.has(OPT_emit)))
    diagnostics.error({}, "no output: give -o FILE, or '-o -' for standard "
                          "output");
  else if (!request.output.empty()) {
    if (std::optional<EmitKind> kind = kindOf(invocation, request.output))
      request.kind = *kind;
  }
  if (request.output == "-" && request.header == "-")
    diagnostics.error({}, "two outputs go to '-'");
  request.sizes = parseSizeBindings(line.values(OPT_define_size), diagnostics);
  request.interface.nameSpace = line.value(OPT_namespace).value_or("").str();
  request.interface.version = versionNumber().str();
  request.triple = line.value(OPT_triple).value_or(defaultTriple()).str();
  if ((line.has(OPT_MF) || line.has(OPT_MT) || line.has(OPT_MQ) ||
       line.has(OPT_MP)) &&
      !line.has(OPT_MD))
    diagnostics.error({}, "-MF, -MT, -MQ and -MP belong to -MD");
  if (line.has(OPT_MD) && request.outputs().empty()) {
    if (!line.has(OPT_MF))
      diagnostics.error({}, "-MD beside standard output needs -MF FILE");
    else if (!line.has(OPT_MT) && !line.has(OPT_MQ))
      diagnostics.error({}, "-MD beside standard output needs -MT TARGET");
  }
  request.jobs = std::min<uint64_t>(
      invocation.line.number(OPT_jobs, 1, 1, diagnostics), 1024);
  if (diagnostics.hasErrors())
    return ExitCode::Usage;

  request.engine = engineMachine(invocation);
  if (request.engine) {
    request.interface.suffix = suffixFor(*request.engine);
    return checkEngineRequest(request, diagnostics);
  }
  if (diagnostics.hasErrors())
    return ExitCode::NotAvailable;
  if (request.kind == EmitKind::Engine) {
    diagnostics.error({}, "a program for a matrix engine needs one: "
                          "--target=trn2, say");
    return ExitCode::Usage;
  }
  request.targets = chooseTargets(invocation, request.triple);
  if (request.targets.empty() || !checkTriple(request.triple, diagnostics))
    return ExitCode::NotAvailable;
  return ExitCode::Ok;
}

/// Adds the depfile to `outputs`.
static void addDepfile(Invocation &invocation, const Request &request,
                       const Sources &sources, Outputs &outputs) {
  const CommandLine &line = invocation.line;
  Diagnostics &diagnostics = invocation.diagnostics;
  for (const std::string &file : sources.filesRead)
    if (StringRef(file).find_first_of("\n\r") != StringRef::npos) {
      diagnostics.error({file}, "a depfile cannot name a file with a line end "
                                "in its name");
      return;
    }
  std::vector<std::string> ruleTargets = line.values(OPT_MT);
  for (const std::string &target : line.values(OPT_MQ))
    ruleTargets.push_back(escapeForMake(target));
  if (ruleTargets.empty())
    for (const std::string &output : request.outputs())
      ruleTargets.push_back(escapeForMake(output));

  SmallString<128> path;
  if (std::optional<StringRef> file = line.value(OPT_MF)) {
    path = *file;
  } else {
    path = request.outputs().front();
    llvm::sys::path::replace_extension(path, "d");
  }
  if (std::string *text = outputs.add(path, sources.filesRead, diagnostics))
    *text = depfileRule(ruleTargets, sources.filesRead, line.has(OPT_MP));
}

/// Makes the header of all kernels in `sources`.
static bool makeHeader(Invocation &invocation, const Request &request,
                       const Sources &sources, StringRef path,
                       std::string &text) {
  if (!sources.hasKernels) {
    invocation.diagnostics.error({}, "a header needs kernels; these inputs are "
                                     "lowered already");
    return false;
  }
  SmallVector<kernel::FuncOp> kernels(
      sources.module.get().getOps<kernel::FuncOp>());
  StringRef name = path == "-" ? "facet.h" : llvm::sys::path::filename(path);
  FailureOr<std::string> header = emitHeader(kernels, name, request.interface);
  if (failed(header))
    return false;
  text = std::move(*header);
  return true;
}

/// With `memory` the output goes there and no file is written.
static ExitCode compile(Invocation &invocation, Request &request,
                        CompiledText *memory = nullptr) {
  Diagnostics &diagnostics = invocation.diagnostics;
  const CommandLine &line = invocation.line;
  std::unique_ptr<llvm::DefaultThreadPool> threads; // outlives the context
  std::unique_ptr<MLIRContext> context = makeContext();
  if (request.jobs > 1) {
    threads = std::make_unique<llvm::DefaultThreadPool>(
        llvm::hardware_concurrency(request.jobs));
    context->setThreadPool(*threads);
  }
  MlirDiagnostics bridge(context.get(), diagnostics);
  std::optional<Sources> sources =
      loadSources(line.inputs(), request.sizes, *context, invocation);
  if (!sources)
    return ExitCode::Rejected;
  if (line.has(OPT_kernel) && sources->hasKernels) {
    kernel::FuncOp kernel = chooseKernel(*sources->module, invocation);
    if (!kernel)
      return ExitCode::Usage;
    keepOnly(kernel);
  }
  if (memory)
    for (auto kernel : sources->module->getOps<kernel::FuncOp>())
      memory->kernels.push_back(kernel.getSymName().str());

  if (!line.has(OPT_target))
    dropIdleLevels(request.targets, *sources->module);

  if (request.engine && request.kind != EmitKind::Kernel &&
      !sources->hasKernels) {
    diagnostics.error({},
                      "a program for a matrix engine is made from a kernel; "
                      "these inputs are lowered already");
    return ExitCode::Rejected;
  }

  // All names are checked before the work begins.
  Outputs outputs(line.has(OPT_write_if_changed));
  std::string *code = nullptr, *header = nullptr;
  if (memory)
    code = &memory->bytes;
  else if (!request.output.empty())
    code = outputs.add(request.output, sources->filesRead, diagnostics,
                       request.kind == EmitKind::Shared);
  if (!request.header.empty())
    header = outputs.add(request.header, sources->filesRead, diagnostics);
  if (line.has(OPT_MD))
    addDepfile(invocation, request, *sources, outputs);
  if (diagnostics.hasErrors())
    return ExitCode::Rejected;

  // Headers first: lowering consumes the kernels.
  if (header &&
      !makeHeader(invocation, request, *sources, request.header, *header))
    return ExitCode::Rejected;
  if (code && request.kind == EmitKind::Header) {
    if (!makeHeader(invocation, request, *sources, request.output, *code))
      return ExitCode::Rejected;
  } else if (code && request.engine && request.kind != EmitKind::Kernel &&
             !isProgramCalled(request.kind)) {
    ExitCode result = emitForEngine(invocation, request, *sources, *code);
    if (result != ExitCode::Ok)
      return result;
  } else if (code) {
    if (request.engine) // what calls it, or prints it, is like plain loops
      request.targets = {findTarget("reference")};
    const Target &target = *request.targets.front();
    if (!line.has(OPT_target) && !target.level && !request.engine &&
        request.kind != EmitKind::Kernel)
      diagnostics.remark("perf", {},
                         "compiling for '" + target.name + "', " +
                             target.description + "; --target=" + target.name +
                             " says that this is meant");
    Emission emission{request.targets, request.triple, request.interface,
                      request.engine ? &*request.engine : nullptr,
                      request.output};
    ExitCode result = emit(*sources, request.kind, emission, invocation, *code);
    if (result != ExitCode::Ok)
      return result;
  }

  if (diagnostics.hasErrors())
    return ExitCode::Rejected;
  if (!invocation.reporting.allows(diagnostics))
    return ExitCode::Rejected;
  return outputs.commit(diagnostics) ? ExitCode::Ok : ExitCode::Rejected;
}

ExitCode facet::runCompile(Invocation &invocation) {
  Request request;
  ExitCode code = readRequest(invocation, request);
  return code == ExitCode::Ok ? compile(invocation, request) : code;
}

bool facet::compileText(const TextRequest &request, CompiledText &result,
                        Diagnostics &diagnostics) {
  return runOnText({"compile", "-", "-o", "-", "--emit=" + request.kind},
                   request, diagnostics, [&](Invocation &invocation) {
                     Request parsed;
                     ExitCode code = readRequest(invocation, parsed);
                     return code == ExitCode::Ok
                                ? compile(invocation, parsed, &result)
                                : code;
                   });
}
