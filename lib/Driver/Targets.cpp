//===- Targets.cpp - `facet targets` and `facet print-config` -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What works here, and where things are: for people, and as JSON for build files.
//
//   facet targets                     the list
//   facet targets native > my.yaml    one machine as a file, every value with its source
//
//===----------------------------------------------------------------------===//

#include "ChooseTargets.h"
#include "Invocation.h"
#include "facet/Driver/BuildConfig.h"
#include "facet/Driver/Help.h"
#include "facet/Machine/PrintMachine.h"
#include "facet/Target/Target.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace facet;
using namespace facet::options;

static bool refuseInputs(Invocation &invocation) {
  if (invocation.line.inputs().empty())
    return false;
  invocation.diagnostics.error({}, "'" + invocation.line.subcommand() +
                                       "' takes no files; found '" +
                                       invocation.line.inputs().front() + "'");
  return true;
}

/// Prints the machine of that name or path as a file that stands alone.
static ExitCode printMachineFile(Invocation &invocation, StringRef name) {
  Diagnostics &diagnostics = invocation.diagnostics;
  std::optional<Machine> machine = name == "native"
                                       ? nativeMachine(diagnostics)
                                       : loadMachine(name, diagnostics);
  if (!machine) {
    if (!diagnostics.hasErrors())
      diagnostics.error({}, "this machine has no level, and so no file; "
                            "'facet targets' lists the others");
    return ExitCode::NotAvailable;
  }
  if (invocation.line.has(OPT_json))
    outs() << formatv("{0:2}", machineToJson(*machine)) << "\n";
  else
    outs() << machineToYaml(*machine);
  return ExitCode::Ok;
}

ExitCode facet::runTargets(Invocation &invocation) {
  ArrayRef<std::string> inputs = invocation.line.inputs();
  if (inputs.size() > 1) {
    invocation.diagnostics.error({}, "'targets' prints one machine; found '" +
                                         inputs[0] + "' and '" + inputs[1] +
                                         "'");
    return ExitCode::Usage;
  }
  if (!inputs.empty())
    return printMachineFile(invocation, inputs.front());
  if (invocation.line.has(OPT_json)) {
    // Every machine file, with each value and its source.
    std::vector<json::Value> machines;
    for (const std::string &name : machineNames()) {
      std::optional<Machine> machine =
          loadMachine(name, invocation.diagnostics);
      if (!machine)
        return ExitCode::Rejected;
      machines.push_back(machineToJson(*machine));
    }
    json::OStream out(outs(), /*IndentSize=*/2);
    out.object([&] {
      out.attributeArray("targets", [&] {
        for (const Target &target : targets())
          out.object([&] {
            out.attribute("name", target.name);
            out.attribute("description", target.description);
            out.attribute("triple", defaultTriple());
          });
      });
      out.attributeArray("machines", [&] {
        for (const json::Value &machine : machines)
          out.value(machine);
      });
    });
    outs() << "\n";
    return ExitCode::Ok;
  }
  std::vector<std::pair<std::string, std::string>> lines;
  for (const Target &target : targets())
    lines.emplace_back(target.name, target.description);
  for (const std::string &name : machineNames()) {
    if (findTarget(name))
      continue;
    std::optional<Machine> machine = loadMachine(name, invocation.diagnostics);
    if (!machine)
      return ExitCode::Rejected;
    lines.emplace_back(name, machine->about);
  }
  lines.emplace_back("native", "this machine, probed");
  size_t width = 0;
  for (const auto &[name, text] : lines)
    width = std::max(width, name.size());
  for (const auto &[name, text] : lines)
    outs() << name << std::string(width + 2 - name.size(), ' ') << text << "\n";
  return ExitCode::Ok;
}

ExitCode facet::runPrintConfig(Invocation &invocation) {
  if (refuseInputs(invocation))
    return ExitCode::Usage;
  std::string prefix = installPrefix();
  auto below = [&](const char *folder) {
    SmallString<128> path(prefix);
    sys::path::append(path, folder);
    return path.str().str();
  };
  std::pair<StringRef, std::string> entries[] = {
      {"cmake-dir", below(FACET_CMAKE_DIR)},
      {"include-dir", below(FACET_INCLUDE_DIR)},
      {"prefix", prefix},
      {"triple", defaultTriple()},
      {"version", versionNumber().str()},
  };
  if (!invocation.line.has(OPT_json)) {
    for (auto &[name, value] : entries)
      outs() << name << ": " << value << "\n";
    return ExitCode::Ok;
  }
  json::OStream out(outs(), /*IndentSize=*/2);
  out.object([&] {
    for (auto &[name, value] : entries)
      out.attribute(name, value);
  });
  outs() << "\n";
  return ExitCode::Ok;
}
