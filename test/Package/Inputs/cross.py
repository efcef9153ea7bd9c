"""cross.py PREFIX CLANG READOBJ: a project for another machine, whose package of Facet lies
in a sysroot. The compiler is the one of this machine, from PATH."""
import os
import shutil
import sys

from project import Project, run

prefix, clang, readobj = sys.argv[1:]
here = os.path.dirname(__file__)
os.makedirs("sysroot")
shutil.copytree(prefix, "sysroot/usr", symlinks=True)
# A program of the other machine.
with open("sysroot/usr/bin/facet", "wb") as file:
    file.write(b"\x7fELF\x02\x01\x01" + bytes(57))
# Programs are looked for in the sysroot alone, which Facet's package must overrule.
tools = [f"-DCMAKE_{name}={shutil.which(tool)}"
         for name, tool in (("MAKE_PROGRAM", "ninja"), ("AR", "ar"), ("RANLIB", "ranlib"))]
toolchain = f"-DCMAKE_TOOLCHAIN_FILE={here}/cross/toolchain.cmake"
os.environ.update(SYSROOT=os.path.abspath("sysroot"), CLANG=clang, COMPILER_TARGET="")
path = os.environ["PATH"]
os.environ["PATH"] = f"{prefix}/bin:{path}"


def machine(file):
    done = run(readobj, "--file-headers", file)
    return next(line for line in done.stdout.splitlines() if "Machine:" in line).split()[1]


for target, triple in (("", "aarch64-unknown-linux-gnu"), ("1", "aarch64-unknown-linux-musl")):
    os.environ["COMPILER_TARGET"] = target
    build = f"build{target}"
    project = Project(f"{here}/cross", build, "Ninja", "", toolchain, *tools)
    code, text = project.configure()
    assert code == 0, text
    with open(f"{build}/CMakeCache.txt", encoding="utf-8") as cache:
        text = cache.read()
    assert f"Facet_DIR:PATH={os.environ['SYSROOT']}/usr/" in text, text
    assert f"Facet_EXECUTABLE:FILEPATH={prefix}/bin/facet\n" in text, text
    with open(f"{build}/build.ninja", encoding="utf-8") as ninja:
        assert f"--triple={triple} " in ninja.read()
    steps = project.make()
    assert "facet gemm.o" in steps and "compile user.c" in steps, steps
    assert machine(f"{build}/kernels.facet/gemm.o") == "EM_AARCH64"

# Without a compiler in PATH the one in the sysroot is not tried.
os.environ["PATH"] = os.pathsep.join(
    folder for folder in path.split(os.pathsep) if not os.path.exists(f"{folder}/facet"))
code, text = Project(f"{here}/cross", "none", "Ninja", "", toolchain, *tools).configure()
text = " ".join(text.split())
assert code != 0 and "no program 'facet' is found; set Facet_EXECUTABLE to the compiler for the machine that builds" in text, text
