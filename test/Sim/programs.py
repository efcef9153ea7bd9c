# Hand-written looped programs as clients of the instruction set: rings of three with trip counts
# that are no multiples of 3, loops three deep, a blocked double-buffered matmul, and attention with
# a carried maximum and sum. The bits of NumPy doing the same arithmetic, and nothing to report.
# RUN: mkdir -p %t && %python %s %facet-sim %t %S/Inputs/programs

import math
import os
import subprocess
import sys

import numpy as np

sim, folder, programs = sys.argv[1:]
f32 = np.float32


def to_bf16(x):
    """Nearest even, as 16 bits; no NaN here."""
    bits = np.ascontiguousarray(x, f32).view(np.uint32)
    return ((bits + 0x7fff + (bits >> 16 & 1)) >> 16).astype(np.uint16)


def from_bf16(bits):
    return (bits.astype(np.uint32) << 16).view(f32)


def product(weights, moving):
    """Chains of fma over ascending k. A product of two bf16 is exact in f32; its sum with an f32 is
    formed in f64, which is wide enough that the one rounding to f32 comes out right: either the sum
    is exact there, or the product is far too small to reach half a unit."""
    t = np.zeros((weights.shape[1], moving.shape[1]), f32)
    for w, x in zip(weights, moving):
        t = (t.astype(np.float64) + np.outer(w, x).astype(np.float64)).astype(f32)
    return t


def run(name, output, options=(), **inputs):
    files = []
    for buffer, array in inputs.items():
        np.save(os.path.join(folder, buffer + ".npy"), array)
        files.append(f"{buffer}=" + os.path.join(folder, buffer + ".npy"))
    y = os.path.join(folder, "out.npy")
    done = subprocess.run([sim, "run", os.path.join(programs, name), *files, f"{output}={y}", "--orders", "3", *options],
                          capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    return np.load(y)


def same(found, wanted, name):
    assert found.shape == wanted.shape and found.tobytes() == wanted.tobytes(), name


rng = np.random.default_rng(11)

x = rng.standard_normal((128, 448)).astype(f32)
same(run("pipeline.s", "y", x=x), np.maximum(x * f32(2) + f32(1), f32(0)), "pipeline")


def grouped(x, w, depth):
    """A chain for each `depth` rows of k, added up in PSUM one after another."""
    total = product(x[:depth], w[:depth])
    for k in range(depth, len(x), depth):
        total = total + product(x[k:k + depth], w[k:k + depth])
    return total


x, w = (to_bf16(rng.standard_normal(shape)) for shape in ((640, 192), (640, 512)))
same(run("nest.s", "y", x=x, w=w), grouped(from_bf16(x), from_bf16(w), 128), "nest")

a, b = (to_bf16(rng.standard_normal(shape)) for shape in ((256, 512), (256, 1536)))
for threads in ("1", "2", "3"):
    same(run("panels.s", "c", ("--threads", threads), a=a, b=b), to_bf16(grouped(from_bf16(a), from_bf16(b), 128)),
         "panels")


def exp(x):
    """e^x in f64 by the host's library, rounded to f32."""
    return np.vectorize(math.exp, otypes=[f32])(x.astype(np.float64))


def attention(q, k, v):
    m = np.full((128, 1), -100000, f32)
    total, out = np.zeros((128, 1), f32), np.zeros((128, 64), f32)
    for block in range(0, 640, 128):
        scores = product(q, k[:, block:block + 128])
        new = np.maximum(scores.max(axis=1, keepdims=True), m)
        p = exp((scores.astype(np.float64) * 0.125 + (new * f32(-0.125)).astype(np.float64)).astype(f32))
        here = p[:, 0]
        for column in p.T[1:]:
            here = here + column
        rescale = exp((m - new) * f32(0.125))
        total = total * rescale + here[:, None]
        out = out * rescale + product(from_bf16(to_bf16(p)).T, v[block:block + 128])
        m = new
    return out * (f32(1) / total)


q, k, v = (to_bf16(2 * rng.standard_normal(shape)) for shape in ((64, 128), (64, 640), (640, 64)))
y = run("attention.s", "y", q=q, k=k, v=v)
qf, kf, vf = (from_bf16(t).astype(np.float64) for t in (q, k, v))
same(y, attention(*(from_bf16(t) for t in (q, k, v))), "attention")
# And it is attention: against all keys at once in f64, within what bf16 probabilities lose.
s = qf.T @ kf / 8
p = np.exp(s - s.max(axis=1, keepdims=True))
assert np.abs(y - p @ vf / p.sum(axis=1, keepdims=True)).max() < 0.02
