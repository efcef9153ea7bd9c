"""Constructs of the language that the examples do not use, or not together: each
kernel is compiled, called through its C interface and compared with NumPy.

RUN: env PYTHONPATH=%source/python %python %s %facet | FileCheck %s
CHECK:     55 calls, 0 complaints
"""

import pathlib
import sys
import tempfile

import ml_dtypes
import numpy as np
from agreement import call, signature
from agreement.elements import TYPES

KERNELS = """
// Gathers: of a gather, guarded by conditions of arguments, through lets.
kernel gather_of_gather(w: f32[E, K], id: i32[P], perm: i32[T]) -> y: f32[T, K] { y[t, k] = w[id[perm[t]], k] }
kernel guarded(x: f32[E], id: i32[T], n: i32) -> y: f32[T] { y[t] = where(t < n, x[id[t]], 0) }
kernel guarded_let(x: f32[E, D], id: i32[T], n: i32) -> s: f32[D] {
  let a[t, d] = x[id[t], d]
  let b[t, d] = a[t, d] * a[t, d]
  s[d] = sum[t | t < n](b[t, d])
}
kernel range_as_guard(x: f32[E], id: i32[T]) -> y: f32[T] { y[t] = where(id[t] < 0 || id[t] >= E, 0, x[id[t]]) }
kernel no_guard(x: f32[E], id: i32[T], w: f32[T]) -> y: f32[T] {
  let c[t] = w[t] * 2
  y[t] = where(c[t] > 0, x[id[t]], 0)
}
kernel ragged(x: f32[B, S], id: i32[B, U], len: i32[B]) -> y: f32[B] {
  y[b] = sum[u, s | u * S + s < len[b]](x[id[b, u], s])
}
kernel by_scalar(x: f32[M, N], r: i32, i: i64) -> y: f32[N], z: f32 { y[n] = x[r, n]  z = x[r, i] }
kernel by_number(x: f32[M, N], n: i32) -> y: f32[M] { y[m] = where(m < n, x[m, 3], 0) }
// Results and inouts that are read again.
kernel read_again(x: f32[M, N], id: i32[T]) -> y: f32[M, N], z: f32[N, M], s: f32[T] {
  y[m, n] = x[m, n] + 1
  z[n, m] = y[m, n] * 2
  s[t] = sum[n](z[n, id[t]])
}
kernel stored(x: f32[N]) -> y: bf16[N], z: f32[N] { y[n] = x[n]  z[n] = y[n] * 3 }
kernel scalar_inout(s: inout f32, n: inout i32, x: f32[N]) -> t: f32 { s = s + sum[i](x[i])  n = n + 1  t = s * 2 }
// Reductions and filters.
kernel softmax2(x: f32[M, N]) -> p: f32[M, N] { p[m, n] = softmax[m](softmax[n](x[m, n])) }
kernel softmax_filters(x: f32[M, N]) -> r: f32[M] { r[m] = sum[n | n > 1](softmax[n | n <= m](x[m, n])) }
kernel minus_infinity(x: f32[M, N]) -> p: f32[M, N] { p[m, n] = softmax[n | n < 2](x[m, n]) }
kernel arg_filters(x: f32[M, N], k: i32) -> i: i64[M], j: i32[M], v: f32[M] {
  i[m] = argmax[n | n < k](x[m, n])
  j[m] = i32(argmin[n | n >= k](x[m, n]))
  v[m] = min[n | n < k](x[m, n])
}
kernel data_filter(x: f32[N]) -> s: f32, c: i32 {
  let m = mean[i](x[i])
  s = sum[j | x[j] > m](x[j])
  c = sum[j | x[j] > mean[k](x[k])](i32(1))
}
kernel bools(p: bool[M, N], x: f32[M, N]) -> a: bool[M], o: bool[M], s: f32[M], c: i32[M] {
  a[m] = all[n | n > 2](p[m, n])
  o[m] = any[n](p[m, n] && x[m, n] > 0)
  s[m] = sum[n | p[m, n]](x[m, n])
  c[m] = sum[n](i32(p[m, n]))
}
kernel means(x: f32[N], k: i32) -> m: f32, n: f32 { m = mean[i | i < k](x[i])  n = mean[i](x[i]) }
kernel of_nothing(k: i32, x: f32[M, N]) -> a: i32[M], b: i64[M], t: bool[M] {
  a[m] = sum[n: N | n < k](1)
  b[m] = max[n: N | n < k](m * n)
  t[m] = any[n | n < k](x[m, n] > -100)
}
kernel transposed_product(a: f32[N, N], s: f32) -> t: f32, d: f32[N] {
  t = s * sum[i, j](a[i, j] * a[j, i])
  d[i] = a[i, i]
}
kernel groups(x: f32[(A, B), C]) -> y: f32[C, (B, A)], z: f32[(A, 2)] {
  y[c, b, a] = x[a, b, c]
  z[a, i] = where(i == 0, sum[b, c](x[a, b, c]), max[b, c](x[a, b, c]))
}
// Numbers.
kernel integers(a: i32[N]) -> q: i32[N], r: i32[N], c: i32[N], m: i32[N] {
  q[n] = a[n] / 7  r[n] = a[n] % 7  c[n] = clamp(a[n], -3, 12)  m[n] = max(a[n], 3, -a[n])
}
kernel wide(a: i64[N], b: i32[N]) -> s: i64, w: i32, p: i64[N] {
  s = sum[n](a[n] * b[n])  w = sum[n](b[n] * b[n])  p[n] = a[n] + n * N
}
kernel narrow(a: i8[M, K], b: u8[K, N], c: i16[K, N]) -> y: i32[M, N], z: i8[M, N], w: i16[M, N], u: u8[M, N] {
  y[m, n] = sum[k](a[m, k] * (b[k, n] - c[k, n]))
  z[m, n] = i8(y[m, n])
  w[m, n] = i16.sat(y[m, n] / 16)
  u[m, n] = u8(sum[k](a[m, k] * b[k, n]))
}
kernel nibbles(x: i4[M, N], y: u4[M, N]) -> z: i4[M, N], w: u4[M, N], s: i32[M] {
  z[m, n] = i4.sat(x[m, n] * 2)  w[m, n] = u4(y[m, n] + 3)  s[m] = sum[n](x[m, n] * y[m, n])
}
kernel small_floats(x: f32[N]) -> h: f16[N], e: f8e4m3[N], f: f8e4m3fn[N], g: f8e4m3fn[N], u: f8e5m2[N] {
  h[n] = x[n] * 30000  e[n] = x[n] * 200  f[n] = x[n] * 400  g[n] = f8e4m3fn.sat(x[n] * 400)  u[n] = x[n] * 100000
}
kernel roundings(x: f32[N]) -> r: f32[N], f: f32[N], c: f32[N], l: f32[N], s: i8[N] {
  r[n] = round(x[n])  f[n] = floor(x[n])  c[n] = ceil(x[n])  l[n] = clamp(x[n], -1.0, 1.0)  s[n] = i8.sat(x[n] * 100)
}
kernel zeros(x: f32[N], y: f32[N]) -> a: f32[N], b: f32[N], i: f32[N] {
  a[n] = max(x[n], y[n])  b[n] = min(x[n], y[n])  i[n] = 1.0 / a[n]
}
kernel doubles(x: f64[N], k: i64[N]) -> y: f64, z: i64, e: f64[N] { y = sum[n](x[n])  z = sum[n](k[n])  e[n] = exp(-abs(x[n])) }
fn square(a) = a * a
fn hypotenuse(a, b) = sqrt(square(a) + square(b))
kernel functions(x: f32[N], y: f32[N]) -> z: f32[N] { z[n] = hypotenuse(x[n], y[n] + 1) }
// What is asked of a call.
kernel promises(x: f32[N], k: i32) -> y: f32[N] requires k > 0, N % 2 == 0 { y[n] = x[n] }
kernel nested_optional(x: f32[N], b: f32[N], c: f32[N], h: bool, k: i32) -> y: f32[N] {
  y[n] = x[n] + where(h && k > 1, b[n], where(k == 0, c[n], 7))
}
"""


