//===- CheckModule.cpp - files, imports, functions ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The items of a file in order, so that names are defined before use; an
// `import` stands for the functions and schedules of another file, read once
// however often it is named. Kernels of the file itself are checked, those of
// imported files are only known by name, to refuse calls of them.
//
//===----------------------------------------------------------------------===//

#include "KernelChecker.h"
#include "facet/Frontend/Frontend.h"
#include "facet/Support/SourceFile.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <map>

using namespace facet;
using llvm::StringRef;
using llvm::Twine;

static constexpr unsigned deepestImport = 100;
static constexpr size_t mostOperations = 1 << 20; // of all kernels of a file

namespace {
class ModuleChecker {
public:
  ModuleChecker(const FrontendOptions &options, Diagnostics &diagnostics)
      : options(options), diagnostics(diagnostics),
        module(std::make_unique<CheckedModule>()) {}

  std::unique_ptr<CheckedModule> run(StringRef file, std::string text);

private:
  void checkFile(StringRef name, StringRef text, bool isMain);
  void checkImport(const syntax::Import &import, StringRef file);
  void checkFunction(const syntax::Function &function, StringRef file);
  bool checkFunctionBody(const syntax::Function &function,
                         const syntax::Expr &expr, StringRef file,
                         std::vector<bool> &used);
  void checkKernel(const syntax::Kernel &kernel, StringRef file, bool isMain);
  void checkSchedules();

  /// A file being read, or read; `open` while its own imports are followed.
  struct Source {
    std::string name;
    bool open = true;
    Place import; // where it was asked for; no place for the main file
  };
  using FileId = std::pair<uint64_t, uint64_t>;
  static std::optional<FileId> identify(StringRef path);

  const FrontendOptions &options;
  Diagnostics &diagnostics;
  std::unique_ptr<CheckedModule> module;
  GlobalNames names;
  llvm::StringMap<Place> mainKernels;
  std::map<FileId, Source> sources;
  std::deque<syntax::File> files; // functions point into them
  std::vector<syntax::Schedule> mainSchedules;
  unsigned importDepth = 0;
  size_t operations = 0;
};
} // namespace

std::unique_ptr<CheckedModule>
facet::parseAndCheck(StringRef file, std::string text,
                     const FrontendOptions &options, Diagnostics &diagnostics) {
  return ModuleChecker(options, diagnostics).run(file, std::move(text));
}

std::unique_ptr<CheckedModule> ModuleChecker::run(StringRef file,
                                                  std::string text) {
  unsigned before = diagnostics.errorCount();
  module->filesRead.push_back(file.str());
  if (auto id = identify(file))
    sources[*id] = {file.str(), true, {}};
  checkFile(file, diagnostics.addBuffer(file, std::move(text)), true);
  for (syntax::Schedule &schedule : mainSchedules)
    module->schedules.push_back(std::move(schedule));
  checkSchedules();
  if (diagnostics.errorCount() != before)
    return nullptr;
  return std::move(module);
}

/// What makes two paths one file; nullopt for what is no file (stdin).
std::optional<ModuleChecker::FileId> ModuleChecker::identify(StringRef path) {
  llvm::sys::fs::UniqueID id;
  if (path == "-" || llvm::sys::fs::getUniqueID(path, id))
    return std::nullopt;
  return FileId(id.getDevice(), id.getFile());
}

void ModuleChecker::checkFile(StringRef name, StringRef text, bool isMain) {
  files.push_back(syntax::parse(name, text, diagnostics));
  syntax::File &file = files.back();
  for (const syntax::Item &item : file.items)
    if (const auto *function = std::get_if<syntax::Function>(&item))
      names.laterFunctions.try_emplace(function->name.text,
                                       placeIn(name, function->name.span));
    else if (const auto *kernel = std::get_if<syntax::Kernel>(&item))
      names.kernels.try_emplace(kernel->name.text,
                                placeIn(name, kernel->name.span));
  for (syntax::Item &item : file.items) {
    if (diagnostics.limitReached())
      return;
    if (const auto *import = std::get_if<syntax::Import>(&item))
      checkImport(*import, name);
    else if (const auto *function = std::get_if<syntax::Function>(&item))
      checkFunction(*function, name);
    else if (const auto *kernel = std::get_if<syntax::Kernel>(&item))
      checkKernel(*kernel, name, isMain);
    else
      (isMain ? mainSchedules : module->schedules)
          .push_back(std::move(std::get<syntax::Schedule>(item)));
  }
}

