//===- CommandLine.cpp - from argv to checked options ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `facet compile @flags x.facet -o x.o` becomes a subcommand, options and inputs:
//
//   @file        GNU quoting, nested, names relative to the file they stand in
//   subcommand   the first word; anything else there is answered with a hint
//   options      known to the table and taken by this subcommand, or refused
//                with the nearest name; values from a closed list are checked here
//
// OptTable would take a near miss for an input file and an option of another
// subcommand in silence, so the checks are ours.
//
//===----------------------------------------------------------------------===//

#include "facet/Driver/CommandLine.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Option/Arg.h"
#include "llvm/Option/Option.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace facet;
using namespace facet::options;

//===----------------------------------------------------------------------===//
// Words for messages
//===----------------------------------------------------------------------===//

StringRef facet::nearest(StringRef word, ArrayRef<StringRef> candidates) {
  StringRef best;
  // A third of the word may be wrong; of "obi" one letter, of "o" none.
  unsigned limit = word.size() / 3 + 1;
  for (StringRef candidate : candidates) {
    unsigned distance =
        word.edit_distance(candidate, /*AllowReplacements=*/true, limit);
    if (distance < limit || (distance == limit && limit > 1 && best.empty())) {
      best = candidate;
      limit = distance;
    }
  }
  return best;
}

std::string facet::didYouMean(StringRef word, ArrayRef<StringRef> candidates) {
  StringRef best = nearest(word, candidates);
  return best.empty() ? std::string()
                      : ("; did you mean '" + best + "'?").str();
}

std::string facet::listOf(ArrayRef<StringRef> words, StringRef last) {
  std::string text;
  for (auto [i, word] : enumerate(words)) {
    if (i)
      text += i + 1 == words.size() ? (" " + last + " ").str() : ", ";
    text += word;
  }
  return text;
}

//===----------------------------------------------------------------------===//
// Parsing
//===----------------------------------------------------------------------===//

/// Replaces every `@file` by its words. A file literally named `@x` is `./@x`.
static void expandResponseFiles(SmallVectorImpl<const char *> &argv,
                                BumpPtrAllocator &allocator,
                                Diagnostics &diagnostics) {
  cl::ExpansionContext context(allocator, cl::TokenizeGNUCommandLine);
  context.setRelativeNames(true);
  if (Error error = context.expandResponseFiles(argv)) {
    diagnostics.error({}, "response file: " + toString(std::move(error)));
    return;
  }
  // The expansion leaves a name alone that it cannot find.
  for (const char *arg : argv)
    if (arg[0] == '@')
      diagnostics.error({}, "cannot find the response file '" + Twine(arg + 1) +
                                "'");
}

CommandLine::CommandLine(ArrayRef<const char *> given, Diagnostics &diagnostics)
    : argv(given.begin(), given.end()) {
  expandResponseFiles(argv, allocator, diagnostics);

  unsigned missingIndex = 0, missingCount = 0;
  args = table().ParseArgs(argv, missingIndex, missingCount);
  if (missingCount) {
    StringRef option = args.getArgString(missingIndex);
    std::string form = option.str();
    for (ID id : table().listed())
      if (table().getOptionPrefixedName(id) == option)
        form = table().usage(id);
    diagnostics.error({}, "'" + option + "' needs a value: " + form);
  }

  for (const opt::Arg *arg : args.filtered(OPT_INPUT))
    positional.push_back(arg->getValue());
  // What stands behind "--" is one argument of the kind "input" with many values.
  if (const opt::Arg *rest = args.getLastArg(OPT_INPUT);
      rest && rest->getNumValues() > 1)
    for (unsigned i = 1; i < rest->getNumValues(); ++i)
      positional.push_back(rest->getValue(i));

  findSubcommand(diagnostics);
  // A formula is an input like a file.
  for (const std::string &formula : args.getAllArgValues(OPT_einsum))
    positional.push_back("einsum:" + formula);
  for (const opt::Arg *arg : args)
    checkOption(*arg, diagnostics);

  for (ID once : {OPT_output, OPT_header, OPT_MF}) {
    std::vector<std::string> all = args.getAllArgValues(once);
    if (all.size() > 1 && all.front() != all.back())
      diagnostics.error({}, "'" + table().getOptionPrefixedName(once) +
                                "' is given twice: '" + all.front() +
                                "' and '" + all.back() + "'");
  }
}

void CommandLine::findSubcommand(Diagnostics &diagnostics) {
  if (positional.empty())
    return;
  StringRef word = positional.front();
  if (const auto *found = table().subcommand(word)) {
    name = found->Name;
    positional.erase(positional.begin());
    return;
  }
  if (sys::path::has_extension(word) || sys::fs::exists(word)) {
    diagnostics.error(
        {}, "'" + word + "' is no subcommand; did you mean 'facet compile " +
                word + "'?");
    return;
  }
  std::string hint = didYouMean(word, Table::subcommandNames());
  if (hint.empty())
    hint = "; there are " + listOf(Table::subcommandNames());
  diagnostics.error({}, "unknown subcommand '" + word + "'" + hint);
}

void CommandLine::checkOption(const opt::Arg &arg, Diagnostics &diagnostics) {
  ID id = ID(arg.getOption().getID());
  if (id == OPT_INPUT)
    return;

  if (id == OPT_UNKNOWN) {
    std::string whole = arg.getAsString(args);
    StringRef option = StringRef(whole).split('=').first;
    std::vector<StringRef> names;
    for (ID candidate : table().listed())
      if (table().takes(name, candidate))
        names.push_back(table().getOptionPrefixedName(candidate));
    diagnostics.error({}, "unknown option '" + option + "'" +
                              didYouMean(option, names));
    return;
  }

  StringRef spelling = arg.getSpelling();
  spelling = spelling.rtrim('=');
  if (!table().takes(name, id)) {
    // Before a subcommand is known nothing can be said about its options.
    if (name.empty() && diagnostics.hasErrors())
      return;
    std::vector<StringRef> owners = table().subcommandsOf(id);
    diagnostics.error({}, "'" + spelling + "' is an option of " +
                              listOf(owners) +
                              (name.empty() ? Twine("; no subcommand is given")
                                            : ", not of " + name));
    return;
  }

  SmallVector<StringRef> allowed = table().values(id);
  if (!allowed.empty() && arg.getNumValues() &&
      !is_contained(allowed, arg.getValue()) && id != OPT_help_eq)
    diagnostics.error({}, "'" + spelling + "' takes " + listOf(allowed, "or") +
                              ", not '" + arg.getValue() + "'" +
                              didYouMean(arg.getValue(), allowed));
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

std::optional<StringRef> CommandLine::value(ID id) const {
  if (const opt::Arg *arg = args.getLastArg(id))
    return StringRef(arg->getValue());
  return std::nullopt;
}

uint64_t CommandLine::number(ID id, uint64_t fallback, uint64_t least,
                             Diagnostics &diagnostics) const {
  std::optional<StringRef> text = value(id);
  if (!text)
    return fallback;
  uint64_t number;
  if (!text->getAsInteger(10, number) && number >= least)
    return number;
  diagnostics.error({}, "'" + table().getOptionPrefixedName(id) +
                            "' takes a number from " + Twine(least) +
                            " on, not '" + *text + "'");
  return fallback;
}
