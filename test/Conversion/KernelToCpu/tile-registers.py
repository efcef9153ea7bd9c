"""Products in tile registers (AMX) are right at every size, in every pairing of types, whatever
follows the sums, however they are cut; and without the system's permission none is begun.

No machine with AMX is needed: the instructions are done by Inputs/tile-registers.c. Where there
is one, it is AMX's turn.

REQUIRES: znver4, clang
RUN: rm -rf %t && mkdir %t && cd %t
RUN: sh %S/Inputs/emulated.sh %facet %clang %S/Inputs/tiles.facet ./tiles.so
RUN: %python %s ./tiles.so
RUN: sh %S/Inputs/emulated.sh %facet %clang %S/Inputs/tiles.facet ./ladder.so znver4,sapphirerapids
RUN: %python %s ./ladder.so
RUN: %python %s ./tiles.so refused && %python %s ./ladder.so below
RUN: sh %S/Inputs/emulated.sh %facet %clang %S/Inputs/packed.facet ./packed.so
RUN: %python %S/packed.py ./packed.so 16 7
"""
import ctypes
import itertools
import sys

import ml_dtypes
import numpy as np

LEVEL = -17
library = ctypes.CDLL(sys.argv[1])
permission = ctypes.c_int64.in_dll(library, "emulated_permission")
products = ctypes.c_int64.in_dll(library, "emulated_products")
PHASE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)
TASK = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int64)


@PHASE
def backwards(_, n, task, data):
    """A parallel_for whose last task comes first."""
    return next((code for i in reversed(range(n)) if (code := TASK(task)(data, i))), 0)


class Exec(ctypes.Structure):
    _fields_ = [("size", ctypes.c_uint32), ("threads", ctypes.c_int32), ("max_level", ctypes.c_int32),
                ("flags", ctypes.c_uint32), ("parallel_for", PHASE), ("ctx", ctypes.c_void_p),
                ("workspace", ctypes.c_void_p), ("workspace_bytes", ctypes.c_size_t),
                ("error", ctypes.c_void_p), ("reserve", ctypes.c_void_p)]


