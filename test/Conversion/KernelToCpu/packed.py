"""Packed arrays of constants: what NAME_pack_w writes, and NAME_packed reads in place.

Against NumPy, at the end of a page, for few and many rows, widths of whole and partial panels,
odd sums; sizes to the byte; and heads that are refused: other levels, other layouts, two of a kind.

RUN: %facet compile %S/Inputs/packed.facet --target=x86-64-v2 --emit=shared -o %t.v2.so
RUN: %python %s %t.v2.so 4 2
RUN: %if x86-64-v3 %{ %facet compile %S/Inputs/packed.facet --target=x86-64-v3 --emit=shared -o %t.v3.so %}
RUN: %if x86-64-v3 %{ %python %s %t.v3.so 8 3 %}
RUN: %if znver4 %{ %facet compile %S/Inputs/packed.facet --target=znver4 --emit=shared -o %t.zen4.so %}
RUN: %if znver4 %{ %python %s %t.zen4.so 16 5 %}
RUN: %if x86-64-v3 %{ %facet compile %S/Inputs/packed.facet --target=x86-64-v2,x86-64-v3 --emit=shared -o %t.both.so %}
RUN: %if x86-64-v3 %{ %python %s %t.both.so 8 3 %t.v2.so %}
"""
import ctypes
import mmap
import sys

import ml_dtypes
import numpy as np

PACKED, OVERFLOW, HEAD = -10, -4, 64
LIBC = ctypes.CDLL(None)
PAGE = mmap.PAGESIZE


class Error(ctypes.Structure):
    _fields_ = [("code", ctypes.c_int32), ("axis", ctypes.c_int32), ("kernel", ctypes.c_char_p),
                ("argument", ctypes.c_char_p), ("found", ctypes.c_int64), ("wanted", ctypes.c_int64)]


class Exec(ctypes.Structure):
    _fields_ = [("size", ctypes.c_uint32), ("threads", ctypes.c_int32), ("max_level", ctypes.c_int32),
                ("flags", ctypes.c_uint32), ("parallel_for", ctypes.c_void_p), ("ctx", ctypes.c_void_p),
                ("workspace", ctypes.c_void_p), ("workspace_bytes", ctypes.c_size_t),
                ("error", ctypes.POINTER(Error)), ("reserve", ctypes.c_void_p)]


library = ctypes.CDLL(sys.argv[1])
lanes, level = int(sys.argv[2]), int(sys.argv[3])
other = ctypes.CDLL(sys.argv[4]) if len(sys.argv) > 4 else None
kept = []


