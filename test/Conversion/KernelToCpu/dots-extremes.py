"""Sums of products of bytes and of 16 bits are exact in every pairing of signs, with all
operands at the ends of their types, where instructions that saturate midway differ.

On each level that is here; vectors of 256 bits with VNNI are what x86-64-v3-vnni has,
which few machines run beside AVX-512.
"""
# RUN: rm -rf %t && mkdir %t && cd %t
# RUN: %facet targets znver4 | sed -e 's/vector_bytes: {value: 64/vector_bytes: {value: 32/' -e 's/name: znver4/name: ymm/' > ymm.yaml
# RUN: %if x86-64-v2 %{ %python %s %facet x86-64-v2 | FileCheck %s %}
# RUN: %if x86-64-v3 %{ %python %s %facet x86-64-v3 | FileCheck %s %}
# RUN: %if x86-64-v4 %{ %python %s %facet x86-64-v4 | FileCheck %s %}
# RUN: %if znver4 %{ %python %s %facet znver4 | FileCheck %s %}
# RUN: %if znver4 %{ %python %s %facet ./ymm.yaml | FileCheck %s %}
# CHECK: all exact

import ctypes
import itertools
import subprocess
import sys

import numpy as np

facet, target = sys.argv[1:]
TYPES = {"i8": np.int8, "u8": np.uint8, "i16": np.int16}
PAIRS = list(itertools.product(("i8", "u8"), repeat=2)) + [("i16", "i16")]

text = "".join(f"kernel {a}_{b}(x: {a}[M, K], w: {b}[K, N]) -> y: i32[M, N] {{ y[m, n] = sum[k](x[m, k] * w[k, n]) }}\n"
               for a, b in PAIRS)
with open("kernels.facet", "w", encoding="utf-8") as file:
    file.write(text)
subprocess.run([facet, "compile", "kernels.facet", "--target=" + target, "-o", "kernels.so"], check=True)
library = ctypes.CDLL("./kernels.so")


class Exec(ctypes.Structure):
    """facet_exec of facet/abi.h."""
    _fields_ = [("size", ctypes.c_uint32), ("threads", ctypes.c_int32), ("max_level", ctypes.c_int32),
                ("flags", ctypes.c_uint32), ("parallel_for", ctypes.c_void_p), ("ctx", ctypes.c_void_p),
                ("workspace", ctypes.c_void_p), ("workspace_bytes", ctypes.c_size_t),
                ("error", ctypes.c_void_p), ("reserve", ctypes.c_void_p)]


def call(name, x, w):
    (m, k), n = x.shape, w.shape[1]
    y = np.full((m, n), 0x5A5A5A5A, np.int32)
    size = getattr(library, name + "_workspace")
    size.restype = ctypes.c_size_t
    workspace = np.empty(size(*map(ctypes.c_int64, (m, k, n)), 1) + 64, np.uint8)
    execution = Exec(ctypes.sizeof(Exec), 1, workspace=workspace.ctypes.data, workspace_bytes=workspace.size)
    pointers = [v for a in (x, w, y) for v in (ctypes.c_void_p(a.ctypes.data), ctypes.c_int64(a.shape[1]))]
    code = getattr(library, name)(*map(ctypes.c_int64, (m, k, n)), *pointers, ctypes.byref(execution))
    assert code == 0, (name, code)
    return y


random = np.random.default_rng(1)
wrong = 0
for a, b in PAIRS:
    ends = [(np.iinfo(TYPES[t]).min, np.iinfo(TYPES[t]).max) for t in (a, b)]
    for m, n, k in itertools.product((1, 3, 8, 21), (1, 16, 50), (1, 2, 3, 4, 7, 64, 1030)):
        for x_end, w_end in [*itertools.product(*ends), (None, None)]:
            # One value everywhere, and both ends in any order.
            x = np.full((m, k), x_end, TYPES[a]) if x_end is not None else random.choice(ends[0], (m, k)).astype(TYPES[a])
            w = np.full((k, n), w_end, TYPES[b]) if w_end is not None else random.choice(ends[1], (k, n)).astype(TYPES[b])
            want = (x.astype(np.int64) @ w.astype(np.int64)).astype(np.int32)  # wraps, as the language says
            if not np.array_equal(call(f"{a}_{b}", x, w), want):
                wrong += 1
                print(f"{a}·{b}, M={m} N={n} K={k}, x {x_end}, w {w_end}: wrong")
print("all exact" if not wrong else f"{wrong} wrong")
