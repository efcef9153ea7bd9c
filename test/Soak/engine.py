"""Checks generated kernels against the judge: on a matrix engine, or on every road of this host.

    ./dev soak engine [COUNT [FIRST [MACHINE]]]
    ./dev soak engine COUNT FIRST all

Each kernel is one of facet-sweep's. A machine gets it at the sizes it comes with and must agree, or refuse it with a reason; how
often which reason was given is told at the end. `all` is `facet check` without a target, at the sizes that it chooses.
"""

import collections
import json
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile

bin = pathlib.Path(os.environ["FACET_BUILD"]) / "bin"
count, first = (int(a) for a in (sys.argv[1:3] + ["1500", "1"][len(sys.argv[1:3]):]))
machine = (sys.argv[3:4] or ["trn2"])[0]
# A hang is told by the processor's time, which other work on the machine does not lengthen; one that waits, by an hour.
CPU_SECONDS, WALL_SECONDS = 120, 3600

made = subprocess.run([bin / "facet-sweep", "--print", str(first), str(count)], capture_output=True, text=True, check=True).stdout
verdicts, reasons, bad = collections.Counter(), collections.Counter(), []
with tempfile.TemporaryDirectory() as folder:
    for line in made.splitlines():
        kernel = json.loads(line)
        file = pathlib.Path(folder) / "k.facet"
        file.write_text(kernel["source"])
        sizes = [f"-D{name}={','.join(map(str, sorted(set(values))))}" for name, values in kernel["sizes"].items()]
        where = [] if machine == "all" else [f"--target={machine}", *sizes]
        try:
            run = subprocess.run([bin / "facet", "check", "-q", "-w", file, "--sample=300", *where],
                                 capture_output=True, text=True, timeout=WALL_SECONDS,
                                 preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS + 5)))
            code, said = run.returncode, run.stdout + run.stderr
        except subprocess.TimeoutExpired:
            code, said = "timeout", ""
        if code == 0:
            verdicts["agree"] += 1
        elif code == 1 and "SIM-" not in said:
            verdicts["refused"] += 1
            reason = re.search(r"error: (.*)", said)
            reasons[re.sub(r"'[^']*'|\d+", "…", reason[1]) if reason else said] += 1
        else:
            verdicts["wrong" if code == 3 else str(code)] += 1
            bad.append(kernel["seed"])
            print(f"seed {kernel['seed']}: exit code {code}\n{said}\n{kernel['source']}", flush=True)
print(f"{sum(verdicts.values())} kernels on {machine}:", ", ".join(f"{n} {v}" for v, n in verdicts.most_common()))
for reason, n in reasons.most_common():
    print(f"{n:6} refused: {reason}")
sys.exit(1 if bad else 0)
