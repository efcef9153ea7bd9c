//===- Report.cpp - what check found --------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   linear: 312 calls on 9 roads and 3 that must be refused: all as they should be
//     y: 5120 elements, on average 0.08 and at most 0.52 of the bound, (3, 1) at M=7 … on x86-64-v4
//     trn2: has no code for it: …
//
//===----------------------------------------------------------------------===//

#include "../Summary.h"
#include "Checker.h"

#include "llvm/Support/Format.h"

#include <cmath>

using namespace mlir;
using namespace facet;

void Checker::printText(llvm::raw_ostream &os) const {
  unsigned calls = callCount(),
           used = llvm::count_if(reports, [](const RoadReport &report) {
             return report.calls > 0;
           });
  os << kernel.name << ": " << calls << (calls == 1 ? " call" : " calls");
  if (used > 1)
    os << " on " << used << " roads";
  if (refusals)
    os << " and " << refusals << " that must be refused";
  os << (agrees() ? ": all as they should be\n" : ": something is wrong\n");
  for (unsigned i = 0; i < outputs.size(); ++i) {
    Verdict verdict = verdictOf(i);
    os << "  " << kernel.params[outputs[i]].name << ": " << verdict.judged
       << " elements";
    if (verdict.judged && !verdict.differ) {
      const Element &worst = verdict.worst;
      if (worst.ratio == 0)
        os << ", all exact";
      else
        os << llvm::format(", on average %.2g and at most %.3g of the bound",
                           verdict.mean(), worst.ratio)
           << ", " << shapeText(worst.index) << " at " << worst.where;
    }
    os << "\n";
  }
  for (const std::string &promise : unbroken)
    os << "  no small call breaks the promise " << promise << "\n";
  for (auto [road, report] : llvm::zip_equal(roads, reports)) {
    if (report.impossible && !report.calls)
      os << "  not on " << road->name << ": " << report.reason << "\n";
    else if (report.impossible)
      os << "  not on " << road->name << " for " << report.impossible << " of "
         << report.impossible + report.calls << " sizes: " << report.reason
         << "\n";
    if (report.complaint.empty())
      continue;
    os << "  " << (roads.size() > 1 ? road->name + ": " : "")
       << report.complaint << "\n    again: " << report.again << "\n";
    if (!report.origin.empty())
      os << "    made by, the last first:\n";
    for (const std::string &line : report.origin)
      os << "      " << line << "\n";
  }
  for (const std::string &complaint : complaints)
    os << "  " << complaint << "\n";
}

static void number(llvm::json::OStream &out, StringRef name, double value) {
  if (std::isfinite(value))
    out.attribute(name, value);
  else
    out.attribute(name, numberText(value, ScalarType::F64));
}

static void printVerdict(llvm::json::OStream &out, const Verdict &verdict) {
  out.attribute("differ", verdict.differ);
  out.attribute("judged", verdict.judged);
  if (!verdict.judged)
    return;
  out.attribute("mean", verdict.mean());
  out.attributeObject("worst", [&] {
    number(out, "bound", verdict.worst.bound);
    out.attributeArray("index", [&] {
      for (int64_t extent : verdict.worst.index)
        out.value(extent);
    });
    number(out, "ratio", verdict.worst.ratio);
    number(out, "stored", verdict.worst.stored);
    number(out, "value", verdict.worst.value);
    out.attribute("where", verdict.worst.where);
  });
}

void Checker::printJson(llvm::json::OStream &out) const {
  out.object([&] {
    out.attribute("agrees", agrees());
    out.attribute("calls", callCount());
    out.attributeArray("complaints", [&] {
      for (const RoadReport &report : reports)
        if (!report.complaint.empty())
          out.value(report.complaint);
      for (const std::string &complaint : complaints)
        out.value(complaint);
    });
    out.attribute("kernel", kernel.name);
    out.attribute("refusals", refusals);
    out.attributeObject("results", [&] {
      for (unsigned i = 0; i < outputs.size(); ++i)
        out.attributeObject(kernel.params[outputs[i]].name,
                            [&] { printVerdict(out, verdictOf(i)); });
    });
    out.attributeArray("roads", [&] {
      for (auto [road, report] : llvm::zip_equal(roads, reports))
        out.object([&, &road = road, &report = report] {
          if (!report.again.empty())
            out.attribute("again", report.again);
          out.attribute("calls", report.calls);
          if (!report.complaint.empty())
            out.attribute("complaint", report.complaint);
          out.attribute("impossible", report.impossible);
          out.attribute("name", road->name);
          if (!report.origin.empty())
            out.attributeArray("origin", [&, &report = report] {
              for (const std::string &line : report.origin)
                out.value(line);
            });
          if (!report.reason.empty())
            out.attribute("reason", report.reason);
          if (report.smallest)
            out.attributeObject("sizes", [&] {
              for (auto [name, value] :
                   llvm::zip_equal(kernel.sizes, report.smallest->sizes))
                out.attribute(name, value);
            });
        });
    });
  });
}
