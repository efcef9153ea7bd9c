"""NumPy's products of transposed, strided and single-row operands against sums in long double."""
import numpy as np

rng = np.random.default_rng(3)
count = 0
for dtype in np.float32, np.float64:
    for m, n, k in (3, 5, 7), (64, 64, 64), (129, 65, 33), (200, 17, 300), (31, 2, 4), (8, 96, 40):
        for transposes in range(4):
            a = rng.standard_normal((k, m + 3) if transposes & 1 else (m, k + 3)).astype(dtype)
            b = rng.standard_normal((n, k + 2) if transposes & 2 else (k, n + 2)).astype(dtype)
            a = a[:, :m].T if transposes & 1 else a[:, :k]
            b = b[:, :k].T if transposes & 2 else b[:, :n]
            exact = a.astype(np.longdouble) @ b.astype(np.longdouble)  # no BLAS has this type
            bound = 2 * k * np.finfo(dtype).eps * (abs(a).astype(np.longdouble) @ abs(b).astype(np.longdouble))
            assert (abs(a @ b - exact) <= bound).all(), (dtype, m, n, k, transposes)
            count += 1
print(count, "products agree", flush=True)
