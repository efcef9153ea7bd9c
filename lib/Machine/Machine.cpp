//===- Machine.cpp - the schema, the canonical text, the hash, JSON -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Turns Parameters.def into a table that can be walked, and derives from it all
// forms of a machine other than the YAML file: the canonical text
//
//   name trn2
//   kind engine
//   core.partitions 128
//   core.dispatch_ns 0
//   ...
//
// its SHA-256, and the JSON of `facet targets`. The canonical text has one
// spelling per value, so that equal machines have equal hashes and a program
// can carry its machine as text that a person can read. Sources are left out:
// citing a better document does not make another machine.
//
//===----------------------------------------------------------------------===//

#include "facet/Machine/Machine.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SHA256.h"

using namespace facet;

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

static const MachineParameter parameterTable[] = {
#define FACET_GROUP(group, Type, kind, doc)
#define FACET_NUMBER(group, member, key, kind, min, max, doc)                  \
  {MachineKind::Engine,                                                        \
   #group,                                                                     \
   key,                                                                        \
   MachineParameter::kind,                                                     \
   min,                                                                        \
   max,                                                                        \
   doc,                                                                        \
   [](Machine &m) -> int64_t & { return m.group.member; },                     \
   nullptr},
#define FACET_COUNT(group, member, key, min, max, doc)                         \
  FACET_NUMBER(group, member, key, Count, min, max, doc)
#define FACET_SCALED(group, member, key, min, max, doc)                        \
  FACET_NUMBER(group, member, key, Scaled, min, max, doc)
#define FACET_SWITCH(group, member, key, doc)                                  \
  FACET_NUMBER(group, member, key, Switch, 0, 1, doc)
#define FACET_WORD(group, member, key, doc)                                    \
  {MachineKind::Engine,                                                        \
   #group,                                                                     \
   key,                                                                        \
   MachineParameter::Word,                                                     \
   0,                                                                          \
   0,                                                                          \
   doc,                                                                        \
   nullptr,                                                                    \
   [](Machine &m) -> std::string & { return m.group.member; }},
#include "facet/Machine/Parameters.def"
#undef FACET_NUMBER
};

static const MachineGroup groupTable[] = {
#define FACET_GROUP(group, Type, kind, doc) {MachineKind::kind, #group, doc},
#include "facet/Machine/Parameters.def"
};

llvm::ArrayRef<MachineGroup> facet::machineGroups() { return groupTable; }

llvm::ArrayRef<MachineParameter> facet::machineParameters() {
  // The kind is a property of the group; copy it to each of its lines once.
  static const std::vector<MachineParameter> table = [] {
    std::vector<MachineParameter> lines(std::begin(parameterTable),
                                        std::end(parameterTable));
    for (MachineParameter &line : lines)
      for (const MachineGroup &group : groupTable)
        if (llvm::StringRef(group.name) == line.group)
          line.machine = group.machine;
    return lines;
  }();
  return table;
}

//===----------------------------------------------------------------------===//
// Values as text
//===----------------------------------------------------------------------===//

/// Thousandths as the shortest decimal: 2600 is `2.6`.
static std::string printThousandths(int64_t value) {
  std::string text = std::to_string(value / 1000);
  if (int64_t rest = value % 1000) {
    std::string digits = std::to_string(1000 + rest).substr(1);
    text += "." + llvm::StringRef(digits).rtrim('0').str();
  }
  return text;
}

std::string facet::printMachineValue(const Machine &machine,
                                     const MachineParameter &parameter) {
  Machine &m = const_cast<Machine &>(machine); // the accessors serve both ways
  switch (parameter.kind) {
  case MachineParameter::Count:
    return std::to_string(parameter.number(m));
  case MachineParameter::Scaled:
    return printThousandths(parameter.number(m));
  case MachineParameter::Switch:
    return parameter.number(m) ? "on" : "off";
  case MachineParameter::Word:
    return parameter.word(m);
  }
  return "";
}

//===----------------------------------------------------------------------===//
// Canonical text and hash
//===----------------------------------------------------------------------===//

static const char *kindName(MachineKind kind) {
  return kind == MachineKind::Cpu ? "cpu" : "engine";
}

std::string facet::canonicalMachine(const Machine &machine) {
  std::string text = "name " + machine.name + "\nkind ";
  text += kindName(machine.kind);
  text += '\n';
  for (const MachineParameter &parameter : machineParameters())
    if (parameter.machine == machine.kind)
      text += std::string(parameter.group) + "." + parameter.key + " " +
              printMachineValue(machine, parameter) + "\n";
  return text;
}

