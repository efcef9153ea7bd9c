//===- LoadMachine.cpp - machine files, checked with their places ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads a machine file against the table of Parameters.def:
//
//   format: facet-machine-1
//   name: my-trn2
//   kind: engine
//   base: trn2                                  # optional: start from this one
//   tensor:
//     clock_mhz: {value: 2600, source: A3 2.1}  # or just 2600, which is
//     "assumed"
//
// Everything that is not in the table is an error that names the nearest key;
// every value outside its range is an error that gives the range; what is
// missing is listed in one message. LLVM's YAML parser finds the nodes and
// their places; it recurses and takes time on nonsense, so the text is first
// held to a size and depth that no machine file needs.
//
//===----------------------------------------------------------------------===//

#include "facet/Machine/Machine.h"
#include "facet/Support/ReadFile.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/YAMLParser.h"

using namespace facet;
namespace yaml = llvm::yaml;

namespace {

/// No machine file comes near these.
constexpr size_t maxFileBytes = 256 * 1024;
constexpr unsigned maxBases = 4;

class Loader {
public:
  Loader(llvm::StringRef text, llvm::StringRef file, Diagnostics &diags,
         unsigned depth)
      : text(text), file(file), diags(diags), depth(depth) {}

  std::optional<Machine> load();

private:
  bool checkText();
  Place place(llvm::SMLoc where);
  Place place(yaml::Node *node);
  void error(yaml::Node *node, const llvm::Twine &message) {
    diags.error(place(node), message);
  }

  std::optional<std::string> scalar(yaml::Node *node, const llvm::Twine &what);
  void readTop(llvm::StringRef key, yaml::Node *keyNode, yaml::Node *value);
  void readBase(yaml::Node *value);
  void readSources(yaml::Node *value);
  void readGroup(const MachineGroup &group, yaml::Node *value);
  void readParameter(size_t index, yaml::Node *value);
  void setValue(size_t index, llvm::StringRef spelled, yaml::Node *at);
  void reportMissing();
  void checkRelations();

  llvm::StringRef text, file;
  Diagnostics &diags;
  unsigned depth;
  llvm::SourceMgr sourceMgr;
  Machine machine;
  bool haveName = false, haveKind = false, haveFormat = false;
  std::vector<bool> given;
};

} // namespace

//===----------------------------------------------------------------------===//
// Helpers
//===----------------------------------------------------------------------===//

static void catchYamlError(const llvm::SMDiagnostic &d, void *context) {
  auto &[diags, file] =
      *static_cast<std::pair<Diagnostics *, std::string> *>(context);
  Place where{file, unsigned(std::max(d.getLineNo(), 0)),
              unsigned(std::max(d.getColumnNo() + 1, 0))};
  std::string message = d.getMessage().str();
  if (!message.empty())
    message[0] = llvm::toLower(message[0]);
  diags->error(where, llvm::StringRef(message).rtrim(".!"));
}

/// The candidate nearest to `name`, or empty when none is near.
static std::string nearestName(llvm::StringRef name,
                               llvm::ArrayRef<llvm::StringRef> candidates) {
  unsigned best = std::max<unsigned>(2, name.size() / 3) + 1;
  std::string nearest;
  for (llvm::StringRef candidate : candidates) {
    unsigned distance = name.edit_distance(candidate, true, best);
    if (distance < best) {
      best = distance;
      nearest = candidate.str();
    }
  }
  return nearest;
}

static std::string offer(llvm::StringRef name,
                         llvm::ArrayRef<llvm::StringRef> candidates) {
  std::string nearest = nearestName(name, candidates);
  if (!nearest.empty())
    return "; did you mean '" + nearest + "'?";
  return "; allowed are " + llvm::join(candidates, ", ");
}

/// What the numbers of a key count: `ns` for `latency_ns`.
static std::string unitOf(llvm::StringRef key) {
  for (auto [suffix, unit] :
       {std::pair<llvm::StringRef, llvm::StringRef>{"_ns", "ns"},
        {"_mhz", "MHz"},
        {"_gb_per_s", "GB/s"},
        {"_pj", "pJ"},
        {"_pj_per_byte", "pJ per byte"},
        {"_watt", "W"},
        {"_cycles", "cycles"},
        {"_bytes", "bytes"},
        {"_percent", "percent"}})
    if (key.ends_with(suffix))
      return (" of " + unit).str();
  return "";
}

