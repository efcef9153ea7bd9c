//===- MachineTest.cpp - machine files and what is derived from them ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "facet/Machine/Machine.h"
#include "facet/Machine/PrintMachine.h"
#include "facet/Machine/ProbeMachine.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

using namespace facet;
using llvm::StringRef;

static std::string messages(const Diagnostics &diags) {
  std::string text;
  for (const Diagnostic &d : diags.all())
    text += d.place.file + ":" + std::to_string(d.place.line) + ":" +
            std::to_string(d.place.column) + ": " + d.message + "\n";
  return text;
}

static Machine load(StringRef name) {
  Diagnostics diags;
  std::optional<Machine> machine = loadMachine(name, diags);
  EXPECT_TRUE(machine) << messages(diags);
  return machine.value_or(Machine());
}

/// The messages for a file of these lines after the usual head.
static std::string refusal(StringRef lines,
                           StringRef head = "format: facet-machine-1\n"
                                            "name: mine\n"
                                            "base: trn2\n") {
  Diagnostics diags;
  std::optional<Machine> machine =
      parseMachine((head + lines).str(), "mine.yaml", diags);
  EXPECT_EQ(bool(machine), !diags.hasErrors());
  return messages(diags);
}

TEST(Machine, every_shipped_file_loads_and_states_its_sources) {
  std::vector<std::string> names = machineNames();
  EXPECT_GE(names.size(), 13u);
  for (const std::string &name : names) {
    Machine machine = load(name);
    EXPECT_EQ(machine.name, name) << "file and name agree";
    EXPECT_FALSE(machine.about.empty()) << name;
    for (size_t i = 0; i != machineParameters().size(); ++i) {
      const MachineParameter &p = machineParameters()[i];
      if (p.machine != machine.kind)
        continue;
      // "A3", "AKC, fit", "assumed, as vector's", "aws-neuron-sdk issue 1393": the
      // first word is a tag of `sources`, the word assumed, or an issue.
      StringRef source = machine.origins[i].source;
      StringRef tag =
          source.take_until([](char c) { return c == ',' || c == ' '; });
      bool known = tag == "assumed" || source.contains(" issue ");
      for (const auto &[name, meaning] : machine.sources)
        known |= tag == name;
      EXPECT_TRUE(known) << name << ": " << p.group << "." << p.key << ": "
                         << source.str();
    }
  }
}

TEST(Machine, a_value_of_a_shipped_file_is_never_without_a_source) {
  // In the text: a bare scalar would be taken as assumed; shipped files say it.
  for (const std::string &name : machineNames()) {
    auto buffer = llvm::MemoryBuffer::getFile(findMachine(name));
    ASSERT_TRUE(bool(buffer));
    llvm::SmallVector<StringRef> lines;
    (*buffer)->getBuffer().split(lines, '\n');
    bool inSources = false;
    for (StringRef line : lines) {
      if (!line.starts_with(" ")) {
        inSources = line.starts_with("sources:");
        continue;
      }
      bool stated = line.contains("{value: ") && line.contains(", source: ");
      EXPECT_TRUE(inSources || stated || line.ltrim().starts_with("#"))
          << name << ": " << line.str();
    }
  }
}

