//===- Perfetto.cpp - a trace for ui.perfetto.dev -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Perfetto's own format: a protobuf message Trace, which is nothing but packets.
//
//   packet { track_descriptor { uuid: 3 parent_uuid: 1 name: "tensor" } }
//   packet { timestamp: 1250 track_event { type: SLICE_BEGIN track_uuid: 3 ... } }
//   packet { timestamp: 1466 track_event { type: SLICE_END track_uuid: 3 } }
//
// The wire format needs a dozen lines, so no library is linked for it. Field
// numbers are those of Perfetto's public definitions: trace_packet.proto,
// track_event.proto, track_descriptor.proto, counter_descriptor.proto,
// process_descriptor.proto, interned_data.proto and debug_annotation.proto under
// protos/perfetto/trace; a test decodes a trace with the package `perfetto`, which
// is made from them. Names and texts are interned: written once, then numbered.
//
// Time stamps are whole ns, rounded down.
//
//===----------------------------------------------------------------------===//

#include "Trace.h"

#include "llvm/ADT/StringMap.h"

#include <cstring>

using namespace facet;
using namespace facet::sim;
using llvm::StringRef;

namespace {

/// A protobuf message being written.
class Message {
public:
  /// int32, uint64, bool, enum: wire type 0.
  void number(unsigned field, uint64_t value) {
    varint(field << 3);
    varint(value);
  }
  /// double, fixed64: wire type 1.
  void fixed(unsigned field, uint64_t bits) {
    varint(field << 3 | 1);
    for (unsigned byte = 0; byte != 8; ++byte)
      bytes += char(bits >> (8 * byte));
  }
  void real(unsigned field, double value) {
    uint64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    fixed(field, bits);
  }
  /// string and messages: wire type 2.
  void text(unsigned field, StringRef value) {
    varint(field << 3 | 2);
    varint(value.size());
    bytes += value;
  }
  void message(unsigned field, const Message &value) {
    text(field, value.bytes);
  }
  bool empty() const { return bytes.empty(); }
  void clear() { bytes.clear(); }
  StringRef data() const { return bytes; }

private:
  void varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7)
      bytes += char(value | 0x80);
    bytes += char(value);
  }
  std::string bytes;
};

namespace packet { // TracePacket
enum : unsigned {
  timestamp = 8,
  trustedPacketSequenceId = 10,
  trackEvent = 11,
  internedData = 12,
  sequenceFlags = 13,
  trackDescriptor = 60
};
} // namespace packet

namespace descriptor { // TrackDescriptor
enum : unsigned {
  uuid = 1,
  name = 2,
  process = 3,
  parentUuid = 5,
  counter = 8,
  childOrdering = 11,
  siblingOrderRank = 12
};
} // namespace descriptor

namespace event { // TrackEvent
enum : unsigned {
  categoryIids = 3,
  debugAnnotations = 4,
  type = 9,
  nameIid = 10,
  trackUuid = 11,
  doubleCounterValue = 44,
  flowIds = 47,
  terminatingFlowIds = 48
};
enum : unsigned { sliceBegin = 1, sliceEnd = 2, counter = 4 };
} // namespace event

class PerfettoSink : public TraceSink {
public:
  PerfettoSink(StringRef process, llvm::raw_ostream &os) : os(os) {
    Message processDescriptor, track;
    processDescriptor.number(1, 1);     // pid
    processDescriptor.text(6, process); // process_name
    track.number(descriptor::uuid, root);
    track.message(descriptor::process, processDescriptor);
    track.number(descriptor::childOrdering, 3); // EXPLICIT
    Message packet;
    packet.number(packet::sequenceFlags, 1); // INCREMENTAL_STATE_CLEARED
    packet.message(packet::trackDescriptor, track);
    write(packet);
  }

  void track(unsigned track, StringRef name) override {
    declare(track, name, nullptr);
  }

  void counterTrack(unsigned track, StringRef name, StringRef unit) override {
    Message counter;
    if (unit.empty())
      counter.number(3, 2); // unit: COUNT
    else
      counter.text(6, unit); // unit_name
    declare(track, name, &counter);
  }

  void slice(const TraceSlice &slice) override {
    Message begin;
    begin.number(event::type, event::sliceBegin);
    begin.number(event::trackUuid, root + slice.track);
    begin.number(event::nameIid, intern(names, 2, slice.name));
    begin.number(event::categoryIids, intern(categories, 1, slice.category));
    for (const TraceArgument &argument : slice.arguments) {
      Message annotation; // DebugAnnotation
      annotation.number(1, intern(argumentNames, 3, argument.name)); // name_iid
      if (argument.text.empty())
        annotation.real(5, argument.number); // double_value
      else
        annotation.number(17,
                          intern(texts, 29, argument.text)); // string_value_iid
      begin.message(event::debugAnnotations, annotation);
    }
    for (uint64_t arrow : slice.leaving)
      begin.fixed(event::flowIds, arrow);
    for (uint64_t arrow : slice.arriving)
      begin.fixed(event::terminatingFlowIds, arrow);
    writeEvent(slice.begin, begin);
    Message end;
    end.number(event::type, event::sliceEnd);
    end.number(event::trackUuid, root + slice.track);
    writeEvent(slice.end, end);
  }

  void count(unsigned track, double ns, double value) override {
    Message count;
    count.number(event::type, event::counter);
    count.number(event::trackUuid, root + track);
    count.real(event::doubleCounterValue, value);
    writeEvent(ns, count);
  }

private:
  using Interned = llvm::StringMap<uint64_t>;

  /// The number of a text; a new one goes into the next packet. `field` is the
  /// list of InternedData.
  uint64_t intern(Interned &map, unsigned field, StringRef text) {
    auto [entry, isNew] = map.try_emplace(text, map.size() + 1);
    if (isNew) {
      Message
          named; // EventName, EventCategory, DebugAnnotationName, InternedString
      named.number(1, entry->second);
      named.text(2, text);
      interned.message(field, named);
    }
    return entry->second;
  }

  void declare(unsigned track, StringRef name, const Message *counter) {
    Message message, packet;
    message.number(descriptor::uuid, root + track);
    message.number(descriptor::parentUuid, root);
    message.text(descriptor::name, name);
    message.number(descriptor::siblingOrderRank, track);
    if (counter)
      message.message(descriptor::counter, *counter);
    packet.message(packet::trackDescriptor, message);
    write(packet);
  }

  void writeEvent(double ns, const Message &event) {
    Message packet;
    packet.number(packet::timestamp, uint64_t(ns));
    packet.number(packet::sequenceFlags, 2); // NEEDS_INCREMENTAL_STATE
    if (!interned.empty())
      packet.message(packet::internedData, interned);
    interned.clear();
    packet.message(packet::trackEvent, event);
    write(packet);
  }

  void write(Message &packet) {
    packet.number(packet::trustedPacketSequenceId, 1);
    Message trace;
    trace.message(1, packet); // Trace.packet
    os << trace.data();
  }

  static constexpr uint64_t root = 1000; // uuid of the process' track
  llvm::raw_ostream &os;
  Interned names, categories, argumentNames, texts;
  Message interned; // InternedData of the next packet
};

} // namespace

std::string sim::writePerfetto(const Program &program, const TimeResult &time,
                               const TraceOptions &options,
                               llvm::raw_ostream &os) {
  PerfettoSink sink("facet-sim, " + program.machine.name, os);
  return tellTrace(program, time, options, sink);
}
