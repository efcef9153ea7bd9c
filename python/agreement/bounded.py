# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arrays with named axes whose elements carry a value and an error bound.

The meaning of each kernel is written once more in this directory, in NumPy and
in float64, from the text of the language and from nothing else. To compare a
compiled kernel with it one has to know how far apart two honest answers may
lie. So a `Real` holds, beside each value v, a bound e: every evaluation that
the language allows lies in [v - e, v + e].

    x("mk") * w("kn")            one rounding each, axes m, k, n
    (x("mk") * w("kn")).sum("k")  any order of the additions
    ....bf16()                   half a unit in the last place of bf16 more

How each operation widens the bound, with u = 2**-24 (f64: 2**-52, which leaves
room for the rounding of the float64 reference itself):

    a + b, a - b    ea + eb                                + u·|v|
    a * b           |a|·eb + |b|·ea + ea·eb                + u·|v|
    a / b           the largest change over the intervals  + 2 ulp
    exp, rsqrt, …   the largest change over the interval   + 2 ulp
    gelu, silu      1.13·e                                 + 2 ulp + 2**-23·|x|
    sum of n terms  the sum of the e                       + (n-1)·u·Σ(|t| + e)
    max, min        the largest e
    bf16(x)         e + half an ulp; of an exact x: the rounded value, e = 0

and a tiny absolute term for results below the normal range. Where nothing can
be rounded the bound stays 0 and only that one number is right: a product or sum
of exact operands that is representable, a sum of multiples of one power of two
that never outgrows 24 bits (`_exact_sum`). Small integers as data therefore
test bit for bit, ties of argmax included.

