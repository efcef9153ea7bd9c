# --trace: what Perfetto's own definitions read is what --json says happened, and Chrome's format holds the same.
# RUN: mkdir -p %t && env PYTHONPATH=%S/Inputs %python %s %facet-sim %t

import collections
import json
import sys

from google.protobuf.unknown_fields import UnknownFieldSet
from perfetto.protos.perfetto.trace import perfetto_trace_pb2
from product import PRODUCT
from simulate import Case

case = Case(*sys.argv[1:])
Slice = collections.namedtuple("Slice", "track begin end name category arguments leaving arriving")
TrackEvent = perfetto_trace_pb2.TrackEvent


def run(text, trace, *options):
    done = case.raw(text, "--timing-only", "--trace", case.path(trace), "--json", case.path("s.json"), *options)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    return json.load(open(case.path("s.json")))


def perfetto(file):
    """Tracks by name, all slices, counters as {name: [(ns, value)]}."""
    trace = perfetto_trace_pb2.Trace()
    trace.ParseFromString(open(case.path(file), "rb").read())
    names, interned, slices, open_slices = {}, {}, [], {}
    counters, last = collections.defaultdict(list), {}
    for packet in trace.packet:
        for message in (packet, packet.track_event, packet.track_descriptor, packet.interned_data):
            assert len(UnknownFieldSet(message)) == 0
        assert packet.trusted_packet_sequence_id == 1
        for field, entries in packet.interned_data.ListFields():
            for entry in entries:
                text = entry.str.decode() if field.name == "debug_annotation_string_values" else entry.name
                assert (field.name, entry.iid) not in interned
                interned[field.name, entry.iid] = text
        if packet.HasField("track_descriptor"):
            track = packet.track_descriptor
            assert track.uuid not in names
            names[track.uuid] = track.name or track.process.process_name
            assert track.HasField("process") or track.parent_uuid in names
            continue
        event, at = packet.track_event, packet.timestamp
        assert at >= last.get(event.track_uuid, 0), "goes back in time"
        last[event.track_uuid] = at
        name = names[event.track_uuid]
        if event.type == TrackEvent.TYPE_COUNTER:
            counters[name].append((at, event.double_counter_value))
        elif event.type == TrackEvent.TYPE_SLICE_BEGIN:
            assert event.track_uuid not in open_slices, "two at a time"
            arguments = {interned["debug_annotation_names", a.name_iid]:
                         interned["debug_annotation_string_values", a.string_value_iid] if a.string_value_iid
                         else a.double_value for a in event.debug_annotations}
            open_slices[event.track_uuid] = Slice(
                name, at, None, interned["event_names", event.name_iid],
                interned["event_categories", event.category_iids[0]], arguments,
                tuple(event.flow_ids), tuple(event.terminating_flow_ids))
        else:
            assert event.type == TrackEvent.TYPE_SLICE_END
            slices.append(open_slices.pop(event.track_uuid)._replace(end=at))
    assert not open_slices
    return list(names.values()), slices, counters


def chrome(file):
    events = json.load(open(case.path(file)))["traceEvents"]
    names = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name"}
    slices = [(names[e["tid"]], int(e["ts"] * 1000 + 1e-6), e["name"], e["cat"], tuple(sorted(e["args"].items())))
              for e in events if e["ph"] == "X"]
    counters = collections.defaultdict(list)
    for e in events:
        if e["ph"] == "C":
            counters[e["name"]].append((int(e["ts"] * 1000 + 1e-6), *e["args"].values()))
    arrows = [sorted(e["id"] for e in events if e["ph"] == phase) for phase in "sf"]
    assert arrows[0] == arrows[1] == sorted(set(arrows[0]))
    return slices, counters


r = run(PRODUCT, "t.perfetto")
tracks, slices, counters = perfetto("t.perfetto")
order = ["facet-sim, trn2", "critical path", "tensor", "tensor weights"]
assert tracks[:4] == order and tracks.index("vector") < tracks.index("sync") < tracks.index("dma ring 0"), tracks
on = collections.defaultdict(list)
for s in slices:
    on[s.track].append(s)
    assert 0 <= s.begin <= s.end <= r["time_ns"] + 1