/// Reads a canonical value: the one spelling printMachineValue has for it.
static bool parseCanonicalValue(llvm::StringRef text,
                                const MachineParameter &parameter,
                                Machine &machine) {
  switch (parameter.kind) {
  case MachineParameter::Word:
    parameter.word(machine) = text.str();
    break;
  case MachineParameter::Switch:
    parameter.number(machine) = text == "on";
    break;
  case MachineParameter::Count:
    if (text.getAsInteger(10, parameter.number(machine)))
      return false;
    break;
  case MachineParameter::Scaled: {
    auto [whole, rest] = text.split('.');
    int64_t units = 0, thousandths = 0;
    if (rest.size() > 3 || whole.getAsInteger(10, units) || units < 0 ||
        units > INT64_MAX / 1000 - 1)
      return false;
    std::string padded = (rest + "000").str().substr(0, 3);
    if (llvm::StringRef(padded).getAsInteger(10, thousandths) ||
        thousandths < 0)
      return false;
    parameter.number(machine) = units * 1000 + thousandths;
    break;
  }
  }
  if (parameter.kind != MachineParameter::Word) {
    int64_t value = parameter.number(machine);
    if (value < parameter.min || value > parameter.max)
      return false;
  }
  return printMachineValue(machine, parameter) == text; // one spelling only
}

/// Machine names and words: letters, digits and a little punctuation.
static bool isPlainWord(llvm::StringRef text) {
  return !text.empty() && text.size() <= 64 && llvm::all_of(text, [](char c) {
    return llvm::isAlnum(c) || c == '-' || c == '_' || c == '.' || c == '+';
  });
}

std::optional<Machine> facet::parseCanonicalMachine(llvm::StringRef text,
                                                    std::string &error) {
  Machine machine;
  auto takeLine = [&](llvm::StringRef key, llvm::StringRef &value) {
    if (!text.consume_front(key) || !text.consume_front(" "))
      return false;
    size_t end = text.find('\n');
    if (end == llvm::StringRef::npos)
      return false;
    value = text.substr(0, end);
    text = text.drop_front(end + 1);
    return true;
  };
  llvm::StringRef value;
  if (!takeLine("name", value) || !isPlainWord(value)) {
    error = "the machine has no usable name";
    return std::nullopt;
  }
  machine.name = value.str();
  if (!takeLine("kind", value) || (value != "cpu" && value != "engine")) {
    error = "the machine's kind is neither cpu nor engine";
    return std::nullopt;
  }
  machine.kind = value == "cpu" ? MachineKind::Cpu : MachineKind::Engine;
  for (const MachineParameter &parameter : machineParameters()) {
    machine.origins.emplace_back();
    if (parameter.machine != machine.kind)
      continue;
    std::string key = std::string(parameter.group) + "." + parameter.key;
    if (!takeLine(key, value) ||
        !parseCanonicalValue(value, parameter, machine) ||
        (parameter.kind == MachineParameter::Word && !isPlainWord(value))) {
      error =
          "the machine's '" + key + "' is missing or not a value it can have";
      return std::nullopt;
    }
  }
  if (!text.empty()) {
    error = "the machine has more lines than this version knows";
    return std::nullopt;
  }
  return machine;
}

MachineHash facet::machineHash(const Machine &machine) {
  std::string text = canonicalMachine(machine);
  return llvm::SHA256::hash(llvm::arrayRefFromStringRef(text));
}

std::string facet::hexHash(llvm::ArrayRef<uint8_t> hash) {
  return llvm::toHex(hash, /*LowerCase=*/true);
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

llvm::json::Value facet::machineToJson(const Machine &machine) {
  llvm::json::Object parameters;
  llvm::ArrayRef<MachineParameter> table = machineParameters();
  for (size_t i = 0; i != table.size(); ++i) {
    const MachineParameter &parameter = table[i];
    if (parameter.machine != machine.kind)
      continue;
    Machine &m = const_cast<Machine &>(machine);
    llvm::json::Value value = nullptr;
    switch (parameter.kind) {
    case MachineParameter::Count:
      value = parameter.number(m);
      break;
    case MachineParameter::Scaled:
      if (parameter.number(m) % 1000 == 0)
        value = parameter.number(m) / 1000;
      else
        value = double(parameter.number(m)) / 1000;
      break;
    case MachineParameter::Switch:
      value = parameter.number(m) != 0;
      break;
    case MachineParameter::Word:
      value = parameter.word(m);
      break;
    }
    llvm::json::Object entry{{"value", std::move(value)}};
    if (i < machine.origins.size())
      entry["source"] = machine.origins[i].source;
    llvm::json::Value *group = parameters.get(parameter.group);
    if (!group)
      group = &(parameters[parameter.group] = llvm::json::Object());
    (*group->getAsObject())[parameter.key] = std::move(entry);
  }
  llvm::json::Object sources;
  for (const auto &[tag, text] : machine.sources)
    sources[tag] = text;
  return llvm::json::Object{{"name", machine.name},
                            {"kind", kindName(machine.kind)},
                            {"about", machine.about},
                            {"path", machine.path},
                            {"hash", hexHash(machineHash(machine))},
                            {"parameters", std::move(parameters)},
                            {"sources", std::move(sources)}};
}
