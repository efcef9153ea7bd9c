# Each thing a program must not do, done once: the code, who did it, and what is said.
# RUN: mkdir -p %t && env PYTHONPATH=%S/Inputs %python %s %facet-sim %t

import os
import subprocess
import sys

import numpy as np
from simulate import Case

case = Case(*sys.argv[1:])
np.save(case.path("k.npy"), np.array([[0], [7], [2], [1]], np.int32))
np.save(case.path("x.npy"), np.zeros((4, 8), np.float32))
head = """
.buffer k in hbm.i32[4, 1] at 0 bytes 16
.buffer x in hbm.f32[4, 8] at 64 bytes 128
.buffer y out hbm.f32[4, 8] at 256 bytes 128
.semaphore go
.semaphore kept final=2
.queue vector
nop update(kept += 2)
fill dst=sbuf.f32[0:4, 0, 8], value=1.0
fill dst=sbuf.bf16[0:32, 256, 32], value=1.0, update(go += 1)
"""
tail = """
.queue sync
dma_copy dst=hbm.f32[y, 4, 0, 8], src=sbuf.f32[0:4, 0, 8], wait(go >= 1)
"""
given = [f"{name}=" + case.path(name + ".npy") for name in "kxy"]
LOAD = ".queue tensor\nload_weights weights=sbuf.bf16[0:32, 256, 32], wait(go >= 1)\n"
DST, MOVING = "dst=psum.f32[0:32, 0, 32]", "moving=sbuf.bf16[0:32, 256, 32]"


def check(text, *messages, options=()):
    done = case.raw(text, *given, *options)
    for message in messages:
        assert message in done.stderr, (message, done.stderr)
    assert done.returncode == (1 if messages else 0), done.stderr
    assert done.stderr.count("error: ") == min(len(messages), 1), done.stderr
    assert os.path.exists(case.path("y.npy")) == (not messages)
    if not messages:
        os.remove(case.path("y.npy"))


def finding(lines, *messages, unchecked=False, before=head, after=tail):
    """With the lines between, the messages; `unchecked`: --no-check does not look."""
    check(before + lines + after, *messages)
    if unchecked:
        check(before + lines + after, options=["--no-check"])


finding("")
finding("loop trips=3\ncopy dst=sbuf.f32[0:4, 512, 8], src=sbuf.f32[0:4, 16, 8]\nend",
        "SIM-UNINIT: queue vector, instruction 4 (copy): src reads byte 32 of partition 0 of sbuf, "
        "which nothing wrote, with i0 = 0, 12 times",
        "note: copy dst=sbuf.f32[0:4, 0x200, 8], src=sbuf.f32[0:4, 0x10, 8]", unchecked=True)
finding("loop trips=60000\nfill dst=sbuf.f32[0:1, 4*i0, 1], if(-58000 + i0 >= 0), value=0.0\nend",
        "SIM-BOUNDS: queue vector, instruction 4 (fill): dst reaches byte 232003 of partition 0 of "
        "sbuf, which has 229376 bytes, with i0 = 58000")
finding(LOAD + f"matmul {DST}, {MOVING}", "SIM-GROUP: queue tensor, instruction 1 (matmul): adds to byte 0 "
        "of partition 0 of psum, where no accumulation group is open", unchecked=True)
finding(LOAD + f"matmul {DST}, {MOVING}, start\nmatmul {DST}, {MOVING}, start, stop",
        "SIM-GROUP: queue tensor, instruction 2 (matmul): starts a group on byte 0 of partition 0 of "
        "psum, where an accumulation group is open", unchecked=True)
finding(LOAD + f"matmul {DST}, {MOVING}, start\nload_weights weights=sbuf.bf16[0:32, 256, 16]\n"
        f"matmul dst=psum.f32[0:16, 0, 32], {MOVING}\nload_weights weights=sbuf.bf16[0:32, 256, 32]\n"
        f"matmul {DST}, {MOVING}, stop",
        "SIM-GROUP: queue tensor, instruction 3 (matmul): adds to other elements than the group at byte "
        "0 of partition 0 of psum was started with", unchecked=True)
finding(LOAD + f"matmul {DST}, {MOVING}, start",
        "SIM-GROUP: 1 group is still open at the end", unchecked=True)
finding(LOAD + f"matmul {DST}, {MOVING}, start, update(go += 1)\nnop wait(go >= 3)\n"
        f"matmul {DST}, {MOVING}, stop\n.queue scalar\ncopy dst=sbuf.f32[0:32, 1024, 32], "
        "src=psum.f32[0:32, 0, 32], wait(go >= 2), update(go += 1)",
        "SIM-GROUP: queue scalar, instruction 0 (copy): src reads byte 0 of partition 0 of psum, where "
        "an accumulation group is open", unchecked=True)
