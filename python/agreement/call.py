# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls a compiled kernel through its C interface, from ctypes, with guards.

Every array lies in a buffer of its own, between guard bytes and with poison in
its padding: reading outside shows as NaN, writing outside is found afterwards,
and so is any change to an argument that is not `inout`.
"""

import ctypes
import subprocess

import numpy as np

from . import elements
from .elements import TYPES, bits

# Codes of facet/abi.h.
E_SIZE, E_ODD, E_STRIDE, E_NULL, E_WORKSPACE, E_INDEX, E_REQUIRE = -2, -5, -6, -7, -8, -9, -100

GUARD = 192  # bytes before and after


class Error(ctypes.Structure):
    """facet_error of facet/abi.h."""
    _fields_ = [("code", ctypes.c_int32), ("axis", ctypes.c_int32),
                ("kernel", ctypes.c_char_p), ("argument", ctypes.c_char_p),
                ("found", ctypes.c_int64), ("wanted", ctypes.c_int64)]


TASK = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int64)
PARALLEL_FOR = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int64, TASK, ctypes.c_void_p)


class Exec(ctypes.Structure):
    """facet_exec of facet/abi.h."""
    _fields_ = [("size", ctypes.c_uint32), ("threads", ctypes.c_int32),
                ("max_level", ctypes.c_int32), ("flags", ctypes.c_uint32),
                ("parallel_for", PARALLEL_FOR), ("ctx", ctypes.c_void_p),
                ("workspace", ctypes.c_void_p), ("workspace_bytes", ctypes.c_size_t),
                ("error", ctypes.POINTER(Error)), ("reserve", ctypes.c_void_p)]


@PARALLEL_FOR
def backwards(_, n, task, argument):
    """A legal parallel_for that shows any order dependence: last task first."""
    for i in reversed(range(n)):
        if code := task(argument, i):
            return code
    return 0


class Buffer:
    """One operand in memory, dense or padded."""

    def __init__(self, param, sizes, values=None, padded=False):
        self.param, self.element = param, param.element
        self.shape = param.shape(sizes)
        nibbles = bits(self.element) == 4
        self.strides = []  # in elements, outermost first; the last is 1
        stride = 1
        for i, n in enumerate(reversed(self.shape)):
            self.strides.insert(0, stride)
            stride *= n
            if padded and i < len(self.shape) - 1:  # odd where the type allows it
                stride += 6 if nibbles else 3 + 2 * i
        self.padded = padded
        item = 1 if nibbles else np.dtype(TYPES[self.element]).itemsize
        length = max(stride, 1) * bits(self.element) // 8
        # Natural alignment is enough: one element off the allocation's.
        self.offset = GUARD + item
        self.bytes = np.zeros(self.offset + length + GUARD, np.uint8)
        # NaN in every float type, a large odd number in every integer type.
        poison = {1: [0xFF], 2: [0xA5, 0xFF], 4: [0xA5, 0xA5, 0xA5, 0xFF],
                  8: [0xA5] * 6 + [0xF5, 0xFF]}[item]
        self.poison = np.resize(np.roll(poison, self.offset % item), self.bytes.size).astype(np.uint8)
        self.bytes[...] = self.poison
        if values is not None:
            self.write(values)
        self.before = self.bytes.copy()

    def _view(self, buffer):
        """The elements (4 bits: the bytes) as an array of the memory's shape."""
        nibbles = bits(self.element) == 4
        dtype = np.dtype(np.uint8 if nibbles else TYPES[self.element])
        shape, strides = list(self.shape), [s * dtype.itemsize for s in self.strides]
        if nibbles:
            shape[-1] //= 2
            strides = [s // 2 for s in self.strides[:-1]] + [1]
        start = buffer[self.offset:]
        if 0 in shape:
            return np.zeros(shape, dtype)
        return np.ndarray(shape, dtype, start.data, 0, strides)

    def write(self, values):
        values = values.reshape(self.shape)
        self._view(self.bytes)[...] = (
            elements.pack_nibbles(values) if bits(self.element) == 4 else values)

    def read(self):
        view = self._view(self.bytes)
        if bits(self.element) == 4:
            return elements.unpack_nibbles(view, self.element)
        return np.array(view)

    def untouched(self):
        return np.array_equal(self.bytes, self.before)

    def padding_untouched(self):
        inside = np.zeros_like(self.bytes)
        view = self._view(inside)
        if 0 not in view.shape:
            view.view(np.uint8 if view.dtype.itemsize == 1 else view.dtype)[...] = 0
            marks = np.ndarray(view.shape + (view.dtype.itemsize,), np.uint8,
                               inside[self.offset:].data, 0, view.strides + (1,))
            marks[...] = 1
        return np.array_equal(self.bytes[inside == 0], self.before[inside == 0])

    @property
    def pointer(self):
        return self.bytes.ctypes.data + self.offset


class Library:
    """One kernel's shared object."""

    def __init__(self, path, signature):
        self.signature = signature
        self.library = ctypes.CDLL(str(path))
        self.entry = self._function(signature.name, ctypes.c_int)
        self.workspace = self._function(signature.name + "_workspace", ctypes.c_size_t)

    def _function(self, name, result):
        f = getattr(self.library, name)
        f.restype = result
        return f

    def dims(self, sizes):
        return [ctypes.c_int64(sizes[s]) for s in self.signature.sizes]

    def run(self, sizes, operands, execution, null=(), entry=None, packed=None):
        """Calls the kernel; `operands` maps names to Buffers (arrays, results) or
        NumPy scalars. Returns the code."""
        arguments = self.dims(sizes)
        keep = []
        for p in self.signature.params:
            value = operands[p.name]
            if not isinstance(value, Buffer):
                arguments.append(elements.SCALARS[p.element](value.item()))
                continue
            if packed and p.name in packed:
                arguments.append(ctypes.c_void_p(packed[p.name].ctypes.data))
                continue
            arguments.append(ctypes.c_void_p(None if p.name in null else value.pointer))
            if p.rank == 2:
                arguments.append(ctypes.c_int64(value.strides[0]))
            elif p.rank > 2:
                strides = (ctypes.c_int64 * (p.rank - 1))(*value.strides[:-1])
                keep.append(strides)
                # NULL says dense.
                arguments.append(strides if value.padded else ctypes.c_void_p(None))
        arguments.append(ctypes.byref(execution) if execution is not None else ctypes.c_void_p(None))
        return (entry or self.entry)(*arguments)

    def execution(self, sizes, threads=1):
        """A facet_exec with exactly the workspace the kernel asks for, at an odd
        address (any alignment is allowed), guarded."""
        need = self.workspace(*self.dims(sizes), ctypes.c_int32(threads))
        memory = np.full(need + 2 * GUARD + 65, 0xA5, np.uint8)
        start = (-(memory.ctypes.data + GUARD)) % 64 + GUARD + 1
        execution = Exec(size=ctypes.sizeof(Exec), threads=threads, max_level=0, flags=0,
                         parallel_for=backwards if threads > 1 else PARALLEL_FOR(),
                         workspace=memory.ctypes.data + start, workspace_bytes=need)
        execution.memory, execution.start = memory, start
        execution.report = Error()
        execution.error = ctypes.pointer(execution.report)
        return execution

    @staticmethod
    def workspace_overrun(execution):
        m, a, n = execution.memory, execution.start, execution.workspace_bytes
        return not ((m[:a] == 0xA5).all() and (m[a + n:] == 0xA5).all())

    def pack(self, name, sizes, buffer):
        """NAME_pack_w of a const operand → the packed bytes."""
        p = self.signature[name]
        of = [s for s in self.signature.sizes if any(s in axis for axis in p.axes)]
        dims = [ctypes.c_int64(sizes[s]) for s in of]
        stem = f"{self.signature.name}_pack_{name}"
        need = self._function(stem + "_bytes", ctypes.c_size_t)(*dims)
        memory = np.zeros(need + 64, np.uint8)
        packed = memory[(-memory.ctypes.data) % 64:][:need]
        arguments = [*dims, ctypes.c_void_p(buffer.pointer)]
        if p.rank == 2:
            arguments.append(ctypes.c_int64(buffer.strides[0]))
        elif p.rank > 2:
            arguments.append((ctypes.c_int64 * (p.rank - 1))(*buffer.strides[:-1]))
        code = self._function(stem, ctypes.c_int)(*arguments, ctypes.c_void_p(packed.ctypes.data))
        return code, packed


def compile(facet, source, target, directory, name):
    """facet compile → path of the shared object."""
    path = directory / (name + ".so")
    subprocess.run([facet, "compile", "--target=" + target, "--emit=shared", "-o", path,
                    "--header", directory / (name + ".h"), source], check=True)
    return path
