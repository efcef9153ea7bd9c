"""moved.py PREFIX: everything lies elsewhere than where it was installed, and works."""
import glob
import os
import shutil
import sys

from project import Project, run

prefix = sys.argv[1]
here = os.path.dirname(__file__)


def move(old, new):
    os.makedirs(os.path.dirname(new), exist_ok=True)
    os.rename(old, new)
    return os.path.abspath(new)


# A copy of the shared installation stands for one that was moved: nothing may lead
# back to where it came from.
shutil.copytree(prefix, "first", symlinks=True)
facet = move("first", "Ein Ort/facet")
for found in glob.glob(f"{facet}/**/*.cmake", recursive=True) + glob.glob(f"{facet}/**/*.pc", recursive=True):
    with open(found, encoding="utf-8") as file:
        text = file.read()
    assert prefix not in text, found
    assert os.path.dirname(os.path.dirname(prefix)) not in text, found  # the build folder
machine = run(f"{facet}/bin/facet-sim", "--help")
assert machine.returncode == 0, machine
config = run(f"{facet}/bin/facet", "print-config")
assert f"cmake-dir: {facet}/" in config.stdout, config
directory = run(f"{facet}/bin/facet", "--print-cmake-dir").stdout.strip()
assert os.path.exists(f"{directory}/FacetConfig.cmake"), directory
targets = run(f"{facet}/bin/facet", "targets", "--json", env={"PATH": ""})
assert '"trn2"' in targets.stdout and f'"{facet}/share/facet/machines' in targets.stdout.replace("\\/", "/"), targets

# A user's package, with several configurations in one build folder.
kernels = Project(f"{here}/kernels", "kernels", "Ninja Multi-Config", facet)
code, text = kernels.configure("-DCMAKE_CONFIGURATION_TYPES=Debug;Release")
assert code == 0, text
steps = kernels.make("--config", "Debug")
for step in ("facet gemm.o", "facet gemm.s", "facet gemm.ll", "facet gemm.mlir", "facet gemm.kernel.mlir",
             "link libkernels.a", "link libwrapped.so", "link alone"):
    assert step in steps, (step, steps)
assert kernels.make("--config", "Debug") == []
# The kernels are the same for every configuration.
steps = kernels.make("--config", "Release")
assert "compile wrapped.c" in steps and not [step for step in steps if step.startswith("facet ")], steps
alone = run("kernels/Release/alone", env={})
assert alone.stdout == "0: 15\n", alone
assert "facet" not in run("ldd", "kernels/Release/alone").stdout
installed = run("cmake", "--install", "kernels", "--prefix", "second", "--config", "Release")
assert installed.returncode == 0, installed
shutil.rmtree("kernels")
second = move("second", "Noch ein Ort/kernels")

application = Project(f"{here}/application", "application", "Ninja", f"{facet};{second}")
code, text = application.configure()
assert code == 0, text
assert application.make() == ["compile main.cpp", "link main"]
done = run("application/main")
assert done.stdout == "0: 3 4 6 8\n", done

# The installation goes to another place once more: configuring again finds it there.
third = move(facet, "dritter Ort/facet")
application.prefix = f"{third};{second}"
code, text = application.configure("-UFacet_DIR")
assert code == 0, text
with open("application/CMakeCache.txt", encoding="utf-8") as cache:
    assert f"Facet_EXECUTABLE:FILEPATH={third}/bin/facet\n" in cache.read()
