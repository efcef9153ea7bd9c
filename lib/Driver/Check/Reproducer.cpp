//===- Reproducer.cpp - a wrong call as files -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   wrong/linear-1.x.npy  wrong/linear-1.w.npy  wrong/linear-1.b.npy  wrong/linear-1.sh:
//     # x86-64-v3: 'y' differs in 1 of 15 elements; …
//     exec facet run '/home/me/linear.facet' --kernel=linear … x=linear-1.x.npy …
//
//===----------------------------------------------------------------------===//

#include "Reproducer.h"
#include "facet/Support/Outputs.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace facet;

/// One word of a shell.
static std::string quoted(StringRef word) {
  std::string text = "'";
  for (char c : word)
    text += c == '\'' ? "'\\''" : std::string(1, c);
  return text + "'";
}

bool facet::writeReproducer(StringRef folder, StringRef name,
                            const HostKernel &kernel, const WrongCall &wrong,
                            ArrayRef<std::string> inputs,
                            Diagnostics &diagnostics) {
  if (std::error_code error = sys::fs::create_directories(folder)) {
    diagnostics.error({folder.str()}, error.message());
    return false;
  }
  Outputs outputs;
  auto add = [&](const Twine &suffix, bool executable = false) {
    SmallString<128> path(folder);
    sys::path::append(path, name + suffix);
    return outputs.add(path, inputs, diagnostics, executable);
  };
  std::string command = "exec facet run";
  for (const std::string &input : inputs) {
    SmallString<128> path(input);
    if (input != "-")
      sys::fs::make_absolute(path);
    command += " " + quoted(path);
  }
  command += " --kernel=" + kernel.name + " " + wrong.road.options;
  for (auto [size, value] : zip_equal(kernel.sizes, wrong.trial.sizes))
    command += " " + size + "=" + std::to_string(value);
  for (auto [param, array] : zip_equal(kernel.params, wrong.trial.arguments)) {
    if (!param.isInput() || !array)
      continue;
    std::string *file = add("." + param.name + ".npy");
    if (!file)
      return false;
    *file = writeNpy(*array);
    command += " " + param.name + "=" +
               quoted((name + "." + param.name).str() + ".npy");
  }
  std::string *script = add(".sh", /*executable=*/true);
  if (!script)
    return false;
  std::string comment = wrong.road.name + ": " + wrong.text;
  replace(comment, '\n', ' ');
  *script = "#!/bin/sh\n# " + comment + "\n# " + wrong.again +
            "\ncd \"$(dirname \"$0\")\" || exit\n" + command + "\n";
  return outputs.commit(diagnostics);
}