Place Loader::place(llvm::SMLoc where) {
  if (!where.isValid())
    return {file.str()};
  auto [line, column] = sourceMgr.getLineAndColumn(where);
  return {file.str(), line, column};
}

/// The parser places a collection in brackets behind its opening bracket.
Place Loader::place(yaml::Node *node) {
  Place at = place(node->getSourceRange().Start);
  const char *start = node->getSourceRange().Start.getPointer();
  if (llvm::isa<yaml::MappingNode, yaml::SequenceNode>(node) &&
      start > text.begin() && start <= text.end() &&
      (start[-1] == '{' || start[-1] == '['))
    --at.column;
  return at;
}

/// Holds the text to what the parser can take in linear time and stack.
bool Loader::checkText() {
  if (text.size() > maxFileBytes) {
    diags.error({file.str()},
                "the machine file has " + llvm::Twine(text.size()) +
                    " bytes, allowed are " + llvm::Twine(maxFileBytes));
    return false;
  }
  const auto *begin = reinterpret_cast<const llvm::UTF8 *>(text.begin());
  const llvm::UTF8 *at = begin;
  bool legal = llvm::isLegalUTF8String(&at, begin + text.size());
  unsigned line = 1, column = 1, brackets = 0;
  bool atStart = true;
  for (size_t i = 0; i != text.size(); ++i, ++column) {
    unsigned char c = text[i];
    auto fail = [&](const llvm::Twine &message) {
      diags.error({file.str(), line, column}, message);
      return false;
    };
    if (!legal && i == size_t(at - begin))
      return fail("the machine file is not UTF-8 here");
    if (c == '\n') {
      ++line;
      column = 0;
      atStart = true;
      continue;
    }
    if ((c < 0x20 && c != '\r') || c == 0x7f)
      return fail(c == '\t' ? llvm::Twine("a tab; indent with spaces")
                            : "control character " + llvm::Twine(unsigned(c)));
    if (atStart && c != ' ') {
      atStart = false;
      if (column > 64)
        return fail("indented by more than 64 columns");
    }
    if (column > 1024)
      return fail("line longer than 1024 bytes");
    if (c == '[' || c == '{')
      ++brackets;
    else if ((c == ']' || c == '}') && brackets)
      --brackets;
    if (brackets > 8)
      return fail("brackets nested more than 8 deep");
  }
  return true;
}

/// The text of a one-line scalar; anything else is an error.
std::optional<std::string> Loader::scalar(yaml::Node *node,
                                          const llvm::Twine &what) {
  auto *value = llvm::dyn_cast_or_null<yaml::ScalarNode>(node);
  if (!value) {
    if (node)
      error(node, "want " + what + " here");
    return std::nullopt;
  }
  llvm::SmallString<64> storage;
  return value->getValue(storage).str();
}

//===----------------------------------------------------------------------===//
// The file
//===----------------------------------------------------------------------===//

static bool isPlainName(llvm::StringRef name) {
  return !name.empty() && name.size() <= 64 && llvm::all_of(name, [](char c) {
    return llvm::isAlnum(c) || c == '-' || c == '_' || c == '.' || c == '+';
  });
}