TEST(Machine, canonical_text_reads_back_and_only_it) {
  for (const std::string &name : machineNames()) {
    Machine machine = load(name);
    std::string text = canonicalMachine(machine), error;
    std::optional<Machine> again = parseCanonicalMachine(text, error);
    ASSERT_TRUE(again) << error;
    EXPECT_EQ(canonicalMachine(*again), text);
    EXPECT_EQ(machineHash(*again), machineHash(machine));
    // Another spelling of a value, a line more, a line less: refused.
    EXPECT_FALSE(parseCanonicalMachine(text + "\n", error));
    EXPECT_FALSE(parseCanonicalMachine(StringRef(text).drop_back(), error));
    EXPECT_FALSE(parseCanonicalMachine(StringRef(text).drop_front(), error));
    std::string padded = text;
    padded.insert(padded.size() - 1, ".0");
    EXPECT_FALSE(parseCanonicalMachine(padded, error));
    EXPECT_NE(error.find("' is missing or not a value it can have"),
              std::string::npos);
    EXPECT_FALSE(parseCanonicalMachine(text + "one more\n", error));
    EXPECT_EQ(error, "the machine has more lines than this version knows");
    EXPECT_FALSE(parseCanonicalMachine("", error));
    EXPECT_EQ(error, "the machine has no usable name");
    EXPECT_FALSE(parseCanonicalMachine("name a\nkind gpu\n", error));
    EXPECT_EQ(error, "the machine's kind is neither cpu nor engine");
  }
}

TEST(Machine, hash_is_of_values_not_of_words) {
  Machine machine = load("trn2");
  Machine cited = machine;
  cited.about = "the same";
  cited.origins[20].source = "a better book";
  EXPECT_EQ(machineHash(cited), machineHash(machine));
  Machine faster = machine;
  faster.tensor.gapPs += 1;
  EXPECT_NE(machineHash(faster), machineHash(machine));
  // The same on every host. Programs in the field carry it: when this changes, they
  // no longer match the file, which is right only when a value or a key changed.
  EXPECT_EQ(hexHash(machineHash(load("nki"))),
            "ab4ac117137b27f7266e75acdac87a6acd975ca142c9eb42995d2185b1d9509b");
}

TEST(Machine, units_are_as_the_keys_say) {
  Machine machine = load("trn2");
  EXPECT_EQ(machine.tensor.clockMHz, 2400);
  EXPECT_EQ(machine.tensor.gapPs, 2600);
  EXPECT_EQ(machine.tensor.weightCycles, 250);
  EXPECT_EQ(machine.tensor.windowShare, 375);
  EXPECT_EQ(machine.dma.rateMBs, 27200);
  EXPECT_EQ(machine.energy.macBf16, 590);
  EXPECT_TRUE(machine.tensor.shadowWeights);
  EXPECT_FALSE(machine.tensor.f8e4m3fn);
  Machine cpu = load("x86-64-v4");
  EXPECT_EQ(cpu.cpu.vectorBytes, 64);
  EXPECT_EQ(cpu.cpu.llvmCpu, "x86-64-v4");
  EXPECT_EQ(cpu.cache.memoryMBs, 20000);
}

TEST(Machine, a_base_is_changed_where_the_file_says) {
  Diagnostics diags;
  std::optional<Machine> machine =
      parseMachine("format: facet-machine-1\nname: mine\nbase: trn2\n"
                   "tensor:\n  clock_mhz: 2600\n",
                   "mine.yaml", diags);
  ASSERT_TRUE(machine) << messages(diags);
  EXPECT_EQ(machine->name, "mine");
  EXPECT_EQ(machine->tensor.clockMHz, 2600);
  EXPECT_EQ(machine->vector.clockMHz, 960);
  EXPECT_EQ(machine->path, "mine.yaml");
  for (size_t i = 0; i != machineParameters().size(); ++i) {
    const MachineParameter &p = machineParameters()[i];
    if (p.group == StringRef("tensor") && p.key == StringRef("clock_mhz")) {
      EXPECT_EQ(machine->origins[i].source, "assumed");
      EXPECT_EQ(machine->origins[i].place.line, 5u);
    }
  }
}

