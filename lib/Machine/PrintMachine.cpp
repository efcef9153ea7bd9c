//===- PrintMachine.cpp - a machine as a file that stands alone -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes a machine the way LoadMachine reads it, every value with its source and
// none left to a base:
//
//   znver4, based on x86-64-v4, based on …   ─▶   cpu:
//                                                   arch: {value: x86_64, source: "psABI"}
//                                                   …
//
// so that a copy can be edited, kept beside a kernel, or sent to somebody who does
// not have the machines of this version. Texts are quoted, whatever is in them.
//
//===----------------------------------------------------------------------===//

#include "facet/Machine/PrintMachine.h"

#include "llvm/Support/YAMLParser.h"

using namespace facet;

static std::string quoted(llvm::StringRef text) {
  return "\"" + llvm::yaml::escape(text, /*EscapePrintable=*/false) + "\"";
}

std::string facet::machineToYaml(const Machine &machine) {
  std::string text = "format: facet-machine-1\nname: " + machine.name +
                     "\nkind: " + (machine.isCpu() ? "cpu" : "engine") + "\n";
  if (!machine.about.empty())
    text += "about: " + quoted(machine.about) + "\n";
  if (!machine.sources.empty())
    text += "sources:\n";
  for (const auto &[tag, meaning] : machine.sources)
    text += "  " + quoted(tag) + ": " + quoted(meaning) + "\n";

  llvm::StringRef group;
  llvm::ArrayRef<MachineParameter> table = machineParameters();
  for (size_t i = 0; i != table.size(); ++i) {
    const MachineParameter &parameter = table[i];
    if (parameter.machine != machine.kind)
      continue;
    if (group != parameter.group) {
      group = parameter.group;
      text += group.str() + ":\n";
    }
    text += "  " + std::string(parameter.key) +
            ": {value: " + printMachineValue(machine, parameter) +
            ", source: " + quoted(machine.origins[i].source) + "}\n";
  }
  return text;
}
