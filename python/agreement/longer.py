# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The long run of `./dev soak`: random sizes, seeds, strides and threads."""

import types

import numpy as np

from .checks import show


def _sizes(rng, checks):
    """Random sizes, mostly small, that keep the promises and stay affordable."""
    names = checks.signature.sizes
    numbers = max(np.prod([d for axis in p.axes for d in axis if isinstance(d, int)], dtype=float)
                  for p in checks.signature.params)
    while True:
        top = int(rng.choice([4, 9, 33, 70]))
        sizes = {n: int(rng.integers(0, top)) for n in names}
        if rng.random() < 0.5:  # some equal to another: promises like T == S
            a, b = rng.choice(names, 2)
            sizes[a] = sizes[b]
        if "D" in names and "E" in names:
            sizes["D"] = 2 * sizes["E"]
        for n in checks.even():
            sizes[n] += sizes[n] % 2
        # The meaning is evaluated over all axes at once.
        work = numbers * np.prod([float(max(n, 1)) for n in sizes.values()])
        if work <= 5e5 and checks.spec.fits(types.SimpleNamespace(**sizes)):
            return sizes


def all(checks, count):
    rng = np.random.default_rng(list(map(ord, checks.spec.name)))
    arrays = [p.name for p in checks.signature.params if p.rank > 1]
    for seed in range(count):
        sizes = _sizes(rng, checks)
        values = checks.values(sizes, kind=str(rng.choice(["normal", "integers"])), seed=seed)
        padded = [a for a in arrays if rng.random() < 0.4]
        threads = int(rng.integers(1, 5))
        complaints, _ = checks.call(sizes, values, padded, threads=threads)
        what = f"seed {seed}, {show(sizes)}, strided {' '.join(padded) or 'none'}"
        yield f"{what}, {threads} threads", complaints
