//===- SourceListing.h - a program beside its kernel's source -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_TOOLS_FACET_SIM_SOURCELISTING_H
#define FACET_TOOLS_FACET_SIM_SOURCELISTING_H

#include "facet/Isa/Program.h"

namespace facet::sim {

/// Prints a program as text that assembles, with the source it comes from as
/// comments: in front every line of the source with its instructions, by queue;
/// then, among the instructions, the line that the next ones come from. A source
/// that cannot be read gets a remark, and its places stand alone.
void printWithSource(const Program &program, llvm::StringRef file,
                     llvm::raw_ostream &os, Diagnostics &diags);

} // namespace facet::sim

#endif // FACET_TOOLS_FACET_SIM_SOURCELISTING_H