def at_page_end(nbytes):
    """So many bytes, the last in front of a page that may not be touched."""
    pages = -(-nbytes // PAGE)
    memory = mmap.mmap(-1, (pages + 1) * PAGE)
    start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    assert LIBC.mprotect(ctypes.c_void_p(start + pages * PAGE), ctypes.c_size_t(PAGE), 0) == 0
    kept.append(memory)
    return np.frombuffer(memory, np.uint8, nbytes, pages * PAGE - nbytes)


def strides(array):
    if array.ndim < 2:
        return []
    steps = [s // array.itemsize for s in array.strides[:-1]]
    return [ctypes.c_int64(steps[0])] if array.ndim == 2 else [(ctypes.c_int64 * len(steps))(*steps)]


def dims(sizes):
    return [ctypes.c_int64(size) for size in sizes]


def pack(name, sizes, w, ld=None, of=library):
    """The packed array, at the end of a page."""
    ask = getattr(of, name + "_bytes")
    ask.restype = ctypes.c_size_t
    target = at_page_end(ask(*dims(sizes)))
    target[:] = 0xA5
    step = strides(w) if ld is None else [ctypes.c_int64(ld)]
    code = getattr(of, name)(*dims(sizes), ctypes.c_void_p(w.ctypes.data), *step,
                             ctypes.c_void_p(target.ctypes.data))
    assert code == 0, (name, code)
    return target


def call(name, sizes, arguments, out, max_level=0):
    """The code, and the record of what was wrong."""
    ask = getattr(library, name.removesuffix("_packed") + "_workspace")
    ask.restype = ctypes.c_size_t
    scratch = np.full(ask(*dims(sizes), ctypes.c_int(1)) + 64, 0xA5, np.uint8)
    error = Error()
    exec_ = Exec(ctypes.sizeof(Exec), 1, max_level, 0, None, None, scratch.ctypes.data, scratch.nbytes - 64,
                 ctypes.pointer(error), None)
    out[...] = 99
    words = []
    for array in (*arguments, out):
        words.append(ctypes.c_void_p(array.ctypes.data))
        if array.dtype != np.uint8 or name.startswith("nibbles") and array is arguments[0]:
            words += strides(array)
    code = getattr(library, name)(*dims(sizes), *words, ctypes.byref(exec_))
    assert (scratch[-64:] == 0xA5).all()
    return code, error


def head(target):
    return target[:HEAD].view(np.int32)  # 2: bytes, 3: rank, 4: type, 5: level, 6: layout


def body(words):
    return HEAD + -(-4 * words // 64) * 64


def right(found, wanted, *context):
    if found.dtype == np.int32:
        assert (found == wanted).all(), context
    else:
        np.testing.assert_allclose(found, wanted, rtol=2e-5, atol=2e-4, err_msg=str(context))


random = np.random.default_rng(7)


def floats(*shape, dtype=np.float32):
    return (random.standard_normal(shape) / 4).astype(dtype)


def integers(low, high, *shape, dtype):
    return random.integers(low, high, shape, dtype)


wide = 6 * lanes  # some whole panels at every level, and a partial one
SHAPES = [(m, k, n) for m in (1, 4, 9, 33) for k, n in ((7, wide + 2), (64, lanes), (1030, wide))]
SHAPES += [(0, 3, 6), (3, 0, 6), (3, 4, 0), (2, 1, 2), (3, 1601, 2 * lanes + 6)]

for m, k, n in SHAPES:
    x, w, b, y = floats(m, k), floats(k, n), floats(n), np.empty((m, n), np.float32)
    packed = pack("plain_pack_w", (k, n), w)
    assert packed.nbytes == body(k * (-(-n // lanes) * lanes)), (m, k, n, packed.nbytes)
    assert head(packed)[5] == level and head(packed)[6] != 0, head(packed)
    assert call("plain_packed", (m, k, n), (x, packed, b), y)[0] == 0
    right(y, np.maximum(x.astype(np.float64) @ w + b, 0), "plain", m, k, n)
    again = y.tobytes()
    assert call("plain", (m, k, n), (x, w, b), y)[0] == 0
    assert y.tobytes() == again, ("plain", m, k, n)
    spaced = floats(k, n + 3)
    spaced[:, :n] = w
    assert (pack("plain_pack_w", (k, n), spaced, ld=n + 3) == packed).all()

    x, w = floats(m, k, dtype=ml_dtypes.bfloat16), floats(n, k, dtype=ml_dtypes.bfloat16)
    assert call("turned_packed", (m, k, n), (x, pack("turned_pack_w", (k, n), w)), y)[0] == 0
    right(y, x.astype(np.float64) @ w.astype(np.float64).T, "turned", m, k, n)
    w = floats(k, n, dtype=ml_dtypes.float8_e4m3fn)
    assert call("eighths_packed", (m, k, n), (x, pack("eighths_pack_w", (k, n), w)), y)[0] == 0
    right(y, x.astype(np.float64) @ w.astype(np.float64), "eighths", m, k, n)

    z = np.empty((m, n), np.int32)
    x, w = integers(-128, 128, m, k, dtype=np.int8), integers(-128, 128, k, n, dtype=np.int8)
    assert call("bytes_packed", (m, k, n), (x, pack("bytes_pack_w", (k, n), w)), z)[0] == 0
    right(z, x.astype(np.int32) @ w.astype(np.int32), "bytes", m, k, n)
    x, w = integers(0, 256, m, k, dtype=np.uint8), integers(0, 16, k, n, dtype=np.uint8)
    pairs = w[:, 0::2] | w[:, 1::2] << 4
    assert call("nibbles_packed", (m, k, n), (x, pack("nibbles_pack_w", (k, n), pairs, ld=n)), z)[0] == 0
    right(z, x.astype(np.int32) @ w.astype(np.int32), "nibbles", m, k, n)

for m, q, r, n in ((3, 5, 6, wide + 1), (17, 300, 7, lanes + 1), (2, 0, 3, 5)):
    x, w = integers(-128, 128, m, q * r, dtype=np.int8), integers(-128, 128, q, r, n, dtype=np.int8)
    z = np.empty((m, n), np.int32)
    packed = pack("two_axes_pack_w", (q, r, n), w)
    assert call("two_axes_packed", (m, q, r, n), (x, packed), z)[0] == 0
    right(z, x.astype(np.int32) @ w.reshape(q * r, n).astype(np.int32), "two_axes", m, q, r, n)

for count, m, k, h, d in ((3, 5, 9, 2, lanes + 1), (2, 1, 40, 3, 4 * lanes)):
    x, w = floats(count, m, k), floats(count, k, h * d)
    y = np.empty((count, m, h * d), np.float32)
    packed = pack("regions_pack_w", (count, k, h, d), w)
    assert packed.nbytes == body(count * k * h * (-(-d // lanes) * lanes))
    assert call("regions_packed", (count, m, k, h, d), (x, packed), y)[0] == 0
    right(y, x.astype(np.float64) @ w, "regions", count, m, k, h, d)

# Heads that do not belong.
m, k, n = 3, 20, wide
x, w, v, y = floats(m, k), floats(k, n), floats(k, n), np.empty((m, n), np.float32)
packed = [pack("pair_pack_w", (k, n), w), pack("pair_pack_v", (k, n), v)]
assert call("pair_packed", (m, k, n), (x, *packed), y)[0] == 0
left, other_side = x.astype(np.float64) @ w, x.astype(np.float64) @ v
right(y, left / (1 + np.exp(-left)) * other_side, "pair")


def refused(argument, found, wanted, arrays, max_level=0):
    code, error = call("pair_packed", (m, k, n), (x, *arrays), y, max_level)
    assert (code, error.argument, error.found, error.wanted) == (PACKED, argument, found, wanted), \
        (code, error.argument, error.found, error.wanted)
    assert (y == 99).all()


for place, value in ((5, 0), (5, 99), (6, 0), (6, 12345), (4, 77)):
    broken = packed[1].copy()
    aligned = at_page_end(broken.nbytes)
    aligned[:] = broken
    before = head(aligned)[place]
    head(aligned)[place] = value
    wanted = level if place == 5 else before
    refused(b"v", value, wanted, [packed[0], aligned])
plain = at_page_end(packed[0].nbytes)
plain[:] = 0
assert call("pair_packed", (m, k, n), (x, plain, packed[1]), y)[0] == PACKED
if other:
    # The level of the arrays says which code runs; two must agree, and max_level allow them.
    low = [pack("pair_pack_w", (k, n), w, of=other), pack("pair_pack_v", (k, n), v, of=other)]
    assert [head(array)[5] for array in low] == [2, 2] and head(low[0])[6] != head(packed[0])[6]
    assert call("pair_packed", (m, k, n), (x, *low), y)[0] == 0
    right(y, left / (1 + np.exp(-left)) * other_side, "pair of the lower level")
    assert call("pair_packed", (m, k, n), (x, *low), y, max_level=2)[0] == 0
    refused(b"v", 2, level, [packed[0], low[1]])
    refused(b"v", level, 2, [low[0], packed[1]])
    refused(b"w", level, 2, packed, max_level=2)
# What no array can hold.
ask = library.plain_pack_w_bytes
ask.restype = ctypes.c_size_t
assert ask(ctypes.c_int64(1 << 40), ctypes.c_int64(1 << 40)) == 2**64 - 1
