//===- MemoryMap.cpp - who uses which bytes on the chip, as SVG -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bytes of a partition to the right, partitions downwards:
//
//   0   |x ring      |w ring |   |sums      |
//       |            |       |
//   127 |            |       |
//
// Boxes are what executed instructions reach, over all counters and slots, joined
// where they overlap, with their readers and writers as tooltip; buffers that the
// program declares lie over them with their names.
//
//===----------------------------------------------------------------------===//

#include "Page.h"
#include "Units.h"

#include "facet/Isa/Check.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <map>
#include <set>

using namespace facet;
using namespace facet::sim;

namespace {

struct Region {
  uint32_t first = 0, last = 0; // partitions, `last` is one past
  int64_t low = 0, high = 0;    // bytes
  std::set<std::string> readers, writers;
};

} // namespace

/// The bytes an access reaches in each of its partitions.
static bool reach(const Program &program, unsigned queue, unsigned pc,
                  const Access &access, int64_t size, Region &region) {
  Range range = affineRange(program, queue, pc, access.affine);
  if (range.empty())
    return false;
  region.first = access.partition;
  region.last = access.partition + access.partitions;
  region.low = access.offset + range.min;
  region.high = access.offset + range.max;
  int64_t bytes = dtypeBytes(access.dtype);
  for (unsigned d = 0; d != access.rank; ++d) {
    int64_t span = access.step[d] * (int64_t(access.count[d]) - 1) * bytes;
    (span < 0 ? region.low : region.high) += span;
  }
  region.high += bytes;
  // A predicate may keep what the range over all counters does not.
  region.low = std::clamp<int64_t>(region.low, 0, size);
  region.high = std::clamp<int64_t>(region.high, 0, size);
  return region.low < region.high;
}

static std::vector<Region> regionsOf(const Program &program,
                                     const TimeResult &time, Space space,
                                     int64_t size) {
  std::vector<Region> regions;
  for (unsigned q = 0; q != program.queues.size(); ++q)
    for (unsigned pc = 0; pc != program.queues[q].code.size(); ++pc) {
      const Instruction &i = program.queues[q].code[pc];
      if (!time.executed[q][pc])
        continue;
      for (const OperandInfo &operand : opcodeInfo(i.opcode)->operands) {
        const Access *access = program.access(i, operand.slot);
        Region region;
        if (!access || access->space != space ||
            !reach(program, q, pc, *access, size, region))
          continue;
        std::string who = std::string(engineName(program.queues[q].engine)) +
                          " " + opcodeInfo(i.opcode)->mnemonic;
        (operand.mode == OperandMode::Read ? region.readers : region.writers)
            .insert(who);
        regions.push_back(std::move(region));
      }
    }
  llvm::sort(regions, [](const Region &a, const Region &b) {
    return std::tie(a.first, a.last, a.low, a.high) <
           std::tie(b.first, b.last, b.low, b.high);
  });
  std::vector<Region> joined;
  for (Region &region : regions) {
    if (joined.empty() || joined.back().first != region.first ||
        joined.back().last != region.last || joined.back().high <= region.low) {
      joined.push_back(std::move(region));
      continue;
    }
    Region &last = joined.back();
    last.high = std::max(last.high, region.high);
    last.readers.insert(region.readers.begin(), region.readers.end());
    last.writers.insert(region.writers.begin(), region.writers.end());
  }
  return joined;
}

static std::string listOf(const std::set<std::string> &names) {
  std::string text;
  for (const std::string &name : names)
    text += (text.empty() ? "" : ", ") + name;
  return text.empty() ? "nobody" : text;
}

static std::string kibibytes(int64_t bytes) {
  return coordinate(double(bytes) / 1024) + " KiB";
}

namespace {

/// Where bytes and partitions lie in the figure.
struct Scale {
  double perByte, perPartition;
  static constexpr double left = 44, width = 1146, top = 20;
  double x(int64_t byte) const { return left + double(byte) * perByte; }
  double y(uint32_t partition) const {
    return top + double(partition) * perPartition;
  }
};

} // namespace

static void box(llvm::raw_ostream &os, const Scale &scale, const char *style,
                const Region &region, const std::string &title,
                const std::string &label) {
  double from = scale.x(region.low), to = scale.x(region.high);
  double top = scale.y(region.first), bottom = scale.y(region.last);
  os << "<g><title>" << escaped(title) << "</title><rect class=\"" << style
     << "\" x=\"" << coordinate(from) << "\" y=\"" << coordinate(top)
     << "\" width=\"" << coordinate(std::max(to - from, 1.0)) << "\" height=\""
     << coordinate(std::max(bottom - top, 1.0)) << "\"/>";
  if (!label.empty() && to - from > 6.3 * double(label.size()) + 10 &&
      bottom - top > 14)
    os << "<text class=\"c\" x=\"" << coordinate((from + to) / 2) << "\" y=\""
       << coordinate((top + bottom) / 2 + 4) << "\">" << escaped(label)
       << "</text>";
  os << "</g>\n";
}

