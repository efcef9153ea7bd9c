"""Calls kernels on every road: the plain loops, each level of the CPU, tasks in reverse
order, the simulator. Arrays lie between guards, one element off their alignment, dense
or with NaN between their rows; results hold poison before.

    k = Kernels(TEXT)
    k.holds("product", dict(M=2, K=3, N=4), dict(a=a, b=b), c=a @ b)
"""

import pathlib
import subprocess
import sys
import tempfile

import numpy as np
from agreement import call, signature
from agreement.elements import SCALARS, TYPES

FACET = sys.argv[1]
LEVELS = {2: "x86-64-v2", 3: "x86-64-v3", 4: "x86-64-v4"}
DOTS = {3: "x86-64-v3", 6: "x86-64-v3-vnni", 4: "x86-64-v4", 5: "znver4"}  # for bf16 and bytes


def facet(*arguments, code=0, **options):
    """Runs facet; what it said."""
    done = subprocess.run([FACET, *map(str, arguments)], capture_output=True, text=True, timeout=300, **options)
    said = done.stdout + done.stderr
    assert done.returncode == code, f"exit code {done.returncode}, wanted {code}: {arguments}\n{said}"
    return said


class Kernels:
    def __init__(self, text, schedules="", engine=True, cpu=True, levels=LEVELS):
        self.text, self.engine, self.levels = text, engine, levels
        self.folder = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.folder.name)
        self.source = self.path / "k.facet"
        self.source.write_text(text + schedules)
        self.libraries = {}
        if cpu:
            targets = {"reference": "reference", "cpu": ",".join(levels.values())}
            self.libraries = {name: call.compile(FACET, self.source, target, self.path, name)
                              for name, target in targets.items()}

    def roads(self, name, sizes, arguments, engine=None):
        """(road, results by name) for each way to call the kernel."""
        head = signature.parse(self.text, name)
        for library, path in self.libraries.items():
            loaded = call.Library(path, head)
            levels = self.levels if library == "cpu" else {0: library}
            for level, label in levels.items():
                for padded, threads in (False, 1), (True, 2):
                    found = self._call(loaded, head, sizes, arguments, level, padded, threads)
                    yield f"{label}, {'padded' if padded else 'dense'}", found
        if self.engine if engine is None else engine:
            yield "trn2", self.on_engine(name, sizes, arguments)

    def _call(self, library, head, sizes, arguments, level, padded, threads):
        operands = {}
        for p in head.params:
            value = arguments.get(p.name)
            if value is not None:
                value = np.asarray(value).astype(TYPES[p.element])
            scalar = not p.written and p.rank == 0 and p.element in SCALARS
            operands[p.name] = value if scalar else call.Buffer(p, sizes, value, padded)
        execution = library.execution(sizes, threads)
        execution.max_level = level
        code = library.run(sizes, operands, execution)
        assert code == 0, f"{head.name} at level {level}: code {code}"
        assert not library.workspace_overrun(execution), f"{head.name}: wrote outside its workspace"
        results = {}
        for p in head.params:
            if isinstance(operands[p.name], call.Buffer):
                assert operands[p.name].padding_untouched(), f"{head.name}: wrote outside '{p.name}'"
                if p.written:
                    results[p.name] = operands[p.name].read()
                else:
                    assert operands[p.name].untouched(), f"{head.name}: wrote into '{p.name}'"
        return results

    def on_engine(self, name, sizes, arguments, target="trn2"):
        head, words, files = signature.parse(self.text, name), [], {}
        for p in head.params:
            value = arguments.get(p.name)
            if value is not None:
                value = np.asarray(value).astype(TYPES[p.element])
                if value.dtype == TYPES["bf16"]:
                    value = value.view("V2")
                np.save(self.path / f"{p.name}.npy", value.reshape(p.shape(sizes)))
                words.append(f"{p.name}={self.path}/{p.name}.npy")
            if p.written:
                files[p.name] = self.path / f"{p.name}.out.npy"
                words.append(f"{p.name}{'.new' if value is not None else ''}={files[p.name]}")
        words += [f"{size}={value}" for size, value in sizes.items()]
        facet("run", self.source, f"--kernel={name}", f"--target={target}", *words)
        return {r: np.load(f).view(TYPES[head[r].element]) for r, f in files.items()}

    def holds(self, name, sizes, arguments, engine=None, within=0.0, **wanted):
        """Every road gives `wanted`: to the bit (any NaN is NaN, the sign of 0 counts), or
        to `within` of the largest wanted."""
        for road, found in self.roads(name, sizes, arguments, engine):
            for result, want in wanted.items():
                got = found[result]
                want = np.broadcast_to(np.asarray(want), got.shape)
                exact = object if got.dtype.kind in "biu" else np.float64
                g, w = got.astype(exact), want.astype(exact)
                if within:
                    good = np.abs(g - w) <= within * max(1, np.abs(w).max(initial=0))
                elif g.dtype == object:
                    good = g == w
                else:
                    good = ((g == w) & (np.signbit(g) == np.signbit(w))) | (np.isnan(g) & np.isnan(w))
                if not np.all(good):
                    at = tuple(np.argwhere(~np.asarray(good, bool))[0])
                    raise AssertionError(f"{name} {sizes} on {road}: {result}{list(map(int, at))} is {got[at]}, not {want[at]}")
        return self


def distinct(*shape, modulus=7, dtype=np.float64):
    """Small integers, different along every row and every column."""
    n = np.arange(int(np.prod(shape))).reshape(shape)
    rows = n // shape[-1] if shape else n
    return ((n * 5 + rows * 3) % modulus - modulus // 2).astype(dtype)
