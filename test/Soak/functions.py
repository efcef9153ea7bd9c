"""Measures the functions of f32 on the CPU road at every bit pattern, or a part of them.

    ./dev soak functions [PARTS [DONE]] [--target TARGET]

All patterns are cut into PARTS interleaved parts (default 64), of which the first DONE
(default: all) are visited, as many at once as there are processors. Prints the worst
errors in units in the last place; exits 1 when one passes the language's bound of 2.
"""

import argparse
import concurrent.futures
import os
import pathlib
import subprocess
import sys
import tempfile

parser = argparse.ArgumentParser(prog="./dev soak functions")
parser.add_argument("parts", type=int, nargs="?", default=64)
parser.add_argument("done", type=int, nargs="?")
parser.add_argument("--target", default="native")
parser.add_argument("--cc", default=os.environ.get("CC", "cc"))
options = parser.parse_args()
done = min(options.done or options.parts, options.parts)

source = pathlib.Path(os.environ["FACET_SOURCE"]) / "test/Conversion/KernelToLoops"
facet = pathlib.Path(os.environ["FACET_BUILD"]) / "bin/facet"

with tempfile.TemporaryDirectory(prefix="functions-") as folder:
    program, objects = f"{folder}/functions", f"{folder}/functions.o"
    subprocess.run([facet, "compile", source / "functions.facet", "--target", options.target, "-o", objects],
                   check=True)
    subprocess.run([options.cc, "-O2", "-DINTERFACE", source / "Inputs/functions.c", objects, "-lm", "-o", program],
                   check=True)

    def visit(part):
        result = subprocess.run([program, str(options.parts), "2", "8", str(part)], capture_output=True, text=True,
                                check=False)
        if result.returncode not in (0, 1):
            raise RuntimeError(f"part {part}: {result.returncode} {result.stderr}")
        return result.stdout.splitlines()

    worst, points = {}, 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for lines in pool.map(visit, range(done)):
            for line in lines[1:-1]:
                name, error, _, where = line.split()[:4]
                worst[name] = max(worst.get(name, (0.0, "")), (float(error), where))
            points += int(lines[-1].split()[0])

for name, (error, where) in worst.items():
    print(f"{name:10} {error:6.3f} at {where}")
print(f"{points} of {2**32} numbers of f32, target {options.target}")
sys.exit(any(error > 2 for error, _ in worst.values()))