void Loader::readTop(llvm::StringRef key, yaml::Node *keyNode,
                     yaml::Node *value) {
  if (key == "format") {
    haveFormat = true;
    if (auto word = scalar(value, "facet-machine-1");
        word && *word != "facet-machine-1")
      error(value,
            "format is '" + *word + "', this version reads facet-machine-1");
  } else if (key == "name") {
    haveName = true;
    if (auto word = scalar(value, "a name")) {
      if (!isPlainName(*word))
        error(value,
              "name is '" + *word +
                  "', allowed are up to 64 letters, digits and any of - _ . +");
      machine.name = *word;
    }
  } else if (key == "about") {
    if (auto word = scalar(value, "one line of text"))
      machine.about = *word;
  } else if (key == "kind") {
    if (auto word = scalar(value, "cpu or engine")) {
      MachineKind kind =
          *word == "engine" ? MachineKind::Engine : MachineKind::Cpu;
      if (*word != "cpu" && *word != "engine")
        error(value, "kind is '" + *word + "', allowed are cpu, engine");
      else if (haveKind && kind != machine.kind)
        error(value,
              "kind is '" + *word + "', but the base is of the other kind");
      haveKind = true;
      machine.kind = kind;
    }
  } else if (key == "base") {
    readBase(value);
  } else if (key == "sources") {
    readSources(value);
  } else {
    for (const MachineGroup &group : machineGroups())
      if (key == group.name) {
        if (haveKind && group.machine != machine.kind)
          error(keyNode,
                "'" + key + "' does not belong to this kind of machine");
        return readGroup(group, value);
      }
    std::vector<llvm::StringRef> allowed{"format", "name", "about",
                                         "kind",   "base", "sources"};
    for (const MachineGroup &group : machineGroups())
      if (!haveKind || group.machine == machine.kind)
        allowed.push_back(group.name);
    error(keyNode, "unknown key '" + key + "'" + offer(key, allowed));
  }
}

void Loader::readBase(yaml::Node *value) {
  auto name = scalar(value, "the name of a machine");
  if (!name)
    return;
  if (llvm::is_contained(given, true) || haveKind)
    return error(value, "base must come before kind and all values");
  if (depth + 1 > maxBases)
    return error(value, "more than " + llvm::Twine(maxBases) +
                            " machines are based on each other");
  llvm::SmallString<256> beside(llvm::sys::path::parent_path(file));
  llvm::sys::path::append(beside, *name + ".yaml");
  std::string path = beside.str().str();
  if (!isPlainName(*name) || !llvm::sys::fs::is_regular_file(path))
    path = findMachine(*name);
  std::string problem;
  std::optional<std::string> text = readWholeFile(path, problem);
  if (path.empty() || !text) {
    std::vector<std::string> names = machineNames();
    std::vector<llvm::StringRef> allowed(names.begin(), names.end());
    return error(value, "no machine is called '" + *name + "'" +
                            offer(*name, allowed));
  }
  unsigned before = diags.errorCount();
  std::optional<Machine> base = Loader(*text, path, diags, depth + 1).load();
  if (!base) {
    if (diags.errorCount() == before)
      error(value, "the base '" + *name + "' cannot be used");
    return;
  }
  std::string ownName = machine.name, ownAbout = machine.about;
  machine = std::move(*base);
  machine.path = file.str();
  if (haveName)
    machine.name = ownName;
  machine.about = ownAbout;
  haveKind = true;
  given.assign(machineParameters().size(), true);
}

void Loader::readSources(yaml::Node *value) {
  auto *mapping = llvm::dyn_cast_or_null<yaml::MappingNode>(value);
  if (!mapping) {
    if (value)
      error(value, "want tags and what they stand for here");
    return;
  }
  for (yaml::KeyValueNode &entry : *mapping) {
    auto tag = scalar(entry.getKey(), "a tag");
    auto meaning = scalar(entry.getValue(), "a document");
    if (!tag || !meaning)
      continue;
    auto known = llvm::find_if(machine.sources,
                               [&](const auto &s) { return s.first == *tag; });
    if (known == machine.sources.end())
      machine.sources.emplace_back(*tag, *meaning);
    else
      known->second = *meaning;
  }
}

void Loader::readGroup(const MachineGroup &group, yaml::Node *value) {
  auto *mapping = llvm::dyn_cast_or_null<yaml::MappingNode>(value);
  if (!mapping) {
    if (value)
      error(value, llvm::Twine("want the keys of '") + group.name + "' here");
    return;
  }
  llvm::StringSet<> seen;
  llvm::ArrayRef<MachineParameter> table = machineParameters();
  for (yaml::KeyValueNode &entry : *mapping) {
    yaml::Node *keyNode = entry.getKey();
    auto key = scalar(keyNode, "a key");
    yaml::Node *valueNode = entry.getValue();
    if (!key || !valueNode)
      continue;
    if (!seen.insert(*key).second) {
      error(keyNode,
            llvm::Twine("'") + group.name + "." + *key + "' is given twice");
      continue;
    }
    const auto *line = llvm::find_if(table, [&](const MachineParameter &p) {
      return group.name == llvm::StringRef(p.group) && *key == p.key;
    });
    if (line != table.end()) {
      readParameter(line - table.begin(), valueNode);
      continue;
    }
    std::vector<llvm::StringRef> allowed;
    for (const MachineParameter &p : table)
      if (group.name == llvm::StringRef(p.group))
        allowed.push_back(p.key);
    error(keyNode, "unknown key '" + *key + "' in '" + group.name + "'" +
                       offer(*key, allowed));
  }
}