//===----------------------------------------------------------------------===//
// Imports
//===----------------------------------------------------------------------===//

void ModuleChecker::checkImport(const syntax::Import &import, StringRef file) {
  Place where = placeIn(file, import.span);
  llvm::SmallVector<std::string> candidates;
  if (llvm::sys::path::is_absolute(import.path)) {
    candidates.push_back(import.path);
  } else {
    auto inFolder = [&](StringRef folder) {
      llvm::SmallString<128> path(folder);
      llvm::sys::path::append(path, import.path);
      candidates.push_back(path.str().str());
    };
    inFolder(llvm::sys::path::parent_path(file));
    for (const std::string &folder : options.includeDirs)
      inFolder(folder);
  }
  std::string path;
  for (const std::string &candidate : candidates)
    if (path.empty() && llvm::sys::fs::exists(candidate))
      path = candidate;
  if (path.empty()) {
    Diagnostic &diagnostic = diagnostics.error(
        where, "cannot find `" + import.path + "` beside this file" +
                   (options.includeDirs.empty() ? "; `-I folder` names others"
                                                : " nor in the folders of "
                                                  "`-I`"));
    for (const std::string &candidate : candidates)
      diagnostic.note({}, "looked for " + candidate);
    return;
  }

  std::optional<FileId> id = identify(path);
  if (id)
    if (auto known = sources.find(*id); known != sources.end()) {
      if (!known->second.open)
        return; // read already
      Diagnostic &diagnostic = diagnostics.error(
          where, "`" + import.path + "` imports itself" +
                     (known->second.name == file ? "" : " by way of others"));
      if (!known->second.import.file.empty())
        diagnostic.note(known->second.import, "it is being imported here");
      else
        diagnostic.note({known->second.name, 0, 0, 0}, "it is the file given");
      return;
    }
  if (importDepth >= deepestImport) {
    diagnostics.error(where, "imports nest more than " + Twine(deepestImport) +
                                 " deep");
    return;
  }
  std::string problem = "is no regular file"; // a device may never end
  std::optional<std::string> text;
  if (llvm::sys::fs::is_regular_file(path) || llvm::sys::fs::is_directory(path))
    text = readSourceFile(path, problem);
  if (!text) {
    diagnostics.error(where, "cannot read `" + path + "`: " + problem);
    return;
  }
  module->filesRead.push_back(path);
  if (id)
    sources[*id] = {path, true, where};
  ++importDepth;
  checkFile(path, diagnostics.addBuffer(path, std::move(*text)), false);
  --importDepth;
  if (id)
    sources[*id].open = false;
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

void ModuleChecker::checkFunction(const syntax::Function &function,
                                  StringRef file) {
  const std::string &name = function.name.text;
  Place where = placeIn(file, function.name.span);
  auto [known, isNew] = names.functions.try_emplace(
      name, FunctionDef{file.str(), &function, true});
  if (!isNew) {
    diagnostics.error(where, "function `" + name + "` is defined twice")
        .note(placeIn(known->second.file, known->second.syntax->name.span),
              "first defined here");
    return;
  }
  if (auto kernel = mainKernels.find(name); kernel != mainKernels.end())
    diagnostics.error(where, "`" + name + "` is the name of a kernel")
        .note(kernel->second, "the kernel is here");
  names.laterFunctions.erase(name);
  if (!function.body)
    return; // did not parse; calls of it are silent
  bool good = true;
  for (auto [i, parameter] : llvm::enumerate(function.parameters))
    for (const syntax::Identifier &earlier :
         llvm::ArrayRef(function.parameters).take_front(i))
      if (earlier.text == parameter.text) {
        diagnostics.error(placeIn(file, parameter.span),
                          "parameter `" + parameter.text +
                              "` is declared twice");
        good = false;
      }
  std::vector<bool> used(function.parameters.size());
  good &= checkFunctionBody(function, *function.body, file, used);
  names.functions[name].broken = !good;
  for (auto [parameter, isUsed] : llvm::zip(function.parameters, used))
    if (good && !isUsed)
      diagnostics.warning("unused-parameter", placeIn(file, parameter.span),
                          "parameter `" + parameter.text + "` is never used");
}

/// What needs no types: only parameters, no reductions, no recursion. The rest
/// is checked where the function is written out.
bool ModuleChecker::checkFunctionBody(const syntax::Function &function,
                                      const syntax::Expr &expr, StringRef file,
                                      std::vector<bool> &used) {
  Place where = placeIn(file, expr.mainSpan);
  auto refuse = [&](const Twine &message) {
    diagnostics.error(where, message);
    return false;
  };
  switch (expr.kind) {
  case syntax::ExprKind::Size:
    return refuse("a function computes with its parameters only; pass the size "
                  "`" +
                  expr.text + "` as one");
  case syntax::ExprKind::Reduce:
    return refuse("a function computes with its parameters only and binds no "
                  "indices; write the reduction in the kernel and pass its "
                  "value");
  case syntax::ExprKind::Name: {
    if (expr.subscripts)
      return refuse("a parameter is a value and takes no subscripts; pass `" +
                    print(expr) + "` itself");
    auto found = llvm::find_if(function.parameters, [&](const auto &p) {
      return p.text == expr.text;
    });
    if (found == function.parameters.end())
      return refuse("a function computes with its parameters only; `" +
                    expr.text + "` is none of `" + function.name.text + "`'s");
    used[found - function.parameters.begin()] = true;
    return true;
  }
  case syntax::ExprKind::Call:
    if (expr.text == function.name.text)
      return refuse("`" + expr.text +
                    "` calls itself; recursion is not part "
                    "of the language");
    if (!wordKind(expr.text) && !names.functions.count(expr.text)) {
      reportUnknownFunction(expr.text, where, names, diagnostics);
      return false;
    }
    if (std::string problem =
            wrongCount(expr.text, expr.operands.size(), names);
        !problem.empty())
      return refuse(problem);
    break;
  default:
    break;
  }
  bool good = true;
  for (const syntax::ExprPtr &operand : expr.operands)
    good &= checkFunctionBody(function, *operand, file, used);
  return good;
}

//===----------------------------------------------------------------------===//
// Kernels and schedules
//===----------------------------------------------------------------------===//

void ModuleChecker::checkKernel(const syntax::Kernel &kernel, StringRef file,
                                bool isMain) {
  const std::string &name = kernel.name.text;
  Place where = placeIn(file, kernel.name.span);
  if (isMain && !name.empty()) {
    auto [known, isNew] = mainKernels.try_emplace(name, where);
    if (!isNew)
      diagnostics.error(where, "kernel `" + name + "` is defined twice")
          .note(known->second, "first defined here");
    if (auto function = names.functions.find(name);
        function != names.functions.end())
      diagnostics.error(where, "`" + name + "` is the name of a function")
          .note(placeIn(function->second.file,
                        function->second.syntax->name.span),
                "the function is here");
  }

  if (!isMain || kernel.broken || operations > mostOperations)
    return;
  auto checked = KernelChecker(kernel, file, names, diagnostics).run();
  if (!checked)
    return;
  operations += checked->exprPool.size();
  if (operations > mostOperations)
    diagnostics.error(where, "the kernels up to here have more than " +
                                 Twine(mostOperations) +
                                 " operations once their functions are written "
                                 "out; spread them over several files");
  module->kernels.push_back(std::move(checked));
}

/// Schedules for kernels of other files wait for whoever brings both together.
void ModuleChecker::checkSchedules() {
  llvm::StringMap<const checked::Kernel *> kernels;
  for (const auto &kernel : module->kernels)
    kernels[kernel->name] = kernel.get();
  for (const syntax::Schedule &schedule : module->schedules)
    if (const checked::Kernel *kernel = kernels.lookup(schedule.kernel.text))
      checkSchedule(*kernel, schedule, diagnostics);
}
