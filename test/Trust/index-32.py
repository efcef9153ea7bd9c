# RUN: env PYTHONPATH=%source/python:%S/Inputs %python %s %facet
"""index-32: rows 2^30 + 1 elements apart, so that the third begins more than 2^31 elements
and 2^33 bytes behind the first, on memory that is mapped but not filled."""

import ctypes
import mmap

import numpy as np
from agreement import call, signature
from roads import Kernels, distinct

k = Kernels("""
kernel f(a: f32[M, K], b: f32[K, N]) -> c: f32[M, N] { c[m, n] = sum[k](a[m, k] * b[k, n]) }
kernel q(a: u8[M, K], b: i8[K, N]) -> c: i32[M, N] { c[m, n] = sum[k](a[m, k] * b[k, n]) }
""", engine=False)
ROW = 2**30 + 1
M, K, N = 3, 5, 19


class Far:
    """A matrix whose rows are ROW elements apart."""

    def __init__(self, shape, dtype, values=None):
        dtype = np.dtype(dtype)
        length = (ROW * (shape[0] - 1) + shape[1]) * dtype.itemsize
        self.memory = mmap.mmap(-1, length, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000)  # MAP_NORESERVE
        self.array = np.ndarray(shape, dtype, self.memory, 0, (ROW * dtype.itemsize, dtype.itemsize))
        if values is not None:
            self.array[...] = values
        self.pointer = ctypes.c_void_p(np.frombuffer(self.memory, np.uint8, 1).ctypes.data)


a, b = distinct(M, K, modulus=5) + 2, distinct(K, N)
for name, ta, tb, tc in ("f", "f4", "f4", "f4"), ("q", "u1", "i1", "i4"):
    for road, path in k.libraries.items():
        library = call.Library(path, signature.parse(k.text, name))
        for level in k.levels if road == "cpu" else [0]:
            sizes = dict(M=M, K=K, N=N)
            fa, fb, fc = Far((M, K), ta, a), Far((K, N), tb, b), Far((M, N), tc)
            execution = library.execution(sizes)
            execution.max_level = level
            row = ctypes.c_int64(ROW)
            code = library.entry(*(ctypes.c_int64(n) for n in sizes.values()), fa.pointer, row, fb.pointer, row,
                                 fc.pointer, row, ctypes.byref(execution))
            assert code == 0 and (fc.array == a @ b).all(), (name, road, level, code, fc.array)
