"""engine.py PREFIX CC: kernels of matrix engines in a project, by CMake and by hand."""
import os
import shutil
import sys

from project import Project, edit, run, touch

prefix, cc = sys.argv[1:]
here = os.path.dirname(__file__)
shutil.copytree(f"{here}/engine", "source")

WANTED = """\
time before: 0
0 0 close: 1 gaps: 1 exact: 1
time is positive: 1, message: ''
packed: 0 0 linear
refused: -3 N, found 52, wants 48
refused: -9 linear rows, found 37, wants 37
threads agree: 1
"""

for generator in "Ninja", "Unix Makefiles":
    build = generator.split()[0]
    project = Project("source", build, generator, prefix)
    code, text = project.configure()
    assert code == 0, text
    assert project.make() == ["compile main.c", "facet linear.o", "facet linear_trn2.engine", "facet linear_trn2.o",
                              "link libkernels.a", "link main"]
    done = run(f"{build}/main")
    assert done.stdout == WANTED, done
    again = project.make()
    assert not [step for step in again if step.startswith("facet")], again

# The program beside the object is the one that facet-sim takes.
checked = run(f"{prefix}/bin/facet-sim", "run", "Ninja/kernels.facet/linear_trn2.engine", "--timing-only")
assert checked.returncode == 0, checked

# A machine of one's own, whose file is edited: its functions have its name, and are made again.
shutil.copy(f"{prefix}/share/facet/machines/trn2.yaml", "source/my-engine.yaml")
edit("source/my-engine.yaml", "name: trn2\n", "name: my-engine\n")
project = Project("source", "own", "Ninja", prefix, "-DMACHINES=my-engine.yaml")
code, text = project.configure()
assert code == 0, text
assert "facet linear_my-engine.o" in project.make()
with open("own/kernels.facet/include/linear_my-engine.h", encoding="utf-8") as header:
    assert "int linear_my_engine(" in header.read()
touch("source/my-engine.yaml")
assert "facet linear_my-engine.o" in project.make()

# Sizes that are open are said by the compiler, where they stand.
project = Project("source", "open", "Ninja", prefix, "-DSIZES=M=37")
code, text = project.configure()
assert code == 0, text
text = project.make()
assert "sizes K, N are not one number each" in text, text

# Without CMake: two lines and pkg-config.
for options in ["--target=reference", "-o", "linear.o", "--header", "linear.h"], \
        ["--target=trn2", "-o", "linear_trn2.a", "--header", "linear_trn2.h"]:
    done = run(f"{prefix}/bin/facet", "compile", "source/linear.facet", "-D", "M=37", "-D", "K=64", "-D", "N=48", *options)
    assert done.returncode == 0, done
[configs] = [folder for folder, _, files in os.walk(prefix) if "facet-sim.pc" in files]
flags = run("pkg-config", "--cflags", "--libs", "facet-sim", env=os.environ | {"PKG_CONFIG_PATH": configs}).stdout.split()
library = [flag[2:] for flag in flags if flag.startswith("-L")][0]
done = run(cc, "-I.", "source/main.c", "linear.o", "linear_trn2.a", *flags, f"-Wl,-rpath,{library}", "-pthread", "-o", "main")
assert done.returncode == 0, done
assert run("./main").stdout == WANTED
