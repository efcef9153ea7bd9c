"""Every example against the judge, as `facet check` does it.

RUN: %python %s %facet %source | FileCheck %s
CHECK: 38 examples, 0 complaints
"""

import pathlib
import subprocess
import sys

facet, source = sys.argv[1], pathlib.Path(sys.argv[2])
files = sorted(source.glob("examples/*/*.facet"))
wrong = 0
for file in files:
    check = subprocess.run([facet, "check", "-q", file], text=True, stdin=subprocess.DEVNULL,
                           capture_output=True, check=False)
    if check.returncode or "elements" not in check.stdout:
        wrong += 1
        print(f"{file} ends with {check.returncode}\n{check.stdout}{check.stderr}")
print(f"{len(files)} examples, {wrong} complaints")
