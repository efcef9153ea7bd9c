//===- FindMachine.cpp - where machine files live -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds `trn2` as a file. Shipped machines are looked up relative to the
// running executable, so that a build tree and an installed tree each use their
// own and both can be moved:
//
//   $FACET_MACHINES/trn2.yaml
//   <executable>/../share/facet/machines/trn2.yaml     installed
//   <executable>/../machines/trn2.yaml                 build tree
//   <libfacet.so>/../share/facet/machines/trn2.yaml    installed, other programs
//   <source tree>/machines/trn2.yaml                   library users of a build
//   tree
//
// Python and other programs that load the library lie anywhere: there its own place
// counts. Debian has it one folder deeper (lib/x86_64-linux-gnu).
//
//===----------------------------------------------------------------------===//

#include "facet/Machine/Machine.h"
#include "facet/Support/ReadFile.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <cstdlib>
#include <dlfcn.h>

using namespace facet;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

static std::string &executable() {
  static std::string file =
      fs::getMainExecutable(nullptr, (void *)&findMachine);
  return file;
}

void facet::setMachineExecutable(llvm::StringRef argv0) {
  executable() =
      fs::getMainExecutable(argv0.str().c_str(), (void *)&findMachine);
}

/// The folders to search, best first. Those that do not exist are harmless.
static std::vector<std::string> machineFolders() {
  std::vector<std::string> folders;
  if (const char *folder = std::getenv("FACET_MACHINES"))
    folders.push_back(folder);
  llvm::StringRef bin = path::parent_path(executable());
  for (llvm::StringRef relative : {"../share/facet/machines", "../machines"}) {
    llvm::SmallString<256> folder(bin);
    path::append(folder, relative);
    path::remove_dots(folder, /*remove_dot_dot=*/true);
    folders.push_back(folder.str().str());
  }
  Dl_info code;
  if (dladdr(reinterpret_cast<void *>(&findMachine), &code) && code.dli_fname) {
    llvm::StringRef lib = path::parent_path(code.dli_fname);
    for (llvm::StringRef up : {"..", "../.."}) {
      llvm::SmallString<256> folder(lib);
      path::append(folder, up, "share/facet/machines");
      path::remove_dots(folder, /*remove_dot_dot=*/true);
      folders.push_back(folder.str().str());
    }
  }
#ifdef FACET_SOURCE_MACHINES
  folders.push_back(FACET_SOURCE_MACHINES);
#endif
  return folders;
}

std::string facet::findMachine(llvm::StringRef name) {
  if (name.empty() || name.contains('/') || name.contains('\0'))
    return "";
  for (const std::string &folder : machineFolders()) {
    llvm::SmallString<256> file(folder);
    path::append(file, name + ".yaml");
    if (fs::is_regular_file(file))
      return file.str().str();
  }
  return "";
}

std::vector<std::string> facet::machineNames() {
  std::vector<std::string> names;
  for (const std::string &folder : machineFolders()) {
    std::error_code error;
    for (fs::directory_iterator i(folder, error), e; i != e && !error;
         i.increment(error))
      if (path::extension(i->path()) == ".yaml")
        names.push_back(path::stem(i->path()).str());
  }
  llvm::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

std::optional<Machine> facet::loadMachine(llvm::StringRef nameOrPath,
                                          Diagnostics &diags) {
  std::string file = nameOrPath.str();
  if (!nameOrPath.contains('/') && !nameOrPath.ends_with(".yaml")) {
    file = findMachine(nameOrPath);
    if (file.empty()) {
      std::vector<std::string> names = machineNames();
      std::string message = "no machine is called '" + nameOrPath.str() + "'";
      unsigned best = 3;
      std::string nearest;
      for (const std::string &name : names)
        if (unsigned distance = nameOrPath.edit_distance(name, true, best);
            distance < best) {
          best = distance;
          nearest = name;
        }
      if (!nearest.empty())
        message += "; did you mean '" + nearest + "'?";
      else
        message += "; there are " + llvm::join(names, ", ") +
                   ", or give the path of a .yaml file";
      diags.error({}, message);
      return std::nullopt;
    }
  }
  // A folder opens like a file on some systems; say so before reading fails.
  if (fs::is_directory(file)) {
    diags.error({file}, "the machine file is a folder");
    return std::nullopt;
  }
  std::string problem;
  std::optional<std::string> text = readWholeFile(file, problem);
  if (!text) {
    diags.error({file}, "cannot read the machine file: " + problem);
    return std::nullopt;
  }
  return parseMachine(*text, file, diags);
}