A `Whole` holds integers, which wrap in i32; a `Truth` holds conditions.
"""

import ml_dtypes
import numpy as np

F32 = 2.0**-24
F64 = 2.0**-52
F32_MAX = float(np.finfo(np.float32).max)
TINY = 2.0**-149


def ulp(x, mantissa=23, lowest=-126):
    """The distance of neighbouring numbers at |x|, with `mantissa` stored bits."""
    x = np.abs(x)
    with np.errstate(all="ignore"):
        exponent = np.floor(np.log2(np.where(np.isfinite(x) & (x > 0), x, 1)))
    exponent = np.where(x > 0, np.maximum(exponent, lowest), lowest)
    return np.ldexp(1.0, (exponent - mantissa).astype(int))


def wrap32(x):
    """int64 → the same value modulo 2**32, as i32 has it."""
    return ((x + 2**31) & 0xFFFFFFFF) - 2**31


def spread(array, axes, wanted):
    """`array` with axes `axes`, as a view that broadcasts over the axes `wanted`."""
    order = [axes.index(a) for a in wanted if a in axes]
    array = np.transpose(array, order)
    shape = iter(array.shape)
    return array.reshape([next(shape) if a in axes else 1 for a in wanted])


def union(*axes):
    return "".join(dict.fromkeys("".join(axes)))


class Named:
    """What Real, Whole and Truth share: axes with one-letter names."""

    def __init__(self, v, axes=""):
        self.v, self.axes = np.asarray(v), axes
        assert self.v.ndim == len(axes), (self.v.shape, axes)

    def over(self, axes):
        """The values, broadcastable over `axes`."""
        return spread(self.v, self.axes, axes)

    def size(self, axis):
        return self.v.shape[self.axes.index(axis)]


class Truth(Named):
    def __and__(self, other):
        axes = union(self.axes, other.axes)
        return Truth(*_full(axes, self.over(axes) & other.over(axes), self, other))


def _full(axes, v, *operands):
    """v broadcast to the full extent of its axes (an operand may lack some)."""
    extent = {a: n for o in operands for a, n in zip(o.axes, o.v.shape)}
    return np.broadcast_to(v, [extent[a] for a in axes]), axes


class Whole(Named):
    """Integers: arithmetic in i32, wrapping."""

    def __init__(self, v, axes=""):
        super().__init__(np.asarray(v, dtype=np.int64), axes)

    def _with(self, other, f):
        other = other if isinstance(other, Whole) else Whole(other)
        axes = union(self.axes, other.axes)
        return f(self.over(axes), other.over(axes)), axes, other

    def _arith(self, other, f):
        v, axes, _ = self._with(other, f)
        return Whole(wrap32(v), axes)

    def _compare(self, other, f):
        v, axes, other = self._with(other, f)
        return Truth(*_full(axes, v, self, other))

    def __add__(self, other): return self._arith(other, np.add)
    def __sub__(self, other): return self._arith(other, np.subtract)
    def __mul__(self, other): return self._arith(other, np.multiply)
    def __lt__(self, other): return self._compare(other, np.less)
    def __le__(self, other): return self._compare(other, np.less_equal)
    def __gt__(self, other): return self._compare(other, np.greater)
    def same(self, other): return self._compare(other, np.equal)

    def sum(self, over):
        v, axes = self.v, self.axes
        v = v.sum(axis=tuple(axes.index(a) for a in over))
        return Whole(wrap32(v), "".join(a for a in axes if a not in over))

    def real(self):
        """f32(e): exact up to 2**24, one rounding beyond."""
        rounded = self.v.astype(np.float32).astype(np.float64)
        return Real(rounded, self.axes)


def index(axis, n):
    """The index `axis` itself as a value: 0 … n-1."""
    return Whole(np.arange(n), axis)


# Off: sums count as rounded even where they cannot be, as the judge counts.
exact_sums = True


def _quantum(x, limit=24):
    """The least s ≥ 0 with every x·2**s an integer, or None above `limit`."""
    for s in range(limit + 1) if exact_sums else ():
        y = np.ldexp(x, s)
        if np.array_equal(y, np.rint(y)):
            return s
    return None


class Real(Named):
    # Set by the self-test: every operation rounds to its type and sums run in
    # order, as the plainest compiled road does. Its values must lie in the bounds.
    rounding = False

    def __init__(self, v, axes="", e=None, unit=F32):
        super().__init__(np.asarray(v, dtype=np.float64), axes)
        if Real.rounding and unit == F32:
            with np.errstate(all="ignore"):
                self.v = self.v.astype(np.float32).astype(np.float64)
        self.unit = unit
        if e is None:
            e = np.zeros_like(self.v)
        with np.errstate(all="ignore"):
            if unit == F32:  # beyond the range of f32 there is only infinity
                big = np.abs(self.v) >= F32_MAX * (1 + F32)
                self.v = np.where(big, np.copysign(np.inf, self.v), self.v)
        self.e = np.where(np.isfinite(self.v), np.broadcast_to(e, self.v.shape), 0)

    # -- helpers -----------------------------------------------------------------

    def _errors_over(self, axes):
        return spread(self.e, self.axes, axes)

    def _binary(self, other, value, error):
        """value(a, b) with the inherited error(|a|, |b|, ea, eb) and one rounding;
        no rounding where both are exact and so is the result."""
        other = real(other, self.unit)
        axes = union(self.axes, other.axes)
        a, b = self.over(axes), other.over(axes)
        ea, eb = self._errors_over(axes), other._errors_over(axes)
        unit = min(self.unit, other.unit)
        with np.errstate(all="ignore"):
            v = value(a, b)
            e = error(np.abs(a), np.abs(b), ea, eb)
            e = e + unit * (np.abs(v) + e) + TINY
            if unit == F32:
                exact = (ea == 0) & (eb == 0)
                e = np.where(exact & (v.astype(np.float32).astype(np.float64) == v), 0, e)
        return Real(v, axes, e, unit)

    def _function(self, f, extra=None, lipschitz=None):
        """f applied to the interval; 2 ulp of the result unless `extra` says more."""
        with np.errstate(all="ignore"):
            v = f(self.v)
            if lipschitz is None:  # monotone: the ends of the interval tell
                e = np.maximum(np.abs(f(self.v + self.e) - v), np.abs(f(self.v - self.e) - v))
                e = np.where(self.e == 0, 0, e)
            else:
                e = lipschitz * self.e
            e = np.where(np.isnan(e), np.inf, e)  # the interval leaves the domain
            e = e + 2 * ulp(np.abs(v) + np.where(np.isfinite(e), e, 0))
            if extra is not None:
                e = e + extra(np.abs(self.v) + self.e)
        return Real(v, self.axes, e)

    # -- arithmetic --------------------------------------------------------------

    def __add__(self, other):
        return self._binary(other, np.add, lambda a, b, ea, eb: ea + eb)

    def __sub__(self, other):
        return self._binary(other, np.subtract, lambda a, b, ea, eb: ea + eb)

    def __mul__(self, other):
        return self._binary(other, np.multiply,
                            lambda a, b, ea, eb: a * eb + b * ea + ea * eb)

    def __truediv__(self, other):
        other = real(other, self.unit)
        axes = union(self.axes, other.axes)
        a, b = self.over(axes), other.over(axes)
        ea, eb = self._errors_over(axes), other._errors_over(axes)
        with np.errstate(all="ignore"):
            v = a / b
            nearest_zero = np.abs(b) - eb
            e = np.where((ea == 0) & (eb == 0), 0,
                         np.where(nearest_zero > 0, (ea + np.abs(v) * eb) / nearest_zero, np.inf))
            e = e + 2 * ulp(np.abs(v) + np.where(np.isfinite(e), e, 0))
        return Real(v, axes, e, self.unit)

    def __radd__(self, other): return real(other, self.unit) + self
    def __rsub__(self, other): return real(other, self.unit) - self
    def __rmul__(self, other): return real(other, self.unit) * self
    def __neg__(self): return Real(-self.v, self.axes, self.e, self.unit)
    def __abs__(self): return Real(np.abs(self.v), self.axes, self.e, self.unit)

    # -- functions ---------------------------------------------------------------

    def exp(self): return self._function(np.exp)
    def log(self): return self._function(np.log)
    def tanh(self): return self._function(np.tanh)
    def rsqrt(self): return self._function(lambda x: 1 / np.sqrt(x))
    def erf(self): return self._function(erf)

    def gelu(self):
        return self._function(lambda x: 0.5 * x * (1 + erf(x / np.sqrt(2))),
                              extra=lambda x: 2.0**-23 * x, lipschitz=1.13)

    def silu(self):
        return self._function(lambda x: x / (1 + np.exp(-x)),
                              extra=lambda x: 2.0**-23 * x, lipschitz=1.13)

    def relu(self):  # keeps NaN
        return Real(np.where(self.v < 0, 0.0, self.v), self.axes, self.e, self.unit)

    def at_least(self, low):
        """max(e, low) of a literal."""
        low = float(np.float32(low))
        return Real(np.where(self.v < low, low, self.v), self.axes, self.e, self.unit)

    # -- reductions --------------------------------------------------------------

    def _reduced(self, over):
        kept = "".join(a for a in self.axes if a not in over)
        return kept, tuple(self.axes.index(a) for a in over)

    def _filtered(self, where, fill):
        """Values and errors over own and filter's axes, `fill` where dropped."""
        if where is None:
            return self, np.ones(self.v.shape, bool)
        axes = union(self.axes, where.axes)
        full, _ = _full(axes, where.over(axes), self, where)
        v = np.where(full, self.over(axes), fill)
        e = np.where(full, self._errors_over(axes), 0)
        return Real(v, axes, e, self.unit), full

    def sum(self, over, where=None):
        """Σ over the axes `over`, in any order, of the elements where `where` holds."""
        terms, live = self._filtered(where, 0.0)
        kept, dims = terms._reduced(over)
        count = int(np.prod([terms.v.shape[d] for d in dims]))
        additions = np.maximum(live.sum(axis=dims) - 1, 0)
        with np.errstate(all="ignore"):
            v, e = terms.v.sum(axis=dims), terms.e.sum(axis=dims)
            if Real.rounding and terms.unit == F32 and count:
                last = np.moveaxis(terms.v, dims, range(-len(dims), 0)).reshape(*v.shape, count)
                v = np.cumsum(last.astype(np.float32), axis=-1)[..., -1].astype(np.float64)
            size = np.abs(terms.v).sum(axis=dims) + e
            rounding = additions * (terms.unit * size + TINY)
            if terms.unit == F32 and not terms.e.any():
                rounding = np.where(_exact_sum(terms.v, size), 0, rounding)
        return Real(v, kept, e + rounding, terms.unit)

    def mean(self, over):
        count = float(np.prod([self.size(a) for a in over]))
        return self.sum(over) / real(count)

    def max(self, over, where=None):
        kept = self._filtered(where, -np.inf)[0]
        axes, dims = kept._reduced(over)
        e = kept.e.max(axis=dims, initial=0)
        return Real(kept.v.max(axis=dims, initial=-np.inf), axes, e, self.unit)

    def min(self, over):
        return -((-self).max(over))

    def softmax(self, over, where=None):
        shifted = self - self.max(over, where)
        raised = shifted._filtered(where, -np.inf)[0].exp()
        if where is not None:  # a filter gives 0, whatever the maximum was
            full = _full(raised.axes, where.over(raised.axes), raised, where)[0]
            raised = Real(np.where(full, raised.v, 0), raised.axes,
                          np.where(full, raised.e, 0))
        total = raised.sum(over, where)
        share = raised / total
        if where is not None:
            full = _full(share.axes, where.over(share.axes), share, where)[0]
            share = Real(np.where(full, share.v, 0), share.axes, np.where(full, share.e, 0))
        return share

    def best(self, over):
        """argmax over one axis, as the set of acceptable answers."""
        return Choice.of(self, over)

    # -- roundings ---------------------------------------------------------------

    def _rounded(self, rounding, mantissa, lowest, free):
        exact = (self.e == 0) | Real.rounding
        with np.errstate(all="ignore"):
            half = (0.5 + free) * ulp(np.abs(self.v) + self.e, mantissa, lowest)
            v = np.where(exact, rounding(self.v), self.v)
            e = np.where(exact, 0, self.e + half)
        return Real(v, self.axes, e, self.unit)

    def f64(self):
        """f64(e): exact, and what follows is f64."""
        return Real(self.v, self.axes, self.e, F64)

    def bf16(self, free=0.0):
        """bf16(e). `free`: more ulps that the language grants (softmax)."""
        def nearest(v):
            return v.astype(np.float32).astype(ml_dtypes.bfloat16).astype(np.float64)
        return self._rounded(nearest, 7, -126, free)

    def tf32(self):
        def nearest(v):  # to 10 stored bits, ties to even
            bits = v.astype(np.float32).view(np.uint32).astype(np.uint64)
            bits = (bits + 0xFFF + ((bits >> np.uint64(13)) & np.uint64(1))) & 0xFFFFE000
            r = bits.astype(np.uint32).view(np.float32).astype(np.float64)
            return np.where(np.isfinite(v), r, v)
        return self._rounded(nearest, 10, -126, 0.0)

    def rint(self):
        """round(e), half to even: the integers it may be, as a Range."""
        return Range(np.rint(self.v - self.e), np.rint(self.v + self.e), self.axes)

    # -- selection ---------------------------------------------------------------

    def pick(self, axis, where):
        """self[..., where[...], ...]: element `where` of `axis`, axes of `where` kept."""
        axes = union(where.axes, self.axes.replace(axis, ""), axis)
        extent = {a: n for o in (where, self) for a, n in zip(o.axes, o.v.shape)}
        shape = [extent[a] for a in axes]
        at = np.broadcast_to(where.over(axes[:-1]), shape[:-1])[..., None]
        take = [np.take_along_axis(np.broadcast_to(spread(x, self.axes, axes), shape), at, -1)[..., 0]
                for x in (self.v, self.e)]
        return Real(take[0], axes[:-1], take[1], self.unit)

    def at(self, axis, i):
        """self[..., i, ...] for a number i."""
        where = self.axes.index(axis)
        return Real(np.take(self.v, i, where), self.axes.replace(axis, ""),
                    np.take(self.e, i, where), self.unit)


