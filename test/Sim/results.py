# What a run says about its time: --stats and --json. Parts sum to their wholes, numbers that can be
# worked out by hand are what they should be.
# RUN: mkdir -p %t && env PYTHONPATH=%S/Inputs %python %s %facet-sim %t

import json
import os
import re
import subprocess
import sys

import numpy as np
from product import PRODUCT
from simulate import Case

case = Case(*sys.argv[1:])


def results(text, *options):
    done = case.raw(text, "--timing-only", "--json", case.path("s.json"), *options)
    assert done.returncode == 0, done.stderr
    assert done.stderr == "", done.stderr
    return json.load(open(case.path("s.json"))), done.stdout


def near(found, wanted):
    """To a tick of trn2, 1/3000 ns."""
    assert abs(found - wanted) <= 1e-9 * abs(wanted) + 1 / 3000, (found, wanted)


def check_sums(r):
    """What holds for every run."""
    assert r["schema"] == "facet-sim-run-2"
    total = r["time_ns"]
    for engine in r["engines"]:
        near(engine["busy_ns"] + sum(engine["stalls_ns"].values()), total)
    for engine in r["dma"]["engines"]:
        near(engine["busy_ns"] + engine["held_ns"] + engine["idle_ns"], total)
    near(sum(step["ns"] for step in r["ladder"]["steps"]), total)
    near(sum(part["ns"] for part in r["critical_path"]), total)
    assert r["bound_ns"] == max(r["bounds_ns"].values()) == r["bounds_ns"][r["bound_by"]]
    assert r["bound_ns"] <= total
    near(r["utilisation"] * total, r["bound_ns"])
    for memory in ("hbm", "sbuf", "psum"):
        for way in ("read", "written"):
            assert r["bytes"][f"{memory}_{way}"] == sum(
                r["bytes"][memory][who][way] for who in ("engines", "transfers"))
    assert sum(ring["bytes"] for ring in r["dma"]["rings"]) == sum(e["bytes"] for e in r["dma"]["engines"])
    energy = r["energy"]
    near(energy["joules"] * 1e12, sum(e["joules"] for e in energy["events"]) * 1e12)
    assert energy["low_joules"] * 4 == energy["high_joules"] == energy["joules"] * 2
    for event in energy["events"]:
        near(event["joules"] * 1e12, event["count"] * event["pj"])
        assert event["source"] and event["assumed"] == event["source"].startswith("assumed")


r, _ = results(PRODUCT)
check_sums(r)
assert r["multiply_adds"] == 256 * 64 * 512 and r["matmuls"] == 2
near(r["bounds_ns"]["tensor"], 256 * 64 * 512 / 128 / 128 / 2.4)
once = 262144 + 32768 + 131072
near(r["bounds_ns"]["dma"], once / 368)
near(r["bounds_ns"]["hbm"], once / 716)
assert r["bytes"]["hbm_compulsory"] == once
assert (r["bytes"]["hbm_read"], r["bytes"]["hbm_written"]) == (262144 + 32768, 131072)
assert r["bytes"]["psum"]["engines"] == {"read": 2 * 131072, "written": 2 * 131072}  # the second step adds
ladder = {step["step"]: step["ns"] for step in r["ladder"]["steps"]}
near(ladder["ideal"], r["bounds_ns"]["tensor"])
near(ladder["empty places"], ladder["ideal"])  # half of the columns
assert [(ring["ring"], ring["transfers"]) for ring in r["dma"]["rings"]] == [(0, 3), (3, 2)]
macs = next(e for e in r["energy"]["events"] if e["event"] == "multiply-adds, 16 bit")
assert (macs["count"], macs["pj"], macs["source"]) == (256 * 64 * 512, 0.59, "ISCA21, bf16 multiply and f32 add")
copied = next(w for w in r["waits"] if w["queue"] == "vector")
assert copied["semaphores"] == ["summed"] and copied["reason"] == "semaphore" and copied["times"] == 1
assert copied["place"] == "k.facet:4:1" and "op" not in copied
assert copied["released_by"] == {"queue": "tensor", "instruction": 3, "mnemonic": "matmul",
                                 "place": "k.facet:3:9", "op": "matmul y"}
roof = r["roofline"]
near(roof["reached_per_s"] * r["time_ns"], 2e9 * r["multiply_adds"])
near(roof["peak_per_s"], 2 * 128 * 128 * 2.4e9)
assert (roof["bytes"], roof["bytes_per_s"], roof["limit"], roof["types"]) == (once, 368e9, "dma", "bf16")

# The same on standard output, one screen.
_, text = results(PRODUCT, "--stats")
assert len(text.splitlines()) < 64 and max(map(len, text.splitlines())) <= 130, text
for line in (r"^time +[0-9.]+ us +%s cycles at 2.400 GHz; the host adds 16.80 us$" % f"{r['cycles']:,}".replace(",", " "),
             r"^bound +1.158 us +[0-9.]+ % +dma +426.0 kB at 368.0 GB/s$",
             r"^ +213.3 ns +[0-9.]+ % +tensor +8.389 M multiply-adds at 39.32 T/s, bf16$",
             r"^rate .* of 78.64 TFLOP/s, 0.0 % of the array's instructions at full clock$",
             r"^roof +39.4 FLOP/byte to HBM, 39.4 at best, 213.7 fill the array \(dma\)$",
             r"^    ideal +213.3 ns .* all multiply-adds on a full array$",
             r"^  \+ DMA .* waits for a transfer$",
             r"^  ring 3 +2 transfers +262.1 kB$",
             r"^  hbm +294.9 kB +131.1 kB +294.9 kB +131.1 kB$",
             r"^ +[0-9.]+ [nu]s +1 x  vector 0 copy  k.facet:4:1: semaphore summed, released by tensor 3 matmul$",
             r"^ +4.949 uJ +[0-9.]+ %  multiply-adds, 16 bit +8.389 M x 0.59 pJ  ISCA21"):
    assert re.search(line, text, re.M), (line, text)