TEST(Machine, refuses_with_place_and_way_out) {
  EXPECT_EQ(refusal("tensor:\n  clock_ghz: 2\n"),
            "mine.yaml:5:3: unknown key 'clock_ghz' in 'tensor'; did you mean "
            "'clock_mhz'?\n");
  EXPECT_EQ(
      refusal("tensor:\n  rows: 4096\n"),
      "mine.yaml:5:9: 'tensor.rows' is '4096', want a whole number from 1 to "
      "1024\n");
  EXPECT_EQ(
      refusal("tensor:\n  rows: 1.5\n"),
      "mine.yaml:5:9: 'tensor.rows' is '1.5', want a whole number from 1 to "
      "1024\n");
  EXPECT_EQ(
      refusal("tensor:\n  rows: 99999999999999999999\n"),
      "mine.yaml:5:9: 'tensor.rows' is '99999999999999999999', want a whole "
      "number from 1 to 1024\n");
  EXPECT_EQ(
      refusal("tensor:\n  gap_ns: -1\n"),
      "mine.yaml:5:11: 'tensor.gap_ns' is '-1', want a number of ns from 0 to "
      "1000\n");
  EXPECT_EQ(refusal("tensor:\n  gap_ns: 2.6ns\n"),
            "mine.yaml:5:11: 'tensor.gap_ns' is '2.6ns', want a number of ns "
            "from 0 to "
            "1000\n");
  EXPECT_EQ(
      refusal("tensor:\n  gap_ns: 2.6001\n"),
      "mine.yaml:5:11: 'tensor.gap_ns' is '2.6001', want a number of ns from 0 "
      "to 1000, with at most three digits after the point\n");
  EXPECT_EQ(
      refusal("tensor:\n  gap_ns: 2.\n"),
      "mine.yaml:5:11: 'tensor.gap_ns' is '2.', want a number of ns from 0 to "
      "1000\n");
  EXPECT_EQ(
      refusal("tensor:\n  clock_window: maybe\n"),
      "mine.yaml:5:17: 'tensor.clock_window' is 'maybe', want on or off\n");
  EXPECT_EQ(refusal("tensor:\n  rows: [1]\n"),
            "mine.yaml:5:9: want a value, or {value: ..., source: ...} here\n");
  EXPECT_EQ(refusal("tensor:\n  rows: {value: 64, sauce: me}\n"),
            "mine.yaml:5:21: unknown key 'sauce'; allowed are value, source\n");
  EXPECT_EQ(refusal("tensor:\n  rows: {source: me}\n"),
            "mine.yaml:5:9: 'tensor.rows' has no value\n");
  EXPECT_EQ(
      refusal("tensor:\n  rows: {value: 64, source: ''}\n"),
      "mine.yaml:5:29: an empty source; write where the value is from, or "
      "assumed\n");
  EXPECT_EQ(refusal("tensor:\n  rows: {value: [64], source: me}\n"),
            "mine.yaml:5:17: want a single value here\nmine.yaml:5:9: "
            "'tensor.rows' has "
            "no value\n");
  EXPECT_EQ(refusal("tensor:\n  rows: 64\n  rows: 32\n"),
            "mine.yaml:6:3: 'tensor.rows' is given twice\n");
  EXPECT_EQ(refusal("tensor: 5\n"),
            "mine.yaml:4:9: want the keys of 'tensor' here\n");
  EXPECT_EQ(refusal("tensor:\n  rows: 64\ntensor:\n  rows: 32\n"),
            "mine.yaml:6:1: 'tensor' is given twice\n");
  EXPECT_EQ(refusal("tensors:\n  rows: 64\n"),
            "mine.yaml:4:1: unknown key 'tensors'; did you mean 'tensor'?\n");
  EXPECT_EQ(refusal("cpu:\n  cores: 4\n"),
            "mine.yaml:4:1: 'cpu' does not belong to this kind of machine\n");
  EXPECT_EQ(refusal("sources: 5\n"),
            "mine.yaml:4:10: want tags and what they stand for here\n");
  EXPECT_EQ(refusal("kind: gpu\n"),
            "mine.yaml:4:7: kind is 'gpu', allowed are cpu, engine\n");
  EXPECT_EQ(
      refusal("kind: cpu\n"),
      "mine.yaml:4:7: kind is 'cpu', but the base is of the other kind\n");
}

