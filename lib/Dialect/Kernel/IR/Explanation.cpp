//===- Explanation.cpp - what a plan says of itself -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   kernel 'linear' on x86-64-v4, M = 512, K = 1024, N = 1024
//   bound      11.2 ms  compute: 1.07 GFLOP at 96 GFLOP/s
//              0.4 ms   memory: 8.1 MB at 20 GB/s
//   stages
//     1  y  bf16[M, N]  sum over k for m, n; the map on the sums       11.9 ms
//          tile   8 rows by 3 vectors of 16   28 of 32 registers, …
//   lets
//     s  inside y
//
//===----------------------------------------------------------------------===//

#include "facet/Dialect/Kernel/IR/Explanation.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatAdapters.h"
#include "llvm/Support/FormatVariadic.h"

using namespace facet;
using namespace facet::kernel;

/// Three digits that count.
static std::string printThree(double value) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << llvm::format(value >= 100  ? "%.0f"
                     : value >= 10 ? "%.1f"
                                   : "%.2f",
                     value);
  return text;
}

std::string kernel::printSeconds(double seconds) {
  if (seconds >= 1)
    return printThree(seconds) + " s";
  if (seconds >= 1e-3)
    return printThree(seconds * 1e3) + " ms";
  if (seconds >= 1e-6)
    return printThree(seconds * 1e6) + " us";
  return printThree(seconds * 1e9) + " ns";
}

std::string kernel::printBytes(double bytes) {
  static constexpr const char *units[] = {"KiB", "MiB", "GiB", "TiB"};
  if (bytes < 1024)
    return std::to_string(int64_t(bytes)) + " bytes";
  unsigned unit = 0;
  for (bytes /= 1024; bytes >= 1024 && unit < 3; ++unit)
    bytes /= 1024;
  std::string text = printThree(bytes);
  if (llvm::StringRef(text).contains('.'))
    text = llvm::StringRef(text).rtrim('0').rtrim('.').str();
  return text + " " + units[unit];
}

/// Columns are counted in characters, not in bytes.
static std::string padded(llvm::StringRef text, size_t width) {
  size_t length =
      llvm::count_if(text, [](char c) { return (c & 0xC0) != 0x80; });
  return text.str() + std::string(width > length ? width - length : 0, ' ');
}

template <typename Range, typename Get>
static size_t widest(const Range &range, Get get) {
  size_t width = 0;
  for (const auto &item : range)
    width = std::max(width, get(item).size());
  return width;
}

static void printMemory(const Explanation::Memory &memory, size_t width,
                        llvm::raw_ostream &os) {
  double total = 0;
  std::string parts;
  for (const Explanation::Memory::Buffer &buffer : memory.buffers) {
    total += double(buffer.slots) * buffer.bytes;
    parts += (parts.empty() ? "" : ", ") + buffer.name + " " +
             std::to_string(buffer.slots) + " x " + printBytes(buffer.bytes);
  }
  os << "       " << padded(memory.name, width) << "  " << printBytes(total)
     << " of " << printBytes(memory.capacity) << ": " << parts << '\n';
}

static void printStages(llvm::ArrayRef<Explanation::Stage> stages,
                        llvm::raw_ostream &os) {
  using Stage = Explanation::Stage;
  size_t name = widest(stages, [](const Stage &s) { return s.statement; });
  size_t type = widest(stages, [](const Stage &s) { return s.type; });
  for (auto [i, stage] : llvm::enumerate(stages)) {
    os << llvm::format_decimal(i + 1, 3) << "  "
       << padded(stage.statement, name) << "  " << padded(stage.type, type)
       << "  " << stage.does;
    if (stage.seconds)
      os << ": " << printSeconds(*stage.seconds);
    os << '\n';
    using Choice = Explanation::Choice;
    size_t what = widest(stage.choices, [](const Choice &c) { return c.what; });
    size_t value =
        widest(stage.choices, [](const Choice &c) { return c.value; });
    for (const Choice &choice : stage.choices)
      os << "       " << padded(choice.what, what) << "  "
         << padded(choice.value, value) << "  " << choice.because << '\n';
    for (const Explanation::Memory &memory : stage.memories)
      printMemory(memory, what, os);
  }
}

void Explanation::print(llvm::raw_ostream &os) const {
  os << headline << '\n';
  for (const Bound &bound : bounds)
    os << "  bound " << printSeconds(bound.seconds) << " by " << bound.what
       << ": " << bound.because << '\n';
  for (const Variant &variant : variants) {
    if (variants.size() > 1)
      os << (variant.when.empty() ? "otherwise" : "when " + variant.when)
         << '\n';
    printStages(variant.stages, os);
    if (variant.seconds)
      os << "  predicted " << printSeconds(*variant.seconds) << '\n';
    if (variant.simulated)
      os << "  simulated " << printSeconds(*variant.simulated) << '\n';
  }
  size_t width = widest(lets, [](const Let &let) { return let.name; });
  for (const Let &let : lets)
    os << "  let " << padded(let.name, width) << "  " << let.where << '\n';
  for (const std::string &note : notes)
    os << "  note: " << note << '\n';
  for (const std::string &cost : costs)
    os << "  cost: " << cost << '\n';
}

llvm::json::Value Explanation::toJson() const {
  using llvm::json::Array;
  using llvm::json::Object;
  auto seconds = [](Object &to, std::optional<double> value) {
    if (value)
      to["seconds"] = *value;
  };
  Object result{{"headline", headline}};
  Array boundList, variantList, letList;
  for (const Bound &bound : bounds)
    boundList.push_back(Object{{"what", bound.what},
                               {"seconds", bound.seconds},
                               {"because", bound.because}});
  for (const Variant &variant : variants) {
    Array stageList;
    for (const Stage &stage : variant.stages) {
      Array choiceList;
      for (const Choice &choice : stage.choices)
        choiceList.push_back(Object{{"what", choice.what},
                                    {"value", choice.value},
                                    {"because", choice.because}});
      Object object{{"statement", stage.statement},
                    {"type", stage.type},
                    {"does", stage.does},
                    {"choices", std::move(choiceList)}};
      Array memoryList;
      for (const Memory &memory : stage.memories) {
        Array buffers;
        for (const Memory::Buffer &buffer : memory.buffers)
          buffers.push_back(Object{{"name", buffer.name},
                                   {"slots", buffer.slots},
                                   {"bytes", buffer.bytes}});
        memoryList.push_back(Object{{"name", memory.name},
                                    {"capacity", memory.capacity},
                                    {"buffers", std::move(buffers)}});
      }
      if (!memoryList.empty())
        object["memories"] = std::move(memoryList);
      seconds(object, stage.seconds);
      stageList.push_back(std::move(object));
    }
    Object object{{"when", variant.when}, {"stages", std::move(stageList)}};
    seconds(object, variant.seconds);
    if (variant.simulated)
      object["simulated_seconds"] = *variant.simulated;
    variantList.push_back(std::move(object));
  }
  for (const Let &let : lets)
    letList.push_back(Object{
        {"name", let.name}, {"stored", let.isStored}, {"where", let.where}});
  result["bounds"] = std::move(boundList);
  result["variants"] = std::move(variantList);
  result["lets"] = std::move(letList);
  result["notes"] = Array(notes);
  result["costs"] = Array(costs);
  return result;
}
