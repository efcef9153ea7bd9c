# Each kind of race, done once and mended once: the code, both instructions, what is missing.
# RUN: mkdir -p %t && env PYTHONPATH=%S/Inputs %python %s %facet-sim %t

import re
import sys

import numpy as np
from simulate import Case

case = Case(*sys.argv[1:])
np.save(case.path("x.npy"), np.arange(32, dtype=np.float32).reshape(4, 8))
head = """
.buffer x in hbm.f32[4, 8] at 0 bytes 128
.buffer y out hbm.f32[4, 8] at 256 bytes 128
.semaphore a
.semaphore b
.semaphore c
"""
LOAD = "dma_copy dst=sbuf.f32[0:4, 0, 8], src=hbm.f32[x, 4, 0, 8]"
STORE = "dma_copy dst=hbm.f32[y, 4, 0, 8], src=sbuf.f32[0:4, 64, 8]"
COPY = "copy dst=sbuf.f32[0:4, 64, 8], src=sbuf.f32[0:4, 0, 8]"


def run(text, *messages, options=()):
    done = case.raw(head + text, "x=" + case.path("x.npy"), "y=" + case.path("y.npy"), *options)
    errors = re.findall(r"error: (SIM-RACE[^:]*)", done.stderr)
    for message in messages:
        assert message in done.stderr, (message, done.stderr)
    assert (errors == []) == (not messages), done.stderr
    if not messages:
        assert done.returncode == 0, done.stderr
    return errors


good = f"""
.queue vector
{COPY}, wait(a >= 16), update(b += 1), loc("k.facet":3:9, "copy t")
.queue sync
{LOAD}, update(a += 1), loc("k.facet":2:9, "load x")
{STORE}, wait(b >= 1)
"""
run(good)

# Read after write, the reader first: without data, it is the reader that is wrong. Fifteen of
# sixteen increments say nothing: each DMA engine makes one, in no order.
for found in ("", "wait(a >= 15), "):
    errors = run(good.replace("wait(a >= 16), ", found),
                 "SIM-RACE-RAW: queue vector, instruction 0 (copy): src reads bytes 0 to 31 of partitions 0 to 3 of "
                 "sbuf, and nothing orders it after queue sync, instruction 0 (dma_copy), which may still write them",
                 "note: copy dst=sbuf.f32[0:4, 0x40, 8], src=sbuf.f32[0:4, 0, 8], " + found + "update(b += 1)",
                 "k.facet:3:9: note: from 'copy t'",
                 "note: queue sync, instruction 0 (dma_copy): dst writes bytes 0 to 31 of partitions 0 to 3 of sbuf",
                 "k.facet:2:9: note: from 'load x'",
                 "note: both touch bytes 0 to 31 of partitions 0 to 3 of sbuf",
                 "note: queue vector has not waited for queue sync by then" if not found else
                 "queue sync, instruction 0 (dma_copy): the last that queue vector has waited for by then",
                 "note: wait(a >= 16) before queue vector, instruction 0 (copy) would order the two")
    assert errors == ["SIM-RACE-RAW"], errors
# The same from the other side: no update says that the copy is done.
run(good.replace("update(b += 1), ", "").replace("wait(b >= 1)", "wait(a >= 16)"),
    "SIM-RACE-RAW: queue sync, instruction 1 (dma_copy): src reads bytes 64 to 95",
    "which writes them",
    "note: no semaphore says that the former is done: update(NEW += 1) in queue vector, instruction 0 (copy) and "
    "wait(NEW >= 1) before queue sync, instruction 1 (dma_copy) would order the two")
# An update of a later instruction says it too.
later = good.replace("update(b += 1), loc", "loc").replace(".queue sync", "nop update(b += 1)\n.queue sync")
run(later)
run(later.replace(", wait(b >= 1)", ""),
    "note: wait(b >= 1) before queue sync, instruction 1 (dma_copy) would order the two; queue vector, instruction 1 (nop) "
    "makes that update")
# Only bytes that both touch race.
run(good.replace("wait(a >= 16), ", "").replace("src=sbuf.f32[0:4, 0, 8]", "src=sbuf.f32[0:4, 24, 8]"),
    "note: both touch bytes 24 to 31 of partitions 0 to 3 of sbuf")