TEST(Machine, refuses_what_does_not_fit_together) {
  EXPECT_EQ(
      refusal("core:\n  partitions: 64\n"),
      "mine.yaml:5:15: 'tensor.rows' is 128, more than 'core.partitions', "
      "which "
      "is 64\n"
      "mine.yaml:5:15: 'tensor.columns' is 128, more than 'core.partitions', "
      "which is 64\n");
  EXPECT_EQ(refusal("psum:\n  matmul_banks: 9\n"),
            "mine.yaml:5:17: 'psum.matmul_banks' is 9, more than 'psum.banks', "
            "which is "
            "8\n");
  EXPECT_EQ(refusal("core:\n  partition_group: 256\n"),
            "mine.yaml:5:20: 'core.partition_group' is 256, more than "
            "'core.partitions', which is 128\n");
}

TEST(Machine, refuses_heads_that_are_none) {
  EXPECT_EQ(refusal("", "format: facet-machine-9\nname: a\nbase: trn2\n"),
            "mine.yaml:1:9: format is 'facet-machine-9', this version reads "
            "facet-machine-1\n");
  EXPECT_EQ(refusal("", "name: a\nbase: trn2\n"),
            "mine.yaml:0:0: missing: format: facet-machine-1\n");
  EXPECT_EQ(refusal("", "format: facet-machine-1\nbase: trn2\n"),
            "mine.yaml:0:0: missing: name\n");
  EXPECT_EQ(refusal("", "format: facet-machine-1\nname: a\n"),
            "mine.yaml:0:0: missing: kind (cpu or engine), or base\n");
  EXPECT_EQ(refusal("", "format: facet-machine-1\nname: a b\nbase: trn2\n"),
            "mine.yaml:2:7: name is 'a b', allowed are up to 64 letters, "
            "digits and any "
            "of - _ . +\n");
  EXPECT_EQ(
      refusal("", "format: facet-machine-1\nname: a\nbase: trn22\n"),
      "mine.yaml:3:7: no machine is called 'trn22'; did you mean 'trn2'?\n");
  EXPECT_EQ(
      refusal("",
              "format: facet-machine-1\nname: a\nkind: engine\nbase: trn2\n"),
      "mine.yaml:4:7: base must come before kind and all values\n");
  EXPECT_EQ(refusal("", "[1, 2]\n"), "mine.yaml:1:1: want a machine file: keys "
                                     "format, name, kind and values\n");
  EXPECT_EQ(refusal("", ""), "mine.yaml:1:1: want a machine file: keys format, "
                             "name, kind and values\n");
  std::string missing = refusal(
      "", "format: facet-machine-1\nname: a\nkind: cpu\ncpu:\n  level: 2\n");
  EXPECT_TRUE(StringRef(missing).starts_with(
      "mine.yaml:0:0: missing: cpu.arch, cpu.llvm_cpu, cpu.cores, "))
      << missing;
  EXPECT_TRUE(
      StringRef(missing).contains("cache.memory_gb_per_s; 'base: NAME' takes"))
      << missing;
}

TEST(Machine, refuses_text_that_is_none) {
  EXPECT_EQ(refusal("tensor:\n\trows: 64\n"),
            "mine.yaml:5:1: a tab; indent with spaces\n");
  EXPECT_EQ(refusal(StringRef("about: a\0b\n", 11)),
            "mine.yaml:4:9: control character 0\n");
  EXPECT_EQ(refusal("about: \xff\n"),
            "mine.yaml:4:8: the machine file is not UTF-8 here\n");
  EXPECT_EQ(refusal("about: [[[[[[[[[\n"),
            "mine.yaml:4:16: brackets nested more than 8 deep\n");
  EXPECT_EQ(refusal(std::string(70, ' ') + "a: 1\n"),
            "mine.yaml:4:71: indented by more than 64 columns\n");
  EXPECT_EQ(refusal("about: " + std::string(2000, 'x') + "\n"),
            "mine.yaml:4:1025: line longer than 1024 bytes\n");
  EXPECT_EQ(
      refusal(std::string(300000, '\n')),
      "mine.yaml:0:0: the machine file has 300046 bytes, allowed are 262144\n");
  EXPECT_FALSE(refusal("about: \"open\n").empty());
  EXPECT_FALSE(refusal("tensor: {rows: 1\n").empty());
  EXPECT_FALSE(refusal("- a\n").empty());
}

