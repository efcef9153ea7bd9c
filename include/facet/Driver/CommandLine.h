//===- CommandLine.h - from argv to checked options -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Expands `@file`, finds the subcommand, and refuses what it does not take.
//
//===----------------------------------------------------------------------===//

#ifndef FACET_DRIVER_COMMANDLINE_H
#define FACET_DRIVER_COMMANDLINE_H

#include "facet/Driver/Options.h"
#include "facet/Support/Diagnostics.h"

#include "llvm/Option/ArgList.h"
#include "llvm/Support/Allocator.h"
#include "llvm/Support/StringSaver.h"

#include <optional>

namespace facet {

class CommandLine {
public:
  /// Parses `argv` (without the program's name). Errors go to `diagnostics`; the
  /// options understood are there all the same, so that the way to print the
  /// errors is known.
  CommandLine(llvm::ArrayRef<const char *> argv, Diagnostics &diagnostics);

  /// Empty when none is given (`facet --version`).
  llvm::StringRef subcommand() const { return name; }
  /// Every argument that is no option, after the subcommand.
  llvm::ArrayRef<std::string> inputs() const { return positional; }
  /// The arguments with `@file` expanded: what a reproducer repeats.
  llvm::ArrayRef<const char *> expanded() const { return argv; }

  bool has(options::ID id) const { return args.hasArg(id); }
  /// The last value given.
  std::optional<llvm::StringRef> value(options::ID id) const;
  std::vector<std::string> values(options::ID id) const {
    return args.getAllArgValues(id);
  }
  /// The value as a number from `least` on; `fallback` when the option is not
  /// given; an error when it is something else.
  uint64_t number(options::ID id, uint64_t fallback, uint64_t least,
                  Diagnostics &diagnostics) const;

  const llvm::opt::InputArgList &all() const { return args; }

private:
  void findSubcommand(Diagnostics &diagnostics);
  void checkOption(const llvm::opt::Arg &arg, Diagnostics &diagnostics);

  llvm::BumpPtrAllocator allocator;
  llvm::SmallVector<const char *, 32> argv;
  llvm::opt::InputArgList args;
  llvm::StringRef name;
  std::vector<std::string> positional;
};

/// The candidate nearest to `word`, when it is near enough to be a slip of the
/// fingers; empty otherwise.
llvm::StringRef nearest(llvm::StringRef word,
                        llvm::ArrayRef<llvm::StringRef> candidates);

/// "; did you mean 'NAME'?" or nothing.
std::string didYouMean(llvm::StringRef word,
                       llvm::ArrayRef<llvm::StringRef> candidates);

/// `a`, `a and b`, `a, b and c`.
std::string listOf(llvm::ArrayRef<llvm::StringRef> words,
                   llvm::StringRef last = "and");

} // namespace facet

#endif // FACET_DRIVER_COMMANDLINE_H
