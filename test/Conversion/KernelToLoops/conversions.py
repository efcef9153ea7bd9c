# RUN: %python %s
"""All conversions of the 8- and 16-bit types against ml_dtypes: every bit pattern
outwards, and inwards every value, every midpoint of two neighbours, and what lies
next to both, of f32 and f64, besides a sweep over all of f32."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
import loops
import ml_dtypes
import numpy as np

FORMATS = ["bf16", "f16", "f8E4M3", "f8E4M3FN", "f8E5M2"]
EXACT = """
kernel.func @exact_{t} sizes [N] (x = %x: tensor<?x{t}> [N]) -> (y: tensor<?xf32> [N]) {{
  %N = kernel.size "N" : index
  %e = tensor.empty(%N) : tensor<?xf32>
  %y = kernel.map "y" [n: %N] ins(%x[n] as %a : tensor<?x{t}>) outs(%e : tensor<?xf32>) {{
    %r = kernel.cast exact %a : {t} to f32
    kernel.yield %r : f32
  }} -> tensor<?xf32>
  kernel.return %y : tensor<?xf32>
}}
"""
ROUND = """
kernel.func @{mode}_{s}_{t} sizes [N] (x = %x: tensor<?x{s}> [N]) -> (y: tensor<?x{t}> [N]) {{
  %N = kernel.size "N" : index
  %e = tensor.empty(%N) : tensor<?x{t}>
  %y = kernel.map "y" [n: %N] ins(%x[n] as %a : tensor<?x{s}>) outs(%e : tensor<?x{t}>) {{
    %r = kernel.cast {mode} %a : {s} to {t}
    kernel.yield %r : {t}
  }} -> tensor<?x{t}>
  kernel.return %y : tensor<?x{t}>
}}
"""

text = "".join(EXACT.format(t=t) for t in FORMATS)
text += "".join(ROUND.format(t=t, s=s, mode=m) for t in FORMATS
                for s in ("f32", "f64") for m in ("round", "round_sat"))
lib = loops.build(text)
checked = 0


def same(ours, theirs, what):
    """Equal bits, or NaN in both."""
    global checked
    bits = {1: np.uint8, 2: np.uint16, 4: np.uint32}[ours.itemsize]
    wide = np.float32
    both_nan = np.isnan(ours.astype(wide)) & np.isnan(theirs.astype(wide))
    wrong = np.flatnonzero((ours.view(bits) != theirs.view(bits)) & ~both_nan)
    assert wrong.size == 0, (what, ours[wrong[:4]], theirs[wrong[:4]], wrong[:4])
    checked += ours.size


def run(name, x, out):
    y = np.empty(x.shape, out)
    assert loops.call(lib, name, [x.size], [x, y]) == 0
    return y


def clamp(x, dtype):
    largest = float(ml_dtypes.finfo(dtype).max)
    return np.clip(x, -largest, largest)  # keeps NaN


for t in FORMATS:
    dtype = loops.DTYPES[t]
    width = np.dtype(dtype).itemsize
    every = np.arange(1 << 8 * width, dtype=np.uint32).astype(
        np.uint8 if width == 1 else np.uint16).view(dtype)
    wide = every.astype(np.float32)
    same(run(f"exact_{t}", every, np.float32), wide, ("exact", t))

    finite = np.unique(wide[np.isfinite(wide)].astype(np.float64))
    largest = finite[-1]
    step = finite[-1] - finite[-2]
    finite = np.concatenate([[-largest - step], finite, [largest + step]])
    with np.errstate(over="ignore"):
        middles = (finite[1:] + finite[:-1]) / 2
        special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e300, -1e300, 5e-324])
        f64 = np.concatenate([finite, middles, special])
        f64 = np.concatenate([f64, np.nextafter(f64, np.inf), np.nextafter(f64, -np.inf)])
        f32 = np.concatenate([finite, middles, special]).astype(np.float32)
        f32 = np.concatenate([f32, np.nextafter(f32, np.float32(np.inf)),
                              np.nextafter(f32, np.float32(-np.inf))])
        sweep = np.arange(0, 1 << 32, 4099, dtype=np.uint64).astype(np.uint32).view(np.float32)
        f32 = np.concatenate([f32, sweep])
    for mode in ("round", "round_sat"):
        for source in (f32, f64):
            s = "f32" if source.dtype == np.float32 else "f64"
            with np.errstate(over="ignore", invalid="ignore"):
                ours = run(f"{mode}_{s}_{t}", source, dtype)
                wanted = clamp(source, dtype) if mode == "round_sat" else source
                if s == "f32":
                    theirs = wanted.astype(dtype)
                else:
                    # ml_dtypes goes through f32; round to odd on the way, so that
                    # nothing rounds twice.
                    narrow = wanted.astype(np.float32)
                    away = narrow.astype(np.float64) != wanted
                    bits = narrow.view(np.uint32).copy()
                    toward = np.abs(narrow.astype(np.float64)) > np.abs(wanted)
                    bits[toward & away] -= 1
                    bits[away] |= 1
                    narrow = np.where(np.isnan(wanted), np.float32(np.nan), bits.view(np.float32))
                    theirs = narrow.astype(dtype)
            same(ours, theirs, (mode, s, t))
print(f"{checked} conversions agree")
