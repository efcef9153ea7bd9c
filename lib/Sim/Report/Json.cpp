//===- Json.cpp - a report for programs -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   {"time_ns": 1793122.3, "cycles": 4303494, "bound_ns": 1747626.6, ...}
//
// The keys are documented in docs/Simulator.md, "JSON"; a change of meaning is a
// new number of the schema, which runToJson writes.
//
//===----------------------------------------------------------------------===//

#include "facet/Sim/Report.h"

using namespace facet;
using namespace facet::sim;
namespace json = llvm::json;

static json::Object labelToJson(const InstructionLabel &label) {
  json::Object object;
  if (label.queue < 0)
    return object;
  llvm::StringRef engine = llvm::StringRef(label.name).split(' ').first;
  object["queue"] = engine;
  object["instruction"] = label.pc;
  object["mnemonic"] = llvm::StringRef(label.name).rsplit(' ').second;
  if (!label.place.empty())
    object["place"] = label.place;
  if (!label.op.empty())
    object["op"] = label.op;
  return object;
}

static json::Object trafficToJson(const Traffic &traffic) {
  return json::Object{{"read", traffic.read}, {"written", traffic.written}};
}

static json::Object bytesToJson(const Report &report) {
  json::Object bytes;
  for (const TrafficLine &line : report.traffic) {
    std::string memory = line.memory;
    bytes[memory + "_read"] = line.engines.read + line.transfers.read;
    bytes[memory + "_written"] = line.engines.written + line.transfers.written;
    bytes[memory] = json::Object{{"engines", trafficToJson(line.engines)},
                                 {"transfers", trafficToJson(line.transfers)}};
  }
  bytes["hbm_compulsory"] = uint64_t(report.roofline.compulsory);
  return bytes;
}

static json::Array enginesToJson(const Report &report) {
  json::Array engines;
  for (const EngineLine &engine : report.engines) {
    json::Object stalls;
    for (unsigned s = 0; s != numStalls; ++s)
      stalls[stallName(Stall(s))] = report.ns(engine.time.stalls[s]);
    engines.push_back(
        json::Object{{"engine", engine.name},
                     {"busy_ns", report.ns(engine.time.busy)},
                     {"stalls_ns", std::move(stalls)},
                     {"full_rate_ns", report.ns(engine.time.work)},
                     {"loading_ns", report.ns(engine.time.loading)}});
  }
  return engines;
}

static json::Object dmaToJson(const Report &report) {
  json::Array engines, rings;
  for (const DmaEngineTime &engine : report.dma)
    engines.push_back(json::Object{{"busy_ns", report.ns(engine.busy)},
                                   {"held_ns", report.ns(engine.held)},
                                   {"idle_ns", report.ns(engine.idle)},
                                   {"bytes", engine.bytes},
                                   {"packets", engine.packets}});
  for (const RingLine &ring : report.rings)
    rings.push_back(json::Object{{"ring", ring.ring},
                                 {"transfers", ring.transfers},
                                 {"bytes", ring.bytes}});
  return json::Object{{"engines", std::move(engines)},
                      {"rings", std::move(rings)}};
}

static json::Object rooflineToJson(const Report &report) {
  const Roofline &roof = report.roofline;
  return json::Object{
      {"operations", roof.operations}, {"peak_per_s", roof.peak},
      {"reached_per_s", roof.reached}, {"types", roof.types},
      {"bytes_per_s", roof.bandwidth}, {"limit", roof.limit},
      {"bytes", roof.moved},           {"compulsory_bytes", roof.compulsory}};
}

static json::Object energyToJson(const Report &report) {
  json::Array lines;
  for (const EnergyLine &line : report.energy)
    lines.push_back(json::Object{{"event", line.event},
                                 {"unit", line.unit},
                                 {"count", line.count},
                                 {"pj", line.picojoules},
                                 {"joules", line.joules()},
                                 {"source", line.source},
                                 {"assumed", line.isAssumed()}});
  double joules = report.joules();
  return json::Object{{"joules", joules},
                      {"low_joules", joules / energyFactor},
                      {"high_joules", joules * energyFactor},
                      {"events", std::move(lines)}};
}

static const char *kindName(PathLine::Kind kind) {
  return kind == PathLine::Ran       ? "ran"
         : kind == PathLine::Started ? "started"
         : kind == PathLine::Moved   ? "moved"
                                     : "followed";
}

json::Object sim::reportToJson(const Report &report) {
  json::Object object{{"time_ns", report.ns(report.total)},
                      {"cycles", report.cycles},
                      {"clock_mhz", report.clockMHz},
                      {"envelope_ns", report.envelopeNs},
                      {"bound_ns", report.ns(report.bound())},
                      {"bound_by", report.resources[report.limit].name},
                      {"utilisation", report.share(report.bound())},
                      {"matmuls", report.matmuls},
                      {"matmuls_at_full_rate", report.matmulsAtFullRate},
                      {"multiply_adds", report.multiplyAdds},
                      {"bytes", bytesToJson(report)},
                      {"engines", enginesToJson(report)},
                      {"dma", dmaToJson(report)},
                      {"roofline", rooflineToJson(report)},
                      {"energy", energyToJson(report)}};
  json::Object bounds;
  for (const Resource &resource : report.resources)
    bounds[resource.name] = report.ns(resource.least);
  object["bounds_ns"] = std::move(bounds);
  if (report.ladderOf >= 0) {
    json::Array steps;
    for (const LadderStep &step : report.ladder)
      steps.push_back(
          json::Object{{"step", step.name}, {"ns", report.ns(step.ticks)}});
    object["ladder"] =
        json::Object{{"engine", report.engines[size_t(report.ladderOf)].name},
                     {"steps", std::move(steps)}};
  }
  if (!report.recorded)
    return object;
  json::Array path, waits;
  for (const PathLine &line : report.path) {
    json::Object entry = labelToJson(line.what);
    entry["kind"] = kindName(line.kind);
    if (line.kind == PathLine::Followed)
      entry["reason"] = stallName(line.reason);
    entry["ns"] = report.ns(line.ticks);
    entry["times"] = line.times;
    path.push_back(std::move(entry));
  }
  for (const WaitLine &line : report.waits) {
    json::Object entry = labelToJson(line.who);
    entry["reason"] = stallName(line.reason);
    if (!line.semaphores.empty())
      entry["semaphores"] = json::Array(line.semaphores);
    if (line.released.queue >= 0)
      entry["released_by"] = labelToJson(line.released);
    entry["ns"] = report.ns(line.ticks);
    entry["longest_ns"] = report.ns(line.longest);
    entry["times"] = line.times;
    waits.push_back(std::move(entry));
  }
  object["critical_path"] = std::move(path);
  object["waits"] = std::move(waits);
  return object;
}
