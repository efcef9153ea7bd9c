# RUN: %python %s
"""The rules of docs/Numerics.md one by one: what the judge must accept, and what it
must not."""

import ctypes
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
import loops
import ml_dtypes
import numpy as np

TEXT = """
kernel double(x: f32[N]) -> y: f32[N] { y[n] = x[n] * 3 }
kernel fused(x: f32[N]) -> y: f32[N] { y[n] = x[n] * x[n] + 1 }
kernel total(x: f32[N]) -> y: f32 { y = sum[n](x[n]) }
kernel rounded(x: f32[N]) -> y: bf16 { y = sum[n](x[n]) }
kernel branch(x: f32[N]) -> y: f32 { let s[i: 1] = sum[n](x[n])
  y = where(any[i: 1](s[i] >= 1), 5, -5) }
kernel pick(x: f32[M, K]) -> y: i32 { y = i32(argmax[m](sum[k](x[m, k]))) }
kernel pick_exact(x: i32[M]) -> y: i64 { y = argmax[m](x[m]) }
kernel low(x: f32[M, K]) -> y: i64 { y = argmin[m](sum[k](x[m, k])) }
kernel quantise(x: f32[N], s: f32) -> q: i8[N] { q[n] = i8.sat(round(x[n] / s)) }
kernel power(x: f32[N]) -> y: f32[N] { y[n] = exp(x[n]) }
kernel steep(x: f32[N]) -> y: f32 { y = exp(sum[n](x[n])) }
kernel root(x: f32[N]) -> y: f32 { y = sqrt(sum[n](x[n])) }
kernel again(x: f32[N]) -> y: bf16[N], z: f32[N] {
  y[n] = x[n]
  z[n] = y[n] * 3
}
kernel wide(x: i64[N]) -> y: i64[N] { y[n] = x[n] + 1 }
kernel count(x: f32[M, K]) -> y: i32 { let s[m] = sum[k](x[m, k])
  y = sum[m | s[m] > 0](1) }
kernel most(x: f32[M, K]) -> y: f32 { let s[m] = sum[k](x[m, k])
  y = max[m | s[m] > 0](s[m]) }
kernel row(x: f32[N]) -> y: f32[N] { y[n] = softmax[n](x[n]) }
kernel update(c: inout f32[N]) { c[n] = c[n] * 3 }
kernel wrap(x: f32[N]) -> y: i8 { y = i8(i32.sat(sum[n](x[n]))) }
kernel every(x: f32[M, K], b: bool[M]) -> y: bool { let s[m] = sum[k](x[m, k])
  y = all[m](s[m] > 0 || b[m]) }
kernel guarded(x: f32[N], id: i32[N], t: f32[K]) -> y: f32[N] { y[n] = where(x[n] * 0.1 > 1, t[id[n]], 0) }
kernel clamped(x: f32[N]) -> y: f8e4m3fn, z: f8e4m3fn { y = f8e4m3fn(sum[n](x[n]))
  z = f8e4m3fn.sat(sum[n](x[n])) }
"""
lib = loops.build(TEXT, ["--judge", "--fast"])
f32, bf16 = np.float32, ml_dtypes.bfloat16
inf, nan = np.inf, np.nan
address = lambda a: ctypes.c_void_p(a.ctypes.data)
tried = 0


def judged(name, sizes, inputs, stored):
    """Value and bound of every output, for what a road stored."""
    sizes = [ctypes.c_int64(n) for n in sizes]
    space = getattr(lib, name + ".judge.workspace")
    space.restype = ctypes.c_int64
    keep, workspace = loops.aligned(space(*sizes))
    arguments = sizes + [a for x in inputs + stored for a in loops.memory(x)]
    arrays = []
    for s in stored:
        one = (np.ones(s.shape, np.uint8), np.empty(s.shape), np.empty(s.shape))
        arrays.append(one)
        arguments += [address(a) for a in one]
    code = getattr(lib, name + ".judge")(*arguments, address(workspace), ctypes.c_void_p(None))
    assert code == 0, code
    return [(v, b) for _, v, b in arrays]


def agrees(name, sizes, inputs, stored):
    global tried
    tried += 1
    for s, (v, b) in zip(stored, judged(name, sizes, inputs, stored)):
        r = s.astype(np.float64)
        with np.errstate(invalid="ignore"):
            ok = (r == v) | (np.isnan(r) & np.isnan(v)) | (np.abs(r - v) <= b) | (b == inf)
        if not (ok & (b >= 0)).all():
            return False
    return True