# One slice for each instruction that takes time, and for each transfer.
assert [s.name for s in on["tensor"] if s.category == "work"] == ["matmul", "matmul"]
assert [s.name for s in on["tensor weights"] if s.category == "work"] == ["load_weights"] * 2
assert [s.arguments["counters"] for s in on["tensor"] if s.category == "work"] == ["i0 = 0", "i0 = 1"]
last = [s for s in on["tensor"] if s.category == "work"][1]
assert last.arguments["place"] == "k.facet:3:9" and last.arguments["op"] == "matmul y"
assert last.arguments["text"].startswith("matmul dst=psum.f32[0:64, 0, 512], moving=")
moved = [s for s in slices if s.track.startswith("dma ring")]
assert len(moved) == 5 and sum(s.arguments["bytes"] for s in moved) == \
    sum(ring["bytes"] for ring in r["dma"]["rings"])
assert sum(s.arguments["bytes"] for s in slices if s.track.startswith("dma engine")) == \
    sum(s.arguments["bytes"] for s in moved)
assert abs(sum(s.end - s.begin for s in on["critical path"]) - r["time_ns"]) < len(on["critical path"]) + 1

# The waits are there with who released them; arrows go from there to what had waited.
waits = [s for s in on["vector"] if s.category == "wait"]
assert [(s.name, s.arguments["released by"]) for s in waits] == [("waits for summed", "tensor 3 matmul")]
leaving = {arrow: s for s in slices for arrow in s.leaving}
arriving = {arrow: s for s in slices for arrow in s.arriving}
assert leaving.keys() == arriving.keys() and len(leaving) == sum(len(s.leaving) for s in slices)
pairs = sorted((leaving[a].track, leaving[a].name, arriving[a].track, arriving[a].name) for a in leaving)
assert ("tensor", "matmul", "vector", "copy") in pairs and ("vector", "copy", "sync", "dma_copy") in pairs
assert any(p[0].startswith("dma ring") and p[2] == "tensor weights" for p in pairs), pairs
for arrow, s in leaving.items():
    assert s.begin <= arriving[arrow].begin

# Counters: a transfer counts to 16, the rate is never more than the machine's.
values = {name: [v for _, v in steps] for name, steps in counters.items()}
assert values["semaphore full"][-1] == 64 and values["semaphore full"] == sorted(values["semaphore full"])
assert values["semaphore summed"] == [1] and values["semaphore copied"] == [1]
assert max(values["dma rate"]) <= 368 + 1e-6 and values["dma rate"][-1] == 0

# Chrome's format, by the name of the file.
assert run(PRODUCT, "t.json") == r
found, found_counters = chrome("t.json")
assert found == [(s.track, s.begin, s.name, s.category, tuple(sorted(s.arguments.items()))) for s in slices]
assert {k: [(at, round(v, 6)) for at, v in steps] for k, steps in found_counters.items()} == \
    {k: [(at, round(v, 6)) for at, v in steps] for k, steps in counters.items()}

# A part of it.
run(PRODUCT, "w.perfetto", "--window", "1500:1600")
_, part, _ = perfetto("w.perfetto")
key = [(s.track, s.begin, s.end, s.name) for s in part]
wanted = [(s.track, s.begin, s.end, s.name) for s in slices if s.end >= 1500 and s.begin < 1600]
assert key and set(key) <= set((s.track, s.begin, s.end, s.name) for s in slices)
assert set(wanted) - set(key) == set(), set(wanted) - set(key)

# Words of the command line.
for options, message in (
        (["--window", "5"], "--window wants FROM:TO in ns, got '5'"),
        (["--window", "5:4"], "--window wants FROM:TO in ns, got '5:4'"),
        (["--window", "nan:4"], "--window wants FROM:TO in ns, got 'nan:4'"),
        (["--trace"], "--trace wants a value"),
        (["--trace", "-", "--json", "-"], "more than one result is to go to standard output")):
    done = case.raw(PRODUCT, "--timing-only", *options)
    assert done.returncode == 2 and message in done.stderr, (options, done.stderr)
done = case.raw(PRODUCT, "--timing-only", "--trace", case.path("no/such/t.perfetto"))
assert done.returncode == 1 and "cannot be written" in done.stderr, done.stderr

# More instructions than are kept.
done = case.raw(".queue vector\nloop trips=2100000\nadvance ring=r0\nend\n".replace("loop", ".ring r0 depth=2\nloop"),
                "--timing-only", "--trace", case.path("long.perfetto"))
assert done.returncode == 0 and "remark: its queues execute more than 4000000 instructions" in done.stderr, done.stderr
