"""The same bits for any number of threads and any order of tasks.

Tasks of a parallel_for that runs them in order, backwards, or each on a thread of its own;
as many as 1, 2, 3 and 8 threads ask for, with exactly the workspace that this takes.

RUN: %facet compile %S/Inputs/threads.facet --target=x86-64-v3 --emit=shared -o %t.so
RUN: %python %s %t.so
"""
import ctypes
import sys
import threading

import numpy as np

TASK = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int64)
PARALLEL_FOR = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int64, TASK, ctypes.c_void_p)


class Exec(ctypes.Structure):
    _fields_ = [("size", ctypes.c_uint32), ("threads", ctypes.c_int32), ("max_level", ctypes.c_int32),
                ("flags", ctypes.c_uint32), ("parallel_for", PARALLEL_FOR), ("ctx", ctypes.c_void_p),
                ("workspace", ctypes.c_void_p), ("workspace_bytes", ctypes.c_size_t),
                ("error", ctypes.c_void_p), ("reserve", ctypes.c_void_p)]


library = ctypes.CDLL(sys.argv[1])
most = {}  # tasks seen, per kernel


def at_once(task, data, n):
    codes = []
    threads = [threading.Thread(target=lambda i=i: codes.append(task(data, i))) for i in range(n)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return max(codes)


def call(name, arrays, out, sizes, threads, order):
    run = getattr(library, name)
    ask = getattr(library, name + "_workspace")
    ask.restype = ctypes.c_size_t
    sizes = [ctypes.c_int64(s) for s in sizes]
    scratch = np.full(ask(*sizes, ctypes.c_int(threads)), 0xA5, np.uint8)

    def parallel_for(ctx, n, task, data):
        most[name] = max(most.get(name, 0), n)
        assert n <= threads, (n, threads)
        if order == "at once":
            return at_once(task, data, n)
        return max(task(data, i) for i in (range(n) if order == "in order" else reversed(range(n))))

    callback = PARALLEL_FOR(parallel_for) if order else PARALLEL_FOR()
    exec_ = Exec(ctypes.sizeof(Exec), threads, 0, 0, callback, None, scratch.ctypes.data, scratch.nbytes, None, None)
    out[...] = 99
    arguments = []
    for array in (*arrays, out):
        arguments.append(ctypes.c_void_p(array.ctypes.data))
        if array.ndim == 2:
            arguments.append(ctypes.c_int64(array.shape[1]))
    code = run(*sizes, *arguments, ctypes.byref(exec_))
    assert code == 0, (name, threads, order, code)
    return out.tobytes()


random = np.random.default_rng(1)
for m, k, n in ((1, 65, 300), (37, 129, 200), (130, 70, 25), (5, 0, 50), (0, 8, 50), (61, 33, 1)):
    x = random.standard_normal((m, k), np.float32)
    w = random.standard_normal((k, n), np.float32)
    b = random.standard_normal(n, np.float32)
    y = np.empty((m, n), np.float32)
    for name in ("columns", "rows", "functions"):
        wanted = call(name, (x, w, b), y, (m, k, n), 1, None)
        for threads in (1, 2, 3, 8):
            for order in (None, "in order", "backwards", "at once"):
                assert call(name, (x, w, b), y, (m, k, n), threads, order) == wanted, (name, m, k, n, threads, order)
    q = random.integers(-128, 128, (m, k), np.int8)
    v = random.integers(-128, 128, (k, n), np.int8)
    z = np.empty((m, n), np.int32)
    for threads, order in ((1, None), (3, "backwards"), (8, "at once")):
        call("bytes", (q, v), z, (m, k, n), threads, order)
        assert (z == q.astype(np.int32) @ v.astype(np.int32)).all(), (m, k, n, threads, order)
assert min(most.values()) == 8 and len(most) == 4, most
# A parallel_for that failed is an error of the call.
x, w, b, y = (np.ones(s, np.float32) for s in ((64, 64), (64, 300), (300,), (64, 300)))
failing = PARALLEL_FOR(lambda ctx, n, task, data: 7)
scratch = np.empty(1 << 20, np.uint8)
exec_ = Exec(ctypes.sizeof(Exec), 2, 0, 0, failing, None, scratch.ctypes.data, scratch.nbytes, None, None)
pointers = [ctypes.c_void_p(a.ctypes.data) for a in (x, w, b, y)]
code = library.columns(ctypes.c_int64(64), ctypes.c_int64(64), ctypes.c_int64(300), pointers[0], ctypes.c_int64(64),
                       pointers[1], ctypes.c_int64(300), pointers[2], pointers[3], ctypes.c_int64(300), ctypes.byref(exec_))
assert code == -18, code
