//===- Roofline.cpp - the time below which no program can be --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Three resources, each with the least it must do, at the rate that it can keep:
//
//   tensor   multiply-adds            on a full array at its clock
//   dma      compulsory bytes         at dma.sustained_gb_per_s
//   hbm      compulsory bytes         at hbm.rate_gb_per_s
//
// Compulsory is each input once and each output once, at most what was moved:
// what a cache cannot save. The largest of the three is the bound. It does not
// know the program's order, tiles or engines, so it says what is left to gain.
//
//===----------------------------------------------------------------------===//

#include "Parts.h"
#include "Units.h"

#include <algorithm>
#include <cmath>

using namespace facet;
using namespace facet::sim;

/// Bytes per second of all DMA engines together.
static double dmaRate(const DmaUnit &dma) {
  double all = double(dma.engines * dma.rateMBs) * 1e6;
  return dma.sustainedMBs ? std::min(all, double(dma.sustainedMBs) * 1e6) : all;
}

void sim::findBound(const Program &program, const Timing &timing,
                    const Totals &totals, Report &report) {
  const Machine &machine = program.machine;
  auto ticks = [&](double seconds) {
    return Ticks(std::floor(seconds * 1e9 * double(timing.time().perNs())));
  };
  double macs = double(report.multiplyAdds);
  double arraySeconds =
      totals.idealCycles / (double(machine.tensor.clockMHz) * 1e6);
  double arrayRate =
      macs ? macs / arraySeconds : peakRate(machine, totals.dtype);
  report.resources.push_back({"tensor", ticks(arraySeconds),
                              withPrefix(macs) + " multiply-adds at " +
                                  withPrefix(arrayRate) + "/s" +
                                  (macs ? ", " + totals.types : "")});

  double dma = dmaRate(machine.dma), hbm = double(machine.hbm.rateMBs) * 1e6;
  double bytes = double(std::min(totals.compulsoryBytes, totals.movedBytes));
  auto basis = [&](double amount, double rate) {
    return withPrefix(amount, "B") + " at " + withPrefix(rate, "B/s");
  };
  report.resources.push_back({"dma", ticks(bytes / dma), basis(bytes, dma)});
  double hbmBytes = double(std::min(totals.compulsoryBytes, totals.hbmBytes));
  if (machine.hbm.contention)
    report.resources.push_back(
        {"hbm", ticks(hbmBytes / hbm), basis(hbmBytes, hbm)});
  for (unsigned r = 1; r != report.resources.size(); ++r)
    if (report.resources[r].least > report.bound())
      report.limit = r;

  Roofline &roof = report.roofline;
  roof.operations = 2 * macs;
  roof.peak = 2 * arrayRate;
  double seconds = report.ns(report.total) * 1e-9;
  roof.reached = seconds > 0 ? roof.operations / seconds : 0;
  roof.types = macs ? totals.types : dtypeName(totals.dtype);
  bool hbmLimits = machine.hbm.contention && hbm < dma;
  roof.bandwidth = hbmLimits ? hbm : dma;
  roof.limit = hbmLimits ? "hbm" : "dma";
  roof.moved = double(totals.hbmBytes);
  roof.compulsory = double(totals.compulsoryBytes);
}
