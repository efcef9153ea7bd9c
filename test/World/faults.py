# Each call by which a file is made fails once, in each tool: an error with its reason,
# the old files or the new ones, nothing beside them.
#
# UNSUPPORTED: asan
# RUN: rm -rf %t && mkdir -p %t && cd %t && cp %examples/gemm/linear.facet .
# RUN: %cc -shared -fPIC -O1 %S/Inputs/faults.c -o faults.so
# RUN: %python %s %facet %facet-sim %facet-opt

import errno
import os
import signal
import subprocess
import sys

FACET, SIM, OPT = sys.argv[1:4]
HERE = os.getcwd()


def run(command, fault=None, only=HERE + "/out"):
    environment = dict(os.environ)
    if fault:
        environment.update(LD_PRELOAD=HERE + "/faults.so", FAULT=fault, FAULT_PATH=only,
                           FAULT_DONE=HERE + "/done")
        if os.path.exists("done"):
            os.remove("done")
    return subprocess.run(command, env=environment, capture_output=True, text=True, cwd=HERE, timeout=60)


def happened():
    return os.path.exists(HERE + "/done")


def prepare(outputs):
    os.makedirs("out", exist_ok=True)
    for name in os.listdir("out"):
        os.remove("out/" + name)
    for name in outputs:
        with open("out/" + name, "w") as file:
            file.write("old\n")


def state(outputs, new):
    """Per output "old" or "new"; anything else is wrong."""
    result = []
    for name in outputs:
        with open("out/" + name, "rb") as file:
            text = file.read()
        assert text in (b"old\n", new[name]), f"{name} is half-written: {len(text)} bytes"
        result.append("old" if text == b"old\n" else "new")
    return result


def check(command, outputs, calls):
    prepare(outputs)
    done = run(command)
    assert done.returncode == 0, done.stderr
    new = {name: open("out/" + name, "rb").read() for name in outputs}
    assert sorted(os.listdir("out")) == sorted(outputs), os.listdir("out")
    for call, failure in calls:
        for count in range(1, 20):
            prepare(outputs)
            fault = f"{call}:{count}:{failure}"
            done = run(command, fault)
            if not happened():
                assert done.returncode == 0 and count > 1, (fault, done)
                break
            found = state(outputs, new)
            if failure == "kill":
                assert done.returncode == -signal.SIGKILL, (fault, done)
                continue  # nobody can tidy up after that
            assert len(set(found)) == 1, (fault, found)
            assert sorted(os.listdir("out")) == sorted(outputs), (fault, os.listdir("out"))
            if failure == "terminate":
                assert done.returncode == -signal.SIGTERM, (fault, done)
                continue
            assert done.returncode == 1 and found[0] == "old", (fault, done, found)
            assert os.strerror(failure).lower() in done.stderr, (fault, done.stderr)
            assert "error:" in done.stderr and done.stderr.count("\n") <= 2, (fault, done.stderr)
        else:
            raise AssertionError(f"{call} is called without end")


FULL = [("create", errno.EROFS), ("write", errno.ENOSPC), ("rename", errno.EPERM)]
KILLED = [("create", "kill"), ("write", "kill"), ("rename", "kill"),
          ("write", "terminate"), ("rename", "terminate")]

compiled = [FACET, "compile", "linear.facet", "--target=reference", "-o", HERE + "/out/l.o",
            "--header", HERE + "/out/l.h"]
check(compiled, ["l.o", "l.h"], FULL + KILLED)

engine = [FACET, "compile", "linear.facet", "--target=trn2", "-D", "M=8", "-D", "K=8", "-D", "N=8", "-o"]
assert run(engine + ["l.engine"]).returncode == 0
check([SIM, "dis", "l.engine", "-o", HERE + "/out/l.s"], ["l.s"], FULL + KILLED[:3])
check([SIM, "run", "l.engine", "--timing-only", "--json", HERE + "/out/l.json"], ["l.json"], FULL)

with open("m.mlir", "w") as file:
    file.write("module {\n  func.func private @f()\n}\n")
check([OPT, "m.mlir", "-o", HERE + "/out/m.mlir"], ["m.mlir"], FULL + KILLED[:3])

# What is read changes under the reader: refused, never a crash, never half an input.
# Longer than a page, or the C library's way to read it would not matter.
kernel = open("linear.facet").read() + "// " + 100000 * "x" + "\n"
for how in ("shorten", "append"):
    for name, text, command in [
            ("in.facet", kernel, [FACET, "compile", "in.facet", "--target=reference", "-o", HERE + "/out/l.o"]),
            ("in.s", '.machine "trn2"\n' + 5000 * "// ..............\n", [SIM, "as", "in.s", "-o", HERE + "/out/l.o"]),
            ("in.mlir", "module {}\n" + 5000 * "// ..............\n", [OPT, "in.mlir", "-o", HERE + "/out/l.o"])]:
        with open(name, "w") as file:
            file.write(text)
        prepare(["l.o"])
        done = run(command, "read:1:" + how, HERE + "/in.")
        assert happened()
        assert done.returncode == 1 and "it changed while it was read" in done.stderr, (command, done)
        assert os.listdir("out") == ["l.o"]
