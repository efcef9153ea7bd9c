"""recipe.py TOOL PREFIX EXAMPLES CC: builds examples/build with TOOL, which rests the second time
and, after a change of an import, runs the compiler and the linker once."""
import os
import shutil
import subprocess
import sys

from project import edit

tool, prefix, examples, compiler = sys.argv[1:]
shutil.copytree(f"{examples}/build/src", "src")
shutil.copytree(f"{examples}/build/{tool}", tool)
os.chdir(tool)
# The compiler by the name that the recipes call, counting its runs.
os.makedirs("../bin")
with open("../bin/facet", "w", encoding="utf-8") as file:
    file.write(f"""#!/bin/sh
echo "$1" >> "{os.getcwd()}/runs"
[ "$1" != compile ] || set -- "$@" --target=reference
exec "{prefix}/bin/facet" "$@"
""")
os.chmod("../bin/facet", 0o755)
libraries = next(folder for folder in (f"{prefix}/lib", f"{prefix}/lib/x86_64-linux-gnu")
                 if os.path.exists(f"{folder}/pkgconfig"))
environment = dict(os.environ, PATH=f"{os.path.abspath('../bin')}:{os.environ['PATH']}", CC=compiler,
                   PKG_CONFIG_PATH=f"{libraries}/pkgconfig")


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, (command, done.stdout, done.stderr)
    return done.stdout


def runs():
    """How often the compiler ran since it was asked."""
    if not os.path.exists("runs"):
        return 0
    with open("runs", encoding="utf-8") as file:
        count = file.read().split().count("compile")
    os.remove("runs")
    return count


if tool == "make":
    build, program = ["make"], "./app"
elif tool == "ninja":
    edit("build.ninja", "prefix = /opt/facet", f"prefix = {prefix}")
    edit("build.ninja", "$prefix/bin/facet", "facet")
    build, program = ["ninja"], "./app"
elif tool == "meson":
    run("meson", "setup", "build")
    build, program = ["ninja", "-C", "build"], "build/app"
else:
    run("cmake", "-S", ".", "-B", "build", "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}",
        f"-DFacet_EXECUTABLE={os.path.abspath('../bin/facet')}")
    build, program = ["cmake", "--build", "build"], "build/app"

runs()
run(*build)
assert runs() == 1
assert run(program) == "49 16\n256 0\n"
object_of_main = [os.path.join(folder, name) for folder, _, names in os.walk(".") for name in names
                  if name.endswith(".o") and "main" in name]
assert len(object_of_main) == 1, object_of_main
before = os.stat(object_of_main[0]).st_mtime_ns
run(*build)
assert runs() == 0
edit("../src/activation.facet", "relu(x) * relu(x)", "relu(x)")
run(*build)
assert runs() == 1
assert run(program) == "7 4\n16 0\n"
if tool != "make":  # the header stays the same
    assert os.stat(object_of_main[0]).st_mtime_ns == before
