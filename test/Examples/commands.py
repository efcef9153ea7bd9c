"""Runs the command that stands in each example, as a reader would.

Every file of examples/ but the digits (digits.test runs those) has one line
`//   $ facet run ...`, for the top of the checkout. It must succeed, and say of
every result the type and the shape that the kernel and the sizes in the command
make, and that it holds numbers.

RUN: env PYTHONPATH=%source/python %python %s %facet %source | FileCheck %s
CHECK:     37 commands, 0 complaints
"""

import pathlib
import re
import shlex
import subprocess
import sys

from agreement import signature

facet, source = sys.argv[1], pathlib.Path(sys.argv[2])
files = [f for f in sorted(source.glob("examples/*/*.facet")) if f.parent.name != "digits"]
wrong = 0
for file in files:
    text = file.read_text()
    commands = re.findall(r"^//   \$ facet (.*)$", text, re.M)
    assert len(commands) == 1, f"{file}: {len(commands)} commands"
    run = subprocess.run([facet, *shlex.split(commands[0])], cwd=source, text=True,
                         stdin=subprocess.DEVNULL, capture_output=True, check=False)
    head = signature.parse(text)
    sizes = {k: int(v) for k, v in re.findall(r"\b([A-Z]+)=(\d+)", commands[0])}
    silent = []
    for p in head.params:
        if p.written:
            shape = ", ".join(map(str, p.shape(sizes)))
            said = re.search(rf"^{p.name}: {p.element} \({shape}\)(.*)$", run.stdout, re.M)
            if not said or re.search("NaN|inf|empty", said[1]):
                silent.append(p.name)
    if run.returncode or silent or run.stderr.count("error:"):
        wrong += 1
        print(f"facet {commands[0]}\nends with {run.returncode}, no numbers of {silent}\n"
              f"{run.stdout}{run.stderr}")
print(f"{len(files)} commands, {wrong} complaints")
