# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Decides whether what a kernel stored is one of the right answers."""

import numpy as np

from .bounded import Choice, Range, Real, spread
from .elements import FLOATS, TYPES


def _mismatch(axes, expected, param, got):
    """A mask of wrong elements, and a function that says what was wanted at one."""
    def over(x):
        return np.broadcast_to(spread(x, expected.axes, axes), got.shape)

    if isinstance(expected, Choice):
        ok = np.moveaxis(expected.ok, -1, 0)  # [n, kept axes]
        n = ok.shape[0]
        if n == 0:
            return got != -1, lambda i: "-1, there is nothing to choose from"
        ok = np.moveaxis(np.stack([over(o) for o in ok]), 0, -1)
        inside = (got >= 0) & (got < n)
        taken = np.take_along_axis(ok, np.clip(got, 0, n - 1).astype(int)[..., None], -1)[..., 0]
        return ~(inside & taken), lambda i: f"one of {np.flatnonzero(ok[i]).tolist()}"
    if isinstance(expected, Range):
        low, high = over(expected.v), over(expected.high)
        return (got < low) | (got > high), lambda i: f"{low[i]} … {high[i]}"

    assert isinstance(expected, Real) and param.element in FLOATS
    v, e, got = over(expected.v), over(expected.e), got.astype(np.float64)
    largest = float(np.finfo(TYPES[param.element]).max) if param.element in ("f32", "f64") else np.inf
    with np.errstate(all="ignore"):
        right = (np.abs(got - v) <= e) | (got == v) | (np.isnan(got) & np.isnan(v))
        right |= np.isinf(got) & (np.sign(got) == np.sign(v)) & (np.abs(v) + e > largest)
    return ~right, lambda i: f"{float(v[i])!r} ± {e[i]:.3g}"


def compare(world, signature, after):
    """Messages, one per result that holds a wrong element."""
    messages = []
    results = [p.name for p in signature.params if p.written]
    assert sorted(world.expected) == sorted(results), "the meaning names every result"
    for name, (axes, expected) in world.expected.items():
        p = signature[name]
        got = after[name].reshape(p.dims(vars(world.size)))
        wrong, wanted = _mismatch(axes, expected, p, got)
        if wrong.any():
            i = tuple(int(n[0]) for n in np.nonzero(wrong)) if wrong.ndim else ()
            messages.append(f"{name}{list(i)}: got {got[i]!s}, want {wanted(i)} "
                            f"({int(wrong.sum())} of {wrong.size} elements)")
    return messages