class Constructs:
    def __init__(self, facet, directory):
        source = directory / "constructs.facet"
        source.write_text(KERNELS)
        self.path = call.compile(facet, source, "reference", directory, "constructs")
        self.calls, self.wrong = 0, 0

    def call(self, name, sizes, values, null=(), code=0, **results):
        """Calls the kernel; `results` must come out to 1e-5, or `code` and no write."""
        head = signature.parse(KERNELS, name)
        library = call.Library(self.path, head)
        operands = {}
        for p in head.params:
            value = values.get(p.name)
            value = None if value is None else np.asarray(value).astype(TYPES[p.element])
            scalar = not p.written and p.rank == 0
            operands[p.name] = value if scalar else call.Buffer(p, sizes, value)
        got = library.run(sizes, operands, library.execution(sizes), null)
        self.calls += 1
        buffers = {n: b for n, b in operands.items() if isinstance(b, call.Buffer)}
        if got != code:
            self.complain(name, sizes, f"returned {got}, want {code}")
        elif code != 0:
            for n in [n for n, b in buffers.items() if not b.untouched()]:
                self.complain(name, sizes, f"wrote to {n} all the same")
        else:
            assert sorted(results) == sorted(p.name for p in head.params if p.written)
            for n, want in results.items():
                found, want = buffers[n].read(), np.asarray(want)
                same = found.shape == want.shape and np.allclose(
                    found.astype(float), want.astype(float), 1e-5, 1e-6, equal_nan=True)
                if not same or not buffers[n].padding_untouched():
                    self.complain(name, sizes, f"{n} is {found}, want {want}")

    def complain(self, name, sizes, what):
        self.wrong += 1
        print(f"{name} {sizes}: {what}")