finding(LOAD + f"loop trips=2\nmatmul dst=psum.f32[0:32, 1984*i0, 32], {MOVING}, start, stop\nend",
        "SIM-BANK: queue tensor, instruction 2 (matmul): dst reaches bytes 1984 to 2111 of psum, 2 banks; "
        "one instruction may write 1, with i0 = 1", unchecked=True)
finding(".queue tensor\nload_weights weights=sbuf.bf16[0:32, 256, 32], if(1 == 0)\n"
        f"matmul {DST}, {MOVING}, start, stop, wait(go >= 1)",
        "SIM-WEIGHTS: queue tensor, instruction 1 (matmul): no weights are loaded")
finding(LOAD + "load_weights weights=sbuf.bf16[0:32, 256, 16], if(1 == 0)\n"
        f"matmul dst=psum.f32[0:16, 0, 32], {MOVING}, start, stop",
        "SIM-WEIGHTS: queue tensor, instruction 2 (matmul): dst has 16 partitions, the weights loaded last "
        "have 32 columns")
finding(".queue sync\ndma_gather dst=sbuf.f32[0:4, 1024, 8], src=hbm.f32[x, 4, 0, 8], "
        "index=hbm.i32[k, 4, 0]", "SIM-INDEX: queue sync, instruction 0 (dma_gather): index 1 is 7, src has 4 "
        "rows", after=tail.replace(".queue sync\n", ""))
finding("set_semaphore semaphore=kept, value=2147483647, update(kept += 2)",
        "SIM-SEMAPHORE: queue vector, instruction 3 (set_semaphore): brings semaphore kept from 2147483647 to "
        "2147483649, allowed are 0 to 2147483647")
finding("nop update(kept += 1)", "SIM-FINAL: semaphore kept ends at 3, declared is 2", unchecked=True)
finding("", "SIM-OUTPUT: nothing wrote 3 elements of output 'y', the first at byte 20", unchecked=True,
        after=tail.replace("4, 0, 8]", "4@8, 0, 5]", 1).replace("0:4, 0, 8]", "0:4, 0, 5]") +
        "dma_copy dst=hbm.f32[y, 3@8, 52, 3], src=sbuf.f32[0:3, 0, 3]\n")
finding("nop wait(go >= 2)\n.queue scalar\nnop wait(kept == 1)",
        "SIM-DEADLOCK: no queue can go on", "note: queue vector, instruction 3 (nop): waits for go to reach "
        "2, it is 1", "note: no instruction that is left updates go\n",
        "note: queue scalar, instruction 0 (nop): waits for kept to be 1, it is 2")
circle = "nop wait(go >= 2)\nnop update(kept += 1)\n.queue scalar\nloop trips=2\nnop wait(kept >= 3), update(go += 1)\nend"
finding(circle, "SIM-DEADLOCK: no queue can go on", "note: queue vector, instruction 3 (nop): waits for go to reach 2, it is 1",
        "note: queue scalar, instruction 1 (nop): would update go, with i0 = 0",
        "note: queue scalar, instruction 1 (nop): waits for kept to reach 3, it is 2 (i0 = 0)",
        "note: queue vector, instruction 4 (nop): comes later in its queue and would update kept")
finding(circle.replace("nop update(kept += 1)", "loop trips=300000\nend\nnop update(kept += 1)"),
        "note: none of the next 262144 instructions of any queue updates kept")
# A store that does not wait for the second fill: the usual order does not show it.
racy = head.replace("update(go += 1)\n", "update(go += 1)\n" + "nop\n" * 3 +
                    "fill dst=sbuf.f32[0:4, 0, 8], value=2.0\n")
check(racy + tail, options=["--no-check"])
check(racy + tail, "SIM-ORDER: output 'y' differs at byte 2 when its queues run in another order: a wait "
      "is missing, in order 1", options=["--no-check", "--orders", "4"])
check(head + tail, options=["--orders", "6"])

check(head + "loop trips=1000000\nend" + tail, "SIM-STEPS: queue vector, instruction ",
      "the program is not at its end after 100 instructions", options=["--max-steps", "100"])
finding("reduce dst=sbuf.f32[0:1, 512], src=sbuf.f32[0:1, 0, 65536@0, 65536@0], op=add, axes=2",
        "SIM-SIZE: queue vector, instruction 3 (reduce): src has 1 rows of 4294967296 elements, more than fit in one run")

# Files and words of the command line.
program = head + tail


def refuse(arguments, message, code=1):
    done = case.raw(program, *arguments)
    assert message in done.stderr and done.returncode == code, done.stderr