TEST(Machine, a_name_that_is_none_is_refused_with_the_nearest) {
  Diagnostics diags;
  EXPECT_FALSE(loadMachine("trn4", diags));
  EXPECT_FALSE(loadMachine("abacus", diags));
  EXPECT_FALSE(loadMachine("./none.yaml", diags));
  EXPECT_FALSE(loadMachine("/", diags));
  std::string text = messages(diags);
  EXPECT_NE(text.find("no machine is called 'trn4'; did you mean 'trn1'?"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("no machine is called 'abacus'; there are aarch64, "),
            std::string::npos)
      << text;
  EXPECT_NE(
      text.find("./none.yaml:0:0: cannot read the machine file: no such file"),
      std::string::npos)
      << text;
  EXPECT_NE(text.find("/:0:0: the machine file is a folder"), std::string::npos)
      << text;
}

TEST(Machine, json_has_values_and_sources) {
  llvm::json::Value value = machineToJson(load("trn2"));
  const llvm::json::Object *root = value.getAsObject();
  ASSERT_TRUE(root);
  EXPECT_EQ(root->getString("name"), "trn2");
  EXPECT_EQ(root->getString("kind"), "engine");
  const llvm::json::Object *tensor =
      root->getObject("parameters")->getObject("tensor");
  const llvm::json::Object *gap = tensor->getObject("gap_ns");
  EXPECT_EQ(gap->getNumber("value"), 2.6);
  EXPECT_EQ(gap->getString("source"), "AKC, fit");
  EXPECT_EQ(tensor->getObject("clock_mhz")->getInteger("value"), 2400);
  EXPECT_EQ(tensor->getObject("shadow_weights")->getBoolean("value"), true);
  EXPECT_FALSE(root->getObject("parameters")->getObject("cpu"));
}

TEST(TimeBase, holds_every_cycle_exactly) {
  Machine machine = load("trn2");
  TimeBase base(machine);
  EXPECT_EQ(base.perNs(), 3000);
  EXPECT_EQ(base.fromCycles(1, 2400), 1250);
  EXPECT_EQ(base.fromCycles(1, 960), 3125);
  EXPECT_EQ(base.fromCycles(1, 1200), 2500);
  EXPECT_EQ(base.fromPs(1), 3);
  EXPECT_EQ(base.toPs(base.fromPs(12345)), 12345);
  EXPECT_EQ(base.fromMilliCycles(128 * 250, 2400), base.fromCycles(32, 2400));
  for (const std::string &name : machineNames()) {
    Machine m = load(name);
    if (!m.isEngine())
      continue;
    TimeBase b(m);
    for (int64_t clock :
         {m.tensor.clockMHz, m.vector.clockMHz, m.scalar.clockMHz})
      EXPECT_EQ(b.fromCycles(clock, clock), b.fromPs(1000000)) << name;
    for (int64_t clock :
         {m.tensor.clockMHz, m.vector.clockMHz, m.scalar.clockMHz})
      EXPECT_EQ(b.fromCycles(1, clock) * clock, b.fromPs(1000000)) << name;
  }
}

TEST(TimeBase, falls_back_to_femtoseconds_for_clocks_without_a_common_tick) {
  Machine machine = load("trn2");
  machine.tensor.clockMHz = 2399;
  machine.vector.clockMHz = 977;
  machine.scalar.clockMHz = 1201;
  TimeBase base(machine);
  EXPECT_EQ(base.perNs(), 1000000);
  EXPECT_EQ(base.fromCycles(2399, 2399), 1000 * 1000000);
}

TEST(TimeBase, bytes_round_up_to_a_tick) {
  TimeBase base(load("trn2"));
  EXPECT_EQ(base.fromBytes(27200, 27200), base.fromPs(1000000));
  EXPECT_EQ(base.fromBytes(0, 27200), 0);
  EXPECT_EQ(base.fromBytes(1, 27200), 111); // 110.29 ticks
}

TEST(Machine, a_printed_file_loads_to_the_same_machine) {
  for (const std::string &name : machineNames()) {
    Machine machine = load(name);
    machine.about = "said \"so\": \\ # {1, 2}";
    Diagnostics diags;
    std::optional<Machine> again =
        parseMachine(machineToYaml(machine), "printed.yaml", diags);
    ASSERT_TRUE(again) << messages(diags);
    EXPECT_EQ(canonicalMachine(*again), canonicalMachine(machine));
    EXPECT_EQ(again->about, machine.about);
    EXPECT_EQ(again->sources, machine.sources);
    EXPECT_EQ(machineToYaml(*again), machineToYaml(machine));
  }
}

static void write(const llvm::Twine &file, StringRef text) {
  std::error_code error;
  llvm::SmallString<128> path;
  file.toVector(path);
  llvm::sys::fs::create_directories(llvm::sys::path::parent_path(path));
  llvm::raw_fd_ostream os(path, error);
  ASSERT_FALSE(error) << error.message();
  os << text;
}

TEST(Machine, a_probe_takes_what_the_system_tells_and_nothing_else) {
  llvm::SmallString<128> folder;
  ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("caches", folder));
  auto cache = [&](unsigned index, StringRef key, StringRef text) {
    write(folder + "/index" + llvm::Twine(index) + "/" + key, text);
  };
  for (auto [index, level, type] : {std::tuple{0, "1\n", "Data\n"},
                                    {1, "1\n", "Instruction\n"},
                                    {2, "2\n", "Unified\n"},
                                    {3, "3\n", "Unified\n"}}) {
    cache(index, "level", level);
    cache(index, "type", type);
  }
  cache(0, "size", "48K\n");
  cache(0, "ways_of_associativity", "12\n");
  cache(1, "size", "99K\n"); // not of data
  cache(2, "size", "2M\n");
  cache(2, "ways_of_associativity", "0\n"); // no number a machine can have
  cache(3, "size", "nonsense\n");
  cache(3, "shared_cpu_list", "0-3,8\n"); // of no cache that is known
  Machine base = load("znver4");
  Machine probed = probeMachine(base, "znver4", folder);
  EXPECT_EQ(probed.name, "native");
  EXPECT_EQ(probed.cache.l1Bytes, 48 * 1024);
  EXPECT_EQ(probed.cache.l1Ways, 12);
  EXPECT_EQ(probed.cache.l2Bytes, 2 * 1024 * 1024);
  EXPECT_EQ(probed.cache.l2Ways, base.cache.l2Ways);
  EXPECT_EQ(probed.cache.l3Bytes, base.cache.l3Bytes);
  EXPECT_EQ(probed.cpu.cores, base.cpu.cores);
  EXPECT_EQ(probed.cpu.level, base.cpu.level);
  EXPECT_EQ(probed.cpu.llvmCpu, "znver4");

  cache(3, "size", "32768K\n");
  EXPECT_EQ(probeMachine(base, "znver4", folder).cpu.cores, 5);
  llvm::sys::fs::remove_directories(folder);
  Machine blind = probeMachine(base, "znver4", folder);
  EXPECT_EQ(blind.cache.l2Bytes, base.cache.l2Bytes);
}