def main():
    with tempfile.TemporaryDirectory() as directory:
        run = Constructs(sys.argv[1], pathlib.Path(directory))
        with np.errstate(all="ignore"):
            everything(run.call)
    print(f"{run.calls} calls, {run.wrong} complaints")


def everything(call):
    rng = np.random.default_rng(7)
    E_NULL, E_INDEX, E_REQUIRE = -7, -9, -100

    def f32(*shape):
        return rng.standard_normal(shape).astype(np.float32)

    x, v, nan = f32(5, 7), f32(9), np.nan
    mn, n9 = dict(M=5, N=7), dict(N=9)

    w, id, perm = f32(4, 3), rng.integers(0, 4, 5), rng.integers(0, 5, 6)
    call("gather_of_gather", dict(E=4, K=3, P=5, T=6), dict(w=w, id=id, perm=perm), y=w[id[perm]])
    id[perm[2]] = 4
    call("gather_of_gather", dict(E=4, K=3, P=5, T=6), dict(w=w, id=id, perm=perm), code=E_INDEX)
    guarded = dict(x=[1, 2, 3, 4], id=[3, 0, 1, -5, 99, 7])
    call("guarded", dict(E=4, T=6), dict(guarded, n=3), y=[4, 1, 2, 0, 0, 0])
    call("guarded", dict(E=4, T=6), dict(guarded, n=4), code=E_INDEX)
    call("guarded", dict(E=0, T=6), dict(x=[], id=guarded["id"], n=0), y=[0] * 6)
    rows = dict(x=[[1, 2], [3, 4], [5, 6]], id=[2, 0, -7, 88])
    call("guarded_let", dict(E=3, D=2, T=4), dict(rows, n=2), s=[26, 40])
    call("guarded_let", dict(E=3, D=2, T=4), dict(rows, n=3), code=E_INDEX)
    call("range_as_guard", dict(E=3, T=4), dict(x=[1, 2, 3], id=[-1, 2, 99, 0]), y=[0, 3, 0, 1])
    call("no_guard", dict(E=3, T=3), dict(x=[1, 2, 3], id=[0, 5, 1], w=[1, -1, 1]), code=E_INDEX)
    call("no_guard", dict(E=3, T=3), dict(x=[1, 2, 3], id=[0, 2, 1], w=[1, -1, 1]), y=[1, 0, 2])
    r = f32(3, 2)
    call("ragged", dict(B=3, S=2, U=3),
         dict(x=r, id=[[0, 1, 9], [2, -1, -1], [1, 1, 1]], len=[3, 2, 5]),
         y=[r[0].sum() + r[1, 0], r[2].sum(), 2 * r[1].sum() + r[1, 0]])
    call("by_scalar", mn, dict(x=x, r=3, i=6), y=x[3], z=x[3, 6])
    for row, column in ((-1, 6), (5, 6), (3, 7), (3, -2**63)):
        call("by_scalar", mn, dict(x=x, r=row, i=column), code=E_INDEX)
    call("by_number", mn, dict(x=x, n=2), y=[x[0, 3], x[1, 3], 0, 0, 0])
    call("by_number", dict(M=5, N=3), dict(x=x[:, :3], n=1), code=E_INDEX)
    call("by_number", dict(M=5, N=3), dict(x=x[:, :3], n=0), y=[0] * 5)

    id = rng.integers(0, 5, 4)
    call("read_again", dict(mn, T=4), dict(x=x, id=id), y=x + 1, z=2 * (x + 1).T,
         s=(2 * (x + 1)).sum(1)[id])
    rounded = v.astype(ml_dtypes.bfloat16)
    call("stored", n9, dict(x=v), y=rounded, z=rounded.astype(np.float32) * 3)
    call("scalar_inout", n9, dict(s=3, n=4, x=v), s=3 + v.sum(), n=5, t=2 * (3 + v.sum()))
    call("scalar_inout", dict(N=0), dict(s=3, n=4, x=[]), s=3, n=5, t=6)

    def softmax(a, axis):
        e = np.exp(a - a.max(axis, keepdims=True))
        return e / e.sum(axis, keepdims=True)

    call("softmax2", mn, dict(x=x), p=softmax(softmax(x, 1), 0))
    live = np.arange(7) <= np.arange(5)[:, None]
    part = softmax(np.where(live, x, -np.inf), 1)
    call("softmax_filters", mn, dict(x=x), r=part[:, 2:].sum(1))
    third = 1 / (1 + np.e)
    call("minus_infinity", dict(M=2, N=3), dict(x=[[-np.inf, -np.inf, 1], [1, 2, nan]]),
         p=[[nan, nan, 0], [third, 1 - third, 0]])
    call("arg_filters", mn, dict(x=x, k=3), i=x[:, :3].argmax(1), j=3 + x[:, 3:].argmin(1),
         v=x[:, :3].min(1))
    call("arg_filters", mn, dict(x=x, k=0), i=[-1] * 5, j=x.argmin(1), v=[np.inf] * 5)
    call("arg_filters", mn, dict(x=x, k=9), i=x.argmax(1), j=[-1] * 5, v=x.min(1))
    call("data_filter", n9, dict(x=v), s=v[v > v.mean()].sum(), c=(v > v.mean()).sum())
    p = rng.random((5, 7)) < 0.5
    call("bools", mn, dict(p=p, x=x), a=p[:, 3:].all(1), o=(p & (x > 0)).any(1),
         s=np.where(p, x, 0).sum(1), c=p.sum(1))
    call("bools", dict(M=5, N=0), dict(p=np.zeros((5, 0)), x=np.zeros((5, 0))), a=[True] * 5,
         o=[False] * 5, s=[0] * 5, c=[0] * 5)
    call("means", dict(N=4), dict(x=[1, 2, 3, 9], k=2), m=1.5, n=3.75)
    call("means", dict(N=4), dict(x=[1, 2, 3, 9], k=0), m=nan, n=3.75)
    call("of_nothing", mn, dict(x=x, k=0), a=[0] * 5, b=[-2**63] * 5, t=[False] * 5)
    call("of_nothing", mn, dict(x=x, k=2), a=[2] * 5, b=np.arange(5), t=[True] * 5)
    a = f32(4, 4)
    call("transposed_product", dict(N=4), dict(a=a, s=2), t=2 * (a * a.T).sum(), d=np.diag(a))
    g = f32(3, 2, 4)
    call("groups", dict(A=3, B=2, C=4), dict(x=g), y=g.transpose(2, 1, 0).reshape(4, 6),
         z=np.stack([g.sum((1, 2)), g.max((1, 2))], 1).ravel())

    i = rng.integers(-50, 50, 9)
    call("integers", n9, dict(a=i), q=i // 7, r=i % 7, c=np.clip(i, -3, 12),
         m=np.maximum(np.abs(i), 3))
    call("wide", dict(N=3), dict(a=[2**30, -5, 7], b=[2**31 - 1, 3, -2**31]),
         s=2**30 * (2**31 - 1) - 15 - 7 * 2**31, w=1 + 9 + 0, p=[2**30, -2, 13])
    i8, u8, i16 = rng.integers(-128, 128, (4, 6)), rng.integers(0, 256, (6, 3)), rng.integers(
        -2**15, 2**15, (6, 3))
    y = i8 @ (u8 - i16)
    call("narrow", dict(M=4, K=6, N=3), dict(a=i8, b=u8, c=i16), y=y, z=y.astype(np.int8),
         w=np.clip(y // 16, -2**15, 2**15 - 1), u=(i8 @ u8).astype(np.uint8))
    i4, u4 = rng.integers(-8, 8, (3, 4)), rng.integers(0, 16, (3, 4))
    call("nibbles", dict(M=3, N=4), dict(x=i4, y=u4), z=np.clip(2 * i4, -8, 7), w=(u4 + 3) % 16,
         s=(i4 * u4).sum(1))
    special = np.array([*v, 0.0, nan, np.inf, -np.inf, 1e-9], np.float32)
    times = lambda f: special * np.float32(f)
    call("small_floats", dict(N=14), dict(x=special), h=times(30000).astype(np.float16),
         e=times(200).astype(ml_dtypes.float8_e4m3), f=times(400).astype(ml_dtypes.float8_e4m3fn),
         g=np.clip(times(400), -448, 448).astype(ml_dtypes.float8_e4m3fn),
         u=times(100000).astype(ml_dtypes.float8_e5m2))
    half = np.array([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, nan, -0.0])
    call("roundings", dict(N=8), dict(x=half), r=np.rint(half), f=np.floor(half), c=np.ceil(half),
         l=np.clip(half, -1, 1), s=[-128, -128, -50, 50, 127, 127, 0, 0])
    call("zeros", dict(N=5), dict(x=[0.0, -0.0, nan, 1, -np.inf], y=[-0.0, 0.0, 1, nan, 0.0]),
         a=[0, 0, nan, nan, 0], b=[0, 0, nan, nan, -np.inf], i=[np.inf, np.inf, nan, nan, np.inf])
    call("doubles", dict(N=2), dict(x=[1e300, -1e300], k=[2**62, 2**62]), y=0, z=-2**63, e=[0, 0])
    call("doubles", dict(N=1), dict(x=[-1], k=[-2**63]), y=-1, z=-2**63, e=[1 / np.e])
    call("functions", n9, dict(x=v, y=v), z=np.hypot(v, v + 1))

    call("promises", dict(N=4), dict(x=[1, 2, 3, 4], k=1), y=[1, 2, 3, 4])
    call("promises", dict(N=4), dict(x=[1, 2, 3, 4], k=0), code=E_REQUIRE)
    call("promises", dict(N=3), dict(x=[1, 2, 3], k=1), code=E_REQUIRE - 1)
    optional = dict(x=[1, 2, 3], b=[10] * 3, c=[20] * 3)
    call("nested_optional", dict(N=3), dict(optional, h=False, k=1), null="bc", y=[8, 9, 10])
    call("nested_optional", dict(N=3), dict(optional, h=True, k=2), null="c", y=[11, 12, 13])
    call("nested_optional", dict(N=3), dict(optional, h=True, k=0), null="b", y=[21, 22, 23])
    call("nested_optional", dict(N=3), dict(optional, h=False, k=0), null="c", code=E_NULL)


if __name__ == "__main__":
    main()
