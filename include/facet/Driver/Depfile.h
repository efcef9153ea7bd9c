//===- Depfile.h - a Makefile rule for what was read ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_DRIVER_DEPFILE_H
#define FACET_DRIVER_DEPFILE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace facet {

/// `path` as make and ninja read it in a rule: as gcc writes it.
std::string escapeForMake(llvm::StringRef path);

/// One rule `targets: inputs`. `targets` are written as they are (escape them);
/// `inputs` are escaped here. With `phony` every input but the first gets an empty
/// rule, so that deleting it does not break the build.
std::string depfileRule(llvm::ArrayRef<std::string> targets,
                        llvm::ArrayRef<std::string> inputs, bool phony);

} // namespace facet

#endif // FACET_DRIVER_DEPFILE_H
