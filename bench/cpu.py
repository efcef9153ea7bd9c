"""matmuls and what surrounds them beside OpenBLAS, MKL, oneDNN, BLIS, Eigen and libxsmm

  ./dev bench cpu --install-peers            once: the libraries, into build/peers
  ./dev bench cpu                            everything, half an hour on a quiet machine
  ./dev bench cpu --quick --class tiny,odd   two classes, a short look
  ./dev bench cpu --most 20                  no case of more than 20 billion operations
  ./dev bench cpu --csv out.csv --table out.md --svg out.svg
  ./dev bench cpu --from out.csv --table -   a table of what was measured before

bench/cpu/main.cpp says how it is measured, bench/cpu/bars.py what is aimed at.
"""

import argparse
import glob
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "cpu"))
import picture  # noqa: E402
import table  # noqa: E402

SOURCE = pathlib.Path(os.environ.get("FACET_SOURCE", HERE.parent))
BUILD = pathlib.Path(os.environ.get("FACET_BUILD", SOURCE / "build" / "release"))
PEERS = SOURCE / "build" / "peers"

# The newest of each that a package brings. Nothing of Facet needs them.
PYPI = [
    "scipy-openblas32",  # OpenBLAS as NumPy and SciPy ship it
    "mkl",
    "onednn-cpu-gomp",  # the newest oneDNN wheel with threads of its own, not SYCL's
]
DEBIAN = [
    "libblis4-pthread",
    "libeigen3-dev",  # templates: shims/eigen.cpp
    "libxsmm-dev",  # an archive: shims/libxsmm.c
]
LIBRARIES = ["libscipy_openblas*.so*", "libmkl_*.so*", "libdnnl.so*", "libblis.so*", "libgfortran*.so*",
             "libquadmath*.so*"]


def run(*command, **more):
    print("+", *command, file=sys.stderr)
    subprocess.run([str(word) for word in command], check=True, **more)


def install_peers():
    """Unpacks the packages below build/peers; the system stays as it is."""
    folder = PEERS / "packages"
    folder.mkdir(parents=True, exist_ok=True)
    for package in PYPI:  # each for itself: what one machine cannot have, another has
        try:
            run(sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-deps",
                "--ignore-installed", "--prefix", folder / "python", package)
        except subprocess.CalledProcessError:
            print(f"{package}: not installed", file=sys.stderr)
    for package in DEBIAN:
        try:
            run("apt-get", "-q", "download", package, cwd=folder)
            (newest,) = sorted(folder.glob(package + "_*.deb"), key=os.path.getmtime)[-1:]
            run("dpkg-deb", "-x", newest, folder / "debian")
        except (subprocess.CalledProcessError, OSError):
            print(f"{package}: not installed", file=sys.stderr)
    for pattern in LIBRARIES:
        for found in glob.glob(str(folder / "**" / pattern), recursive=True):
            link = PEERS / os.path.basename(found)
            if "blis-serial" in found:
                continue
            link.unlink(missing_ok=True)
            link.symlink_to(os.path.relpath(found, PEERS))
    compile_shims(folder / "debian" / "usr")


def compile_shims(usr):
    shims = HERE / "cpu" / "shims"
    eigen, xsmm = usr / "include" / "eigen3", usr / "lib" / "libxsmm.a"
    if eigen.exists():
        run("g++-12", "-O3", "-march=native", "-fopenmp", "-DNDEBUG", "-shared", "-fPIC", "-I", eigen,
            shims / "eigen.cpp", "-o", PEERS / "libeigen-peer.so")
    if xsmm.exists():
        run("gcc-12", "-O2", "-shared", "-fPIC", "-I", usr / "include", shims / "libxsmm.c", xsmm,
            usr / "lib" / "libxsmmnoblas.a", "-o", PEERS / "liblibxsmm-peer.so", "-lm", "-ldl", "-lpthread")


def measure(options):
    run("cmake", "--build", BUILD, "--target", "facet", "facet-runtime-shared", "facet-bench-cpu",
        stdout=sys.stderr)
    folder = BUILD / "bench" / "cpu" / "kernels"
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():  # of another build of facet
        old.unlink()
    environment = dict(os.environ, LD_LIBRARY_PATH=str(PEERS))
    environment.pop("OPENBLAS_CORETYPE", None)  # the libraries choose for themselves
    command = [BUILD / "bench" / "cpu" / "facet-bench-cpu", f"--facet={BUILD / 'bin' / 'facet'}",
               f"--runtime={BUILD / 'lib'}", f"--peers={PEERS}", f"--folder={folder}",
               f"--target={options.target}", f"--threads={options.threads}", f"--csv={options.csv}",
               f"--seconds={0.05 if options.quick else options.seconds}"]
    if options.most:
        command.append(f"--most={options.most}")
    if options.classes:
        command.append(f"--class={options.classes}")
    return subprocess.run([str(word) for word in command], env=environment).returncode


def main():
    parser = argparse.ArgumentParser(prog="./dev bench cpu", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--install-peers", action="store_true", help="fetch the libraries into build/peers, and stop")
    parser.add_argument("--class", dest="classes", metavar="LIST", help="only these classes: tiny,odd")
    parser.add_argument("--most", type=float, metavar="N", help="leave out cases of more than N billion operations")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--target", default="native", help="what facet compiles for")
    parser.add_argument("--seconds", type=float, default=0.3, help="per row (default 0.3)")
    parser.add_argument("--quick", action="store_true", help="0.05 seconds per row")
    parser.add_argument("--csv", default=str(BUILD / "bench" / "cpu" / "cpu.csv"), help="write the rows here")
    parser.add_argument("--from", dest="csv_from", metavar="CSV", help="measure nothing, report these rows")
    parser.add_argument("--table", metavar="FILE", help="write a table in Markdown; '-': standard output")
    parser.add_argument("--svg", metavar="FILE", help="write a picture")
    options = parser.parse_args()
    if options.install_peers:
        install_peers()
        return 0
    status = 0
    if options.csv_from:
        options.csv = options.csv_from
    else:
        pathlib.Path(options.csv).parent.mkdir(parents=True, exist_ok=True)
        status = measure(options)
    rows = table.read(options.csv)
    if options.table == "-":
        print(table.text(rows))
    elif options.table:
        pathlib.Path(options.table).write_text(table.text(rows))
    if options.svg:
        pathlib.Path(options.svg).write_text(picture.draw(rows))
    return status


if __name__ == "__main__":
    sys.exit(main())