/// A value is a scalar, or {value: scalar, source: text}.
void Loader::readParameter(size_t index, yaml::Node *value) {
  machine.origins[index] = {"assumed", place(value)};
  auto *mapping = llvm::dyn_cast<yaml::MappingNode>(value);
  if (!mapping) {
    if (auto spelled = scalar(value, "a value, or {value: ..., source: ...}"))
      setValue(index, *spelled, value);
    else
      given[index] = true; // reported already; not missing as well
    return;
  }
  given[index] = true;
  bool haveValue = false;
  for (yaml::KeyValueNode &entry : *mapping) {
    yaml::Node *keyNode = entry.getKey();
    auto key = scalar(keyNode, "value or source");
    yaml::Node *node = entry.getValue();
    auto spelled = scalar(node, "a single value");
    if (!key || !spelled)
      continue;
    if (*key == "value") {
      haveValue = true;
      setValue(index, *spelled, node);
    } else if (*key == "source") {
      if (spelled->empty())
        error(node,
              "an empty source; write where the value is from, or assumed");
      machine.origins[index].source = *spelled;
    } else {
      error(keyNode, "unknown key '" + *key + "'; allowed are value, source");
    }
  }
  const MachineParameter &parameter = machineParameters()[index];
  if (!haveValue)
    error(mapping, llvm::Twine("'") + parameter.group + "." + parameter.key +
                       "' has no value");
}

void Loader::setValue(size_t index, llvm::StringRef spelled, yaml::Node *at) {
  const MachineParameter &p = machineParameters()[index];
  given[index] = true;
  std::string name = std::string(p.group) + "." + p.key;
  auto show = [&](int64_t stored) {
    Machine m;
    p.number(m) = stored;
    return printMachineValue(m, p);
  };
  auto refuse = [&](const llvm::Twine &wanted) {
    error(at, "'" + name + "' is '" + spelled + "', want " + wanted);
  };
  switch (p.kind) {
  case MachineParameter::Word:
    if (!isPlainName(spelled))
      return refuse("up to 64 letters, digits and any of - _ . +");
    p.word(machine) = spelled.str();
    return;
  case MachineParameter::Switch:
    if (spelled != "on" && spelled != "off" && spelled != "true" &&
        spelled != "false")
      return refuse("on or off");
    p.number(machine) = spelled == "on" || spelled == "true";
    return;
  case MachineParameter::Count:
  case MachineParameter::Scaled:
    break;
  }
  bool scaled = p.kind == MachineParameter::Scaled;
  std::string wanted = (scaled ? "a number" : "a whole number") +
                       unitOf(p.key) + " from " + show(p.min) + " to " +
                       show(p.max);
  auto [whole, rest] = spelled.split('.');
  bool digits = !whole.empty() && llvm::all_of(whole, llvm::isDigit) &&
                llvm::all_of(rest, llvm::isDigit) &&
                (rest.empty() ? !spelled.contains('.') : scaled);
  if (!digits)
    return refuse(wanted);
  if (rest.size() > 3)
    return refuse(wanted + ", with at most three digits after the point");
  int64_t value = 0;
  bool tooBig = whole.size() > 15 || whole.getAsInteger(10, value);
  if (!tooBig && scaled) {
    std::string padded = (rest + "000").str().substr(0, 3);
    int64_t thousandths = 0;
    (void)llvm::StringRef(padded).getAsInteger(10, thousandths);
    value = value * 1000 + thousandths;
  }
  if (tooBig || value < p.min || value > p.max)
    return refuse(wanted);
  p.number(machine) = value;
}

