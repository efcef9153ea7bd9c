"""debian.py BUILD: packs twice, in different folders, at different times, and compares; unpacks what a
developer's machine would have into an empty root and uses it there."""
import filecmp
import glob
import os
import subprocess
import sys
import time

from project import Project, run

build, = sys.argv[1:]
here = os.path.dirname(__file__)
packages = []
for folder in ("first", "the second"):
    done = run("cpack", "--config", f"{build}/CPackConfig.cmake", "-B", os.path.abspath(folder))
    assert done.returncode == 0 and "Warning" not in done.stderr, done
    packages.append(sorted(glob.glob(f"{folder}/*.deb")))
    time.sleep(1)
names = [os.path.basename(path).split("_")[0] for path in packages[0]]
assert sorted(names) == ["facet", "facet-doc", "libfacet-blas0", "libfacet-dev", "libfacet-runtime0", "libfacet-sim0", "libfacet0"], names
for first, second in zip(*packages):
    assert filecmp.cmp(first, second, shallow=False), f"{first} and {second} differ"

os.makedirs("alone")
# What the binaries of a package need is what it depends on.
for name, path in zip(names, packages[0]):
    subprocess.run(["dpkg-deb", "-x", path, f"alone/{name}"], check=True)
    subprocess.run(["dpkg-deb", "-x", path, "root"], check=True)
    depends = subprocess.check_output(["dpkg-deb", "-f", path, "Depends"], text=True)
    for binary in glob.glob(f"alone/{name}/usr/bin/*") + glob.glob(f"alone/{name}/usr/lib/**/*.so.*.*", recursive=True):
        for line in run("readelf", "-d", binary).stdout.splitlines():
            if "(NEEDED)" in line and (library := line.split("[")[1].rstrip("]")) != "ld-linux-x86-64.so.2":
                owners = {line.split(":")[0] for line in run("dpkg", "-S", f"*/{library}").stdout.splitlines()}
                assert any(f"{owner} " in depends for owner in owners), (binary, library, owners, depends)
root = os.path.abspath("root/usr")
project = Project(f"{here}/application", "application", "Ninja", f"{root}")
kernels = Project(f"{here}/kernels", "kernels", "Ninja", root)
code, text = kernels.configure(f"-DCMAKE_INSTALL_PREFIX={root}")
assert code == 0, text
assert "link libkernels.a" in kernels.make("--target", "install")
code, text = project.configure()
assert code == 0, text
assert "link main" in project.make()
done = run("application/main")
assert done.stdout == "0: 3 4 6 8\n", done
assert f"{root}/lib" in run("ldd", "application/main").stdout
manual = run("groff", "-man", "-Tutf8", "-ww", input=subprocess.check_output(["zcat", f"{root}/share/man/man1/facet-sim.1.gz"], text=True))
assert manual.returncode == 0 and not manual.stderr and "matrix engine" in manual.stdout, manual
