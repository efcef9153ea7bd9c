# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads the head of a kernel: its sizes, arguments and results, in order.

    kernel f(a: inout f32[M, (R, 4)], s: i32) -> c: f32[M] requires M >= R { … }

gives the sizes M, R and three parameters. Enough to call the compiled kernel
through its C interface without asking the compiler for anything.
"""

import dataclasses
import re


@dataclasses.dataclass
class Param:
    name: str
    element: str
    axes: list  # one list per axis in memory: sizes (str) and numbers (int)
    role: str  # in, const, inout, out

    def dims(self, sizes):
        """The extents its subscripts run over."""
        return [sizes[d] if isinstance(d, str) else d for axis in self.axes for d in axis]

    def shape(self, sizes):
        """The extents in memory: a group is one axis."""
        shape = []
        for axis in self.axes:
            n = 1
            for d in axis:
                n *= sizes[d] if isinstance(d, str) else d
            shape.append(n)
        return shape

    @property
    def rank(self):
        return len(self.axes)

    @property
    def written(self):
        return self.role in ("out", "inout")


@dataclasses.dataclass
class Signature:
    name: str
    sizes: list
    params: list  # arguments, then results

    def __getitem__(self, name):
        return next(p for p in self.params if p.name == name)


def _params(text, role):
    for m in re.finditer(r"(\w+)\s*:\s*(inout\s+|const\s+)?(\w+)\s*(?:\[([^\]]*)\])?", text):
        axes = []
        for group in re.findall(r"\([^)]*\)|\w+", m[4] or ""):
            axes.append([int(d) if d.isdigit() else d for d in re.findall(r"\w+", group)])
        yield Param(m[1], m[3], axes, (m[2] or role).strip())


def parse(text, name=None):
    """The signature of kernel `name`, or of the only kernel in `text`."""
    text = re.sub(r"//[^\n]*", "", text)
    m = re.search(r"\bkernel\s+(%s)\s*\(" % (name or r"\w+"), text)
    # Parameters hold parentheses only in pairs, in groups: match up to depth 0.
    depth, end = 1, m.end()
    while depth:
        depth += {"(": 1, ")": -1}.get(text[end], 0)
        end += 1
    arguments = text[m.end():end - 1]
    rest = text[end:text.index("{", end)]
    results = rest.split("->", 1)[1] if "->" in rest else ""
    results = re.split(r"\brequires\b", results)[0]
    params = [*_params(arguments, "in"), *_params(results, "out")]
    sizes = dict.fromkeys(d for p in params for axis in p.axes for d in axis
                          if isinstance(d, str))
    return Signature(m[1], list(sizes), params)
