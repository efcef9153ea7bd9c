"""rebuild.py ninja|make FACET: builds a kernel whose path has every awkward character,
then builds again: nothing may happen; then touches the import: one run; then deletes
it: an error that names it."""
import os
import subprocess
import sys
import time

tool, facet = sys.argv[1:]
folder = "a b#c$d"
os.makedirs(folder, exist_ok=True)
source, library = f"{folder}/k.facet", f"{folder}/lib.facet"
with open(library, "w") as file:
    file.write("fn twice(x) = 2 * x\n")
with open(source, "w") as file:
    file.write('import "lib.facet"\nkernel k(a: f32[N]) -> y: f32[N] { y[n] = twice(a[n]) }\n')

if tool == "ninja":
    path = source.replace("$", "$$").replace(" ", "$ ")
    with open("build.ninja", "w") as file:
        file.write(f"""rule facet
  command = {facet} compile --target=reference $in -o n.o --header n.h -MD -MF n.d && echo RAN
  deps = gcc
  depfile = n.d
build n.o | n.h: facet {path}
""")
    command = ["ninja", "-v"]
else:
    path = source.replace("$", "$$").replace("#", "\\#").replace(" ", "\\ ")
    shell = source.replace("$", "$$")
    with open("Makefile", "w") as file:
        file.write(f"""m.o: {path}
\t@{facet} compile --target=reference '{shell}' -o m.o -MD -MP && echo RAN
-include m.d
""")
    command = ["make"]


def runs():
    time.sleep(0.02)
    done = subprocess.run(command, capture_output=True, text=True)
    return done, done.stdout.splitlines().count("RAN")


done, count = runs()
assert done.returncode == 0 and count == 1, done
done, count = runs()
assert done.returncode == 0 and count == 0, done
future = time.time() + 2
os.utime(library, (future, future))
done, count = runs()
assert done.returncode == 0 and count == 1, done
os.remove(library)
done, count = runs()
text = done.stdout + done.stderr
assert done.returncode != 0 and count == 0, done
if tool == "make":  # -MP: make goes on, facet says what is missing
    assert f"{source}:1:8: error:" in text and "lib.facet" in text, text
