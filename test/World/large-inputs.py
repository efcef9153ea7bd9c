# Inputs that are small to write and large to follow: an error with its place, in seconds
# and megabytes.
#
# UNSUPPORTED: asan
# RUN: rm -rf %t && mkdir -p %t && cd %t
# RUN: %python %s %facet %facet-sim

import os
import subprocess
import sys

FACET, SIM = sys.argv[1:3]
MB = 1_000_000


def repeated(line):
    return "".join(line.format(i=i) for i in range(MB // len(line)))


def refused(name, text, *messages, command=None):
    with open(name, "w") as file:
        file.write(text)
    process = subprocess.Popen(command or [FACET, "compile", name, "--target=reference", "-o", "x.o", "-w"],
                               stderr=subprocess.PIPE, text=True, errors="replace")
    said = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    code = os.waitstatus_to_exitcode(status)
    assert code in (1, 5), (name, code, said[:300])
    assert all(message in said for message in messages) and f"{name}:" in said, (name, said[:500])
    assert usage.ru_utime + usage.ru_stime < 10 and usage.ru_maxrss < 2 << 20, (name, usage)
    assert not os.path.exists("x.o")


many = ", ".join(f"y{i}: f32[N]" for i in range(255))
refused("results.facet", f"kernel f(x: f32[N]) -> {many} {{\n" + "".join(f"y{i}[i] = x[i] + {i}\n" for i in range(255)) + "}",
        "255 results and 1 other arrays: 32640 pairs that must not overlap, at most 2048 are allowed")
refused("requires.facet", "kernel f(x: f32[N]) -> y: f32[N] requires " + repeated("N > {i}, ") + "N > 1 { y[i] = x[i] }", "more than 262144 operations")
refused("axes.facet", "kernel f(x: f32[" + repeated("A{i}, ") + "B]) -> y: f32 { y = 1 }", "at most 32 are allowed")
refused("again.facet", "kernel f(x: f32[N]) -> y: f32[N] {\n" + repeated("y[i] = x[i] + {i}\n") + "}", "`y` is assigned twice")
refused("entries.facet", 'kernel f(x: f32[N]) -> y: f32[N] { y[i] = x[i] }\nschedule f on "x86-64-v3" {' + repeated("y: tile(i = {i})\n") + "}", "`y` has two entries")
product = "(a: f32[M, K], b: f32[K, K]) -> c: f32[M, K] {{ c[i, j] = sum[k](a[i, k] * b[k, j]) }}\n"
refused("kernels.facet", repeated("kernel k{i}" + product), "kernels.facet:701:8: error: the kernels up to 'k700' are 2804 parts of code")
steps = MB // 50
chain = "".join(f"let t{i + 1}[i, j] = sum[k](t{i}[i, k] * b[k, j])\n" for i in range(steps))
for name, command in ("chain.facet", ["compile", "-o", "x.engine"]), ("plan.facet", ["explain"]):
    refused(name, f"kernel f(a: f32[M, K], b: f32[K, K]) -> c: f32[M, K] {{\nlet t0[i, j] = a[i, j]\n{chain}c[i, j] = t{steps}[i, j]\n}}\n", f"kernel 'f' is {4 * steps + 2} parts of code",
            command=[FACET, command[0], name, *command[1:], "--target=trn2", "-DM=128", "-DK=128"])
for name, text in ("deep.yaml", "a: " + MB * "["), ("anchors.yaml", "k0: &k0 [x, x]\n" + "".join(f"k{i}: &k{i} [*k{i - 1}, *k{i - 1}]\n" for i in range(1, 9000))):
    refused(name, "format: facet-machine-1\nname: a\n" + text, command=[FACET, "targets", os.path.abspath(name)])
refused("line.s", '.machine "trn2"\n' + MB * "x", command=[SIM, "as", "line.s", "-o", "x.engine"])
refused("buffers.s", '.machine "trn2"\n' + repeated(".buffer b{i} scratch f32 [4\n"), command=[SIM, "as", "buffers.s", "-o", "x.engine"])
