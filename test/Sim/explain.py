# --explain: the instants of one instruction are those of the trace; what is not there is said.
# RUN: mkdir -p %t && env PYTHONPATH=%S/Inputs %python %s %facet-sim %t

import re
import sys

from product import PRODUCT
from simulate import Case

case = Case(*sys.argv[1:])


def explain(what, *options, text=PRODUCT):
    done = case.raw(text, "--timing-only", "--explain", what, *options)
    return done.returncode, done.stdout, done.stderr


def rows(out):
    """Numbers of each line of the table, and what it waited for."""
    found = []
    for line in out.split("\n\n", 1)[1].splitlines()[1:]:
        numbers, cause = re.fullmatch(r"([\d. ,]*)(.*)", line).groups()
        found.append(([float(n) for n in re.findall(r"[\d.]+", numbers)], cause))
    return found


code, out, _ = explain("tensor:1")
assert code == 0 and out.startswith("tensor 1 load_weights, 2 times\n  load_weights weights=sbuf.bf16[0:128, 128*r0, 64]")
(first, cause), (second, none) = rows(out)
assert re.fullmatch("full, from sync [12] dma_copy at i0 = 1", cause) and none == "", out
counter, ready, start, read, port, done = first
assert counter == 0 and ready == 0 < start < read <= port < done and start < second[2], out

code, out, _ = explain("tensor:3")
assert out.startswith("tensor 3 matmul, 1 time, from k.facet:3:9 'matmul y'\n") and len(rows(out)) == 1

# A transfer has other instants.
code, out, _ = explain("sync:5")
assert "triggered first packet    last byte      updated" in out
(times, cause), = rows(out)
assert times == sorted(times) and len(times) == 6 and cause == "copied, from vector 0 copy", out

# A part of the run, a limit of rows, instructions that never ran.
code, out, _ = explain("tensor:1", "--window", "0:1")
assert len(rows(out)) == 1 or "none in this window" in out
many = ".queue vector\nloop trips=30\nfill dst=sbuf.f32[0:1, 0, 64], value=0.0\nend\n"
code, out, _ = explain("vector:1", text=many)
assert "\n  6 more; --window FROM:TO, in ns, shows others\n" in out and len(out.splitlines()) == 3 + 1 + 24 + 1
code, out, _ = explain("vector:1", "--window", "1e9:2e9", text=many)
assert "none in this window" in out
code, out, _ = explain("vector:1", text=many.replace("trips=30", "trips=0"))
assert "it was never executed: no trip of a loop around it, or its predicate was false" in out

for what, code, message in (
        ("tensor", 2, "--explain wants QUEUE:PC, as tensor:3, got 'tensor'"),
        ("tensor:x", 2, "--explain wants QUEUE:PC, as tensor:3, got 'tensor:x'"),
        ("tensor:-1", 2, "--explain wants QUEUE:PC, as tensor:3, got 'tensor:-1'"),
        ("array:0", 2, "--explain wants QUEUE:PC, as tensor:3, got 'array:0'"),
        ("gpsimd:0", 1, "has no queue 'gpsimd' to explain"),
        ("sync:6", 1, "queue sync has 6 instructions, none is number 6")):
    found, _, error = explain(what)
    assert found == code and message in error, (what, found, error)
