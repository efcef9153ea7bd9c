//===- ProbeMachine.cpp - the CPU this program runs on --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the system tells of its first core replaces what the file of the nearest
// machine says:
//
//   cache/index2/{level: 2, type: Unified, size: 1024K,   ─▶   l2_bytes: 1048576
//                 ways_of_associativity: 8, …}                 l2_ways: 8
//
// Rates of instructions, latencies and clocks are told nowhere; they stay the
// file's. So does whatever cannot be read, or is no number that a machine can have:
// virtual machines hide some of it and make up some.
//
//===----------------------------------------------------------------------===//

#include "facet/Machine/ProbeMachine.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"

using namespace facet;
using llvm::StringRef;

static constexpr StringRef sysfsTag = "sysfs";

namespace {

/// Puts values into a machine, with their source.
class Prober {
public:
  Prober(Machine &machine, StringRef folder)
      : machine(machine), folder(folder) {}

  void run();

private:
  /// The first line of `folder`/`index`/`name`; empty when there is none.
  std::string read(const llvm::Twine &index, StringRef name);
  void set(int64_t &member, int64_t value, const llvm::Twine &source);
  void readCache(const llvm::Twine &index);

  Machine &machine;
  StringRef folder;
};

} // namespace

std::string Prober::read(const llvm::Twine &index, StringRef name) {
  llvm::SmallString<256> path(folder);
  llvm::sys::path::append(path, index, name);
  // Files of the system have no size: they are read until their end.
  auto file = llvm::MemoryBuffer::getFileAsStream(path);
  return file ? (*file)->getBuffer().split('\n').first.trim().str() : "";
}

void Prober::set(int64_t &member, int64_t value, const llvm::Twine &source) {
  llvm::ArrayRef<MachineParameter> table = machineParameters();
  for (size_t i = 0; i != table.size(); ++i)
    if (table[i].number && &table[i].number(machine) == &member &&
        value >= table[i].min && value <= table[i].max) {
      member = value;
      machine.origins[i].source = source.str();
    }
}

/// "32768K", "2M", "512"; 0 when it is nothing of the kind.
static int64_t parseBytes(StringRef text) {
  int64_t unit = text.consume_back("K")   ? 1 << 10
                 : text.consume_back("M") ? 1 << 20
                                          : 1;
  int64_t value = 0;
  if (text.getAsInteger(10, value) || value < 0 || value > INT64_MAX / unit)
    return 0;
  return value * unit;
}

/// How many numbers "0-3,8" names; 0 when it is no such list.
static int64_t countList(StringRef text) {
  int64_t count = 0;
  llvm::SmallVector<StringRef> ranges;
  text.split(ranges, ',');
  for (StringRef range : ranges) {
    auto [first, last] = range.split('-');
    int64_t low = 0, high = 0;
    if (first.getAsInteger(10, low))
      return 0;
    high = low;
    if (!last.empty() && last.getAsInteger(10, high))
      return 0;
    if (low < 0 || high < low || high > 1 << 20)
      return 0;
    count += high - low + 1;
  }
  return count;
}

void Prober::readCache(const llvm::Twine &index) {
  std::string level = read(index, "level"), type = read(index, "type");
  if (type == "Instruction")
    return;
  std::string source = (sysfsTag + ", " + index).str();
  int64_t bytes = parseBytes(read(index, "size"));
  int64_t ways = parseBytes(read(index, "ways_of_associativity"));
  if (level == "1") {
    set(machine.cache.l1Bytes, bytes, source);
    set(machine.cache.l1Ways, ways, source);
    set(machine.cache.lineBytes, parseBytes(read(index, "coherency_line_size")),
        source);
  } else if (level == "2") {
    set(machine.cache.l2Bytes, bytes, source);
    set(machine.cache.l2Ways, ways, source);
  } else if (level == "3" && bytes > 0) {
    set(machine.cache.l3Bytes, bytes, source);
    set(machine.cpu.cores, countList(read(index, "shared_cpu_list")), source);
  }
}

void Prober::run() {
  for (unsigned i = 0; i != 8; ++i)
    readCache("index" + llvm::Twine(i));
  set(machine.cache.pageBytes, llvm::sys::Process::getPageSizeEstimate(),
      "system, its page size");
}

Machine facet::probeMachine(Machine nearest, StringRef cpuName,
                            StringRef cacheFolder) {
  Machine machine = std::move(nearest);
  std::string base = machine.name;
  machine.name = "native";
  machine.about = "this machine, " + cpuName.str() +
                  "; what it does not tell " + "is from " + base;
  machine.sources.emplace_back(sysfsTag.str(),
                               "Linux, /sys/devices/system/cpu/cpu0/cache");
  machine.sources.emplace_back("system", "what the operating system answers");
  Prober(machine, cacheFolder).run();
  llvm::ArrayRef<MachineParameter> table = machineParameters();
  for (size_t i = 0; i != table.size(); ++i)
    if (table[i].word && &table[i].word(machine) == &machine.cpu.llvmCpu) {
      machine.cpu.llvmCpu = cpuName.str();
      machine.origins[i].source = "system, CPUID as LLVM reads it";
    }
  return machine;
}
