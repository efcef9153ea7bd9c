# The world around the tools: little memory, one CPU, no room, no end, odd environments,
# others who write the same file.
#
# UNSUPPORTED: asan
# RUN: rm -rf %t && mkdir -p %t && cd %t && cp %examples/gemm/linear.facet .
# RUN: %python %s %facet %facet-sim %facet-opt %facet-lsp-server

import os
import resource
import subprocess
import sys

FACET, SIM, OPT, LSP = sys.argv[1:5]
COMPILE = [FACET, "compile", "linear.facet", "--target=reference", "-o"]


def run(command, limits=(), **options):
    def set_limits():
        for what, value in limits:
            resource.setrlimit(what, (value, value))
    options.setdefault("env", os.environ)
    return subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=120,
                          preexec_fn=set_limits, **options)


def wants(done, code, *texts):
    assert done.returncode == code, done
    for text in texts:
        assert text in done.stderr, done.stderr
    return done


def leaves(*names):
    for name in os.listdir("."):
        assert ".tmp-" not in name, name
    for name in names:
        assert not os.path.exists(name), name


wants(run(COMPILE + ["l.o"]), 0)
wants(run([FACET, "compile", "linear.facet", "--target=trn2", "-D", "M=8", "-D", "K=8", "-D", "N=8", "-o", "l.engine"]), 0)
with open("m.mlir", "w") as file:
    file.write("module {\n" + "".join(f"  func.func private @f{i}()\n" for i in range(1000)) + "}\n")
right = open("l.o", "rb").read()

# A file may not grow that far: an error as on a full disk.
small = [(resource.RLIMIT_FSIZE, 1024)]
wants(run(COMPILE + ["big.o"], small), 1, "cannot write 'big.o': file too large")
wants(run([SIM, "dis", "l.engine", "-o", "big.s"], small), 1, "big.s: error: cannot be written: file too large")
wants(run([OPT, "m.mlir", "-o", "big.mlir"], small), 1, "facet-opt: error: big.mlir: file too large")
leaves("big.o", "big.s", "big.mlir")

# Standard output is full.
with open("/dev/full", "w") as full:
    for command in ([FACET, "explain", "linear.facet"], [SIM, "info", "l.engine"], [SIM, "--help"], [OPT, "m.mlir"]):
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
        assert done.returncode == 1 and "no space left on device" in done.stderr, (command, done)

# Where nothing may be made.
for folder in ("/proc", "/sys"):
    wants(run(COMPILE + [folder + "/l.o"]), 1, f"facet: error: cannot write '{folder}/l.o': ")
wants(run([SIM, "dis", "l.engine", "-o", "/proc/l.s"]), 1, "/proc/l.s: error: cannot be written: ")
wants(run([OPT, "m.mlir", "-o", "/proc/m.mlir"]), 1, "facet-opt: error: /proc/m.mlir: ")

# The output is the input, by this name or another.
os.link("l.engine", "again.engine")
wants(run([SIM, "dis", "l.engine", "-o", "./again.engine"]), 1, "again.engine: error: the output is one of the inputs")
wants(run([OPT, "m.mlir", "-o", "./m.mlir"]), 1, "the output './m.mlir' is one of the inputs")
wants(run([FACET, "import", "--einsum=ij,jk->ik", "-o", "."]), 1, "is a directory")
import numpy as np
np.save("x.npy", np.zeros((2, 3), np.float32))
with open("copy.facet", "w") as file:
    file.write("kernel copy(x: f32[M, N]) -> y: f32[M, N] { y[m, n] = x[m, n] }\n"
               "kernel grow(c: inout f32[M, N]) { c[m, n] = c[m, n] + 1 }\n")
reference = ["--target=reference"]
wants(run([FACET, "run", "copy.facet", "--kernel=copy", "x=x.npy", "y=./x.npy"] + reference), 1, "the output './x.npy' is one of the inputs")
wants(run([FACET, "run", "copy.facet", "--kernel=grow", "c=x.npy", "c.new=x.npy"] + reference), 0)
assert (np.load("x.npy") == 1).all()

# No end: a device, a pipe.
for command in ([FACET, "compile", "-x", "facet", "/dev/zero", "-o", "z.o"], [SIM, "info", "/dev/zero"], [OPT, "/dev/zero"]):
    wants(run(command), 1, "/dev/zero: ", "it is no file, and has no end within 256 MiB")

# Little memory: said, or enough.
memory = [(resource.RLIMIT_AS, 1200 << 20)]
wants(run([FACET, "run", "linear.facet", "x=zeros", "w=zeros", "b=zeros", "M=40000", "K=40000", "N=4"] + reference, memory), 1, "memory")
wants(run(COMPILE + ["m.o"], memory), 0)

# Other environments, the same bytes.
bare = {}
odd = {"LC_ALL": "tr_TR.UTF-8", "LANG": "tr_TR.UTF-8", "HOME": "/nowhere", "TMPDIR": "/nowhere"}
broken = {"LC_ALL": "no such locale", "TERM": "", "COLUMNS": "x", "PATH": ""}
for i, environment in enumerate((bare, odd, broken)):
    wants(run(COMPILE + [f"e{i}.o"], env=environment), 0)
    assert open(f"e{i}.o", "rb").read() == right
    wants(run([SIM, "run", "l.engine", "--timing-only"], env=environment), 0)
    wants(run([OPT, "m.mlir"], env=environment), 0)
one = sorted(os.sched_getaffinity(0))[:1]
os.sched_setaffinity(0, one)
wants(run(COMPILE + ["one.o", "-j", "8"]), 0)
assert open("one.o", "rb").read() == right

# Two compilers write the same files: each is whole, and one's or the other's.
with open("long.facet", "w") as file:
    file.write(open("linear.facet").read().replace("linear(", "linear_with_a_longer_name("))
whole = []
for source in ("linear.facet", "long.facet"):
    wants(run([FACET, "compile", source, "--target=reference", "-o", "own.o"]), 0)
    whole.append(open("own.o", "rb").read())
for _ in range(2):
    both = [subprocess.Popen([FACET, "compile", source, "--target=reference", "-o", "both.o"])
            for source in ("linear.facet", "long.facet")]
    assert [process.wait() for process in both] == [0, 0]
    assert open("both.o", "rb").read() in whole
leaves()

# An editor goes away in the middle of a message.
done = subprocess.run([LSP], input=b"Content-Length: 100\r\n\r\n{", capture_output=True, timeout=60)
assert done.returncode >= 0, done