void sim::writeMemory(const Program &program, const TimeResult &time,
                      Space space, llvm::raw_ostream &os) {
  const Machine &machine = program.machine;
  bool psum = space == Space::Psum;
  int64_t size = psum ? machine.psum.banks * machine.psum.bankBytes
                      : machine.sbuf.partitionBytes;
  std::vector<Region> regions = regionsOf(program, time, space, size);
  int64_t used = 0, bytes = 0;
  for (const Region &region : regions)
    used = std::max(used, region.high);
  // Bytes of a partition that anybody reaches, in whichever partitions.
  std::vector<std::pair<int64_t, int64_t>> ranges;
  for (const Region &region : regions)
    ranges.push_back({region.low, region.high});
  llvm::sort(ranges);
  int64_t end = 0;
  for (auto [low, high] : ranges) {
    bytes += std::max<int64_t>(0, high - std::max(low, end));
    end = std::max(end, high);
  }
  const char *name = psum ? "PSUM" : "SBUF";
  os << "<h2>" << name << "</h2><p>";
  if (regions.empty()) {
    os << "Nothing of it is used.</p>\n";
    return;
  }
  os << kibibytes(bytes) << " of " << kibibytes(size)
     << " of each partition in use, "
     << shareText(double(bytes) / double(size));
  // The map ends where the last use does: small programs stay legible.
  int64_t shown = psum ? size : std::min(size, (used + 4095) / 4096 * 4096);
  if (shown < size)
    os << "; nothing above " << kibibytes(shown);
  os << ".</p>\n";
  Scale scale{Scale::width / double(shown),
              112 / double(machine.core.partitions)};
  double bottom = scale.y(uint32_t(machine.core.partitions));
  os << "<svg viewBox=\"0 0 1200 " << coordinate(bottom + 6)
     << "\" role=\"img\" aria-label=\"memory map of " << name
     << "\"><rect class=\"track\" x=\"" << Scale::left << "\" y=\""
     << Scale::top << "\" width=\"" << Scale::width << "\" height=\"112\"/>\n";
  for (uint32_t p = 0; p <= machine.core.partitions;
       p += uint32_t(std::max<int64_t>(1, machine.core.partitions / 4)))
    os << "<text class=\"e m\" x=\"38\" y=\"" << coordinate(scale.y(p) + 4)
       << "\">" << p << "</text><path class=\"grid\" d=\"M" << Scale::left
       << ' ' << coordinate(scale.y(p)) << "h" << Scale::width << "\"/>";
  int64_t step = psum ? machine.psum.bankBytes : 1024;
  while (!psum && shown / step > 16)
    step *= 2;
  for (int64_t at = 0; at <= shown; at += step) {
    os << "<path class=\"grid\" d=\"M" << coordinate(scale.x(at)) << ' '
       << Scale::top << "V" << coordinate(bottom) << "\"/>";
    if (psum && at != shown)
      os << "<text class=\"c m\" x=\"" << coordinate(scale.x(at + step / 2))
         << "\" y=\"13\">bank " << at / step << "</text>";
    else if (!psum && at + step / 2 <= shown)
      os << "<text class=\"" << (at ? "c" : "") << " m\" x=\""
         << coordinate(scale.x(at)) << "\" y=\"13\">" << kibibytes(at)
         << "</text>";
  }
  os << '\n';
  bool declared = llvm::any_of(program.buffers, [&](const Buffer &buffer) {
    return buffer.space == space;
  });
  for (const Region &region : regions)
    box(os, scale, "touched", region,
        "bytes " + std::to_string(region.low) + " to " +
            std::to_string(region.high - 1) + ", partitions " +
            std::to_string(region.first) + " to " +
            std::to_string(region.last - 1) + "\nwritten by " +
            listOf(region.writers) + "\nread by " + listOf(region.readers),
        declared ? "" : listOf(region.writers));
  for (const Buffer &buffer : program.buffers) {
    if (buffer.space != space)
      continue;
    Region region;
    region.first = buffer.partition;
    region.last = buffer.partition + buffer.partitions;
    region.low = std::min(int64_t(buffer.address), shown);
    region.high = std::min(int64_t(buffer.address + buffer.bytes), shown);
    std::string live;
    if (buffer.liveBegin || buffer.liveEnd)
      live = "\nlive in statements " + std::to_string(buffer.liveBegin) +
             " to " + std::to_string(buffer.liveEnd);
    box(os, scale, "buffer", region,
        buffer.name + ": " + dtypeName(buffer.dtype) + ", " +
            withPrefix(double(buffer.bytes), "B") + " in partitions " +
            std::to_string(buffer.partition) + " to " +
            std::to_string(buffer.partition + buffer.partitions - 1) + live,
        buffer.name);
  }
  os << "</svg>\n";
}