def accepts(name, sizes, inputs, *stored):
    assert agrees(name, sizes, inputs, list(stored)), (name, stored, judged(name, sizes, inputs, list(stored)))


def rejects(name, sizes, inputs, *stored):
    assert not agrees(name, sizes, inputs, list(stored)), (name, stored, judged(name, sizes, inputs, list(stored)))


at = lambda value, dtype=f32: np.array(value, dtype)
up = lambda x, n=1: np.nextafter(x, f32(inf)) if n == 1 else up(np.nextafter(x, f32(inf)), n - 1)
rng = np.random.default_rng(3)

# One operation on exact operands: to the bit. Fused into an addition: two answers.
x = rng.standard_normal(9).astype(f32)
accepts("double", [9], [x], x * f32(3))
rejects("double", [9], [x], up(x * f32(3)))
apart = at([1 + 2**-12 + 2**-23])
accepts("fused", [1], [apart], (apart.astype(np.float64)**2 + 1).astype(f32))
accepts("fused", [1], [apart], apart * apart + f32(1))
rejects("fused", [1], [apart], up(apart * apart + f32(1), 3))

# A sum in any order; not without one of its terms.
x = rng.standard_normal(1000).astype(f32)
for order in (x, x[::-1], np.sort(x)):
    accepts("total", [1000], [x], at(np.add.accumulate(order)[-1]))
rejects("total", [1000], [x], at(np.add.accumulate(x)[-1] + np.abs(x).max()))

# Rounded to nearest, not cut off.
x = at([1, 2**-7 * 0.9])
accepts("rounded", [2], [x], at(1 + 2**-7, bf16))
rejects("rounded", [2], [x], at(1, bf16))
x = at([1, 2**-8])  # a tie: its neighbours both, since the sum has a bound
accepts("rounded", [2], [x], at(1 + 2**-7, bf16))
accepts("rounded", [2], [x], at(1, bf16))

# A comparison within its bound may go either way.
near, far = at([1, 2**-24]), at([1, 2**-20])
near[0] -= f32(2**-24)
for value in (5, -5):
    accepts("branch", [2], [near], at(value))
rejects("branch", [2], [near], at(-5.1))
accepts("branch", [2], [far], at(5))
rejects("branch", [2], [far], at(-5))

# argmax: any index that may be the largest; of equal exact values the lowest.
x = at([[1, 2**-24], [1, 0], [0.9, 0], [1, 2**-25]])
for i, ok in enumerate([True, True, False, True]):
    (accepts if ok else rejects)("pick", [4, 2], [x], at(i, np.int32))
    (accepts if ok else rejects)("low", [4, 2], [-x], at(i, np.int64))
rejects("pick", [4, 2], [x], at(-1, np.int32))
x[2, 0] = nan
accepts("pick", [4, 2], [x], at(2, np.int32))
rejects("pick", [4, 2], [x], at(0, np.int32))
accepts("pick", [0, 2], [at(np.empty((0, 2)))], at(-1, np.int32))
accepts("pick_exact", [3], [at([4, 7, 7], np.int32)], at(1, np.int64))
rejects("pick_exact", [3], [at([4, 7, 7], np.int32)], at(2, np.int64))

# To an integer: the neighbour where the bound reaches the tie, else not.
x, s = at([4.5, 4.4, -130, 7]) * f32(0.1), at(0.1)
for first in (4, 5):
    accepts("quantise", [4], [x, s], at([first, 4, -128, 7], np.int8))
rejects("quantise", [4], [x, s], at([4, 5, -128, 7], np.int8))
rejects("quantise", [4], [x, s], at([4, 4, -127, 7], np.int8))

# Functions: 2 ulp, not more.
x = rng.uniform(-5, 5, 50).astype(f32)
accepts("power", [50], [x], np.exp(x.astype(np.float64)).astype(f32))
rejects("power", [50], [x], up(np.exp(x.astype(np.float64)).astype(f32), 5))

# Overflow, NaN, infinities.
accepts("power", [3], [at([100, -inf, nan])], at([inf, 0, nan]))
rejects("power", [1], [at([100])], at([3e38]))
rejects("power", [1], [at([nan])], at([1]))
edge = at([f32(3.4028235e38), f32(1.0141204e31)])
for value in (inf, 3.4028235e38):
    accepts("total", [2], [edge], at(value))