def strides(array):
    if array.ndim < 2:
        return []
    steps = [s // array.itemsize for s in array.strides[:-1]]
    return [ctypes.c_int64(steps[0])] if array.ndim == 2 else [(ctypes.c_int64 * len(steps))(*steps)]


def call(name, sizes, arguments, out, threads=1):
    """The code of a call whose scratch begins as NaN and -1, and ends where it should."""
    sizes = [ctypes.c_int64(size) for size in sizes]
    ask = getattr(library, name + "_workspace")
    ask.restype = ctypes.c_size_t
    scratch = np.full(ask(*sizes, threads) + 64, 0xFF, np.uint8)
    exec_ = Exec(ctypes.sizeof(Exec), threads, workspace=scratch.ctypes.data, workspace_bytes=scratch.nbytes - 64,
                 parallel_for=backwards)
    words = []
    for array in (*arguments, out):
        words += [ctypes.c_void_p(array.ctypes.data), *strides(array)]
    code = getattr(library, name)(*sizes, *words, ctypes.byref(exec_))
    assert (scratch[-64:] == 0xFF).all(), (name, sizes)
    return code


random = np.random.default_rng(11)


def floats(*shape, dtype=np.float32):
    return (random.standard_normal(shape) / 4).astype(dtype)


def operand(type_, *shape):
    """Elements, a third of them at an end of their type, between rows of others."""
    limits = np.iinfo(type_)
    spaced = random.integers(limits.min, limits.max + 1, (*shape[:-1], shape[-1] + 5), type_)
    ends = random.integers(0, 6, spaced.shape)
    spaced = np.where(ends == 0, limits.min, np.where(ends == 1, limits.max, spaced)).astype(type_)
    return spaced[..., :shape[-1]]


def pairs(*shape):
    spaced = floats(*shape[:-1], shape[-1] + 3, dtype=ml_dtypes.bfloat16)
    spaced[..., shape[-1]:] = np.nan
    return spaced[..., :shape[-1]]


def right(found, wanted, *context):
    if found.dtype == np.int32:
        assert (found == wanted).all(), context
    else:
        np.testing.assert_allclose(found.astype(np.float64), wanted, rtol=2e-5, atol=3e-4, err_msg=str(context))


def wide(array):
    return array.astype(np.int32 if array.dtype.kind in "iu" else np.float64)


TYPES = {"i8": np.int8, "u8": np.uint8}
if len(sys.argv) > 2:
    # What Linux saves for a process that has not asked for more.
    permission.value = 0x2E7
    x, w, y = operand(np.int8, 40, 70), operand(np.int8, 70, 40), np.full((40, 40), 77, np.int32)
    assert call("i8_i8", (40, 70, 40), (x, w), y) == (LEVEL if sys.argv[2] == "refused" else 0)
    assert products.value == 0
    right(y, np.full((40, 40), 77, np.int32) if sys.argv[2] == "refused" else wide(x) @ wide(w))
    sys.exit()

SIZES = list(itertools.product((1, 5, 16, 17, 31, 32, 33, 50), (1, 16, 17, 32, 47, 70), (1, 3, 31, 64, 65, 130)))
# 66 rows: two whole blocks and two rows; 2100 steps: more than one block of k.
SIZES += [(66, 33, 2100), (40, 20, 5000), (3, 0, 4), (0, 3, 4), (20, 20, 0), (200, 600, 70)]
for threads, (m, n, k) in itertools.product((1, 3), SIZES):
    if threads > 1 and m < 50:
        continue
    before = products.value
    for a, b in itertools.product(TYPES, TYPES):
        x, w, y = operand(TYPES[a], m, k), operand(TYPES[b], k, n), np.full((m, n), 77, np.int32)
        assert call(f"{a}_{b}", (m, k, n), (x, w), y, threads) == 0
        right(y, wide(x) @ wide(w), a, b, m, n, k, threads)
    x, w, y = pairs(m, k), pairs(k, n), np.full((m, n), np.nan, np.float32)
    assert call("bare", (m, k, n), (x, w), y, threads) == 0
    right(y, wide(x) @ wide(w), "bare", m, n, k, threads)
    assert products.value > before or 0 in (m, n, k)

    w, bias, z = pairs(n, k), floats(n), np.full((m, n), np.nan, np.float32)
    assert call("activated", (m, k, n), (x, w, bias), z, threads) == 0
    sums = wide(x) @ wide(w).T + bias
    right(z, sums / (1 + np.exp(-sums)), "activated", m, n, k, threads)
    right_side, added = pairs(k, n), floats(m, n)
    start = added.copy()
    assert call("added", (m, k, n), (x, right_side), added, threads) == 0
    right(added, start + wide(x) @ wide(right_side), "added", m, n, k, threads)

for m, n, q, r in ((19, 37, 3, 5), (33, 16, 40, 7), (2, 9, 1, 129), (40, 40, 600, 4)):
    x, w, y = pairs(m, q, r), pairs(q, r, n), np.full((m, n), np.nan, np.float32)
    assert call("two_axes", (m, q, r, n), (x, w), y) == 0
    right(y, wide(x).reshape(m, q * r) @ wide(w).reshape(q * r, n), "two axes", m, n, q, r)
for count, m, n, k in ((3, 34, 20, 40), (2, 5, 50, 7)):
    x, w, y = operand(np.int8, count, m, k), operand(np.uint8, count, k, n), np.full((count, m, n), 77, np.int32)
    assert call("batched", (count, m, k, n), (x, w), y) == 0
    right(y, wide(x) @ wide(w), "batched", count, m, n, k)

# An infinity, and the sum of two that is a NaN, stay in their row.
x, w, y = pairs(40, 50), pairs(50, 20), np.empty((40, 20), np.float32)
x[3, 7], w[7] = np.inf, 1
x[5, 8:10], w[8:10] = (np.inf, -np.inf), 1
assert call("bare", (40, 50, 20), (x, w), y) == 0
assert (y[3] == np.inf).all() and np.isnan(y[5]).all() and np.isfinite(np.delete(y, (3, 5), 0)).all()

