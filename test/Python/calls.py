# Calls from many threads at once are right, calls leak nothing, and a small one costs at most
# half as much again as numpy.matmul.
#
# REQUIRES: python-package
# RUN: env PYTHONPATH=%build/python %python %s

import gc
import resource
import threading
import time

import facet
import numpy as np

gemm = facet.compile("kernel gemm(a: f32[M, K], b: f32[K, N]) -> y: f32[M, N] { y[m, n] = sum[k](a[m, k] * b[k, n]) }",
                     target="reference")

# Threads: each with arrays of its own; the interpreter is free while a kernel runs.
wrong = []


def many_calls(seed):
    random = np.random.default_rng(seed)
    for _ in range(200):
        m, k, n = random.integers(0, 20, 3)
        a = random.integers(-9, 9, (m, k)).astype(np.float32)
        b = random.integers(-9, 9, (k, n)).astype(np.float32)
        if not (gemm(a, b) == a @ b).all():
            wrong.append((m, k, n))


threads = [threading.Thread(target=many_calls, args=(seed,)) for seed in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert not wrong, wrong

ticks = 0
running = True


def tick():
    global ticks
    while running:
        ticks += 1
        time.sleep(0)


clock = threading.Thread(target=tick)
clock.start()
big = np.ones((300, 300), np.float32)
before = ticks
gemm(big, big)
assert ticks > before, "nothing else ran beside the kernel"
running = False
clock.join()

# Leaks: memory after the first calls stays what it was.
a = np.ones((4, 4), np.float32)
out = np.empty_like(a)


def calls(count):
    for _ in range(count):
        gemm(a, a, out=out)
        gemm(a, b=a)
    for _ in range(count // 10):
        try:
            gemm(a, out)  # right
            gemm(a, a.T)
        except ValueError:
            pass


calls(20000)
gc.collect()
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
calls(100000)
gc.collect()
grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
assert grown < 200, f"{grown} KiB more after 210000 calls: a byte for each is 205"

# Speed, as CPU time: the best of many short rounds, taken in turns.
def round_of(function, count=2000):
    begin = time.thread_time()
    for _ in range(count):
        function()
    return (time.thread_time() - begin) / count


ours = theirs = 1.0
for _ in range(60):
    ours = min(ours, round_of(lambda: gemm(a, a, out=out)))
    theirs = min(theirs, round_of(lambda: np.matmul(a, a, out=out)))
assert ours <= 1.5 * theirs, f"{ours * 1e6:.2f} us, numpy {theirs * 1e6:.2f} us"
print(f"{ours * 1e6:.2f} us, numpy {theirs * 1e6:.2f} us")
