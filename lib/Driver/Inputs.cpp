//===- Inputs.cpp - files and standard input ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A folder, a missing file or an unreadable one is an error with its name; the
// system's own text (which speaks of a folder only when it is read) is not enough.
//
//===----------------------------------------------------------------------===//

#include "Invocation.h"

#include "facet/Support/ReadFile.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace facet;

std::optional<std::string> facet::readInput(StringRef path,
                                            Diagnostics &diagnostics) {
  Place place{path.str()};
  if (path != "-" && sys::fs::is_directory(path)) {
    diagnostics.error(place, "this is a directory; a file is needed");
    return std::nullopt;
  }
  std::string problem;
  std::optional<std::string> bytes = readWholeFile(path, problem);
  if (!bytes)
    diagnostics.error(place, "cannot read this file: " + problem);
  return bytes;
}

std::string facet::inputName(StringRef path, const CommandLine &line) {
  if (path != "-")
    return path.str();
  return line.value(options::OPT_input_name).value_or("<stdin>").str();
}

std::string facet::installPrefix() {
  static int anchor;
  std::string program = sys::fs::getMainExecutable("", &anchor);
  return sys::path::parent_path(sys::path::parent_path(program)).str();
}