void Loader::reportMissing() {
  std::vector<std::string> missing;
  llvm::ArrayRef<MachineParameter> table = machineParameters();
  for (size_t i = 0; i != table.size(); ++i)
    if (table[i].machine == machine.kind && !given[i])
      missing.push_back(std::string(table[i].group) + "." + table[i].key);
  if (!missing.empty())
    diags.error(
        {file.str()},
        "missing: " + llvm::join(missing, ", ") +
            "; 'base: NAME' takes what is not given from another machine");
}

/// What two values must keep between them.
void Loader::checkRelations() {
  if (!machine.isEngine())
    return;
  auto originOf = [&](llvm::StringRef name) {
    llvm::ArrayRef<MachineParameter> table = machineParameters();
    for (size_t i = 0; i != table.size(); ++i)
      if (name == std::string(table[i].group) + "." + table[i].key)
        return machine.origins[i].place;
    return Place{file.str()};
  };
  auto atMost = [&](const char *name, int64_t value, const char *limitName,
                    int64_t limit) {
    if (value <= limit)
      return;
    // Of the two, the one this file states is the one to look at.
    Place at = originOf(name);
    if (at.file != file)
      at = originOf(limitName);
    diags.error(at, llvm::Twine("'") + name + "' is " + llvm::Twine(value) +
                        ", more than '" + limitName + "', which is " +
                        llvm::Twine(limit));
  };
  int64_t partitions = machine.core.partitions;
  atMost("tensor.rows", machine.tensor.rows, "core.partitions", partitions);
  atMost("tensor.columns", machine.tensor.columns, "core.partitions",
         partitions);
  atMost("core.partition_group", machine.core.partitionGroup, "core.partitions",
         partitions);
  atMost("psum.matmul_banks", machine.psum.matmulBanks, "psum.banks",
         machine.psum.banks);
}

std::optional<Machine> Loader::load() {
  machine.path = file.str();
  machine.origins.resize(machineParameters().size());
  given.resize(machineParameters().size());
  diags.addBuffer(file, text.str());
  if (!checkText())
    return std::nullopt;

  unsigned before = diags.errorCount();
  std::pair<Diagnostics *, std::string> context{&diags, file.str()};
  sourceMgr.setDiagHandler(catchYamlError, &context);
  yaml::Stream stream(llvm::MemoryBufferRef(text, file), sourceMgr,
                      /*ShowColors=*/false);
  yaml::document_iterator document = stream.begin();
  yaml::Node *root = document == stream.end() ? nullptr : document->getRoot();
  auto *mapping = llvm::dyn_cast_or_null<yaml::MappingNode>(root);
  if (!mapping) {
    if (diags.errorCount() == before)
      diags.error({file.str(), 1, 1},
                  "want a machine file: keys format, name, kind and values");
    return std::nullopt;
  }
  llvm::StringSet<> seen;
  for (yaml::KeyValueNode &entry : *mapping) {
    if (diags.limitReached())
      return std::nullopt;
    yaml::Node *keyNode = entry.getKey();
    auto key = scalar(keyNode, "a key");
    Place keyPlace = keyNode ? place(keyNode) : Place{file.str()};
    yaml::Node *value = entry.getValue();
    if (!key || !value)
      continue;
    if (!seen.insert(*key).second)
      diags.error(keyPlace, "'" + *key + "' is given twice");
    else
      readTop(*key, keyNode, value);
  }
  if (diags.errorCount() == before) {
    if (!haveFormat)
      diags.error({file.str()}, "missing: format: facet-machine-1");
    if (!haveName)
      diags.error({file.str()}, "missing: name");
    if (!haveKind)
      diags.error({file.str()}, "missing: kind (cpu or engine), or base");
    else
      reportMissing();
    if (diags.errorCount() == before)
      checkRelations();
  }
  if (stream.failed() && diags.errorCount() == before)
    diags.error({file.str()}, "not a YAML file");
  if (diags.errorCount() != before)
    return std::nullopt;
  return machine;
}

std::optional<Machine> facet::parseMachine(llvm::StringRef text,
                                           llvm::StringRef file,
                                           Diagnostics &diags) {
  return Loader(text, file, diags, 0).load();
}
