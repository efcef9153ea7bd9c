# A host that has less memory than the program wants.
# UNSUPPORTED: asan
# RUN: mkdir -p %t && %python %s %facet-sim %t

import os
import resource
import subprocess
import sys

sim, folder = sys.argv[1:]
program = os.path.join(folder, "p.s")
with open(program, "w") as file:
    file.write('.program 1\n.machine "trn2"\n.buffer t scratch hbm.f32[1] at 0 bytes 8000000000\n')
for options in ([], ["--no-check"]):
    done = subprocess.run([sim, "run", program, *options], capture_output=True, text=True,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30)))
    assert done.returncode == 1, done
    assert "SIM-MEMORY: this host has not the memory to hold the buffers of the program" in done.stderr, done.stderr