accepts("total", [3], [at([inf, 1, 2])], at(inf))
rejects("total", [3], [at([inf, 1, 2])], at(3e38))
accepts("total", [2], [at([inf, -inf])], at(nan))
rejects("total", [2], [at([inf, -inf])], at(0))
x = at([1, 2**-25, -1])  # may be a little below 0, or 0
for value in (nan, 0, 2**-12.5):
    accepts("root", [3], [x], at(value))
accepts("root", [1], [at([-1])], at(nan))
rejects("root", [1], [at([-1])], at(1))
accepts("clamped", [2], [at([500, 1])], at(nan, loops.DTYPES["f8E4M3FN"]), at(448, loops.DTYPES["f8E4M3FN"]))
rejects("clamped", [2], [at([500, 1])], at(448, loops.DTYPES["f8E4M3FN"]), at(448, loops.DTYPES["f8E4M3FN"]))

# A result that is read again is read as stored, and judged itself.
x = at([1.01])
y = x.astype(bf16)
accepts("again", [1], [x], y, y.astype(f32) * f32(3))
rejects("again", [1], [x], y, x * f32(3))
wrong = at([2], bf16)
rejects("again", [1], [x], wrong, at([6]))
assert judged("again", [1], [x], [wrong, at([6])])[1][0] == 6

# Integers are exact, also where f64 is not; wrapping an uncertain one leaves nothing.
x = at([2**60, -2**60 - 1, 7], np.int64)
accepts("wide", [3], [x], x + 1)
rejects("wide", [3], [x], x + 2)
accepts("wrap", [2], [at([100.2, 1])], at(101, np.int8))
rejects("wrap", [2], [at([100.2, 1])], at(102, np.int8))
accepts("wrap", [2], [at([127, 0.5])], at(-128, np.int8))

# A filter within its bound: the point may exist or not.
x = at([[1, 2**-25, -1], [1, 1, 1], [-1, -1, 0]])
for value, ok in ((0, False), (1, True), (2, True), (4, False)):
    (accepts if ok else rejects)("count", [3, 3], [x], at(value, np.int32))
x[1] = [-3, 1, 1]
for value, ok in ((-inf, True), (2**-25, True), (1, True)):
    (accepts if ok else rejects)("most", [3, 3], [x], at(value))  # nothing may exist: anything
x[1] = [3, 1, 1]
accepts("most", [3, 3], [x], at(5))
rejects("most", [3, 3], [x], at(0))
sure = np.array([False, True, True])
for value in (True, False):
    accepts("every", [3, 3], [x, sure], at(value, np.bool_))
sure[0] = True
accepts("every", [3, 3], [x, sure], at(True, np.bool_))
rejects("every", [3, 3], [x, sure], at(False, np.bool_))
sure[2] = False
rejects("every", [3, 3], [x, sure], at(True, np.bool_))

# An exponential that f64 does not hold is certain only where its whole argument says so.
x = at([1e11, 800, -1e11])
accepts("steep", [3], [x], at(1))
accepts("steep", [3], [x], at(inf))
rejects("steep", [2], [at([900, 100])], at(1))
accepts("steep", [2], [at([900, 100])], at(inf))

# A row of −inf has no softmax.
x = rng.standard_normal(40).astype(f32)
p = np.exp(x - x.max().astype(np.float64))
accepts("row", [40], [x], (p / p.sum()).astype(f32))
rejects("row", [40], [x], (p / p.sum() * 1.0001).astype(f32))
accepts("row", [2], [at([-inf, -inf])], at([nan, nan]))
rejects("row", [2], [at([-inf, -inf])], at([0.5, 0.5]))
accepts("row", [2], [at([-inf, 1])], at([0, 1]))
rejects("row", [2], [at([-inf, 1])], at([1e-30, 1]))

# An index that a computed condition keeps from being used is not used here either.
x, ids, t = at([20, 5, 10]), at([1, 99, -3], np.int32), at([3, 4])
accepts("guarded", [3, 2], [x, ids, t], at([4, 0, 0]))
rejects("guarded", [3, 2], [x, ids, t], at([3, 0, 0]))

# An inout: the old contents in, the new ones judged.
c = at([1, 2])
accepts("update", [2], [c], c * f32(3))
rejects("update", [2], [c], c)

# Only what is demanded is computed; what is out of range elsewhere is not seen.
print(f"{tried} judgements as they should be")
