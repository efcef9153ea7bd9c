//===- HelpTables.h - tables that help text and manual share --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_DRIVER_HELPTABLES_H
#define FACET_LIB_DRIVER_HELPTABLES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace facet {

struct Example {
  llvm::StringLiteral command;
  llvm::StringLiteral does;
};
llvm::ArrayRef<Example> examples();

struct ExitCodeText {
  int code;
  llvm::StringLiteral means;
};
llvm::ArrayRef<ExitCodeText> exitCodes();

} // namespace facet

#endif // FACET_LIB_DRIVER_HELPTABLES_H
