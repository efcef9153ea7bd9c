"""Facet: matmul kernels from text, called on arrays.

    import facet, numpy as np
    linear = facet.compile('''
      kernel linear(x: f32[M, K], w: f32[K, N], b: f32[N]) -> y: f32[M, N] {
        y[m, n] = gelu(sum[k](x[m, k] * w[k, n]) + b[n])
      }''')
    y = linear(x, w, b)
    linear(x, w, b, out=y)

Arrays are NumPy's, or any that speak the buffer protocol or DLPack (PyTorch, JAX);
nothing is copied and no type converted. bf16 and the 8-bit floats are ml_dtypes'.
"""

from __future__ import annotations

import html
import json
import os
import pathlib
import warnings as _warnings
from typing import Any, Iterable, NamedTuple, Sequence, Union

from . import _facet

__all__ = ["compile", "compile_all", "simulate", "Kernel", "Info", "Argument", "Report", "Message",
           "CompileError", "CompileWarning", "get_include", "get_cmake_dir", "__version__"]

__version__: str = _facet.version()

Source = Union[str, "os.PathLike[str]"]
Sizes = Union[int, str, Sequence[int]]

_SEVERITIES = ("error", "warning", "remark", "note")


class Message(NamedTuple):
    """What the compiler has to say: line and column count from 1, in bytes; 0 is none."""
    severity: str
    file: str
    line: int
    column: int
    end_column: int
    group: str
    text: str


class CompileError(ValueError):
    """A text that was refused. `messages` says where and why."""

    def __init__(self, text: str, messages: Sequence[Message]):
        super().__init__(text)
        self.messages = tuple(messages)


class CompileWarning(UserWarning):
    """A warning of the compiler; its groups are those of `facet --help=warnings`."""


class Argument(NamedTuple):
    """An argument or result: mode is "in", "const", "inout" or "out"."""
    name: str
    type: str
    mode: str
    axes: tuple[str, ...]

    def __str__(self) -> str:
        mode = "" if self.mode in ("in", "out") else self.mode + " "
        axes = f"[{', '.join(self.axes)}]" if self.axes else ""
        return f"{self.name}: {mode}{self.type}{axes}"


class Info(NamedTuple):
    """What a compiled kernel knows of itself."""
    name: str
    documentation: str
    version: str
    hash: str
    plan: str
    sizes: tuple[str, ...]
    arguments: tuple[Argument, ...]
    promises: tuple[str, ...]
    levels: tuple[int, ...]

    def __str__(self) -> str:
        inputs = ", ".join(str(argument) for argument in self.arguments if argument.mode != "out")
        outputs = ", ".join(str(argument) for argument in self.arguments if argument.mode == "out")
        return f"{self.name}({inputs})" + (f" -> {outputs}" if outputs else "")


class _Text(NamedTuple):
    """One text and how it was compiled."""
    text: str
    name: str
    target: str
    defines: list[str]
    include_dirs: list[str]
    warnings: list[str]


