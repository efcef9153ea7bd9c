# RUN: env PYTHONPATH=%source/python:%S/Inputs %python %s %facet
"""shared-state, thread-count: eight threads call the same kernels at once, each on arrays
of its own: every result has the bits of a lone call, and no thread appears."""

import os
import threading

import numpy as np
from agreement import call, signature
from roads import Kernels

k = Kernels("""
kernel plain(a: f32[M, K], b: f32[K, N]) -> c: f32[M, N] { c[m, n] = gelu(sum[k](a[m, k] * b[k, n])) }
kernel turned(a: f32[M, K], b: f32[N, K]) -> c: f32[M, N] { c[m, n] = sum[k](a[m, k] * b[n, k]) }
""", engine=False)
sizes = dict(M=9, K=33, N=21)
rng = np.random.default_rng(3)
a, b = rng.standard_normal((9, 33)).astype(np.float32), rng.standard_normal((33, 21)).astype(np.float32)
libraries = {name: call.Library(k.libraries["cpu"], signature.parse(k.text, name)) for name in ("plain", "turned")}


def once(name):
    library = libraries[name]
    p = library.signature.params
    operands = dict(a=call.Buffer(p[0], sizes, a), b=call.Buffer(p[1], sizes, b if name == "plain" else b.T.copy()),
                    c=call.Buffer(p[2], sizes))
    code = library.run(sizes, operands, library.execution(sizes))
    return code, operands["c"].read().tobytes()


lone = {name: once(name) for name in libraries}
wrong, most = [], []


def body(index):
    for i in range(150):
        name = ("plain", "turned")[(index + i) % 2]
        if once(name) != lone[name]:
            wrong.append((index, i, name))
    most.append(len(os.listdir("/proc/self/task")))


before = len(os.listdir("/proc/self/task"))
threads = [threading.Thread(target=body, args=(i,)) for i in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert not wrong, wrong[:3]
assert max(most) <= before + 8, (before, most)