k, x, y = given
refuse([k, y], "buffer 'x' is in and not given; want x=FILE.npy")
refuse([k, x, "z=a.npy"], "has no buffer 'z' in hbm")
refuse([k, x, x], "buffer 'x' is given twice")
done = case.raw(".buffer x in hbm.f32[1] at 0 bytes 8589934656\n", x)
assert "its buffers in hbm have 8589934656 bytes, facet-sim runs up to 8589934592" in done.stderr, done.stderr
spare = ".buffer x in hbm.f32[4, 8] at 0 bytes 64\n.buffer t scratch hbm.f32[1] at 64 bytes 4\n"
done = case.raw(spare, x)
assert "it does not fit buffer 'x', whose shape leaves its bytes" in done.stderr and done.returncode == 1, done.stderr
done = case.raw(spare, x, "t=" + x)
assert "buffer 't' is scratch, which takes no file" in done.stderr and done.returncode == 1, done.stderr
done = case.raw(".queue sync\nloop trips=4100000\nend\n", "--timing-only", "--trace", case.path("t.json"))
assert done.returncode == 0 and "results hold no single instructions: no trace, timeline, critical path, waits and " \
    "explanation" in done.stderr, done.stderr
done = subprocess.run([case.sim, "run"], capture_output=True, text=True)
assert done.returncode == 2 and "want a program" in done.stderr, done.stderr
refuse([k, x, "--fast"], "unknown option '--fast'", 2)
refuse([k, x, "--json"], "--json wants a value", 2)
refuse([k, x, "--threads", "0"], "--threads wants 1 to 256, got '0'", 2)
refuse([k, x, "--max-steps", "many"], "--max-steps wants a number, got 'many'", 2)
refuse([k, x, "more.s"], "'more.s' is neither BUFFER=FILE nor the only program", 2)
refuse([k, "x=" + case.path("absent.npy")], "cannot be read: no such file or directory")
for array, message in (
        (np.zeros((4, 8), np.float64), "it holds float64 ('<f8'); f32 needs float32 ('f4')"),
        (np.zeros((8, 4), np.float32), "its shape is (8, 4), buffer 'x' has (4, 8)")):
    np.save(case.path("bad.npy"), array)
    refuse([k, "x=" + case.path("bad.npy")], message)
whole = open(case.path("x.npy"), "rb").read()
for contents, message in ((b"text", "it is no .npy file"), (whole[:40], "its header is cut short"),
                          (whole[:-4], "its shape (4, 8) needs 128 bytes of data, the file has 124"),
                          (whole.replace(b"(4, 8)", b"(4, -)"),
                           "the 'shape' of its header has something other than sizes")):
    with open(case.path("bad.npy"), "wb") as file:
        file.write(contents)
    refuse([k, "x=" + case.path("bad.npy")], message)

# A buffer that is given and written; what is not written stays. Strides leave every other column
# out. The order of a file's bytes and axes is the file's own business.
np.save(case.path("given.npy"), np.asfortranarray(np.arange(12, dtype=">f4").reshape(4, 3)))
text = """
.buffer z inout hbm.f32[4, 3] strides[6, 2] at 0 bytes 96
.queue sync
dma_copy dst=hbm.f32[z, 1, 24], src=hbm.f32[z, 1, 88]
"""
done = case.raw(text, "z=" + case.path("given.npy") + ":" + case.path("taken.npy"))
assert done.returncode == 0, done.stderr
wanted = np.arange(12, dtype=np.float32).reshape(4, 3)
wanted[1, 0] = 11
assert np.array_equal(np.load(case.path("taken.npy")), wanted)

# What nothing wrote is ones, also where it is not looked for: NaN in every float type, -1.
text = """
.buffer f out hbm.f32[2, 8] at 0 bytes 64
.buffer h out hbm.bf16[2, 8] at 64 bytes 32
.buffer i out hbm.i32[2, 8] at 128 bytes 64
.buffer never out hbm.i16[4] at 256 bytes 8
.queue sync
dma_copy dst=hbm.f32[f, 2, 0, 8], src=sbuf.f32[0:2, 0, 8]
dma_copy dst=hbm.bf16[h, 2, 0, 8], src=sbuf.bf16[0:2, 64, 8]
dma_copy dst=hbm.i32[i, 2, 0, 8], src=sbuf.i32[0:2, 128, 8]
"""
outputs = [f"{name}=" + case.path(name + ".npy") for name in ("f", "h", "i", "never")]
done = case.raw(text, *outputs, "--no-check")
assert done.returncode == 0, done.stderr
f, h, i, never = (np.load(case.path(name + ".npy")) for name in ("f", "h", "i", "never"))
assert np.isnan(f).all() and (h.view(np.uint16) == 0xFFFF).all() and (i == -1).all() and (never == -1).all()
# With checks the index that is read is one too: no row of the table.
text = """
.buffer x in hbm.f32[4, 8] at 64 bytes 128
.queue sync
dma_gather dst=sbuf.f32[0:4, 0, 8], src=hbm.f32[x, 4, 0, 8], index=sbuf.i32[0:4, 64]
"""
done = case.raw(text, "x=" + case.path("x.npy"))
assert done.returncode == 1 and "SIM-INDEX" in done.stderr and "index 0 is -1, src has 4 rows" in done.stderr, done.stderr
