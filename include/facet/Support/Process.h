//===- Process.h - what every program of ours does first --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_SUPPORT_PROCESS_H
#define FACET_SUPPORT_PROCESS_H

namespace facet {

/// For `main` of the program `tool`: limits that the user set are met as errors.
/// A file that grows past `ulimit -f` is a failed write like that on a full disk;
/// when memory runs out, `TOOL: error: out of memory` is printed, no temporary
/// file is left, and the exit code is 1.
void meetLimits(const char *tool);

} // namespace facet

#endif // FACET_SUPPORT_PROCESS_H
