//===- Compiler.cpp - the compiler as a library ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The C face of the driver: `facet compile` on a text in memory, its object loaded
// into this process, its messages as a list.
//
//   "kernel f(…) …" ─ compileText ─▶ object ─ Jit ─▶ facetc_f_dl, facetc_f_info, …
//
// What is loaded is the object that a build would link, so a kernel called from here
// gives the same bits as one in a program. Options come in a structure, not as
// words, so that no text of a caller is taken for an option.
//
//===----------------------------------------------------------------------===//

#include "facet-c/compiler.h"
#include "facet/Driver/CompileText.h"
#include "facet/Driver/Help.h"
#include "facet/Driver/SimulateText.h"
#include "facet/Target/Jit.h"

#include "llvm/Support/raw_ostream.h"

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <mutex>

using namespace facet;

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

struct facetc_messages {
  Diagnostics diagnostics; // owns the texts
  std::vector<const Diagnostic *> list;
  std::string text;

  void finish() {
    for (const Diagnostic &diagnostic : diagnostics.all())
      add(diagnostic);
    llvm::raw_string_ostream os(text);
    renderDiagnostics(diagnostics, DiagnosticFormat::Text, /*colour=*/false,
                      os);
  }

private:
  void add(const Diagnostic &diagnostic) {
    list.push_back(&diagnostic);
    for (const Diagnostic &note : diagnostic.notes)
      add(note);
  }
};

size_t facetc_message_count(const facetc_messages *messages) {
  return messages->list.size();
}

facetc_message facetc_message_at(const facetc_messages *messages,
                                 size_t index) {
  const Diagnostic &diagnostic = *messages->list[index];
  const Place &place = diagnostic.place;
  return {int32_t(diagnostic.severity),
          place.line,
          place.column,
          place.endColumn,
          place.file.c_str(),
          diagnostic.group.c_str(),
          diagnostic.message.c_str()};
}

const char *facetc_messages_text(const facetc_messages *messages) {
  return messages->text.c_str();
}

void facetc_messages_free(facetc_messages *messages) { delete messages; }

//===----------------------------------------------------------------------===//
// Compiling
//===----------------------------------------------------------------------===//

static_assert(int(Severity::Error) == FACETC_ERROR &&
                  int(Severity::Warning) == FACETC_WARNING &&
                  int(Severity::Remark) == FACETC_REMARK &&
                  int(Severity::Note) == FACETC_NOTE,
              "severities are passed as they are");

/// Reads the members that the caller knows of; the others keep their defaults.
static facetc_options readOptions(const facetc_options *given) {
  facetc_options options = FACETC_OPTIONS_INIT;
  if (given)
    std::memcpy(static_cast<void *>(&options), given,
                std::min<size_t>(given->size, sizeof(options)));
  return options;
}

/// Adds an option for each word of a list that NULL ends.
static void addAll(const char *option, const char *const *list,
                   std::vector<std::string> &options) {
  for (; list && *list; ++list)
    options.push_back(std::string(option) + *list);
}

/// What is asked of a text, `kernel` of it or all.
static TextRequest requestFor(const char *text, size_t bytes, const char *kind,
                              const char *kernel, const char *target,
                              const facetc_options &options) {
  TextRequest request;
  request.text.assign(text, bytes);
  request.kind = kind;
  if (options.name)
    request.name = options.name;
  request.options.push_back(std::string("--target=") +
                            (options.target ? options.target : target));
  if (kernel)
    request.options.push_back(std::string("--kernel=") + kernel);
  addAll("-D", options.defines, request.options);
  addAll("-I", options.include_dirs, request.options);
  addAll("-W", options.warnings, request.options);
  return request;
}

/// LLVM's tables of targets are filled at the first use, so one run comes after the
/// other.
static std::mutex &compilerMutex() {
  static std::mutex mutex;
  return mutex;
}

/// Runs the compiler.
static bool compile(const char *text, size_t bytes, const char *kind,
                    const facetc_options *given, bool forThisProcess,
                    CompiledText &result, facetc_messages &messages) {
  TextRequest request =
      requestFor(text, bytes, kind, nullptr, "native", readOptions(given));
  if (forThisProcess) // as `facet run` does: no name is taken then
    request.options.push_back("--namespace=facetc");
  std::lock_guard<std::mutex> lock(compilerMutex());
  return compileText(request, result, messages.diagnostics);
}

/// Memory that facetc_free takes: `bytes` and a NUL.
static char *give(const std::string &bytes, size_t *length) {
  auto *memory = static_cast<char *>(std::malloc(bytes.size() + 1));
  if (!memory)
    return nullptr;
  std::memcpy(memory, bytes.c_str(), bytes.size() + 1);
  if (length)
    *length = bytes.size();
  return memory;
}

namespace {

/// Gives the list to the caller who wants it, and frees it otherwise.
class MessagesOut {
public:
  explicit MessagesOut(facetc_messages **out)
      : out(out), messages(new facetc_messages) {}
  ~MessagesOut() {
    if (!out) {
      delete messages;
      return;
    }
    messages->finish();
    *out = messages;
  }
  MessagesOut(const MessagesOut &) = delete;
  MessagesOut &operator=(const MessagesOut &) = delete;
  facetc_messages &operator*() { return *messages; }

private:
  facetc_messages **out;
  facetc_messages *messages;
};

} // namespace

