"""Compares every example kernel with NumPy at random sizes, seeds, strides and threads.

    ./dev soak agreement [COUNT [theme[/kernel] ...]]
"""

import os
import pathlib
import subprocess
import sys

source = pathlib.Path(os.environ["FACET_SOURCE"])
facet = pathlib.Path(os.environ["FACET_BUILD"]) / "bin/facet"
count, kernels = (sys.argv[1:2] or ["500"])[0], sys.argv[2:]
sys.exit(subprocess.run(
    [sys.executable, "-m", "agreement", "--facet", facet, "--examples", source / "examples",
     "--long", count, *kernels],
    env=os.environ | {"PYTHONPATH": str(source / "python")}, check=False).returncode)
