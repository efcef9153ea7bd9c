# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is tried on every kernel.

Each check yields (what was tried, list of complaints). A check never trusts the
kernel's own word: arguments, padding, guards and workspace borders are compared
byte for byte after every call."""

import ctypes
import types

import numpy as np

from . import call as abi
from . import data
from .call import Buffer
from .compare import compare
from .elements import FLOATS, bits
from .registry import World


def show(sizes):
    return " ".join(f"{k}={v}" for k, v in sizes.items())


class Checks:
    def __init__(self, spec, signature, library):
        self.spec, self.signature, self.library = spec, signature, library
        self.calls = 0
        self.elements = 0

    # -- one call ----------------------------------------------------------------

    def operands(self, sizes, values, padded=()):
        operands = {}
        for p in self.signature.params:
            if not p.written and p.rank == 0:
                operands[p.name] = values[p.name]
            else:
                operands[p.name] = Buffer(p, sizes, values.get(p.name), p.name in padded)
        return operands

    def meaning(self, sizes, before, after):
        world = World(self.signature, sizes, before, after)
        with np.errstate(all="ignore"):
            self.spec.meaning(world)
        return world

    def call(self, sizes, values, padded=(), null=(), threads=1, bare=False, packed=None):
        """Runs the kernel on `values` and compares → (complaints, results)."""
        operands = self.operands(sizes, values, padded)
        execution = None if bare else self.library.execution(sizes, threads)
        name = self.signature.name + "_packed"
        entry = self.library._function(name, ctypes.c_int) if packed else None
        code = self.library.run(sizes, operands, execution, null, entry, packed)
        self.calls += 1
        complaints = []
        if code != 0:
            return [f"returned {code}, want 0"], None
        after = {}
        for p in self.signature.params:
            buffer = operands[p.name]
            if not isinstance(buffer, Buffer):
                continue
            if p.written:
                after[p.name] = buffer.read()
                if not buffer.padding_untouched():
                    complaints.append(f"wrote outside the elements of {p.name}")
            elif not buffer.untouched():
                complaints.append(f"changed its argument {p.name}")
        if execution and self.library.workspace_overrun(execution):
            complaints.append("wrote outside its workspace")
        world = self.meaning(sizes, values, after)
        self.elements += sum(a.size for a in after.values())
        return complaints + compare(world, self.signature, after), after

    def values(self, sizes, **keywords):
        return data.arguments(self.spec, self.signature, sizes, **keywords)

    # -- right answers -----------------------------------------------------------

    def sizes(self):
        """(name, sizes) of the cases: usual, primes, ones, one axis empty, all empty."""
        spec, names = self.spec, self.signature.sizes
        yield "usual", spec.usual
        yield "primes", spec.primes
        cases = [dict.fromkeys(names, 1)] + [spec.usual | {s: 1} for s in names]
        cases += [spec.usual | {s: 0} for s in names] + [dict.fromkeys(names, 0)]
        # Promises between sizes: change both, as they allow.
        cases += [spec.usual | {s: n, t: n} for n in (0, 1) for s in names for t in names if s < t]
        seen = []
        for sizes in cases:
            # The last axis of a 4-bit array is even.
            even = lambda s: {n: v + v % 2 for n, v in s.items() if n in self.even()}
            sizes = {n: sizes[n] for n in names} | even(sizes)
            if sizes not in seen and self.spec.fits(types.SimpleNamespace(**sizes)):
                seen.append(sizes)
                yield "edge", sizes

    def even(self):
        return {d for p in self.signature.params if bits(p.element) == 4
                for d in p.axes[-1][-1:] if isinstance(d, str)}

    def agreement(self):
        for what, sizes in self.sizes():
            for kind in ("normal", "integers"):
                values = self.values(sizes, kind=kind)
                yield f"{what}, {kind}, {show(sizes)}", self.call(sizes, values)[0]

    def strided(self):
        """Every operand strided once, then all of them; bits as if dense."""
        sizes = self.spec.primes
        values = self.values(sizes)
        arrays = [p.name for p in self.signature.params if p.rank > 1]
        dense = self.call(sizes, values)[1]
        for padded in [[a] for a in arrays] + [arrays]:
            complaints, after = self.call(sizes, values, padded)
            if after and dense and any(after[r].tobytes() != dense[r].tobytes() for r in after):
                complaints.append("other bits than with dense operands")
            yield f"strided {' '.join(padded)}, {show(sizes)}", complaints

    def excluded(self):
        """NaN and nonsense in what the filters exclude."""
        if not self.spec.excluded:
            return
        for sizes in (self.spec.usual, self.spec.primes):
            values = self.values(sizes)
            self.spec.excluded(types.SimpleNamespace(**sizes), values)
            complaints, after = self.call(sizes, values)
            clean = [not np.isnan(np.asarray(a, np.float64)).all() for a in (after or {}).values()]
            assert after is None or any(clean), "a case that excludes nothing"
            yield f"NaN in what is excluded, {show(sizes)}", complaints

    def special(self):
        """Data of the kernel's own choosing: large logits, sums that wrap."""
        for choose in self.spec.also:
            for sizes in (self.spec.usual, self.spec.primes):
                values = self.values(sizes)
                choose(values)
                yield f"{choose.__name__.replace('_', ' ')}, {show(sizes)}", self.call(sizes, values)[0]

    def nan(self):
        """One NaN in each float array: it goes exactly where the formula takes it."""
        sizes = self.spec.primes
        for p in self.signature.params:
            if p.role != "out" and p.rank and p.element in FLOATS:
                values = self.values(sizes)
                values[p.name].flat[values[p.name].size // 2] = np.nan
                yield f"a NaN in {p.name}, {show(sizes)}", self.call(sizes, values)[0]

    def optional(self):
        """Operands of a branch that is not taken: NULL, and not read."""
        for name, choose in self.spec.optional:
            values = self.values(self.spec.primes)
            choose(values)
            null = () if self.signature[name].written else (name,)
            if not null:
                values[name][...] = np.nan
            yield f"{name} {'NULL' if null else 'NaN'} and unused", self.call(
                self.spec.primes, values, null=null)[0]

    def repeatable(self):
        """The same bits again, with other threads, without an exec, packed."""
        sizes = self.spec.usual
        values = self.values(sizes)
        first = self.call(sizes, values)[1]
        ways = [("again", {}), ("3 threads, backwards", dict(threads=3))]
        if self.library.workspace(*self.library.dims(sizes), 1) <= 64 * 1024:
            ways.append(("exec NULL", dict(bare=True)))
        complaints = []
        packed = {}
        for p in self.signature.params:
            if p.role == "const":
                code, packed[p.name] = self.library.pack(
                    p.name, sizes, Buffer(p, sizes, values[p.name], padded=True))
                complaints += [f"packing {p.name} returned {code}, want 0"] if code else []
        if packed:
            yield "packing", complaints
            ways.append(("packed", dict(packed=packed)))
        for what, how in ways:
            complaints, after = self.call(sizes, values, **how)
            # A packed call has a plan of its own: as right, perhaps in other bits.
            if what != "packed" and after and first and any(after[r].tobytes() != first[r].tobytes() for r in after):
                complaints.append("other bits than the first time")
            yield what, complaints

    # -- refusals ----------------------------------------------------------------

    def refused(self, what, wanted, sizes, values, null=(), tamper=None, execution="own",
                memory=None):
        """The call must return the code `wanted` and write nothing. `memory`: the sizes
        the buffers are made for, where the sizes passed are nonsense."""
        operands = self.operands(memory or sizes, values)
        if tamper:
            tamper(operands)
        execution = self.library.execution(memory or sizes) if execution == "own" else execution
        code = self.library.run(sizes, operands, execution, null)
        self.calls += 1
        complaints = [] if code == wanted else [f"returned {code}, want {wanted}"]
        if execution is not None and code < 0:
            report = execution.error.contents
            if report.code != code:
                complaints.append(f"error record says {report.code}, returned {code}")
        complaints += [f"wrote to {n} all the same" for n, b in operands.items()
                       if isinstance(b, Buffer) and not b.untouched()]
        return what, complaints

    def refusals(self):
        usual = self.spec.usual
        values = self.values(usual)
        for i, broken in enumerate(self.spec.breaks):
            sizes = usual | broken
            yield self.refused(f"breaks a promise: {show(sizes)}", abi.E_REQUIRE - i, sizes,
                               self.values(sizes))
        for size in self.signature.sizes:
            sizes = usual | {size: -1}
            yield self.refused(f"negative size {size}", abi.E_SIZE, sizes, values, memory=usual)
        unread = [name for name, _ in self.spec.optional]
        for p in self.signature.params:
            if (p.rank or p.written) and p.name not in unread:
                yield self.refused(f"{p.name} is NULL", abi.E_NULL, usual, values, null=(p.name,))
            if p.rank > 1 and p.shape(usual)[-1] > 1:
                # Rows of a matrix may not overlap, nor any elements of a result; an
                # argument of more axes may repeat itself, but not run backwards.
                step = 2 if bits(p.element) == 4 else 1
                least = p.shape(usual)[-1] if p.rank == 2 or p.written else 0

                def narrow(operands, name=p.name, stride=least - step):
                    operands[name].padded = True  # so that strides are passed
                    operands[name].strides[-2] = stride
                yield self.refused(f"a row of {p.name} after {least - step} elements",
                                   abi.E_STRIDE, usual, values, tamper=narrow)
        for name, limit in self.spec.gathers.items():
            for bad in (-1, usual[limit], 2**31 - 1, -2**31):
                values = self.values(usual)
                values[name].flat[0] = bad
                yield self.refused(f"{name} holds {bad}", abi.E_INDEX, usual, values)
        for size in self.even():
            sizes = usual | {size: usual[size] + 1}
            bigger = usual | {size: usual[size] + 2}
            yield self.refused(f"odd {size} of a 4-bit array", abi.E_ODD, sizes,
                               self.values(bigger), memory=bigger)
        need = self.library.workspace(*self.library.dims(usual), 1)
        if need > 0:
            short = self.library.execution(usual)
            short.workspace_bytes = need - 1
            yield self.refused("workspace one byte short", abi.E_WORKSPACE, usual,
                               self.values(usual), execution=short)
        if big := self.beyond_stack():
            yield self.refused(f"exec NULL, {show(big)}", abi.E_WORKSPACE, big, self.values(big),
                               execution=None)

    def beyond_stack(self):
        """Sizes whose workspace the stack cannot give, or None where they would make
        the operands large too."""
        sizes = self.spec.usual
        for _ in range(8):
            if self.library.workspace(*self.library.dims(sizes), 1) > 65 * 1024:
                return sizes
            sizes = {s: 2 * n for s, n in sizes.items()}
            elements = sum(np.prod(p.shape(sizes), dtype=float) for p in self.signature.params)
            if elements > 1e6 or not self.spec.fits(types.SimpleNamespace(**sizes)):
                return None
        return None

    def all(self):
        for check in (self.agreement, self.strided, self.excluded, self.special, self.nan,
                      self.optional, self.repeatable, self.refusals):
            yield from check()
