//===- PrintMachine.h - a machine as a file that stands alone -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_MACHINE_PRINTMACHINE_H
#define FACET_MACHINE_PRINTMACHINE_H

#include "facet/Machine/Machine.h"

namespace facet {

/// The machine as a file that loads back to equal values, sources included, and needs
/// no base.
std::string machineToYaml(const Machine &machine);

} // namespace facet

#endif // FACET_MACHINE_PRINTMACHINE_H