def real(x, unit=F32):
    """A literal takes the other operand's type; named arrays stay."""
    if isinstance(x, Real):
        return x
    return Real(np.float32(x) if unit == F32 else x, "", None, unit)


def _exact_sum(terms, size):
    """Where Σ is free of rounding: multiples of 2**-s below 2**24 of them."""
    s = _quantum(terms) if np.isfinite(terms).all() else None
    return np.zeros(np.shape(size), bool) if s is None else size * 2.0**s <= 2.0**24


def dot(over, *factors):
    """Σ over `over` of the product of the factors, without storing the products."""
    axes = union(*(f.axes for f in factors))
    if Real.rounding:
        product = factors[0]
        for f in factors[1:]:
            product = product * f
        return product.sum(over)
    kept = "".join(a for a in axes if a not in over)
    spec = ",".join(f.axes for f in factors) + "->" + kept
    extent = {a: n for f in factors for a, n in zip(f.axes, f.v.shape)}
    terms = int(np.prod([extent[a] for a in over]))
    count = max(terms - 1, 0) + len(factors) - 1
    unit = factors[0].unit
    with np.errstate(all="ignore"):
        v = np.einsum(spec, *(f.v for f in factors), optimize=False)
        base = np.einsum(spec, *(np.abs(f.v) for f in factors), optimize=False)
        size = np.einsum(spec, *(np.abs(f.v) + f.e for f in factors), optimize=False)
        inherited = size - base if any(f.e.any() for f in factors) else np.zeros_like(size)
        rounding = count * (unit * size + TINY)
        if unit == F32 and all(np.isfinite(f.v).all() and not f.e.any() for f in factors):
            s = [_quantum(f.v, 12) for f in factors]
            if None not in s:
                rounding = np.where(size * 2.0**sum(s) <= 2.0**24, 0, rounding)
    return Real(v, kept, inherited + rounding, unit)