# A ring of two whose loads do not wait for the readers: write after read, and after write of an
# earlier load; the times and the counters of the first.
ring = f"""
.queue vector
.ring r0 depth=2
loop trips=5
copy dst=sbuf.f32[0:4, 64 + 32*r0, 8], src=sbuf.f32[0:4, 32*r0, 8], wait(a[r0] >= 16 + 16*round), update(c += 1)
advance ring=r0
end
nop update(c += 1)
.queue sync
.ring r1 depth=2
.ring r2 depth=1
nop update(c += 1)
advance ring=r2
advance ring=r2
loop trips=5
dma_copy dst=sbuf.f32[0:4, 32*r1, 8], src=hbm.f32[x, 4, 0, 8], wait(c[r2] >= -2 + 1*round), update(a[r1] += 1)
advance ring=r1
advance ring=r2
end
{STORE}, wait(c >= 7)
"""
run(ring)
run(ring.replace("wait(c[r2] >= -2 + 1*round), ", ""),
    "SIM-RACE-WAR: queue sync, instruction 4 (dma_copy): dst writes bytes 0 to 31 of partitions 0 to 3 of sbuf, and "
    "nothing orders it after queue vector, instruction 1 (copy), which reads them, with i0 = 2, r1 = slot 0 of round "
    "1, r2 = slot 0 of round 4, 3 times",
    "note: queue vector, instruction 1 (copy): src reads bytes 0 to 31 of partitions 0 to 3 of sbuf, with i0 = 0, "
    "r0 = slot 0 of round 0",
    "note: wait(c >= 2) before queue sync, instruction 4 (dma_copy) would order the two",
    "SIM-RACE-WAW: queue sync, instruction 4")
# One semaphore for both slots: the loads of the next slot add to it too, so no number says which
# load is done.
errors = run(ring.replace("a[r0] >= 16 + 16*round", "a[r3] >= 16 + 16*round").replace("a[r1]", "a")
             .replace(".ring r0 depth=2\n", ".ring r0 depth=2\n.ring r3 depth=1\n")
             .replace("advance ring=r0\n", "advance ring=r0\nadvance ring=r3\n"), "SIM-RACE-RAW")

# A source that is overwritten while the store may still read it.
run(f"""
.queue scalar
{COPY}, wait(a >= 16), update(b += 1)
{STORE}, update(c += 1)
nop wait(c >= 15)
activate dst=sbuf.f32[0:4, 64, 8], src=sbuf.f32[0:4, 0, 8], func=exp
.queue sync
{LOAD}, update(a += 1)
""", "SIM-RACE-WAR: queue scalar, instruction 3 (activate): dst writes bytes 64 to 95 of partitions 0 to 3 of sbuf, and "
    "nothing orders it after queue scalar, instruction 1 (dma_copy), which may still read them",
    "note: wait(c >= 16) before queue scalar, instruction 3 (activate) would order the two")
# Write after write: two engines fill the same bytes.
run(f"""
.queue vector
fill dst=sbuf.f32[0:4, 64, 8], value=1.0, update(a += 1)
.queue gpsimd
fill dst=sbuf.f32[0:2, 80, 2], value=2.0, update(a += 1)
.queue sync
{STORE}, wait(a >= 2)
""", "SIM-RACE-WAW: queue gpsimd, instruction 0 (fill): dst writes bytes 80 to 87 of partitions 0 to 1 of sbuf, and nothing "
    "orders it after queue vector, instruction 0 (fill), which writes them",
    "note: wait(a >= 1) before queue gpsimd, instruction 0 (fill) would order the two")
# Two producers of one semaphore: either of them may have brought it to 1.
run(f"""
.queue vector
fill dst=sbuf.f32[0:4, 64, 8], value=1.0, update(a += 1)
.queue gpsimd
nop update(a += 1)
.queue sync
{STORE}, wait(a >= 1)
""", "SIM-RACE-RAW: queue sync, instruction 0 (dma_copy): src reads bytes 64 to 95",
    "note: wait(a >= 2) before queue sync, instruction 0 (dma_copy) would order the two")
# In HBM: a transfer reads what another wrote.
run(f"""
.buffer t scratch hbm.f32[4, 8] at 512 bytes 128
.queue sync
dma_copy dst=hbm.f32[t, 4, 0, 8], src=hbm.f32[x, 4, 0, 8]
dma_copy dst=hbm.f32[y, 4, 0, 8], src=hbm.f32[t, 4, 0, 8], ring=1
""", "SIM-RACE-RAW: queue sync, instruction 1 (dma_copy): src reads bytes 0 to 127 of buffer 't'",
    "note: no semaphore says that the former is done: update(NEW += 1) in queue sync, instruction 0 (dma_copy) and "
    "wait(NEW >= 16) before queue sync, instruction 1 (dma_copy) would order the two")

# Equality: the second update may come before the wait looks.
equality = f"""
.queue vector
fill dst=sbuf.f32[0:4, 64, 8], value=1.0, update(a += 1)
nop update(a += 1)
nop wait(b >= 1)
.queue sync
nop wait(a == 1), update(b += 1)
{STORE}
"""
run(equality, "SIM-RACE-OVERSHOT: queue sync, instruction 0 (nop): waits for a to be 1, and it may be 2 before the wait "
    "looks; `>=` cannot miss it")
run(equality.replace("nop update(a += 1)\nnop wait(b >= 1)", "nop wait(b >= 1), update(a += 1)"))

