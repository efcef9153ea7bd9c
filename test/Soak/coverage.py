"""Says which lines of lib/ the tests run, folder by folder.

    ./dev soak coverage [FOLDER ...]

Builds everything once more with counters (build/coverage), runs the tests (all, or those of the
given folders below test/), and prints lines and regions per folder of lib/, then each file below
the aim of 90 %. What no test ran stands in build/coverage/uncovered.txt, a run of lines per row.
Exits 1 when lib/ as a whole is below the aim.
"""

import collections
import json
import os
import pathlib
import re
import subprocess
import sys

AIM = 0.90
LLVM = pathlib.Path("/usr/lib/llvm-22/bin")

source = pathlib.Path(os.environ["FACET_SOURCE"])
build = pathlib.Path(os.environ.get("FACET_COVERAGE", source / "build/coverage"))
counts = build / "counts"


def run(*command, **more):
    return subprocess.run([str(word) for word in command], check=True, **more)


if not (build / "build.ninja").exists():
    flags = "-fprofile-instr-generate -fcoverage-mapping"
    run("cmake", "-S", source, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug",
        "-DCMAKE_C_COMPILER=clang-22", "-DCMAKE_CXX_COMPILER=clang++-22", f"-DFACET_PYTHON={sys.executable}",
        f"-DCMAKE_C_FLAGS={flags}", f"-DCMAKE_CXX_FLAGS={flags} -DNDEBUG", "-DCMAKE_CXX_FLAGS_DEBUG=-O1",
        "-DCMAKE_C_FLAGS_DEBUG=-O1")
run("ninja", "-C", build, "facet-test-depends", stdout=sys.stderr)

# Each binary adds to one of a few files of its own, so that thousands of processes leave a handful.
for old in counts.glob("*.profraw"):
    old.unlink()
counts.mkdir(exist_ok=True)
tests = [build / "test" / folder for folder in sys.argv[1:]] or [build / "test", build / "test/Unit"]
subprocess.run([LLVM / "lit", "-sv", "--no-progress-bar", *tests], stdout=sys.stderr, check=False,
               env=os.environ | {"LLVM_PROFILE_FILE": str(counts / "%8m.profraw")})
run(LLVM / "llvm-profdata", "merge", "-sparse", "-o", build / "counts.profdata", *counts.glob("*.profraw"))

# Everything linked that carries counters: the tools, the libraries people load, the unit tests.
binaries = [file for folder in ("bin", "lib", "test/Unit", "test/CAPI", "test/Runtime", "python")
            for file in sorted((build / folder).glob("*")) if file.is_file() and not file.is_symlink()
            and file.open("rb").read(4) == b"\x7fELF" and file.suffix not in (".o", ".a")]
objects = [word for file in binaries[1:] for word in ("-object", file)]
report = run(LLVM / "llvm-cov", "export", "-skip-functions", f"-instr-profile={build / 'counts.profdata'}", binaries[0],
             *objects, source / "lib", stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout

folders, poor, missing = collections.defaultdict(lambda: [0, 0, 0, 0]), [], []
for file in json.loads(report)["data"][0]["files"]:
    name = os.path.relpath(file["filename"], source)
    lines, regions = file["summary"]["lines"], file["summary"]["regions"]
    deep = name.startswith(("lib/Conversion", "lib/Planner", "lib/Target", "lib/Dialect"))
    folder = "/".join(name.split("/")[:3 if deep else 2])
    for index, value in enumerate((lines["covered"], lines["count"], regions["covered"], regions["count"])):
        folders[folder][index] += value
    if lines["count"] and lines["covered"] < AIM * lines["count"]:
        poor.append((lines["covered"] / lines["count"], lines["count"] - lines["covered"], name))
    start = None  # a segment counts until the next: [line, column, count, has a count, ...]
    for line, _, count, counted, *_ in file["segments"]:
        if start is not None:
            missing.append(f"{name}:{start}-{line}")
            start = None
        if counted and count == 0:
            start = line

print(f"{'':34} {'lines':>7} {'':>14}  {'regions':>7}")
total = [sum(column) for column in zip(*folders.values())]
for folder, (lines, of, regions, among) in [*sorted(folders.items()), ("lib", total)]:
    print(f"{folder:34} {lines / of:7.1%} {f'{lines}/{of}':>14}  {regions / among:7.1%}")
for share, lines, name in sorted(poor):
    print(f"  {share:6.1%}  {lines:4} lines not run  {name}")
(build / "uncovered.txt").write_text("".join(f"{row}\n" for row in missing))
sys.exit(total[0] < AIM * total[1])