class Kernel(_facet.Kernel):
    """A compiled kernel. Calling it takes arguments by position or name and gives the
    results, allocated by the library that the first array comes from; `out=` (an
    array, or a tuple of them) gives memory for results instead, and a keyword names a
    size that no argument says. `inout` arguments change in place."""

    def __init__(self, kernel: _facet.Kernel, text: _Text):
        super().__init__(kernel)
        self._text = text
        self._info: Info | None = None

    @property
    def info(self) -> Info:
        """Names, arguments, axes, plan."""
        if self._info is None:
            values = self.describe()
            values["arguments"] = tuple(Argument(*argument) for argument in values["arguments"])
            self._info = Info(**values)
        return self._info

    def emit(self, kind: str) -> bytes:
        """What `facet compile --emit=KIND` writes for the whole text."""
        data, (text, messages) = _facet.emit(self._text.text, kind, *self._text[1:])
        if data is None:
            raise CompileError(text, _messages(messages))
        return data

    def asm(self) -> str:
        """Assembly."""
        return self.emit("asm").decode()

    def llvm(self) -> str:
        """LLVM IR."""
        return self.emit("llvm").decode()

    def mlir(self) -> str:
        """What the target makes of the kernel, before LLVM."""
        return self.emit("mlir").decode()

    def torch_op(self, name: str | None = None) -> Any:
        """Registers the kernel as an operator of PyTorch, `torch.ops.facet.NAME` unless `name`
        says otherwise ("mine::linear"), and gives it. torch.compile and torch.export take it. It
        has no gradient; `.register_autograd` of what is given adds one."""
        from . import _torch  # pylint: disable=import-outside-toplevel
        return _torch.operator(self, name or f"facet::{self.info.name}")

    def jax_function(self, folder: Source | None = None) -> Any:
        """The kernel as a function for arrays of JAX, also under jax.jit and jax.vmap. Needs a
        C++ compiler, $CXX or c++, which works in `folder` or a temporary one. It has no
        gradient; jax.custom_vjp adds one."""
        from . import _jax  # pylint: disable=import-outside-toplevel
        return _jax.function(self, folder)

    def explain(self, form: str = "text", target: str | None = None, **sizes: Sizes) -> Any:
        """How the kernel is computed and why. `form`: "text", "schedule" (a block that fixes
        these choices) or "json", which gives what `facet explain --json` prints. Sizes and
        target are those it was compiled with, unless others are given; with all sizes known
        it says how long a run should take."""
        how = self._text
        defines = how.defines + [_define(*size) for size in sizes.items()]
        told, (text, messages) = _facet.explain(how.text, self.info.name, form, how.name,
                                                how.target if target is None else target,
                                                defines, *how[4:])
        if told is None:
            raise CompileError(text, _messages(messages))
        return json.loads(told)[0] if form == "json" else told

    def header(self) -> str:
        """The C header of the object that `emit("obj")` gives."""
        return self.emit("header").decode()

    def __repr__(self) -> str:
        return f"<facet.Kernel {self.info}>"

    def _repr_html_(self) -> str:
        info = self.info
        rows = [("target", self._text.target or "native"), ("plan", info.plan)]
        rows += [(argument.mode, str(argument)) for argument in info.arguments]
        rows += [("requires", promise) for promise in info.promises]
        cells = "".join(f"<tr><th style='text-align:left'>{html.escape(key)}</th>"
                        f"<td style='text-align:left'><code>{html.escape(value)}</code></td></tr>"
                        for key, value in rows)
        title = html.escape(info.documentation.strip() or str(info))
        return f"<table><caption><b>{html.escape(info.name)}</b> {title}</caption>{cells}</table>"


class Report:
    """Where the time of a run on a simulated matrix engine went. `report["time_ns"]` and the
    other keys are those of docs/Simulator.md, "JSON"; printed, it is one screen of text, and
    a notebook shows the page with the timeline."""

    def __init__(self, simulation: _facet.Simulation):
        self._simulation = simulation
        self._values: dict[str, Any] | None = None

    def _result(self, kind: str) -> bytes:
        result = self._simulation.result(kind)
        if result is None:
            raise ValueError(f"there is no {kind}: the run has too many instructions")
        return result

    @property
    def values(self) -> dict[str, Any]:
        """All keys and values."""
        if self._values is None:
            self._values = json.loads(self._result("json"))
        return self._values

    def __getitem__(self, key: str) -> Any:
        return self.values[key]

    @property
    def seconds(self) -> float:
        """The simulated time."""
        return self.values["seconds"]

    def html(self) -> str:
        """A page that needs no other: numbers, timeline, memory."""
        return self._result("html").decode()

    def trace(self) -> bytes:
        """Every instruction, for ui.perfetto.dev."""
        return self._result("trace")

    def asm(self) -> str:
        """The program as text that assembles."""
        return self._result("asm").decode()

    def __str__(self) -> str:
        return self._result("stats").decode()

    def __repr__(self) -> str:
        values = self.values
        return (f"<facet.Report {values['kernel']} on {values['machine']}: {values['time_ns']:.0f} ns, "
                f"{100 * values['utilisation']:.1f} % of it the bound of {values['bound_by']}>")

    def _repr_html_(self) -> str:
        page = html.escape(self.html(), quote=True)
        return f'<iframe srcdoc="{page}" style="width: 100%; height: 40em; border: 0"></iframe>'


