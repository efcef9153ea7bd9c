# RUN: %python %s %S/../../../bench/engine/gemm.facet
"""What the planner predicts stays close to what the simulator measures."""

import json
import subprocess
import sys
import tempfile

# kernel, machine, sizes, how far the prediction may be off
CASES = [
    ("tn", "trn2", dict(M=2048, N=2048, K=2048), 0.02),
    ("tn", "trn2", dict(M=1000, N=1000, K=1000), 0.06),
    ("tn", "trn2", dict(M=1, N=4096, K=4096), 0.06),
    ("nn", "trn2", dict(M=1024, N=1024, K=1024), 0.06),
    ("tn32", "trn2", dict(M=1024, N=1024, K=1024), 0.03),
    ("tn", "trn1", dict(M=2048, N=2048, K=2048), 0.05),
    ("linear", "trn2", dict(M=1024, N=1024, K=1024), 0.12),
    ("batched", "trn2", dict(B=16, M=1024, N=1024, K=64), 0.1),
    ("batched", "trn2", dict(B=64, M=128, N=128, K=128), 0.12),
]


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


for kernel, machine, sizes, allowed in CASES:
    define = [f"-D{name}={value}" for name, value in sizes.items()]
    options = [sys.argv[1], "--kernel", kernel, "--target", machine, *define]
    plan = json.loads(run("facet", "explain", *options, "--json"))[0]["plan"]
    predicted = plan["variants"][0]["seconds"] * 1e9
    with tempfile.NamedTemporaryFile(suffix=".engine") as program, tempfile.NamedTemporaryFile() as out:
        run("facet", "compile", *options, "-o", program.name)
        times = []
        for phase in (0, 1138, 2276):  # of the tensor clock's window
            run("facet-sim", "run", program.name, "--timing-only", "--clock-phase", str(phase), "--json", out.name)
            times.append(json.load(open(out.name))["time_ns"])
    measured = sum(times) / len(times)
    off = predicted / measured - 1
    print(f"{kernel} {sizes} {machine}: {predicted:.0f} ns predicted, {measured:.0f} simulated, {off:+.1%}")
    assert abs(off) <= allowed
    assert max(bound["seconds"] for bound in plan["bounds"]) * 1e9 <= min(times)
