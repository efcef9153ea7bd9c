# RUN: %python %s
"""The own-type form against numbers computed by hand or by NumPy: one test per
sentence of the language that the conversion must keep."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
import loops
import ml_dtypes
import numpy as np

TEXT = """
kernel matmul(x: bf16[M, K], w: bf16[K, N]) -> y: bf16[M, N] { y[m, n] = sum[k](x[m, k] * w[k, n]) }
kernel diagonal(a: f32[N, N]) -> d: f32[N] { d[i] = a[i, i] }
kernel grouped(a: f32[M, (Q, 4)]) -> s: f32[Q, M], u: f32[M, (4, Q)] {
  s[q, m] = sum[r](a[m, q, r])
  u[m, t, q] = a[m, q, t]
}
kernel gemm(alpha: f32, a: f32[M, K], b: f32[K, N], beta: f32, c: inout f32[M, N]) {
  c[m, n] = alpha * sum[k](a[m, k] * b[k, n]) + where(beta != 0, beta * c[m, n], 0)
}
kernel optional(x: f32[M], b: f32[N, M], has: bool) -> y: f32[M] {
  let t[m] = sum[n](b[n, m])
  y[m] = x[m] + where(has, t[m] * b[0, m], 0)
}
kernel optional_below(x: f32[N], b: f32[N], has: bool) -> y: f32[N] {
  y[n] = where(n < 2, where(has, sum[j: N](b[j]), x[n]), 0)
}
kernel cumsum(x: f32[N]) -> y: f32[N] { y[n] = sum[j | j <= n](x[j]) }
kernel nothing(x: f32[N], i: i32[N], p: bool[N]) -> s: f32, hi: f32, lo: f32, ihi: i32, ilo: i32, some: bool, every: bool, m: f32, at: i64 {
  s = sum[n](x[n])
  hi = max[n](x[n])
  lo = min[n](x[n])
  ihi = max[n](i[n])
  ilo = min[n](i[n])
  some = any[n](p[n])
  every = all[n](p[n])
  m = mean[n](x[n])
  at = argmax[n](x[n])
}
kernel gather(table: f32[E, D], id: i32[T], len: i32, n: i32) -> y: f32[T, D], z: f32[D] {
  y[t, d] = where(t < len, table[id[t], d], 0)
  z[d] = table[n, d]
}
kernel let_gather(table: f32[E], id: i32[T], len: i32[N]) -> y: f32[N] {
  let u[t] = table[id[t]] * 2
  y[n] = sum[t | t < len[n]](u[t])
}
kernel int4(a: i4[M, K], b: u4[M, K]) -> c: i4[M, K], d: u4[M, K], e: i32[M] {
  c[m, k] = i4(a[m, k] + 1)
  d[m, k] = u4.sat(b[m, k] * 2 - 3)
  e[m] = sum[k](a[m, k] * b[m, k])
}
kernel arg(x: f32[M, N], i: i8[M, N]) -> hi: i64[M], lo: i64[M], ihi: i64[M] {
  hi[m] = argmax[n](x[m, n])
  lo[m] = argmin[n](x[m, n])
  ihi[m] = argmax[n](i[m, n])
}
kernel soft(x: f32[M, N], len: i32[M]) -> p: f32[M, N], q: f32[N, M] {
  p[m, n] = softmax[n | n < len[m]](x[m, n])
  q[n, m] = softmax[n](x[m, n])
}
kernel divide(a: i32[N], b: i64[N]) -> q: i32[N], r: i32[N], s: i64[N], t: i64[N] {
  q[n] = a[n] / 7
  r[n] = a[n] % 7
  s[n] = b[n] / N
  t[n] = b[n] % N
}
kernel to_int(x: f32[N]) -> a: i8[N], b: u8[N], c: i32[N], d: i64[N], e: i16[N] {
  a[n] = i8.sat(x[n])
  b[n] = u8.sat(x[n])
  c[n] = i32.sat(x[n])
  d[n] = i64.sat(x[n])
  e[n] = i16.sat(x[n])
}
kernel special(x: f32[N]) -> clip: f32[N], elu: f32[N], g: f32[N], s: f32[N], e: f32[N], r: f32[N] {
  clip[n] = min(max(x[n], 0), 6)
  elu[n] = where(x[n] > 0, x[n], exp(x[n]) - 1)
  g[n] = gelu(x[n])
  s[n] = sigmoid(x[n])
  e[n] = exp(x[n])
  r[n] = relu(x[n])
}
kernel stored(x: f32[N]) -> y: bf16[N], z: f32[N] {
  y[n] = x[n]
  z[n] = y[n] - x[n]
}
kernel inout_row(c: inout f32[N]) { c[n] = softmax[n | c[n] > 0](c[n]) }
kernel inout_sum(c: inout f32[M], a: f32[M, K]) -> d: f32[M] {
  c[m] = sum[k](a[m, k] * c[m])
  d[m] = c[m] + 1
}
kernel padded(x: f32[M, K], w: f32[K, N], kk: i32) -> y: f32[M, N] { y[m, n] = sum[k | k < kk](x[m, k] * w[k, n]) }
"""
lib = loops.build(TEXT)
bf16 = ml_dtypes.bfloat16
rng = np.random.default_rng(7)
f32 = lambda *shape: rng.standard_normal(shape, np.float32)
scalar = lambda value, dtype: np.array(value, dtype)
inf, nan = np.inf, np.nan


def strided(array, extra=3):
    """The same values with longer rows; what lies between is NaN or 1s."""
    shape = array.shape[:-1] + (array.shape[-1] + extra,)
    wide = np.empty(shape, array.dtype)
    wide.view(np.uint8)[...] = 0xFF
    view = wide[..., :array.shape[-1]]
    view[...] = array
    return wide, view


def ok(name, sizes, arrays):
    error = loops.Error()
    code = loops.call(lib, name, sizes, arrays, error)
    assert code == 0, (name, code, error.argument, error.axis, error.found, error.wanted)


def equal(a, b):
    np.testing.assert_array_equal(np.asarray(a, np.float64), np.asarray(b, np.float64))


# Shapes: 0, 1, primes; strides longer than rows; nothing written between rows.
for M, K, N in [(0, 3, 2), (1, 1, 1), (5, 0, 7), (7, 13, 3), (2, 64, 0)]:
    x, w = f32(M, K).astype(bf16), f32(K, N).astype(bf16)
    wide, y = strided(np.zeros((M, N), bf16))
    ok("matmul", [M, K, N], [strided(x)[1], strided(w)[1], y])
    exact = x.astype(np.float64) @ w.astype(np.float64)
    assert (np.abs(y.astype(np.float64) - exact) <= 0.005 * (np.abs(exact) + 1)).all()
    assert (wide[:, N:].view(np.uint16) == 0xFFFF).all()

a = f32(5, 5)
d = np.empty(5, np.float32)
ok("diagonal", [5], [a, d])
equal(d, np.diag(a))

a = f32(3, 2 * 4)
s, r = np.empty((2, 3), np.float32), np.empty((3, 8), np.float32)
ok("grouped", [3, 2], [strided(a)[1], s, r])
np.testing.assert_allclose(s, a.reshape(3, 2, 4).sum(2).T, rtol=1e-5)
equal(r, a.reshape(3, 2, 4).transpose(0, 2, 1).reshape(3, 8))

# beta = 0 does not read c; beta = 1 at K = 0 leaves it.
a, b = f32(3, 4), f32(4, 5)
c = np.full((3, 5), nan, np.float32)
ok("gemm", [3, 4, 5], [scalar(2, np.float32), a, b, scalar(0, np.float32), c])
np.testing.assert_allclose(c, 2 * (a @ b), rtol=1e-5)
c0 = f32(3, 5)
c = c0.copy()
ok("gemm", [3, 0, 5], [scalar(2, np.float32), f32(3, 0), f32(0, 5), scalar(1, np.float32), c])
equal(c, c0)
# Sum first, then c: 16777218, not 16777216.
c = np.full((1, 1), 2.0**24, np.float32)
ok("gemm", [1, 2, 1], [scalar(1, np.float32), np.ones((1, 2), np.float32),
                       np.ones((2, 1), np.float32), scalar(1, np.float32), c])
equal(c, [[16777218]])

# An argument used only under a false condition may be NULL, also through a let.
x = f32(4)
y = np.empty(4, np.float32)
row4 = x
args = lambda b, has: [row4, b, scalar(has, np.bool_), y]
sizes = [4, 3]
call = [loops.ctypes.c_int64(v) for v in sizes]
space = getattr(lib, "optional.workspace")
space.restype = loops.ctypes.c_int64
keep, workspace = loops.aligned(space(*call))
null = loops.ctypes.c_void_p(None)
code = getattr(lib, "optional.impl")(
    *call, *loops.memory(x), null, loops.ctypes.c_int64(4), *loops.memory(scalar(False, np.bool_)),
    *loops.memory(y), loops.ctypes.c_void_p(workspace.ctypes.data), null)
assert code == 0
equal(y, x)
assert getattr(lib, "optional_below.workspace")(loops.ctypes.c_int64(4)) == 64
keep, workspace = loops.aligned(64)
code = getattr(lib, "optional_below.impl")(
    call[0], *loops.memory(x), null, *loops.memory(scalar(False, np.bool_)), *loops.memory(y),
    loops.ctypes.c_void_p(workspace.ctypes.data), null)
assert code == 0
equal(y, [x[0], x[1], 0, 0])
b = f32(3, 4)
ok("optional", sizes, args(b, True))
np.testing.assert_allclose(y, x + b.sum(0) * b[0], rtol=1e-5)
empty = np.empty((0, 4), np.float32)
ok("optional", [4, 0], args(empty, False))

x = np.arange(1, 6, dtype=np.float32)
y = np.empty(5, np.float32)
ok("cumsum", [5], [x, y])
equal(y, [1, 3, 6, 10, 15])

out = [np.empty((), t) for t in (np.float32,) * 3 + (np.int32,) * 2 + (np.bool_,) * 2 + (np.float32, np.int64)]
ok("nothing", [0], [np.empty(0, np.float32), np.empty(0, np.int32), np.empty(0, np.bool_), *out])
equal([float(o) for o in out], [0, -inf, inf, -2**31, 2**31 - 1, 0, 1, nan, -1])

# Gathers: checked where the conditions hold, before anything is written.
table = f32(3, 4)
ids = np.array([2, 0, 99, -7], np.int32)
y, z = np.empty((4, 4), np.float32), np.empty(4, np.float32)
ok("gather", [3, 4, 4], [table, ids, scalar(2, np.int32), scalar(1, np.int32), y, z])
equal(y, np.concatenate([table[[2, 0]], np.zeros((2, 4))]))
equal(z, table[1])


def refused(name, sizes, arrays, results, argument, axis, found, wanted):
    for result in results:
        result.view(np.uint8)[...] = 0xA5
    error = loops.Error()
    assert loops.call(lib, name, sizes, arrays, error) == -9
    got = (error.code, error.kernel, error.argument, error.axis, error.found, error.wanted)
    assert got == (-9, name.encode(), argument, axis, found, wanted), got
    assert all((r.view(np.uint8) == 0xA5).all() for r in results)
    assert loops.call(lib, name, sizes, arrays) == -9


refused("gather", [3, 4, 4], [table, ids, scalar(3, np.int32), scalar(1, np.int32), y, z],
        [y, z], b"table", 0, 99, 3)
refused("gather", [3, 4, 4], [table, ids, scalar(2, np.int32), scalar(3, np.int32), y, z],
        [y, z], b"table", 0, 3, 3)
refused("gather", [3, 4, 4], [table, ids, scalar(2, np.int32), scalar(-1, np.int32), y, z],
        [y, z], b"table", 0, -1, 3)
# Nothing is computed, so nothing is out of range.
ok("gather", [3, 0, 4], [np.empty((3, 0), np.float32), ids, scalar(4, np.int32),
                         scalar(9, np.int32), np.empty((4, 0), np.float32), np.empty(0, np.float32)])

# A number is checked like an index that was read.
y = np.empty(4, np.float32)
refused("optional", [4, 0], args(empty, True), [y], b"b", 0, 0, 0)

y = np.empty(2, np.float32)
t = f32(3)
ok("let_gather", [3, 4, 2], [t, ids, np.array([1, 2], np.int32), y])
np.testing.assert_allclose(y, [2 * t[2], 2 * t[2] + 2 * t[0]], rtol=1e-6)
refused("let_gather", [3, 4, 2], [t, ids, np.array([1, 3], np.int32), y], [y], b"table", 0, 99, 3)

# Two per byte, the low nibble first.
av, bv = rng.integers(-8, 8, (3, 6)), rng.integers(0, 16, (3, 6))
pack = lambda v: ((v[:, 0::2] & 15) | (v[:, 1::2] & 15) << 4).astype(np.uint8)
lines = lambda v: [loops.ctypes.c_void_p(v.ctypes.data), loops.ctypes.c_int64(2 * v.strides[0])]
c, d, e = np.zeros((3, 3), np.uint8), np.zeros((3, 3), np.uint8), np.empty(3, np.int32)
a4, b4 = pack(av), pack(bv)
assert getattr(lib, "int4.workspace")(*[loops.ctypes.c_int64(v) for v in (3, 6)]) == 0
keep, workspace = loops.aligned(64)
code = getattr(lib, "int4.impl")(
    *[loops.ctypes.c_int64(v) for v in (3, 6)], *lines(a4), *lines(b4), *lines(c), *lines(d),
    *loops.memory(e), loops.ctypes.c_void_p(workspace.ctypes.data), null)
assert code == 0
equal(c, pack((av + 1 + 8) % 16 - 8))
equal(d, pack(np.clip(bv * 2 - 3, 0, 15)))
equal(e, (av * bv).sum(1))

x = np.array([[1, 5, 5, 2], [nan, 9, nan, 0], [3, 3, 3, 3], [-inf, -inf, -inf, -inf]], np.float32)
i = np.array([[-128, 127, 127, 0]] * 4, np.int8)
hi, lo, ihi = (np.empty(4, np.int64) for _ in range(3))
ok("arg", [4, 4], [x, i, hi, lo, ihi])
equal(hi, [1, 0, 0, 0])
equal(lo, [0, 0, 0, 0])
equal(ihi, [1] * 4)

x = np.array([[1, 2, 3], [1, nan, nan], [-inf, -inf, 5], [7, 7, 7]], np.float32)
p, q = np.empty((4, 3), np.float32), np.empty((3, 4), np.float32)
ok("soft", [4, 3], [x, np.array([3, 1, 2, 0], np.int32), p, q])
row = np.exp(np.array([-2, -1, 0])) / np.exp(np.array([-2, -1, 0])).sum()
np.testing.assert_allclose(p[0], row, rtol=1e-6)
equal(p[1:], [[1, 0, 0], [nan, nan, 0], [0, 0, 0]])
np.testing.assert_allclose(q[:, 0], row, rtol=1e-6)
equal(q[:, 1:3].T, [[nan] * 3, [0, 0, 1]])

a = np.array([-8, -7, -1, 0, 6, 7, -2**31, 2**31 - 1], np.int32)
b = np.array([-9, -8, -1, 0, 7, 8, -2**63, 2**63 - 1], np.int64)
q, r, s, t = np.empty(8, np.int32), np.empty(8, np.int32), np.empty(8, np.int64), np.empty(8, np.int64)
ok("divide", [8], [a, b, q, r, s, t])
for ours, theirs in ((q, a // 7), (r, a % 7), (s, b // 8), (t, b % 8)):
    assert (ours == theirs).all(), (ours, theirs)

x = np.array([nan, inf, -inf, 0.5, 1.5, 2.5, -0.5, -1.5, 127.5, -128.5, 255.5, 2**31, -2**31 - 256,
              2.0**63, -2.0**63, 32767.5, 1e30], np.float32)
outs = [np.empty(x.size, t) for t in (np.int8, np.uint8, np.int32, np.int64, np.int16)]
ok("to_int", [x.size], [x, *outs])
for ours in outs:
    info = np.iinfo(ours.dtype)
    for value, got in zip(x.tolist(), ours.tolist()):
        want = 0 if value != value else info.max if value == inf else info.min if value == -inf else round(value)
        assert got == min(max(want, info.min), info.max), (value, got, ours.dtype)

x = np.array([nan, inf, -inf, 0.0, -0.0, 1e30, -1e30], np.float32)
outs = [np.empty(7, np.float32) for _ in range(6)]
ok("special", [7], [x, *outs])
clip, elu, g, s, e, r = outs
equal(clip, [nan, 6, 0, 0, 0, 6, 0])
equal(elu, [nan, inf, -1, 0, 0, np.float32(1e30), -1])
equal(g, [nan, inf, nan, 0, 0, np.float32(1e30), 0])
equal(s, [nan, 1, 0, 0.5, 0.5, 1, 0])
equal(e, [nan, inf, 0, 1, 1, inf, 0])
equal(r, [nan, inf, 0, 0, 0, np.float32(1e30), 0])
assert not np.signbit(clip[4]) and np.signbit(g[4]) and np.signbit(g[6]) and np.signbit(r[4])

x = f32(9)
y, z = np.empty(9, bf16), np.empty(9, np.float32)
ok("stored", [9], [x, y, z])
equal(y, x.astype(bf16))
equal(z, x.astype(bf16).astype(np.float32) - x)

c = np.array([1, -5, 1, 0], np.float32)
ok("inout_row", [4], [c])
equal(c, [0.5, 0, 0.5, 0])
c, a, d = f32(3), f32(3, 4), np.empty(3, np.float32)
want = (a * c[:, None]).sum(1)
ok("inout_sum", [3, 4], [c, a, d])
np.testing.assert_allclose(c, want, rtol=1e-5)
equal(d, c + np.float32(1))

# What a filter excludes may hold anything.
x, w = f32(2, 5), f32(5, 3)
want = x[:, :3] @ w[:3]
x[:, 3:], w[3:] = nan, inf
y = np.empty((2, 3), np.float32)
ok("padded", [2, 5, 3], [x, w, scalar(3, np.int32), y])
np.testing.assert_allclose(y, want, rtol=1e-5)

# Sizes that overflow.
space = getattr(lib, "matmul.workspace")
space.restype = loops.ctypes.c_int64
big = lambda *v: space(*[loops.ctypes.c_int64(s) for s in v])
assert big(1 << 40, 1, 1 << 40) == -1
assert big(1 << 40, 1 << 40, 0) == 0
assert big(1 << 20, 1, 1 << 20) == 1 << 42
print("all agree")