def where(condition, a, b):
    """Element by element; `condition` is a Truth."""
    a, b = real(a), real(b)
    axes = union(condition.axes, a.axes, b.axes)
    c = _full(axes, condition.over(axes), condition, a, b)[0]
    return Real(np.where(c, a.over(axes), b.over(axes)), axes,
                np.where(c, a._errors_over(axes), b._errors_over(axes)), a.unit)


_erf = np.vectorize(__import__("math").erf, otypes=[np.float64])


def erf(x):
    x = np.asarray(x, dtype=np.float64)
    return _erf(x) if x.size else x


class Range(Named):
    """Integers between two bounds: a rounding whose tie lies inside the error."""

    def __init__(self, low, high, axes):
        super().__init__(low, axes)
        self.high = high

    def sat(self, low, high, offset=0):
        """T.sat(f32 + offset): NaN gives 0."""
        def clamp(x):
            return np.where(np.isnan(x), 0, np.clip(x + offset, low, high)).astype(np.int64)
        return Range(clamp(self.v), clamp(self.high), self.axes)


class Choice(Named):
    """For each element of the kept axes, which indices argmax may return."""

    def __init__(self, ok, axes):
        self.ok = ok  # [..., n]: may index n be the answer?
        super().__init__(np.zeros(ok.shape[:-1]), axes)

    @staticmethod
    def of(x, axis):
        kept, dims = x._reduced(axis)
        v = np.moveaxis(x.v, dims[0], -1)
        e = np.moveaxis(x.e, dims[0], -1)
        nan = np.isnan(v)
        with np.errstate(all="ignore"):
            reach = (v - e).max(axis=-1, keepdims=True, initial=-np.inf)
            ok = v + e >= reach
        first = lambda m: m & (np.cumsum(m, axis=-1) == 1)
        decided = ~(e != 0).any(axis=-1, keepdims=True)
        ok = np.where(decided, first(ok), ok)
        ok = np.where(nan.any(axis=-1, keepdims=True), first(nan), ok)
        return Choice(ok, kept)
