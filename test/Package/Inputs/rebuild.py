"""rebuild.py GENERATOR PREFIX: after a change exactly what depends on it is built again."""
import os
import shutil
import sys

from project import Project, edit, run, touch

generator, prefix = sys.argv[1:]
source, build = "ein Prögramm", "gebaut hier"
shutil.copytree(os.path.join(os.path.dirname(__file__), "consumer"), source)
project = Project(source, build, generator, prefix)
gemm, two = "facet gemm.o", "facet twö.o"
archive, program = "link libkernels.a", "link main"
ninja = generator.startswith("Ninja")


def expect(steps, *wanted):
    assert steps == sorted(wanted), f"wanted {sorted(wanted)}, ran {steps}"


def output(wanted):
    done = run(f"{build}/main")
    assert done.stdout == wanted, (done, wanted)


code, text = project.configure()
assert code == 0, text
expect(project.make(), gemm, two, archive, "compile main.c", program)
output("0: 3 4 6 8, 12 16\n")
expect(project.make())

# A comment changes no byte. Ninja finds that out, make links again.
edit(f"{source}/gemm.facet", "kernel gemm", "// the product\nkernel gemm")
expect(project.make(), gemm, *([] if ninja else [archive, program]))
expect(project.make())
# Neither does a touched schedule for another machine, which both sources read.
touch(f"{source}/tuned.facet")
expect(project.make(), gemm, two, *([] if ninja else [archive, program]))
expect(project.make())

# The import of one: the program that includes its header, which stays the same, is
# linked, not compiled.
edit(f"{source}/shared/scale.facet", "2 * x", "3 * x")
expect(project.make(), two, archive, program)
output("0: 3 4 6 8, 18 24\n")
expect(project.make())

# Another interface: the header changes, and who includes it is compiled.
edit(f"{source}/gemm.facet", "kernel gemm", "/// the product\nkernel gemm")
expect(project.make(), gemm, archive, "compile main.c", program)
expect(project.make())

# Another size.
code, text = project.configure("-DSIZES=M=2")
assert code == 0, text
steps = project.make()
assert gemm in steps and two in steps, steps
output("0: 3 4 6 8, 18 24\n")
expect(project.make())

# Code for a machine of the project's own: when its file changes, both are compiled.
machine = f"{source}/my cpü.yaml"
with open(machine, "w", encoding="utf-8") as file:
    file.write("format: facet-machine-1\nname: mine\nbase: x86-64-v2\n")
code, text = project.configure("-DMACHINES=my cpü.yaml", "-DLEVELS=x86-64-v3")
assert code == 0, text
steps = project.make()
assert gemm in steps and two in steps and program in steps, steps
output("0: 3 4 6 8, 18 24\n")
touch(machine)
steps = project.make()
assert gemm in steps and two in steps and "compile main.c" not in steps, steps
expect(project.make())

# A mistake is told with its place and leaves nothing half made; mended, all goes on.
edit(f"{source}/shared/scale.facet", "3 * x", "3 * z")
text = project.make()
assert isinstance(text, str) and "scale.facet:1:19: error:" in text, text
edit(f"{source}/shared/scale.facet", "3 * z", "3 * x")
assert two in project.make()

# An import that is gone is named.
os.remove(f"{source}/shared/scale.facet")
text = project.make()
assert isinstance(text, str) and "scale.facet" in text, text
