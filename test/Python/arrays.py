# NumPy arrays of every type, layout and role go in and come out; what does not fit is
# refused by the name of the argument.
#
# REQUIRES: python-package
# RUN: env PYTHONPATH=%build/python %python %s

import array
import warnings

import facet
import ml_dtypes
import numpy as np

warnings.simplefilter("error")


def compile(text, **options):
    return facet.compile(text, target="reference", **options)


def refused(error, wanted, function, *args, **kwargs):
    try:
        result = function(*args, **kwargs)
    except error as caught:
        assert wanted in str(caught), (wanted, str(caught))
        return caught
    raise AssertionError(f"not refused, wanted {wanted!r}, got {result!r}")


# ---- types: a value goes in and comes out as it is ---------------------------------

TYPES = {"f32": np.float32, "f64": np.float64, "f16": np.float16, "bf16": ml_dtypes.bfloat16,
         "f8e4m3": ml_dtypes.float8_e4m3, "f8e4m3fn": ml_dtypes.float8_e4m3fn, "f8e5m2": ml_dtypes.float8_e5m2,
         "i64": np.int64, "i32": np.int32, "i16": np.int16, "i8": np.int8, "u8": np.uint8, "bool": np.bool_}
for name, dtype in TYPES.items():
    narrow = name in ("f16", "bf16", "f8e4m3", "f8e4m3fn", "f8e5m2", "i16", "i8", "u8")
    copy = compile(f"kernel copy(a: {name}[M, N]) -> y: {name}[N, M] {{ y[n, m] = "
                   + (f"{name}(a[m, n])" if narrow else "a[m, n]") + " }")
    a = np.arange(6).reshape(2, 3).astype(dtype)
    y = copy(a)
    assert y.dtype == dtype and (y == a.T).all(), (name, y)
    assert copy.info.arguments[0] == ("a", name, "in", ("M", "N")), copy.info
    out = np.zeros((3, 2), dtype)
    assert copy(a, out=out) is out and (out == a.T).all()
    other = np.float64 if name != "f64" else np.float32
    refused(TypeError, f"copy: 'a' is {name}[M, N], not an array of {np.dtype(other)}", copy, a.astype(other))
    refused(TypeError, f"copy: 'y' is {name}[N, M], not an array of {np.dtype(other)}", copy, a, out=np.zeros((3, 2), other))

# Four bits, two to a byte: the last axis is halved.
copy = compile("kernel copy(a: i4[M, N]) -> y: i4[M, N], z: i32[M, N] { y[m, n] = i4(a[m, n]) z[m, n] = a[m, n] }")
a = np.array([[0x21, 0xF3], [0x80, 0x7F]], np.uint8)
y, z = copy(a)
assert (y == a).all() and (z == [[1, 2, 3, -1], [0, -8, -1, 7]]).all(), (y, z)
refused(TypeError, "packed two per byte, in uint8", copy, np.zeros((2, 2), np.int32))

# ---- layouts ------------------------------------------------------------------------

add = compile("kernel add(a: f32[M, N], b: f32[N]) -> y: f32[M, N] { y[m, n] = a[m, n] + b[n] }")
big = np.arange(40, dtype=np.float32).reshape(5, 8)
b = np.arange(3, dtype=np.float32)
for a in (big[:, :3], big[1:4, 2:5], big[::2, :3], big[:0, :3], big[:1, 5:]):
    out = np.full((8, 9), 77, np.float32)
    y = out[: a.shape[0], 4:7]
    assert (add(a, b) == a + b).all() and add(a, b, out=y) is y and (y == a + b).all()
    y[...] = 77
    assert (out == 77).all()  # nothing beside it was written
refused(ValueError, "add: 'a', axis 1: a stride does not fit its array: found 8, wanted at least 1; "
        "numpy.ascontiguousarray() makes a dense copy", add, big.T[:, :3], b)
refused(ValueError, "add: 'a', axis 0", add, big[::-1, :3], b)
refused(ValueError, "'b', axis 0", add, big[:, :3], big[0, :6:2])
broken = np.lib.stride_tricks.as_strided(np.zeros(8, np.float32), (2, 3), (14, 4))
refused(TypeError, "not an array whose elements", add, broken, b)
refused(TypeError, "not an array of >f4", add, big[:, :3].astype(">f4"), b)
refused(ValueError, "add: 'b', axis 0: the shapes of the tensors do not fit together: found 3, wanted 8", add, big, b)
refused(TypeError, "add: 'a' is f32[M, N], not an array of 1 axis", add, b, b)
assert add(memoryview(big), array.array("f", range(8))).shape == (5, 8)
readonly = big.copy()
readonly.flags.writeable = False
assert (add(readonly, big[0]) == big + big[0]).all()
refused(TypeError, "add: 'y' is f32[M, N], which the kernel writes; this array is read-only",
        add, big, big[0], out=readonly)

# ---- roles --------------------------------------------------------------------------

gemm = compile("kernel gemm(alpha: f32, a: f32[M, K], b: f32[K, N], beta: f32, c: inout f32[M, N]) "
               "{ c[m, n] = alpha * sum[k](a[m, k] * b[k, n]) + where(beta != 0, beta * c[m, n], 0) }")
