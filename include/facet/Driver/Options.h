//===- Options.h - the option table of `facet` ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Identifiers and groups made from lib/Driver/Options.td.
//
//===----------------------------------------------------------------------===//

#ifndef FACET_DRIVER_OPTIONS_H
#define FACET_DRIVER_OPTIONS_H

#include "llvm/Option/OptTable.h"

namespace facet {
namespace options {

enum ID : unsigned {
  OPT_INVALID = 0,
#define OPTION(...) LLVM_MAKE_OPT_ID(__VA_ARGS__),
#include "facet/Driver/Options.inc"
#undef OPTION
};

class Table : public llvm::opt::GenericOptTable {
public:
  Table();

  /// The options users choose from, aliases left out: `--emit` but not `--emit=`.
  std::vector<ID> listed() const;
  /// The groups in the order of the help text.
  static llvm::ArrayRef<ID> groups();
  /// Whether `subcommand` takes `option`; an option without a list is taken by all.
  bool takes(llvm::StringRef subcommand, ID option) const;
  /// The subcommands that take `option`; empty when all do.
  std::vector<llvm::StringRef> subcommandsOf(ID option) const;
  /// The subcommands by name, in the order of the help text.
  static llvm::ArrayRef<llvm::StringRef> subcommandNames();
  const SubCommand *subcommand(llvm::StringRef name) const;
  /// The values of `option` ("obj", "asm", …), empty when it takes any.
  llvm::SmallVector<llvm::StringRef> values(ID option) const;
  /// How the option is written with its value: `-o FILE`, `--emit=KIND`, `-MD`.
  std::string usage(ID option) const;
};

const Table &table();

} // namespace options
} // namespace facet

#endif // FACET_DRIVER_OPTIONS_H