# A program that carries its machine in a file has no sources in it; the shipped machine of that hash has.
engine = case.path("p.engine")
case.raw(PRODUCT)  # writes the text
assert subprocess.run([case.sim, "as", case.path("p.s"), "-o", engine]).returncode == 0
done = subprocess.run([case.sim, "run", engine, "--timing-only", "--json", "-"], capture_output=True, text=True)
assert json.loads(done.stdout)["energy"] == r["energy"]
# Another machine: its own energy, and power that is drawn all the time.
with open(case.path("warm.yaml"), "w") as file:
    file.write("format: facet-machine-1\nname: warm\nbase: trn2\nenergy:\n  static_watt: {value: 10, source: measured}\n")
warm, text = results(PRODUCT, "--stats", "--machine", case.path("warm.yaml"))
check_sums(warm)
static = warm["energy"]["events"][-1]
assert (static["event"], static["unit"], static["source"]) == ("static", "s", "measured")
near(static["joules"] * 1e12, 10e3 * warm["time_ns"])
assert re.search(r" static +[0-9.]+ u x 10 W  measured$", text, re.M), text

# The critical path of a program whose engines wait for each other leads through all of them.
done = subprocess.run([case.sim, "run", os.path.join(os.path.dirname(os.path.abspath(__file__)), "Inputs", "programs",
                                                     "attention.s"), "--timing-only", "--json", "-"],
                      capture_output=True, text=True)
attention = json.loads(done.stdout)
check_sums(attention)
assert {part["queue"] for part in attention["critical_path"]} == {"tensor", "vector", "scalar", "sync"}
kinds = {part["kind"] for part in attention["critical_path"]}
assert kinds == {"ran", "started", "moved", "followed"}, kinds
assert max(part["ns"] for part in attention["critical_path"]) < attention["time_ns"] / 4

# f32 takes its passes, 8 bit two rows a cycle: the ideal knows both.
f32 = PRODUCT.replace("bf16", "f32").replace("128*r0, 64", "256*r0, 64").replace("1024*r0", "2048*r0") \
    .replace("bytes 262144", "bytes 524288").replace("bytes 32768", "bytes 65536") \
    .replace("131072*i0", "262144*i0").replace("16384*i0", "32768*i0").replace("at 0x40000", "at 0x100000")
r, _ = results(f32)
check_sums(r)
near(r["bounds_ns"]["tensor"], 4 * 256 * 64 * 512 / 128 / 128 / 2.4)
assert [e["event"] for e in r["energy"]["events"]][0] == "multiply-adds, 32 bit"

# Nothing multiplies: the ladder is about the engine that works longest.
r, text = results("""
.buffer x in hbm.f32[128, 2048] at 0 bytes 1048576
.semaphore full
.queue vector
  loop trips=8
    copy dst=sbuf.f32[0:128, 8192, 2048], src=sbuf.f32[0:128, 0, 2048], wait(full >= 16)
  end
.queue sync
  dma_copy dst=sbuf.f32[0:128, 0, 2048], src=hbm.f32[x, 128, 0, 2048], update(full += 1)
""", "--stats")
check_sums(r)
assert r["ladder"]["engine"] == "vector" and r["ladder"]["steps"][0]["step"] == "busy"
assert r["bounds_ns"]["tensor"] == 0 and r["roofline"]["operations"] == 0
assert "where the time of vector goes" in text and "roof " not in text

# Input that is read again and again must be read once; scratch need not be there at all.
r, _ = results("""
.buffer x in hbm.f32[128, 512] at 0 bytes 262144
.buffer t scratch hbm.f32[128, 512] at 262144 bytes 262144
.queue sync
  loop trips=5
    dma_copy dst=sbuf.f32[0:128, 0, 512], src=hbm.f32[x, 128, 0, 512]
    dma_copy dst=hbm.f32[t, 128, 0, 512], src=sbuf.f32[0:128, 0, 512]
  end
""")
check_sums(r)
assert r["bytes"]["hbm_compulsory"] == 262144 and r["bytes"]["hbm_read"] == 5 * 262144

# A program of nothing.
r, text = results(".queue sync\n  nop\n", "--stats")
check_sums(r)
assert r["bound_ns"] == 0

# One thing at a time on standard output.
done = case.raw(PRODUCT, "--timing-only", "--stats", "--json", "-")
assert done.returncode == 2 and "more than one result is to go to standard output" in done.stderr

# With data the numbers are the same.
x = np.ones((256, 512), np.uint16)
np.save(case.path("x.npy"), x)
np.save(case.path("w.npy"), np.ones((256, 64), np.uint16))
done = case.raw(PRODUCT, "x=" + case.path("x.npy"), "w=" + case.path("w.npy"), "--json", "-")
assert done.returncode == 0, done.stderr
again, _ = results(PRODUCT)
assert json.loads(done.stdout) == again
