"""What a filter drops has no influence, whatever it holds; and the same bits for any
number of threads: attention, and a band of a matrix.

v[j] is NaN or infinite, k[j] is NaN, for one j after the other: rows whose window does
not hold j keep their values, the others are NaN. Rows without keys are 0, rows of −inf alone NaN.

RUN: %facet compile %S/Inputs/stream.facet --target=x86-64-v3 --emit=shared -o %t.so
RUN: %python %s %t.so
"""
import ctypes
import sys

import numpy as np

TASK = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int64)
PARALLEL_FOR = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int64, TASK, ctypes.c_void_p)


class Exec(ctypes.Structure):
    _fields_ = [("size", ctypes.c_uint32), ("threads", ctypes.c_int32), ("max_level", ctypes.c_int32),
                ("flags", ctypes.c_uint32), ("parallel_for", PARALLEL_FOR), ("ctx", ctypes.c_void_p),
                ("workspace", ctypes.c_void_p), ("workspace_bytes", ctypes.c_size_t),
                ("error", ctypes.c_void_p), ("reserve", ctypes.c_void_p)]


library = ctypes.CDLL(sys.argv[1])
most = 0


def call(name, *arrays, threads=1):
    (h, s, d), (t, n) = arrays[0].shape, arrays[-1].shape[1:]
    sizes = [ctypes.c_int64(x) for x in ((h, s, t, n) if name == "banded" else (h, s, d, t, n))]
    ask = getattr(library, name + "_workspace")
    ask.restype = ctypes.c_size_t
    scratch = np.full(ask(*sizes, ctypes.c_int(threads)), 0xFF, np.uint8)

    def backwards(ctx, count, task, data):
        global most
        most = max(most, count)
        assert count <= threads
        return max(task(data, i) for i in reversed(range(count)))

    callback = PARALLEL_FOR(backwards)
    exec_ = Exec(ctypes.sizeof(Exec), threads, 0, 0, callback, None, scratch.ctypes.data, scratch.nbytes, None, None)
    out = np.full((h, s, n), 99, np.float32)
    pointers = []
    for array in (*arrays, out):
        pointers += [ctypes.c_void_p(array.ctypes.data), None]
    code = getattr(library, name)(*sizes, *pointers, ctypes.byref(exec_))
    assert code == 0, (name, code)
    return out


def narrow(x):
    return (np.ascontiguousarray(x).view(np.uint32) >> 16).astype(np.uint16)


random = np.random.default_rng(1)
h, s, d, t, n = 2, 70, 5, 61, 11
q, k, v = (random.standard_normal(shape, np.float32) for shape in ((h, s, d), (h, t, d), (h, t, n)))
i, j = np.arange(s)[:, None], np.arange(t)[None]
live = (j <= i) & (j > i - 9)
for name, as_stored in (("attend", lambda x: x), ("rounded", narrow)):
    plain = call(name, as_stored(q), as_stored(k), as_stored(v))
    assert np.isfinite(plain).all() and (plain[:, ~live.any(1)] == 0).all() and not live.any(1).all()
    for threads in (2, 3, 8, 50):
        assert call(name, as_stored(q), as_stored(k), as_stored(v), threads=threads).tobytes() == plain.tobytes(), threads
    for key in range(0, t, 3):
        for odd, field in ((np.nan, "v"), (np.inf, "v"), (np.nan, "k")):
            k2, v2 = k.copy(), v.copy()
            (v2 if field == "v" else k2)[1, key] = odd
            found = call(name, as_stored(q), as_stored(k2), as_stored(v2))
            touched = np.zeros((h, s), bool)
            touched[1] = live[:, key]
            assert np.allclose(found[~touched], plain[~touched], 1e-5, 1e-6), (name, key, odd, field)
            assert not np.isfinite(found[touched]).any(), (name, key, odd, field)
    # Scores of −inf alone.
    k2 = k.copy()
    k2[0] = 0
    k2[0, :, 0] = np.inf
    q2 = q.copy()
    q2[0] = 0
    q2[0, :, 0] = -1
    with np.errstate(invalid="ignore"):
        found = call(name, as_stored(q2), as_stored(np.nan_to_num(k2, posinf=3e38)), as_stored(v))
    assert np.isfinite(found).all()
    q2[0, :, 0] = -3e38
    found = call(name, as_stored(q2), as_stored(np.nan_to_num(k2, posinf=3e38)), as_stored(v))
    assert np.isnan(found[0, live.any(1)]).all() and (found[0, ~live.any(1)] == 0).all()
    assert found[1].tobytes() == plain[1].tobytes()
# A band of a matrix times another, whose row j is NaN.
a = random.standard_normal((h, s, t), np.float32)
a[:, ~live] = np.inf
plain = call("banded", a, v)
assert np.allclose(plain, np.where(live, a, 0).astype(float) @ v, 1e-5, 1e-5)
for key in range(0, t, 3):
    v2 = v.copy()
    v2[1, key] = np.nan
    found = call("banded", a, v2)
    touched = np.zeros((h, s), bool)
    touched[1] = live[:, key]
    assert np.allclose(found[~touched], plain[~touched], 1e-5, 1e-6) and np.isnan(found[touched]).all(), key
    for threads in (2, 3, 8):
        assert call("banded", a, v2, threads=threads).tobytes() == found.tobytes(), (key, threads)
assert most == 36, most
