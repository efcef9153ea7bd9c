//===- machine-fuzzer.cpp - machine files that may be anything ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the loader accepts has a canonical text that reads back to itself, a hash,
// and a time base.
//
//===----------------------------------------------------------------------===//

#include "facet/Machine/Machine.h"

#include <cstdlib>

using namespace facet;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  llvm::StringRef text(reinterpret_cast<const char *>(data), size);
  Diagnostics diags;
  std::optional<Machine> machine = parseMachine(text, "m.yaml", diags);
  if (bool(machine) == diags.hasErrors())
    std::abort();
  std::string error;
  (void)parseCanonicalMachine(text, error);
  if (!machine)
    return 0;
  std::string canonical = canonicalMachine(*machine);
  std::optional<Machine> again = parseCanonicalMachine(canonical, error);
  if (!again || canonicalMachine(*again) != canonical ||
      machineHash(*again) != machineHash(*machine))
    std::abort();
  TimeBase base(*machine);
  if (base.perNs() < 1000)
    std::abort();
  (void)machineToJson(*machine);
  return 0;
}
