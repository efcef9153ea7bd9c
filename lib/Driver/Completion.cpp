//===- Completion.cpp - completion scripts for three shells ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each script is self-contained: it holds the subcommands, their options and the
// values from closed lists, all from the option table, and runs nothing while the
// user types. Everything else completes to file names.
//
//===----------------------------------------------------------------------===//

#include "facet/Driver/Help.h"
#include "facet/Driver/Options.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Option/Option.h"

using namespace llvm;
using namespace facet;
using namespace facet::options;

/// An option as it is typed: `--emit=`, `-o`, `--json`.
static std::string typed(ID id) {
  std::string text = table().getOptionPrefixedName(id).str();
  if (table().getOptionKind(id) == opt::Option::SeparateClass)
    text += "="; // its twin
  return text;
}

/// What can be typed after `subcommand`; options of all subcommands included.
static std::string wordsFor(StringRef subcommand) {
  std::string words;
  for (ID id : table().listed())
    if (table().takes(subcommand, id))
      words += (words.empty() ? "" : " ") + typed(id);
  return words;
}

static std::string
quoted(StringRef text) { // for single quotes of a POSIX shell
  std::string result;
  for (char c : text)
    result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result;
}

//===----------------------------------------------------------------------===//

static void printBash(raw_ostream &os) {
  os << "# bash completion for facet, made from its option table\n"
        "_facet() {\n"
        "  local cur=${COMP_WORDS[COMP_CWORD]} "
        "prev=${COMP_WORDS[COMP_CWORD-1]} words=\n"
        "  # bash splits --emit=obj at the equals sign\n"
        "  if [[ $cur == = ]]; then cur=; fi\n"
        "  if [[ $prev == = ]]; then prev=${COMP_WORDS[COMP_CWORD-2]}; fi\n"
        "  case $prev in\n";
  for (ID id : table().listed())
    if (SmallVector<StringRef> values = table().values(id); !values.empty())
      os << "    " << StringRef(typed(id)).rtrim('=') << ") words='"
         << join(values, " ") << "' ;;\n";
  os << "    *)\n"
        "      case ${COMP_WORDS[1]} in\n";
  for (StringRef name : Table::subcommandNames())
    os << "        " << name << ") words='" << wordsFor(name) << "' ;;\n";
  os << "        *) words='" << join(Table::subcommandNames(), " ") << " "
     << wordsFor("")
     << "' ;;\n"
        "      esac\n"
        "      if (( COMP_CWORD > 1 )) && [[ $cur != -* ]]; then words=; fi "
        ";;\n"
        "  esac\n"
        "  COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
        "  if [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *= ]]; then "
        "compopt -o nospace; fi\n"
        "}\n"
        "complete -o default -o bashdefault -F _facet facet\n";
}

static void printZsh(raw_ostream &os) {
  // In a specification brackets and colons have a meaning.
  auto escaped = [](StringRef text) {
    std::string result;
    for (char c : text)
      result +=
          (StringRef("[]:\\").contains(c) ? "\\" : "") + std::string(1, c);
    return quoted(result);
  };
  auto specification = [&](ID id) {
    StringRef name = table().getOptionPrefixedName(id);
    std::string text = "'*" + name.str();
    switch (table().getOptionKind(id)) {
    case opt::Option::SeparateClass:
      text += "=";
      break;
    case opt::Option::JoinedOrSeparateClass:
      text += "+";
      break;
    case opt::Option::JoinedClass:
      text += "-"; // the value follows at once
      break;
    default:
      break;
    }
    text += "[" + escaped(table().getOptionHelpText(id)) + "]";
    if (const char *meta = table().getOptionMetaVar(id)) {
      SmallVector<StringRef> values = table().values(id);
      text += ":" + escaped(meta) + ":";
      text += values.empty() ? "_files" : "(" + join(values, " ") + ")";
    }
    return text + "'";
  };
  os << "#compdef facet\n"
        "# zsh completion for facet, made from its option table\n"
        "_facet() {\n"
        "  if (( CURRENT == 2 )) && [[ $PREFIX != -* ]]; then\n"
        "    local -a subcommands=(\n";
  for (StringRef name : Table::subcommandNames())
    os << "      '" << name << ":" << quoted(table().subcommand(name)->HelpText)
       << "'\n";
  os << "    )\n"
        "    _describe subcommand subcommands\n"
        "    return\n"
        "  fi\n"
        "  case $words[2] in\n";
  for (StringRef name : Table::subcommandNames()) {
    os << "    " << name << ")\n      _arguments";
    for (ID id : table().listed())
      if (table().takes(name, id))
        os << " \\\n        " << specification(id);
    os << " \\\n        '*:file:_files' ;;\n";
  }
  os << "    *)\n      _arguments";
  for (ID id : table().listed())
    if (table().takes("", id))
      os << " \\\n        " << specification(id);
  os << " ;;\n  esac\n}\n_facet \"$@\"\n";
}

static void printFish(raw_ostream &os) {
  auto escaped = [](StringRef text) {
    std::string result;
    for (char c : text)
      result += (c == '\'' || c == '\\' ? "\\" : "") + std::string(1, c);
    return result;
  };
  os << "# fish completion for facet, made from its option table\n";
  for (StringRef name : Table::subcommandNames())
    os << "complete -c facet -n __fish_use_subcommand -f -a " << name << " -d '"
       << escaped(table().subcommand(name)->HelpText) << "'\n";
  for (ID id : table().listed()) {
    StringRef name = table().getOptionPrefixedName(id);
    os << "complete -c facet";
    if (std::vector<StringRef> owners = table().subcommandsOf(id);
        !owners.empty())
      os << " -n '__fish_seen_subcommand_from " << join(owners, " ") << "'";
    // -s is one letter, -o a long name after one dash, -l after two.
    if (name.consume_front("--"))
      os << " -l " << name.rtrim('=');
    else
      os << (name.size() == 2 ? " -s " : " -o ") << name.drop_front();
    if (table().getOptionMetaVar(id)) {
      os << " -r";
      if (SmallVector<StringRef> values = table().values(id); !values.empty())
        os << " -f -a '" << join(values, " ") << "'";
    }
    os << " -d '" << escaped(table().getOptionHelpText(id)) << "'\n";
  }
}

void facet::printCompletion(StringRef shell, raw_ostream &os) {
  if (shell == "bash")
    printBash(os);
  else if (shell == "zsh")
    printZsh(os);
  else
    printFish(os);
}
