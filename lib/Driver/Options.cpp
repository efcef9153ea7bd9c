//===- Options.cpp - the option table of `facet` --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Turns the text made from Options.td into an llvm::opt::OptTable and answers the
// questions that help, completion and manual ask of it: which options are there,
// who takes them, how are they written. Nothing else in the driver knows them twice.
//
//===----------------------------------------------------------------------===//

#include "facet/Driver/Options.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Option/Option.h"

using namespace llvm;
using namespace llvm::opt;

namespace facet {
namespace options {

#define OPTTABLE_STR_TABLE_CODE
#include "facet/Driver/Options.inc"
#undef OPTTABLE_STR_TABLE_CODE

#define OPTTABLE_PREFIXES_TABLE_CODE
#include "facet/Driver/Options.inc"
#undef OPTTABLE_PREFIXES_TABLE_CODE

#define OPTTABLE_SUBCOMMAND_IDS_TABLE_CODE
#include "facet/Driver/Options.inc"
#undef OPTTABLE_SUBCOMMAND_IDS_TABLE_CODE

#define OPTTABLE_SUBCOMMANDS_CODE
#include "facet/Driver/Options.inc"
#undef OPTTABLE_SUBCOMMANDS_CODE

static constexpr OptTable::Info infoTable[] = {
#define OPTION(...) LLVM_CONSTRUCT_OPT_INFO(__VA_ARGS__),
#include "facet/Driver/Options.inc"
#undef OPTION
};

Table::Table()
    : GenericOptTable(OptionStrTable, OptionPrefixesTable, infoTable,
                      /*IgnoreCase=*/false, OptionSubCommands,
                      OptionSubCommandIDsTable) {
  setDashDashParsing(true);
}

const Table &table() {
  static const Table instance;
  return instance;
}

ArrayRef<ID> Table::groups() {
  static constexpr ID order[] = {OPT_grp_output, OPT_grp_input, OPT_grp_target,
                                 OPT_grp_run,    OPT_grp_diag,  OPT_grp_deps,
                                 OPT_grp_general};
  return order;
}

ArrayRef<StringRef> Table::subcommandNames() {
  static constexpr StringRef order[] = {"compile", "run",     "check",
                                        "bench",   "explain", "fmt",
                                        "import",  "targets", "print-config"};
  return order;
}

const OptTable::SubCommand *Table::subcommand(StringRef name) const {
  for (const SubCommand &candidate : getSubCommands())
    if (name == candidate.Name)
      return &candidate;
  return nullptr;
}

std::vector<ID> Table::listed() const {
  std::vector<ID> result;
  for (unsigned id = 1; id <= getNumOptions(); ++id)
    if (getOptionHelpText(id) && getOptionKind(id) != Option::GroupClass)
      result.push_back(ID(id));
  return result;
}

bool Table::takes(StringRef name, ID option) const {
  const Info &info = infoTable[option - 1];
  return !info.hasSubCommands() ||
         (!name.empty() && isValidForSubCommand(&info, name));
}

std::vector<StringRef> Table::subcommandsOf(ID option) const {
  std::vector<StringRef> result;
  if (infoTable[option - 1].hasSubCommands())
    for (StringRef name : subcommandNames())
      if (takes(name, option))
        result.push_back(name);
  return result;
}

SmallVector<StringRef> Table::values(ID option) const {
  SmallVector<StringRef> result;
  if (const char *list = infoTable[option - 1].Values)
    SplitString(list, result, ",");
  return result;
}

std::string Table::usage(ID option) const {
  std::string text = getOptionPrefixedName(option).str();
  const char *meta = getOptionMetaVar(option);
  if (!meta)
    return text;
  switch (getOptionKind(option)) {
  case Option::SeparateClass:
    return text + "=" + meta; // its twin `--name=` is in the table too
  case Option::JoinedClass:
    return text + meta;
  default:
    return text + " " + meta;
  }
}

} // namespace options
} // namespace facet
