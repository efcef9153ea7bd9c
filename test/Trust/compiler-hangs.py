# RUN: env PYTHONPATH=%source/python:%S/Inputs %python %s %facet
"""compiler-hangs, shared-state: one input gives one answer, alone and beside others, the
same bytes; and a matrix of a million blocks plans as fast as one of a hundred."""

import resource
import subprocess

from roads import FACET, Kernels

k = Kernels("kernel f(a: bf16[M, K], b: bf16[K, N], d: f32[N]) -> c: bf16[M, N] { c[m, n] = gelu(sum[k](a[m, k] * b[k, n]) + d[n]) }\n", cpu=False)


def command(output, target, size, *more):
    return [FACET, "compile", str(k.source), f"--target={target}", "-o", str(k.path / output), "-w", *(f"-D{s}={size}" for s in "MKN"), *more]


running = [subprocess.Popen(command(f"{i}.mlir", "x86-64-v3", 300, "-j", "2")) for i in range(4)]
running += [subprocess.Popen(command(f"{i}.engine", "trn2", 300)) for i in range(4)]
assert [process.wait(120) for process in running] == [0] * 8
for suffix in "mlir", "engine":
    contents = {(k.path / f"{i}.{suffix}").read_bytes() for i in range(4)}
    assert len(contents) == 1, suffix


def seconds(size):
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run(command("t.mlir", "x86-64-v3", size), check=True)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


small, large = (min(seconds(size) for _ in range(2)) for size in (300, 1000000))
assert large <= 3 * small + 0.1, (small, large)
