//===- Help.cpp - what `--help` prints ------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two columns, grouped, from the option table; LLVM's own options, which libLLVM
// would add by the hundred, belong to another parser and never show up here.
//
//===----------------------------------------------------------------------===//

#include "facet/Driver/Help.h"
#include "HelpTables.h"
#include "facet/Driver/CommandLine.h"
#include "facet/Driver/Reporting.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Option/Option.h"

using namespace llvm;
using namespace facet;
using namespace facet::options;

ArrayRef<Example> facet::examples() {
  static constexpr Example list[] = {
      {"facet compile linear.facet -o linear.o --header linear.h",
       "an object and the C header that declares its functions"},
      {"facet run linear.facet x=x.npy w=w.npy b=random y=y.npy",
       "compile in memory, run on NumPy arrays, store the result"},
      {"facet check linear.facet -D M=1,17,256",
       "compare with the judge at three sizes of M"},
  };
  return list;
}

ArrayRef<ExitCodeText> facet::exitCodes() {
  static constexpr ExitCodeText list[] = {
      {0, "all went well"},
      {1, "an input was rejected, or a file could not be read or written"},
      {2, "the command line is wrong; nothing was done"},
      {3, "check: numbers differ"},
      {4, "a performance gate failed"},
      {5, "the target is not available here"},
      {70, "an internal error; a reproducer file was written"},
  };
  return list;
}

/// `left` in a column of 30, `right` after it or, when `left` is wide, below it.
static void row(raw_ostream &os, StringRef left, StringRef right) {
  constexpr unsigned width = 30;
  os << "  " << left;
  if (left.size() + 2 > width)
    os << "\n" << std::string(width + 2, ' ');
  else
    os << std::string(width - left.size(), ' ');
  os << right << "\n";
}

/// The options of each group that `wanted` lets through.
static void optionRows(raw_ostream &os, function_ref<bool(ID)> wanted) {
  std::vector<ID> listed = table().listed();
  for (ID group : Table::groups()) {
    bool first = true;
    for (ID id : listed) {
      if (table().getOptionGroupID(id) != group || !wanted(id))
        continue;
      if (first)
        os << "\n" << table().getOptionHelpText(group) << "\n";
      first = false;
      std::string text = table().getOptionHelpText(id);
      if (SmallVector<StringRef> values = table().values(id); !values.empty())
        if (table().getOptionKind(id) != opt::Option::JoinedClass)
          text += ": " + join(values, " ");
      row(os, table().usage(id), text);
    }
  }
}

void facet::printHelp(raw_ostream &os) {
  os << "facet: a compiler for matmul kernels\n\n"
        "usage: facet SUBCOMMAND [options] ...\n\n";
  for (StringRef name : Table::subcommandNames())
    row(os, name, table().subcommand(name)->HelpText);
  os << "\nExamples\n";
  for (const Example &example : examples())
    os << "  " << example.command << "\n      " << example.does << "\n";
  optionRows(os, [](ID) { return true; });
  os << "\n'@file' stands for the words of a file, '-' for standard input or "
        "output.\n"
        "'facet SUBCOMMAND --help' shows what one subcommand takes.\n";
}

void facet::printSubcommandHelp(StringRef name, raw_ostream &os) {
  const auto *subcommand = table().subcommand(name);
  os << name << ": " << subcommand->HelpText
     << "\n\nusage: " << subcommand->Usage << "\n";
  optionRows(os, [&](ID id) {
    return table().takes(name, id) &&
           (table().getOptionGroupID(id) != OPT_grp_general ||
            !table().subcommandsOf(id).empty());
  });
}

bool facet::printTopic(StringRef topic, raw_ostream &os) {
  if (topic == "warnings") {
    os << "Groups of warnings and remarks\n";
    for (const WarningGroup &group : warningGroups())
      row(os, ("-W" + group.name).str(),
          (group.help + (group.onByDefault ? "" : " (off unless asked for)"))
              .str());
    os << "\n'-Wno-GROUP' switches one off, '-w' all; '-Werror=GROUP' makes "
          "errors of one, "
          "'-Werror' of all.\n";
    return true;
  }
  if (topic == "exit-codes") {
    os << "Exit codes\n";
    for (const ExitCodeText &entry : exitCodes())
      row(os, std::to_string(entry.code), entry.means);
    return true;
  }
  if (!table().subcommand(topic))
    return false;
  printSubcommandHelp(topic, os);
  return true;
}
