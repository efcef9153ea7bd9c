# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes the arguments of a call: seeded, of every type, inside what the text allows."""

import types

import numpy as np

from .elements import FLOATS, TYPES


def _array(rng, element, shape, kind):
    if element == "bool":
        return rng.integers(0, 2, shape).astype(bool)
    if element in FLOATS:
        x = rng.integers(-3, 4, shape) if kind == "integers" else rng.standard_normal(shape)
        return np.asarray(x, np.float64).astype(TYPES[element])
    low, high = {"u4": (0, 16), "i4": (-8, 8), "u8": (0, 256), "i8": (-128, 128),
                 "i16": (-2**15, 2**15)}.get(element, (-5, 6))
    return np.asarray(rng.integers(low, high, shape)).astype(TYPES[element])


def arguments(spec, signature, sizes, kind="normal", seed=0):
    """Values for every argument. `kind`: normal numbers, or small integers, with
    which most sums are exact."""
    rng = np.random.default_rng([seed, *map(ord, spec.name)])
    values = {}
    for p in signature.params:
        if p.role != "out":
            x = _array(rng, p.element, tuple(p.shape(sizes)), kind)
            values[p.name] = x if p.rank else x[()]
    spec.data(rng, types.SimpleNamespace(**sizes), values)
    for p in signature.params:  # `data` may have set scalars
        if p.role != "out" and p.rank == 0:
            values[p.name] = np.asarray(values[p.name]).astype(TYPES[p.element])[()]
    return values