a, b = big[:, :2], big[:2, :3]
c = np.ones((5, 3), np.float32)
assert gemm(2, a, b, 0.5, c) is None and np.allclose(c, 2 * a @ b + 0.5)
gemm(np.float32(1), a=a, b=b, beta=np.array(0, np.float32), c=c)
assert np.allclose(c, a @ b)
refused(TypeError, "gemm: 'c' is f32[M, N], which the kernel writes", gemm, 1, a, b, 0, readonly[:, :3])
refused(TypeError, "gemm: no value for 'beta'; None leaves it out", gemm, 1, a, b)
refused(TypeError, "gemm: takes 5 arguments, 6 are given", gemm, 1, a, b, 0, c, c)
refused(TypeError, "gemm: 'a' is given twice", gemm, 1, a, b, 0, a=a)
refused(TypeError, "gemm: there is no argument 'd'", gemm, 1, a, b, 0, c, d=1)
refused(TypeError, "gemm: 'alpha' is f32, not a str", gemm, "1", a, b, 0, c)
refused(TypeError, "gemm: 'alpha'", gemm, None, a, b, 0, c)

scalars = compile("kernel scalars(i: i32, b: bool, u: u8, h: bf16, d: f64, z: f64[N]) -> y: f64[N] "
                  "{ y[n] = f64(i) + f64(b) + f64(u) + f64(h) + d + z[n] }")
z = np.zeros(2)
assert (scalars(-5, True, 255, 1.5, 1e-3, z) == -5 + 1 + 255 + 1.5 + 1e-3).all()
refused(TypeError, "scalars: 'u' is u8, too small for 256", scalars, 0, 0, 256, 0, 0, z)
refused(TypeError, "scalars: 'b' is bool, too small for 2", scalars, 0, 2, 0, 0, 0, z)
refused(TypeError, "scalars: 'i' is i32, not a number with a fraction", scalars, 0.5, 0, 0, 0, 0, z)
refused(TypeError, "scalars: 'i' is i32, too small for 2147483648", scalars, 2**31, 0, 0, 0, 0, z)

optional = compile("kernel optional(has: bool, a: f32[N], b: f32[N]) -> y: f32[N] { y[n] = a[n] + where(has, b[n], 0) }")
assert (optional(False, big[0], None) == big[0]).all()
refused(TypeError, "optional: 'b'", optional, True, big[0], None)
left_out = compile("kernel left_out(has: bool, b: f32[N]) -> y: f32[N] { y[n] = where(has, b[n], 0) }")
refused(TypeError, "left_out: no argument says what 'N' is; give N= or out=", left_out, False, None)
assert left_out(False, None, N=3).tolist() == [0, 0, 0] and left_out(False, None, out=np.ones(7, np.float32)).sum() == 0
refused(ValueError, "left_out: size 'N' is 3, and 'b' has 8 in axis 0", left_out, True, big[0], N=3)
refused(ValueError, "left_out: size 'N' is 3, and 'y' has 7 in axis 0", left_out, False, None, N=3, out=np.ones(7, np.float32))
refused(TypeError, "cannot be interpreted as an integer", left_out, False, None, N="3")
refused(ValueError, "left_out: size 'N' is -1", left_out, False, None, N=-1)

several = compile("kernel several(a: f32[M, (Q, 4)]) -> total: f32, rows: f32[M, Q] "
                  "{ total = sum[m, q, i: 4](a[m, q, i]) rows[m, q] = sum[i](a[m, q, i]) }")
total, rows = several(big)
assert total.shape == () and total == big.sum() and (rows == big.reshape(5, 2, 4).sum(-1)).all()
out = np.zeros((), np.float32), np.zeros((5, 2), np.float32)
assert several(big, out=out)[1] is out[1] and out[0] == big.sum()
refused(TypeError, "several: 'out' is a tuple of 2 arrays", several, big, out=out[0])
refused(ValueError, "several: 'a', axis 1: (Q, 4) is a multiple of 4, not 6", several, big[:, :6])

promise = compile("kernel promise(a: f32[N], i: i64[N]) -> y: f32[N] requires N % 2 == 0 { y[n] = a[i[n]] }")
refused(ValueError, "promise: the promise 'N % 2 == 0' is broken", promise, big[0, :3], np.zeros(3, np.int64))
refused(IndexError, "promise: 'a', axis 0: an element used as a subscript is out of range: found 8", promise, big[0], np.full(8, 8))

many = compile("kernel many(" + ", ".join(f"a{i}: f32[N]" for i in range(12)) + ") -> y: f32[N] { y[n] = "
               + " + ".join(f"a{i}[n]" for i in range(12)) + " }")
assert (many(*[big[0]] * 12) == 12 * big[0]).all()
deep = compile("kernel deep(a: f32[A, B, C, D, E, F]) -> y: f32[F, A, B, C, D, E] { y[f, a, b, c, d, e] = a[a, b, c, d, e, f] }"
               .replace("a: f32", "x: f32").replace("= a[", "= x["))
x = np.random.rand(2, 3, 1, 2, 3, 2).astype(np.float32)
assert (deep(x) == np.moveaxis(x, -1, 0)).all()
