# The blocked matmuls of bench/sim in every block order, against NumPy: whole numbers whose
# sums are exact, in the usual order of the queues and in others.
# RUN: mkdir -p %t && %python %s %facet-sim %facet-sim-rows %t

import os
import subprocess
import sys

import ml_dtypes
import numpy as np

sim, rows, folder = sys.argv[1:]


def path(name):
    return os.path.join(folder, name)


def write(m, n, k, order, tiles, *options):
    return subprocess.run(
        [rows, "gemm", "--order", order, "--tiles", tiles, "-m", str(m), "-n", str(n), "-k", str(k),
         "-o", path("p.engine"), *options], capture_output=True, text=True)


def check(m, n, k, order, tiles, dtype="bf16", *options):
    done = write(m, n, k, order, tiles, "--type", dtype, *options)
    assert done.returncode == 0, done.stderr
    scalar = ml_dtypes.bfloat16 if dtype == "bf16" else np.float32
    rng = np.random.default_rng(m + n + k)
    a = rng.integers(-3, 4, (k, m)).astype(scalar)
    b = rng.integers(-3, 4, (k, n)).astype(scalar)
    np.save(path("a.npy"), a.view(np.uint16) if dtype == "bf16" else a)
    np.save(path("b.npy"), b.view(np.uint16) if dtype == "bf16" else b)
    done = subprocess.run(
        [sim, "run", path("p.engine"), "lhsT=" + path("a.npy"), "rhs=" + path("b.npy"),
         "c=" + path("c.npy"), "--orders", "2"], capture_output=True, text=True)
    assert done.returncode == 0, (order, tiles, done.stderr)
    c = np.load(path("c.npy")).view(scalar)
    wanted = (a.astype(np.float32).T @ b.astype(np.float32)).astype(scalar)
    assert (c == wanted).all(), (order, tiles)
    os.remove(path("c.npy"))


# One K block: each tile takes the next bank.
check(128, 512, 256, "NMK", "2,1,1")
check(256, 512, 384, "KNM", "3,1,1")
# K innermost: a block's tiles keep their banks over all K blocks, of one K tile too.
check(640, 512, 512, "MNK", "2,5,1")
check(256, 1024, 384, "NMK", "1,1,2")
# An operand that stays for a whole loop holds all K blocks.
check(512, 1024, 512, "MNK", "2,2,1")
check(384, 1024, 384, "NMK", "1,1,1")
# K blocks are added in SBUF: too many tiles, or K further out.
check(640, 1024, 256, "MNK", "1,5,2")
check(256, 1024, 384, "KNM", "1,1,1")
check(256, 1024, 256, "MKN", "1,2,1")
check(256, 512, 512, "NKM", "2,1,1", "f32")
check(512, 1024, 512, "NKM", "2,2,2", "bf16", "--lhs-by-tile")
# Axes shorter than a tile.
check(32, 64, 32, "MNK", "1,1,1")

for arguments, message in (
        ((512, 512, 512, "MMK", "1,1,1"), "the block order 'MMK' is no permutation of MNK"),
        ((512, 512, 384, "MNK", "2,1,1"), "axis K of 384 is no multiple of its block, 2 tiles of 128"),
        ((16384, 16384, 16384, "MNK", "64,16,8"),
         "the blocks take 1843328 bytes of a partition of SBUF, which has 229376"),
        ((512, 512, 512, "MNK", "4,1"), "--tiles takes three numbers: K,M,N")):
    done = write(*arguments)
    assert done.returncode == 1
    assert done.stderr == f"facet-sim-rows: {message}\n", done.stderr
