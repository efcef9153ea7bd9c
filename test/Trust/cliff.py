# RUN: %python %s %facet
"""cliff: a size beside a round one costs nearly what that costs, on the engine, whose time is exact.

Up to a round size nothing may be slower by more than a fifth; one past it, where axes begin another tile, by half."""

import json
import pathlib
import subprocess
import sys
import tempfile

facet = sys.argv[1]
KERNEL = "kernel f(a: bf16[K, M], b: bf16[K, N]) -> c: bf16[M, N] { c[m, n] = sum[k](a[k, m] * b[k, n]) }\n"


def time(folder, machine, sizes):
    out = folder / "s.json"
    subprocess.run([facet, "run", f"--target={machine}", "--timing-only", folder / "k.facet", "--json", out,
                    *(f"-D{name}={n}" for name, n in sizes.items())], check=True, capture_output=True)
    return json.loads(out.read_text())["time_ns"]


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    (folder / "k.facet").write_text(KERNEL)
    for machine, rounds in ("trn2", (128, 512, 1024, 2048)), ("trn1", (512, 1024)), ("trn3", (512, 1024)):
        for n in rounds:
            whole = dict(M=n, N=n, K=n)
            base = time(folder, machine, whole)
            before = {axis: n - 1 for axis in whole}
            behind = [whole | {axis: n + 1} for axis in whole] + [{axis: n + 1 for axis in whole}]
            for limit, beside in (1.2, before), *((1.5, sizes) for sizes in behind):
                ratio = time(folder, machine, beside) / base
                print(f"{machine}, {n} and {beside}: {ratio:.2f}")
                assert ratio <= limit, (machine, n, beside, ratio)