# Setting and decreasing: fine where everything before and after is ordered.
for reset in ("set_semaphore semaphore=a, value=0", "nop update(a -= 1)"):
    again = f"""
.queue vector
fill dst=sbuf.f32[0:4, 64, 8], value=1.0, update(a += 1)
fill dst=sbuf.f32[0:4, 64, 8], value=2.0, wait(c >= 1), update(a += 1)
.queue sync
nop wait(a >= 1)
{reset}
nop update(c += 1)
nop wait(c >= 2)
{STORE}, wait(a >= 1)
.queue scalar
nop wait(c >= 1), update(c += 1)
"""
    verb = "sets" if "set" in reset else "decreases"
    run(again)
    run(again.replace("wait(c >= 1), update(a", "update(a"),
        "SIM-RACE-SEMAPHORE: queue sync, instruction 1", f"{verb} semaphore a, and nothing before it orders it after "
        "queue vector, instruction 1 (fill), which updates it")
    # The wait behind the reset may be met by what was there before it.
    run(again.replace(f"{STORE}, wait(a >= 1)\n.queue scalar\n",
                      "nop\n.queue scalar\n" + "nop\n" * 12 + f"{STORE}, wait(a >= 1)\n"),
        "SIM-RACE-SEMAPHORE: queue scalar, instruction 12 (dma_copy): waits for semaphore a, and nothing before it orders "
        f"it after queue sync, instruction 1 ({reset.split()[0]}), which {verb} it")

# A wait that others imply: the copy cannot be without the load, nor the second store without it.
implied = good.replace("wait(b >= 1)", "wait(b >= 1), wait(a >= 16)")
remark = ("p.s: remark: SIM-REDUNDANT: queue sync, instruction 1 (dma_copy): its wait for a orders nothing: what its queue "
          "has waited for before implies it [-Wredundant-wait]")
for text, redundant in ((implied, 1), (good, 0), (implied.replace("wait(a >= 16), update", "update"), 0)):
    done = case.raw(head + text, "--timing-only", "--remarks")
    assert done.returncode == 0 and done.stderr.count("SIM-REDUNDANT") == redundant, done.stderr
    assert not redundant or remark in done.stderr, done.stderr

# Many pairs, and programs that are too long.
for count, more in ((24, "5 more races were found"), (20, "1 more race was found")):
    fills = "".join(f"fill dst=sbuf.f32[0:4, {32 * i}, 8], value=1.0\n" for i in range(count))
    run(f".queue vector\n{fills}.queue gpsimd\n{fills}.queue sync\n{STORE}", "SIM-RACE-MORE: " + more)
long = good.replace(".queue sync\n", ".queue sync\nloop trips=2100000\nend\n")
run(long)
run(long.replace("2100000", "4200000"), "SIM-RACE-SIZE: the program runs more than 4194304 instructions; for so many, "
    "nothing is proved about races")
run(long.replace("2100000", "4200000"), options=["--no-check"])
# Pieces: every other element of four million, written one by one.
run(".buffer t scratch hbm.f32[4200000] at 4096 bytes 16800000\n" + good +
    "dma_copy dst=hbm.f32[t, 2051@2046, 0, 1023@2], src=hbm.f32[x, 2051@0, 0, 1023@0]\n",
    "SIM-RACE-SIZE: the program touches its memory in too many separate pieces (2097152 are kept, 134217728 looked at); "
    "for so many, nothing is proved about races")
# A semaphore that is set again and again: each time other transfers.
often = """.semaphore full
.semaphore used
.queue vector
loop trips=TRIPS
nop wait(full >= 16)
set_semaphore semaphore=full, value=0, update(used += 1)
end
.queue sync
.ring r0 depth=1
dma_copy dst=hbm.f32[y, 4, 0, 8], src=hbm.f32[x, 4, 0, 8]
loop trips=TRIPS
dma_copy dst=sbuf.f32[0:1, 0], src=hbm.f32[x, 1, 0], wait(used[r0] >= 0 + 1*round), update(full += 1)
advance ring=r0
end
"""
run(often.replace("TRIPS", "30000"))
both = often.replace("full >= 16", "full >= 32") + """
.queue scalar
.ring r0 depth=1
loop trips=TRIPS
dma_copy dst=sbuf.f32[1:2, 0], src=hbm.f32[x, 1, 0], wait(used[r0] >= 0 + 1*round), update(full += 1)
advance ring=r0
end
"""
run(both.replace("TRIPS", "300"))
run(both.replace("TRIPS", "30000"), "SIM-RACE-SIZE: the program sets or decreases semaphores of transfers too often "
    "(30000 kinds of transfers, by what they update), nothing is proved about races")
done = case.raw(head + often.replace("TRIPS", "30000"), "--timing-only", "--remarks")
assert "remark: SIM-REDUNDANT: the program is too long to say of its waits whether they are redundant" in done.stderr
