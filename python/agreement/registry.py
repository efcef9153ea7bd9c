# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How a kernel's meaning and its data are written down for the tests.

    @meaning("gemm", usual=dict(M=8, K=16, N=12), primes=dict(M=7, K=13, N=5))
    def trmm(x):
        k, m = index("k", x.size.M), index("m", x.size.M)
        x.result("c", "mn", (x.l("mk") * x.b("kn")).sum("k", where=k <= m))

The function receives a `World`: `x.b("kn")` are the values of argument b under
the axes k and n, `x.size.M` is a size. `x.result` says what a result must be and
returns what the kernel stored there, for the statements that read it again.
"""

import types

import numpy as np

from .bounded import Real, Truth, Whole, F32, F64
from .elements import FLOATS

KERNELS = {}


class Spec:
    def __init__(self, theme, meaning, usual, primes, data=None, excluded=None, **more):
        self.theme, self.meaning, self.name = theme, meaning, meaning.__name__
        self.usual, self.primes = usual, primes
        self.data = data or (lambda rng, size, a: None)
        self.excluded = excluded  # puts NaN and nonsense where filters exclude
        self.fits = more.pop("fits", lambda size: True)  # the `requires`, on sizes
        self.breaks = more.pop("breaks", [])  # sizes that break each `requires`
        self.optional = more.pop("optional", [])  # (operand, data that make it unused)
        self.gathers = more.pop("gathers", {})  # index array → size it must stay below
        self.also = more.pop("also", [])  # functions that make the data special, each tried
        assert not more, more


def meaning(theme, **keywords):
    def add(f):
        KERNELS[f.__name__] = Spec(theme, f, **keywords)
        return f
    return add


class Operand:
    def __init__(self, param, values, sizes):
        """`values` in NumPy form, one element each, shape as in memory."""
        self.param = param
        self.values = values.reshape(param.dims(sizes))

    def __call__(self, subscripts=""):
        """The values under named axes; digits subscript by that number."""
        v = self.values
        at = tuple(int(s) if s.isdigit() else slice(None) for s in subscripts)
        return self._named(v[at] if at else v, "".join(s for s in subscripts if s.isalpha()))

    def take(self, where, subscripts):
        """A gather: the first axis subscripted by the Whole `where`. What lies out of
        range is clipped: it may only occur under a filter that drops it."""
        n = self.values.shape[0]
        rows = self.values[np.clip(where.v, 0, max(n - 1, 0))] if n else np.zeros(
            where.v.shape + self.values.shape[1:], self.values.dtype)
        at = (slice(None),) * where.v.ndim + tuple(
            int(s) if s.isdigit() else slice(None) for s in subscripts)
        return self._named(rows[at], where.axes + "".join(s for s in subscripts if s.isalpha()))

    def _named(self, v, axes):
        if self.param.element in FLOATS:
            return Real(v.astype(np.float64), axes, None, F64 if self.param.element == "f64" else F32)
        return Truth(v, axes) if self.param.element == "bool" else Whole(v, axes)


class World:
    """The data of one call: operands by name, sizes, and the results it gave."""

    def __init__(self, signature, sizes, before, after):
        self._signature, self._sizes, self._after = signature, sizes, after
        self.size = types.SimpleNamespace(**sizes)
        self.expected = {}
        for p in signature.params:
            if p.name in before:
                setattr(self, p.name, Operand(p, before[p.name], sizes))

    def result(self, name, axes, expected):
        self.expected[name] = axes, expected
        return Operand(self._signature[name], self._after[name], self._sizes)(axes)