char *facetc_emit(const char *text, size_t bytes, const char *kind,
                  const facetc_options *options, size_t *length,
                  facetc_messages **messages) {
  MessagesOut list(messages);
  CompiledText result;
  if (!compile(text, bytes, kind, options, /*forThisProcess=*/false, result,
               *list))
    return nullptr;
  return give(result.bytes, length);
}

char *facetc_explain(const char *text, size_t bytes, const char *kernel,
                     const char *form, const facetc_options *options,
                     size_t *length, facetc_messages **messages) {
  MessagesOut list(messages);
  if (std::strcmp(form, "text") != 0 && std::strcmp(form, "json") != 0 &&
      std::strcmp(form, "schedule") != 0) {
    (*list).diagnostics.error({}, std::string("a plan is told as text, json or "
                                              "schedule, not as '") +
                                      form + "'");
    return nullptr;
  }
  TextRequest request =
      requestFor(text, bytes, form, kernel, "native", readOptions(options));
  std::string result;
  std::lock_guard<std::mutex> lock(compilerMutex());
  if (!explainText(request, result, (*list).diagnostics))
    return nullptr;
  return give(result, length);
}

void facetc_free(void *memory) { std::free(memory); }

//===----------------------------------------------------------------------===//
// Modules and kernels
//===----------------------------------------------------------------------===//

using CallFunction = int(const facet_dltensor *const *in,
                         facet_dltensor *const *out, const facet_exec *exec);

struct facetc_kernel {
  Jit *jit = nullptr;
  std::string name, symbol;
  const facet_info *info = nullptr;
  CallFunction *call = nullptr;
};

struct facetc_module {
  std::unique_ptr<Jit> jit;
  std::vector<facetc_kernel> kernels;
};

facetc_module *facetc_compile(const char *text, size_t bytes,
                              const facetc_options *options,
                              facetc_messages **messages) {
  MessagesOut list(messages);
  CompiledText result;
  if (!compile(text, bytes, "obj", options, /*forThisProcess=*/true, result,
               *list))
    return nullptr;
  std::string error;
  auto module = std::make_unique<facetc_module>();
  module->jit = Jit::load(result.bytes, error);
  for (const std::string &name : result.kernels) {
    if (!module->jit)
      break;
    facetc_kernel kernel;
    kernel.jit = module->jit.get();
    kernel.name = name;
    kernel.symbol = "facetc_" + name;
    auto *info =
        module->jit->lookup<const facet_info *()>(kernel.symbol + "_info");
    kernel.call = module->jit->lookup<CallFunction>(kernel.symbol + "_dl");
    if (!info || !kernel.call) {
      error = "the code of kernel '" + name + "' cannot be loaded";
      break;
    }
    kernel.info = info();
    module->kernels.push_back(std::move(kernel));
  }
  if (error.empty())
    return module.release();
  (*list).diagnostics.error({}, error);
  return nullptr;
}

void facetc_module_free(facetc_module *module) { delete module; }

size_t facetc_kernel_count(const facetc_module *module) {
  return module->kernels.size();
}

const facetc_kernel *facetc_kernel_at(const facetc_module *module,
                                      size_t index) {
  return &module->kernels[index];
}

const facetc_kernel *facetc_kernel_named(const facetc_module *module,
                                         const char *name) {
  for (const facetc_kernel &kernel : module->kernels)
    if (kernel.name == name)
      return &kernel;
  return nullptr;
}

const facet_info *facetc_kernel_info(const facetc_kernel *kernel) {
  return kernel->info;
}

int facetc_call(const facetc_kernel *kernel, const facet_dltensor *const *in,
                facet_dltensor *const *out, const facet_exec *exec) {
  return kernel->call(in, out, exec);
}

facetc_function facetc_kernel_function(const facetc_kernel *kernel,
                                       const char *suffix) {
  return kernel->jit->lookup<void()>(kernel->symbol + suffix);
}

//===----------------------------------------------------------------------===//
// The simulator
//===----------------------------------------------------------------------===//

struct facetc_simulation {
  std::unique_ptr<Simulation> run;
};

facetc_simulation *
facetc_simulate(const char *text, size_t bytes, const char *kernel,
                const facetc_options *options, const facet_dltensor *const *in,
                size_t in_count, facet_dltensor *const *out, size_t out_count,
                facetc_messages **messages) {
  MessagesOut list(messages);
  TextRequest request =
      requestFor(text, bytes, "", kernel, "trn2", readOptions(options));
  std::lock_guard<std::mutex> lock(compilerMutex());
  std::unique_ptr<Simulation> run =
      simulateText(request, llvm::ArrayRef(in, in_count),
                   llvm::ArrayRef(out, out_count), (*list).diagnostics);
  return run ? new facetc_simulation{std::move(run)} : nullptr;
}

char *facetc_simulation_result(const facetc_simulation *simulation,
                               const char *kind, size_t *length) {
  std::string bytes;
  return simulation->run->result(kind, bytes) ? give(bytes, length) : nullptr;
}

void facetc_simulation_free(facetc_simulation *simulation) {
  delete simulation;
}

//===----------------------------------------------------------------------===//
// Versions
//===----------------------------------------------------------------------===//

int facetc_api_version(void) { return FACETC_API_VERSION; }

const char *facetc_version(void) { return versionNumber().data(); }
