# How lit runs the tests of Facet.
#
# A test is any file below with one of the suffixes and a RUN line; files that
# are only read by tests live in folders named Inputs. Every test gets the tools
# of this build and LLVM's (FileCheck, not, split-file, ...) on its PATH, and
# these substitutions:
#
#   %facet %facet-opt %facet-sim %facet-lsp-server %facet-sim-rows   the tools
#   %python              the interpreter with NumPy, ml_dtypes and hypothesis
#   %clang %clang++      LLVM 22's, where installed (REQUIRES: clang)
#   %cc %c++             the compilers of this build
#   %gcc %g++ %fortran   GNU's (REQUIRES: gcc, gfortran)
#   %examples %machines %include %source %build      folders
#   %prefix              an installation of this build, shared by test/Package
#
# Features for REQUIRES and UNSUPPORTED: clang gcc gfortran meson dpkg gdb lintian root
# asan python-package (nanobind was there when this build was configured) jax torch (the
# interpreter has them), and the CPU's levels: x86-64-v2 x86-64-v3 x86-64-v4 znver4.
# qemu-x86_64, qemu-aarch64: programs run on other CPUs; lld: LLVM 22's linker.

import glob
import os
import shutil

import lit.formats
import lit.util

config.name = "Facet"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".facet", ".mlir", ".test", ".py", ".s", ".yaml", ".td"]
config.excludes = ["Inputs", "Unit", "Fuzz", "Soak", "tools", "lit.cfg.py", "CMakeLists.txt"]
config.test_source_root = os.path.join(config.facet_source, "test")
config.test_exec_root = os.path.join(config.facet_build, "test")

# A hanging test is a failing test. lit needs psutil to end a test's children.
if lit.util.killProcessAndChildrenIsSupported()[0]:
    lit_config.maxIndividualTestTime = 600

build_bin = os.path.join(config.facet_build, "bin")
env = config.environment
env["PATH"] = os.pathsep.join([build_bin, config.llvm_bin, env.get("PATH", "")])
env["TMPDIR"] = os.path.join(config.test_exec_root, "tmp")
env["HOME"] = env["TMPDIR"]
env["PYTHONDONTWRITEBYTECODE"] = "1"
env["LC_ALL"] = "C.UTF-8"
# FileCheck: a failure shows its input around the place.
env["FILECHECK_OPTS"] = "--dump-input-filter=error --dump-input-context=20"
os.makedirs(env["TMPDIR"], exist_ok=True)
for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS"):
    if name in os.environ:
        env[name] = os.environ[name]


def substitute(name, value):
    """The longest names first, so that %facet does not eat %facet-opt."""
    config.substitutions.append((name + r"(?![\w+-])", value))


for tool in ("facet-lsp-server", "facet-opt", "facet-sim-rows", "facet-sim", "facet"):
    substitute("%" + tool, os.path.join(build_bin, tool))
clang = os.path.join(config.llvm_bin, "clang")
substitute(r"%clang\+\+", clang + "++")
substitute("%clang", clang)
substitute(r"%c\+\+", config.cxx_compiler)
substitute("%cc", config.c_compiler)
substitute(r"%g\+\+", config.gxx)
substitute("%gcc", config.gcc)
substitute("%fortran", config.gfortran)
venv = os.path.join(config.facet_source, "build", "venv", "bin", "python")
if not config.python:  # `./dev setup` makes the one with NumPy
    config.python = venv if os.path.exists(venv) else "python3"
substitute("%python", config.python)
substitute("%examples", os.path.join(config.facet_source, "examples"))
substitute("%machines", os.path.join(config.facet_source, "machines"))
substitute("%include", os.path.join(config.facet_source, "include"))
substitute("%source", config.facet_source)
substitute("%build", config.facet_build)
substitute("%prefix", os.path.join(config.facet_build, "test", "prefix"))


def cpu_flags():
    try:
        with open("/proc/cpuinfo") as cpuinfo:
            for line in cpuinfo:
                if line.startswith("flags"):
                    return set(line.split(":")[1].split())
    except OSError:
        pass
    return set()


LEVELS = {
    "x86-64-v2": {"sse4_2", "popcnt", "ssse3", "cx16"},
    "x86-64-v3": {"avx2", "fma", "bmi2", "f16c", "abm", "movbe"},
    "x86-64-v4": {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"},
    "znver4": {"avx512_vnni", "avx512_bf16"},
}

features = config.available_features
flags, needed = cpu_flags(), set()
for level, more in LEVELS.items():
    needed |= more
    if needed <= flags:
        features.add(level)
if os.path.exists(clang):
    features.add("clang")
if shutil.which(config.gcc) and shutil.which(config.gxx):
    features.add("gcc")
if shutil.which(config.gfortran):
    features.add("gfortran")
for tool, feature in (("meson", "meson"), ("lintian", "lintian"), ("dpkg-deb", "dpkg"), ("gdb", "gdb"),
                      ("qemu-x86_64", "qemu-x86_64"), ("qemu-aarch64", "qemu-aarch64")):
    if shutil.which(tool):
        features.add(feature)
if os.path.exists(os.path.join(config.llvm_bin, "ld.lld")):
    features.add("lld")
if os.geteuid() == 0:
    features.add("root")
if config.python_package:
    features.add("python-package")
    for name in ("jax", "torch"):  # heavy, so the tests only use what is there
        if glob.glob(os.path.join(os.path.dirname(os.path.dirname(config.python)), "lib", "python3*", "site-packages", name)):
            features.add(name)
if "address" in config.sanitize:
    features.add("asan")
