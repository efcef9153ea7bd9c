//===- ChromeTrace.cpp - a trace in Chrome's JSON -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   {"traceEvents": [
//     {"ph": "M", "pid": 1, "tid": 2, "name": "thread_name", "args": {...}},
//     {"ph": "X", "pid": 1, "tid": 2, "ts": 1.25, "dur": 0.216, "name": "matmul", ...},
//
// For tools that read nothing else; Perfetto's own format is smaller and keeps
// counters with units. Times are in us.
//
//===----------------------------------------------------------------------===//

#include "Trace.h"

#include "llvm/Support/JSON.h"

using namespace facet;
using namespace facet::sim;
using llvm::StringRef;

namespace {

class ChromeSink : public TraceSink {
public:
  ChromeSink(StringRef process, llvm::raw_ostream &os) : json(os) {
    json.objectBegin();
    json.attribute("displayTimeUnit", "ns");
    json.attributeBegin("traceEvents");
    json.arrayBegin();
    metadata("process_name", 0, "name", process);
  }
  ~ChromeSink() override {
    json.arrayEnd();
    json.attributeEnd();
    json.objectEnd();
  }

  void track(unsigned track, StringRef name) override {
    metadata("thread_name", track, "name", name);
    metadata("thread_sort_index", track, "sort_index", track);
  }

  void counterTrack(unsigned track, StringRef name, StringRef unit) override {
    counters.resize(std::max<size_t>(counters.size(), track + 1));
    counters[track] = {name.str(), unit.empty() ? "value" : unit.str()};
  }

  void slice(const TraceSlice &slice) override {
    json.object([&] {
      place("X", slice.track, slice.begin);
      json.attribute("dur", (slice.end - slice.begin) / 1000);
      json.attribute("name", slice.name);
      json.attribute("cat", slice.category);
      json.attributeObject("args", [&] {
        for (const TraceArgument &argument : slice.arguments)
          if (argument.text.empty())
            json.attribute(argument.name, argument.number);
          else
            json.attribute(argument.name, argument.text);
      });
    });
    for (uint64_t number : slice.leaving)
      arrow("s", slice.track, slice.begin, number);
    for (uint64_t number : slice.arriving)
      arrow("f", slice.track, slice.begin, number);
  }

  void count(unsigned track, double ns, double value) override {
    json.object([&] {
      place("C", 0, ns);
      json.attribute("name", counters[track].first);
      json.attributeObject(
          "args", [&] { json.attribute(counters[track].second, value); });
    });
  }

private:
  void place(StringRef phase, unsigned track, double ns) {
    json.attribute("ph", phase);
    json.attribute("pid", 1);
    json.attribute("tid", track);
    json.attribute("ts", ns / 1000);
  }

  void metadata(StringRef kind, unsigned track, StringRef key,
                llvm::json::Value value) {
    json.object([&] {
      json.attribute("ph", "M");
      json.attribute("pid", 1);
      json.attribute("tid", track);
      json.attribute("name", kind);
      json.attributeObject("args", [&] { json.attribute(key, value); });
    });
  }

  /// Binds to the slice around it on its track.
  void arrow(StringRef phase, unsigned track, double ns, uint64_t number) {
    json.object([&] {
      place(phase, track, ns);
      json.attribute("id", number);
      json.attribute("name", "released");
      json.attribute("cat", "wait");
      if (phase == "f")
        json.attribute("bp", "e");
    });
  }

  llvm::json::OStream json;
  std::vector<std::pair<std::string, std::string>> counters;
};

} // namespace

std::string sim::writeChromeTrace(const Program &program,
                                  const TimeResult &time,
                                  const TraceOptions &options,
                                  llvm::raw_ostream &os) {
  ChromeSink sink("facet-sim, " + program.machine.name, os);
  return tellTrace(program, time, options, sink);
}
