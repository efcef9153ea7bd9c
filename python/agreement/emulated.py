# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A kernel of another architecture, called under an emulator as call.Library calls one
of this.

The object is linked with runner.c into a program without a C library, which obeys
requests on its standard input. Every buffer of a call is copied to an address of its
own there, pointers are rewritten, and the buffers are copied back, guards and padding
included, so that checks see what they always see."""

import ctypes
import pathlib
import struct
import subprocess

import numpy as np

from . import call as abi

WRITE, CALL, READ, PARALLEL = 1, 2, 3, 4
PLACE = 1 << 32  # of the first buffer
ROOM = 1 << 24  # between two; more for larger ones


def build(options, source, directory, name):
    """The program of one kernel → its path."""
    runner, program = directory / "runner.o", directory / name
    if not runner.exists():
        subprocess.run([options.clang, "--target=" + options.triple, "-O1", "-ffreestanding", "-nostdlib",
                        "-fno-stack-protector", "-Wall", "-Werror", "-c",
                        str(pathlib.Path(__file__).with_name("runner.c")), "-o", str(runner)], check=True)
    subprocess.run([options.facet, "compile", str(source), "--target=" + options.target, "--triple=" + options.triple,
                    "-o", str(program) + ".o"], check=True)
    subprocess.run([options.lld, "-static", "-o", str(program), str(runner), str(program) + ".o"], check=True)
    return program


class Function:
    def __init__(self, name, result):
        self.name, self.result = name, result


class Library(abi.Library):
    def __init__(self, program, signature, options):
        self.signature = signature
        lines = subprocess.check_output([options.nm, "--defined-only", str(program)], text=True).split("\n")
        self.symbols = {words[2]: int(words[0], 16) for words in map(str.split, lines) if len(words) == 3}
        self.process = subprocess.Popen([options.emulator, str(program)], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)
        self.entry = self._function(signature.name, ctypes.c_int)
        self.workspace_function = self._function(signature.name + "_workspace", ctypes.c_size_t)

    def close(self):
        self.process.stdin.close()
        if self.process.wait():
            raise RuntimeError(f"the emulated program ended with {self.process.returncode}")

    # -- the protocol ------------------------------------------------------------

    def _send(self, kind, address=0, size=0, data=b""):
        self.process.stdin.write(struct.pack("<qqq", kind, address, size) + data)

    def _receive(self, size):
        self.process.stdin.flush()
        data = self.process.stdout.read(size)
        if len(data) != size:
            raise RuntimeError("the emulated program broke off")
        return data

    def _function(self, name, result):
        if name not in self.symbols:
            raise AttributeError(name)
        return Function(name, result)

    def _call(self, function, integers=(), floats=()):
        """Arguments in the order of the prototype, by kind: what registers do not take
        is integers here, as no kernel has nine scalar floats."""
        assert len(floats) <= 8
        registers, stack = list(integers[:8]), list(integers[8:])
        assert len(stack) <= 40
        data = struct.pack("<8q", *(registers + [0] * (8 - len(registers))))
        for i in range(8):
            data += floats[i] if i < len(floats) else bytes(8)
        data += struct.pack("<q40q", len(stack), *(stack + [0] * (40 - len(stack))))
        self._send(CALL, self.symbols[function.name], 0, data)
        value, = struct.unpack("<q", self._receive(8))
        return function.result(value).value

    # -- as call.Library ---------------------------------------------------------

    def workspace(self, *arguments):
        return self._call(self.workspace_function, [getattr(a, "value", a) for a in arguments])

    def _place(self, memory):
        """Copies a NumPy array of bytes over → the address of its first byte there."""
        address = self.next + memory.ctypes.data % 64  # as aligned as here
        self.places.append((address, memory))
        self.next += ROOM * (1 + memory.nbytes // ROOM)
        self._send(WRITE, address, memory.nbytes, memory.tobytes())
        return address

    def _fetch(self):
        for address, memory in self.places:
            self._send(READ, address, memory.nbytes)
            memory[...] = np.frombuffer(self._receive(memory.nbytes), np.uint8)

    def run(self, sizes, operands, execution, null=(), entry=None, packed=None):
        self.places, self.next = [], PLACE
        integers, floats = [sizes[s] for s in self.signature.sizes], []
        for p in self.signature.params:
            value = operands[p.name]
            if not isinstance(value, abi.Buffer):
                scalar = abi.elements.SCALARS[p.element](value.item())
                if isinstance(scalar, (ctypes.c_float, ctypes.c_double)):
                    floats.append(bytes(scalar).ljust(8, b"\0"))
                else:
                    integers.append(int.from_bytes(bytes(scalar), "little", signed=True))
                continue
            if packed and p.name in packed:
                integers.append(self._place(packed[p.name]))
                continue
            integers.append(0 if p.name in null else self._place(value.bytes) + value.offset)
            if p.rank == 2:
                integers.append(value.strides[0])
            elif p.rank > 2:
                integers.append(self._words(value.strides[:-1]) if value.padded else 0)
        integers.append(self._execution(execution) if execution is not None else 0)
        code = self._call(entry or self.entry, integers, floats)
        self._fetch()
        if execution is not None:
            self._read_report(execution)
        return code

    def _words(self, values):
        memory = np.frombuffer(bytearray(struct.pack(f"<{len(values)}q", *values)), np.uint8)
        return self._place(memory)

    def _execution(self, execution):
        """facet_exec there, with the record of errors behind it."""
        workspace = self._place(execution.memory) + execution.start
        parallel = 0
        if execution.threads > 1:
            self._send(PARALLEL)
            parallel, = struct.unpack("<q", self._receive(8))
        self.report = np.zeros(ctypes.sizeof(abi.Error), np.uint8)
        report = self._place(self.report)
        data = struct.pack("<IiiIqqqqqq", ctypes.sizeof(abi.Exec), execution.threads, execution.max_level,
                           execution.flags, parallel, 0, workspace, execution.workspace_bytes, report, 0)
        assert len(data) == ctypes.sizeof(abi.Exec)
        return self._place(np.frombuffer(bytearray(data), np.uint8))

    def _read_report(self, execution):
        code, axis, kernel, argument, found, wanted = struct.unpack("<iiqqqq", self.report.tobytes())
        execution.report.code, execution.report.axis = code, axis
        execution.report.found, execution.report.wanted = found, wanted
        execution.report.kernel, execution.report.argument = self._text(kernel), self._text(argument)

    def _text(self, address):
        if not address:
            return None
        text = b""
        while not text.endswith(b"\0"):
            self._send(READ, address + len(text), 1)
            text += self._receive(1)
        return text[:-1]

    def pack(self, name, sizes, buffer):
        p = self.signature[name]
        of = [s for s in self.signature.sizes if any(s in axis for axis in p.axes)]
        dims = [sizes[s] for s in of]
        stem = f"{self.signature.name}_pack_{name}"
        self.places, self.next = [], PLACE
        need = self._call(self._function(stem + "_bytes", ctypes.c_size_t), dims)
        memory = np.zeros(need + 64, np.uint8)
        packed = memory[(-memory.ctypes.data) % 64:][:need]
        arguments = [*dims, self._place(buffer.bytes) + buffer.offset]
        if p.rank == 2:
            arguments.append(buffer.strides[0])
        elif p.rank > 2:
            arguments.append(self._words(buffer.strides[:-1]))
        arguments.append(self._place(packed))
        code = self._call(self._function(stem, ctypes.c_int), arguments)
        self._fetch()
        return code, packed
