//===- Manual.cpp - the manual page ---------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `facet --print-manual | man -l -`: man(7) macros over the option table. No date
// is written, so the page is the same whenever it is built.
//
//===----------------------------------------------------------------------===//

#include "HelpTables.h"
#include "facet/Driver/Help.h"
#include "facet/Driver/Options.h"
#include "facet/Driver/Reporting.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Option/Option.h"

using namespace llvm;
using namespace facet;
using namespace facet::options;

/// Text for roff: a hyphen is a minus sign, a leading dot or quote no request.
static std::string roff(StringRef text) {
  std::string result;
  for (char c : text) {
    if (result.empty() && (c == '.' || c == '\''))
      result += "\\&";
    if (c == '-')
      result += "\\-";
    else if (c == '\\')
      result += "\\e";
    else if (c == '\'')
      result += "\\(aq";
    else
      result += c;
  }
  return result;
}

void facet::printManual(raw_ostream &os) {
  os << ".TH FACET 1 \"\" \"facet " << versionNumber()
     << "\" \"User Commands\"\n"
     << ".SH NAME\nfacet \\- a compiler for matmul kernels\n"
     << ".SH SYNOPSIS\n.B facet\n.I SUBCOMMAND\n.RI [ options ]\n.RI ...\n"
     << ".SH SUBCOMMANDS\n";
  for (StringRef name : Table::subcommandNames()) {
    const auto *subcommand = table().subcommand(name);
    os << ".TP\n.B " << roff(subcommand->Usage) << "\n"
       << roff(subcommand->HelpText) << "\n";
  }
  std::vector<ID> listed = table().listed();
  os << ".SH OPTIONS\n";
  for (ID group : Table::groups()) {
    os << ".SS " << roff(table().getOptionHelpText(group)) << "\n";
    for (ID id : listed) {
      if (table().getOptionGroupID(id) != group)
        continue;
      os << ".TP\n.B " << roff(table().usage(id)) << "\n"
         << roff(table().getOptionHelpText(id));
      if (SmallVector<StringRef> values = table().values(id); !values.empty())
        os << ": " << roff(join(values, ", "));
      os << ".";
      if (std::vector<StringRef> owners = table().subcommandsOf(id);
          !owners.empty())
        os << " (" << roff(join(owners, ", ")) << ")";
      os << "\n";
    }
  }
  os << ".SH WARNINGS\n";
  for (const WarningGroup &group : warningGroups())
    os << ".TP\n.B \\-W" << roff(group.name) << "\n"
       << roff(group.help) << "\n";
  os << ".SH EXIT STATUS\n";
  for (const ExitCodeText &entry : exitCodes())
    os << ".TP\n.B " << entry.code << "\n" << roff(entry.means) << "\n";
  os << ".SH EXAMPLES\n";
  for (const Example &example : examples())
    os << ".TP\n.B " << roff(example.command) << "\n"
       << roff(example.does) << "\n";
}
