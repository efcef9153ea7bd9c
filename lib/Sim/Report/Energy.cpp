//===- Energy.cpp - counts times the machine's table ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Counts are exact, the energies of the table are not: they are published or
// assumed figures of one process node, good for comparing two programs and, as
// absolute values, to a factor of two. Clock tree, control and the network on
// the chip are not in them.
//
//   68.7 G multiply-adds x 0.59 pJ = 40.5 mJ     ISCA21, bf16 multiply and f32 add
//
// A program carries its machine's values but not where they came from; when the
// shipped machine of that name has the same hash, its sources are quoted.
//
//===----------------------------------------------------------------------===//

#include "Parts.h"

using namespace facet;
using namespace facet::sim;

/// The machine with sources: the program's, or the shipped one that is equal.
static std::optional<Machine> withSources(const Machine &machine) {
  if (!machine.path.empty())
    return machine;
  if (findMachine(machine.name).empty())
    return std::nullopt;
  Diagnostics quiet;
  std::optional<Machine> shipped = loadMachine(machine.name, quiet);
  if (shipped && machineHash(*shipped) != machineHash(machine))
    shipped.reset();
  return shipped;
}

void sim::findEnergy(const Program &program, const Totals &totals,
                     Report &report) {
  const EnergyTable &table = program.machine.energy;
  std::optional<Machine> sources = withSources(program.machine);
  auto line = [&](const char *event, const char *unit, double count,
                  int64_t femtojoules, llvm::StringRef key) {
    if (!count || !femtojoules)
      return;
    EnergyLine line{event, unit, count, double(femtojoules) / 1000, ""};
    llvm::ArrayRef<MachineParameter> parameters = machineParameters();
    for (size_t p = 0; sources && p != parameters.size(); ++p)
      if (parameters[p].key == key &&
          parameters[p].group == llvm::StringRef("energy") &&
          p < sources->origins.size())
        line.source = sources->origins[p].source;
    report.energy.push_back(std::move(line));
  };
  auto bytes = [&](unsigned memory) {
    const TrafficLine &t = report.traffic[memory];
    return double(t.engines.read + t.engines.written + t.transfers.read +
                  t.transfers.written);
  };
  const uint64_t *macs = totals.macs;
  line("multiply-adds, 8 bit", "multiply-add", double(macs[0]), table.macF8,
       "mac_f8_pj");
  line("multiply-adds, 16 bit", "multiply-add", double(macs[1]), table.macBf16,
       "mac_16bit_pj");
  line("multiply-adds, 32 bit", "multiply-add", double(macs[2]), table.macF32,
       "mac_f32_pj");
  line("elementwise", "element", double(totals.elements), table.elementOp,
       "element_op_pj");
  line("sbuf", "byte", bytes(1), table.sbufByte, "sbuf_pj_per_byte");
  line("psum", "byte", bytes(2), table.psumByte, "psum_pj_per_byte");
  line("hbm", "byte", bytes(0), table.hbmByte, "hbm_pj_per_byte");
  // 1 mW is 10^9 pJ per second.
  line("static", "s", report.ns(report.total) * 1e-9, table.staticMilliwatt,
       "static_watt");
  if (!report.energy.empty() &&
      report.energy.back().event == llvm::StringRef("static"))
    report.energy.back().picojoules = double(table.staticMilliwatt) * 1e9;
}

double Report::joules() const {
  double sum = 0;
  for (const EnergyLine &line : energy)
    sum += line.joules();
  return sum;
}
