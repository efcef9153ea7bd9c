//===- Reporting.h - which messages are shown, how and where --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_DRIVER_REPORTING_H
#define FACET_DRIVER_REPORTING_H

#include "facet/Driver/CommandLine.h"

#include "llvm/ADT/StringMap.h"

namespace facet {

/// A group of warnings or remarks. `-WNAME` also governs groups `NAME-…`.
struct WarningGroup {
  llvm::StringLiteral name;
  bool onByDefault;
  llvm::StringLiteral help;
};
llvm::ArrayRef<WarningGroup> warningGroups();

/// The options of the group "Diagnostics", understood.
class Reporting {
public:
  /// Wrong values become errors in `diagnostics`.
  Reporting(const CommandLine &line, Diagnostics &diagnostics);

  /// `all` without what is switched off, with what -Werror turns into errors.
  Diagnostics filter(const Diagnostics &all) const;

  /// Whether no error is left, -Werror considered: nothing is written otherwise.
  bool allows(const Diagnostics &all) const;

  /// Prints what `filter` leaves, to standard error or --diagnostics-file. Returns
  /// false when an error is among it or the file cannot be written.
  bool print(const Diagnostics &all) const;

  /// Whether messages on standard error have colours.
  bool colour() const { return useColour; }

private:
  struct State {
    bool on;
    bool isError;
  };
  void warningOption(llvm::StringRef text, Diagnostics &diagnostics);
  State stateOf(llvm::StringRef group) const;

  DiagnosticFormat format = DiagnosticFormat::Text;
  std::string file;
  bool useColour = false;
  bool colourAlways = false;
  bool silent = false;    // -w
  bool allErrors = false; // -Werror
  llvm::StringMap<State> states;
};

/// Colours for standard error, by `--color=` and the environment: NO_COLOR, then
/// CLICOLOR_FORCE, then CLICOLOR, then whether it is a terminal that can.
bool wantsColour(llvm::StringRef when, bool isTerminal);

} // namespace facet

#endif // FACET_DRIVER_REPORTING_H
