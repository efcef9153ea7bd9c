"""Runs NumPy's own tests and the testers of the reference BLAS on libfacet-blas.

    ./dev soak blas

NumPy's tests of linear algebra and arrays (their matmul too) run in an environment of their own
(build/blas), the level-3 testers of Debian's libblas-test for Fortran and C are unpacked there.
Exits 1 when one fails, or when no call was ours.
"""

import os
import pathlib
import re
import subprocess
import sys

source = pathlib.Path(os.environ["FACET_SOURCE"])
library = pathlib.Path(os.environ["FACET_BUILD"]) / "lib/libfacet-blas.so"
work = source / "build/blas"
python = work / "venv/bin/python"
ours = os.environ | {"LD_PRELOAD": str(library), "FACET_BLAS_COUNT": "1"}
failed = False


def report(what, said, good):
    global failed
    calls = int((re.search(r"facet-blas: (\d+) calls", said) or [0, 0])[1])
    failed |= not (good and calls)
    print(f"{what:32} {'pass' if good else 'FAIL'}, {calls} calls ours", flush=True)


work.mkdir(parents=True, exist_ok=True)
if not python.exists():
    subprocess.run([sys.executable, "-m", "venv", work / "venv"], check=True)
    numpy = next(line.split()[0] for line in (source / "test/requirements.txt").open() if line.startswith("numpy"))
    subprocess.run([python, "-m", "pip", "install", "-q", "--disable-pip-version-check", numpy, "pytest", "hypothesis"],
                   check=True)
tests = ["numpy.linalg.tests.test_linalg", "numpy._core.tests.test_multiarray"]
run = subprocess.run([python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "not large and not Large", "--pyargs",
                      *tests], env=ours, cwd=work, capture_output=True, text=True, check=False)
passed = (re.findall(r"^.*\bpassed\b.*$", run.stdout, re.M) or ["no test ran"])[-1]
report("numpy", run.stdout + run.stderr, run.returncode == 0)
print(f"  {passed}")

testers = work / "usr/lib/x86_64-linux-gnu/blas"
if not testers.exists():
    subprocess.run(["apt-get", "download", "-qq", "libblas-test"], cwd=work, check=True)
    subprocess.run(["dpkg-deb", "-x", next(work.glob("libblas-test_*.deb")), work], check=True)
for letter in "sd":
    for program, script, result in ((f"xblat3{letter}", f"{letter}blat3.in", f"{letter}blat3.out"),
                                    (f"x{letter}cblat3", f"{letter}in3", None)):
        with (testers / script).open() as lines:
            run = subprocess.run([testers / program], env=ours, cwd=testers, stdin=lines, capture_output=True, text=True,
                                 check=False)
        said = (testers / result).read_text() if result else run.stdout
        gemm = re.findall(r"^.*[sd]gemm.*$", said, re.M | re.I)
        report(program, run.stderr, bool(gemm) and all(" PASSED " in line for line in gemm))
        for line in gemm:
            print(f"  {line.strip()}")
sys.exit(failed)
