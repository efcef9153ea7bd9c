# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests the test: a comparison that accepts everything would be worth nothing.

Results made from the meaning itself must agree; the same results with one element
moved outside its bound must not. The meaning is also evaluated in float32 with
every operation rounded, which is one honest road: it must lie inside the bounds.
"""

import types

import numpy as np

from .bounded import Choice, Range, Real, spread, ulp
from .compare import compare
from .elements import TYPES


def made(checks, sizes, values, rounding=False):
    """Results as a perfect road would store them, or one that rounds every operation."""
    after = {p.name: np.zeros(p.shape(sizes), TYPES[p.element])
             for p in checks.signature.params if p.written}
    for _ in after:  # a result that is read again settles what follows it
        Real.rounding = rounding
        world = checks.meaning(sizes, values, after)
        Real.rounding = False
        for name, (axes, e) in world.expected.items():
            p = checks.signature[name]
            if isinstance(e, Choice):
                n = e.ok.shape[-1]
                v = np.argmax(e.ok, -1) if n else np.full(e.ok.shape[:-1], -1)
                v = spread(v, e.axes, axes)
            else:
                v = spread(e.v, e.axes, axes)
            stored = np.broadcast_to(v, p.dims(sizes)).astype(TYPES[p.element])
            after[name] = stored.reshape(p.shape(sizes))
    return after


def broken(checks, sizes, values, after, name):
    """`after` with one element of `name` made wrong, or None where any answer will do."""
    axes, e = checks.meaning(sizes, values, after).expected[name]
    p = checks.signature[name]
    x = after[name].copy()
    if not x.size:
        return None
    i = x.size // 2
    if isinstance(e, Choice):
        x.flat[i] = -1 if e.ok.shape[-1] else 0
    elif isinstance(e, Range):
        x.flat[i] ^= 64
    else:
        bound = np.broadcast_to(spread(e.e, e.axes, axes), p.dims(sizes)).flat[i]
        value = float(x.flat[i])
        if not np.isfinite(value) or not np.isfinite(bound):
            return None
        # The next number of the type beyond the far end of what is right.
        stored = {"bf16": 7, "f32": 23, "f64": 52}[p.element]
        x.flat[i] = np.asarray(value + 2.01 * bound + ulp(value, stored)).astype(x.dtype)
    return after | {name: x}


def cases(checks):
    for i, (where, sizes) in enumerate(checks.sizes()):
        for kind in ("normal", "integers") if where != "edge" else ("normal", "integers")[i % 2:][:1]:
            yield f"{kind} {sizes}", sizes, checks.values(sizes, kind=kind)
    special = [(f.__name__, f) for f in checks.spec.also]
    if checks.spec.excluded:
        special.append(("excluded",
                        lambda a: checks.spec.excluded(types.SimpleNamespace(**sizes), a)))
    for name, choose in special:
        for sizes in (checks.spec.usual, checks.spec.primes):
            values = checks.values(sizes)
            choose(values)
            yield f"{name} {sizes}", sizes, values


def all(checks):
    for what, sizes, values in cases(checks):
        after = made(checks, sizes, values)
        yield f"agrees with itself, {what}", compare(
            checks.meaning(sizes, values, after), checks.signature, after)
        rounded = made(checks, sizes, values, rounding=True)
        yield f"agrees with plain f32, {what}", compare(
            checks.meaning(sizes, values, rounded), checks.signature, rounded)
        for name in after:
            other = broken(checks, sizes, values, after, name)
            if other:
                seen = compare(checks.meaning(sizes, values, other), checks.signature, other)
                hit = any(m.startswith(name + "[") for m in seen)
                yield f"sees a wrong {name}, {what}", [] if hit else ["accepted it"]
