//===- Help.h - texts made from the option table --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_DRIVER_HELP_H
#define FACET_DRIVER_HELP_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

namespace facet {

/// `facet --help`: everything, on two screens.
void printHelp(llvm::raw_ostream &os);
/// `facet SUBCOMMAND --help`.
void printSubcommandHelp(llvm::StringRef subcommand, llvm::raw_ostream &os);
/// `--help=TOPIC`: warnings, exit-codes or a subcommand; false when there is none.
bool printTopic(llvm::StringRef topic, llvm::raw_ostream &os);

/// A completion script for `bash`, `zsh` or `fish`.
void printCompletion(llvm::StringRef shell, llvm::raw_ostream &os);
/// The manual page in man(7) macros.
void printManual(llvm::raw_ostream &os);

/// `--version`, for people or as JSON.
void printVersion(bool json, llvm::raw_ostream &os);
/// "0.1.0".
llvm::StringRef versionNumber();
/// The triple code is made for unless `--triple` says otherwise.
std::string defaultTriple();

} // namespace facet

#endif // FACET_DRIVER_HELP_H