def simulate(kernel: Kernel, *args: Any, target: str = "trn2", **kwargs: Any) -> tuple[Any, Report]:
    """Runs `kernel` on the simulator of a matrix engine, a machine's name or file: arguments
    as of a call. Gives the results of the call and a report. A program is made for the sizes
    of the arrays, with all checks of the simulator."""
    how = kernel._text  # pylint: disable=protected-access
    defines = [_define(name, kwargs[name]) for name in kernel.info.sizes if name in kwargs]
    answer, simulation, (text, messages) = kernel._simulate(  # pylint: disable=protected-access
        how.text, how.name, target, defines, how.include_dirs, how.warnings, args, kwargs)
    if simulation is None:
        raise CompileError(text, _messages(messages))
    return answer, Report(simulation)


def _messages(given: Iterable[tuple[Any, ...]]) -> list[Message]:
    return [Message(_SEVERITIES[severity], *rest) for severity, *rest in given]


def _read(source: Source, name: str | None) -> tuple[str, str]:
    """The text and its name. A string that ends in .facet is a file: no text ends so."""
    if isinstance(source, str) and not source.rstrip().endswith(".facet"):
        return source, name or "<text>"
    path = pathlib.Path(source)
    return path.read_text(encoding="utf-8"), name or str(path)


def _define(name: str, value: Sizes) -> str:
    if not isinstance(value, (int, str)):
        value = ",".join(str(one) for one in value)
    return f"{name}={value}"


def compile_all(source: Source, *, target: str | None = None, name: str | None = None,
                include_dirs: Iterable[Source] = (), warnings: Iterable[str] = (),
                **sizes: Sizes) -> dict[str, Kernel]:
    """Compiles every kernel of a text or a .facet file, by name. See `compile`."""
    text, name = _read(source, name)
    how = _Text(text, name, target or "", [_define(*size) for size in sizes.items()],
                [os.fspath(folder) for folder in include_dirs], list(warnings))
    kernels, (said, messages) = _facet.compile(*how)
    if not kernels:
        raise CompileError(said, _messages(messages))
    for message in _messages(messages):
        if message.severity == "warning":
            place = f"{message.file}:{message.line}:{message.column}: " if message.file else ""
            _warnings.warn(f"{place}{message.text} [-W{message.group}]", CompileWarning, stacklevel=2)
    wrapped = [Kernel(kernel, how) for kernel in kernels]
    return {kernel.info.name: kernel for kernel in wrapped}


def compile(source: Source, *, target: str | None = None, kernel: str | None = None,  # pylint: disable=redefined-builtin
            name: str | None = None, include_dirs: Iterable[Source] = (),
            warnings: Iterable[str] = (), **sizes: Sizes) -> Kernel:
    """Compiles a text, or the file of a path that ends in .facet.

    target        as `--target=` takes it; unless said "native", the highest level of this machine
    kernel        which one, when the text has several
    name          stands for a text in messages; imports are looked for beside it
    include_dirs  where to look for imports too
    warnings      groups as behind `-W`: "error", "no-perf"
    M=4096        fixes a size; M=(1, 16) to several values, M="1,16,*" and leaves the general code
    """
    kernels = compile_all(source, target=target, name=name, include_dirs=include_dirs,
                          warnings=warnings, **sizes)
    names = ", ".join(kernels)
    if kernel is None:
        if len(kernels) > 1:
            raise ValueError(f"there are several kernels: {names}; kernel= chooses one")
        return next(iter(kernels.values()))
    if kernel not in kernels:
        raise ValueError(f"there is no kernel '{kernel}'; there is {names}")
    return kernels[kernel]


_HERE = pathlib.Path(__file__).resolve().parent


def get_include() -> str:
    """The folder of facet/abi.h, for programs that link compiled kernels."""
    return str(_HERE / "include")


def get_cmake_dir() -> str:
    """What -DFacet_DIR= takes."""
    for folder in sorted(_HERE.glob("lib*/**/cmake/Facet")):
        return str(folder)
    raise FileNotFoundError("this package was built without its CMake files")
