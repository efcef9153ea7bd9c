"""Small programs for the simulator: inputs to sbuf, some instructions, outputs back.

    out = Case(sim, folder).run("vector", "tensor_tensor dst=..., op=add", inputs, outputs)

Operand k of `inputs` lies at byte 0x2000 * k of its partitions, output k at byte
0x10000 + 0x4000 * k; a type is the instruction set's word, an array NumPy's with the same
bits (bf16 as uint16, f8 as uint8).
"""

import os
import subprocess

import numpy as np

BYTES = {"f32": 4, "tf32": 4, "i32": 4, "bf16": 2, "f16": 2, "i16": 2, "i8": 1, "u8": 1,
         "f8e4m3": 1, "f8e5m2": 1, "f8e4m3fn": 1, "i64": 8, "f64": 8}


class Case:
    def __init__(self, sim, folder, machine="trn2"):
        self.sim, self.folder, self.machine = sim, folder, machine
        os.makedirs(folder, exist_ok=True)

    def path(self, name):
        return os.path.join(self.folder, name)

    def raw(self, text, *arguments):
        """Runs a whole program; what facet-sim did."""
        with open(self.path("p.s"), "w") as file:
            file.write(f'.program 1\n.machine "{self.machine}"\n' + text)
        return subprocess.run([self.sim, "run", self.path("p.s"), *arguments],
                              capture_output=True, text=True)

    def program(self, engine, code, inputs, outputs, before=""):
        """inputs: [(type, array [P, N])], outputs: [(type, P, N)]."""
        text, address, arguments = "", 0, []
        sync = [".queue sync"]
        for k, (dtype, array) in enumerate(inputs):
            p, n = array.shape
            text += f".buffer in{k} in hbm.{dtype}[{p}, {n}] at {address} bytes {array.nbytes}\n"
            address += -(-array.nbytes // 64) * 64
            np.save(self.path(f"in{k}.npy"), array)
            arguments.append(f"in{k}=" + self.path(f"in{k}.npy"))
            sync.append(f"dma_copy dst=sbuf.{dtype}[0:{p}, {0x2000 * k}, {n}], "
                        f"src=hbm.{dtype}[in{k}, {p}, 0, {n}], update(ready += 1)")
        for k, (dtype, p, n) in enumerate(outputs):
            size = p * n * BYTES[dtype]
            text += f".buffer out{k} out hbm.{dtype}[{p}, {n}] at {address} bytes {size}\n"
            address += -(-size // 64) * 64
            arguments.append(f"out{k}=" + self.path(f"out{k}.npy"))
            sync.append(f"dma_copy dst=hbm.{dtype}[out{k}, {p}, 0, {n}], "
                        f"src=sbuf.{dtype}[0:{p}, {0x10000 + 0x4000 * k}, {n}], wait(done >= 1)")
        text += ".semaphore ready\n.semaphore done\n" + before
        queue = [f".queue {engine}", f"nop wait(ready >= {16 * len(inputs)})", code,
                 "nop update(done += 1)"]
        return text + "\n".join(queue + sync) + "\n", arguments

    def run(self, engine, code, inputs, outputs):
        text, arguments = self.program(engine, code, inputs, outputs)
        done = self.raw(text, *arguments)
        assert done.returncode == 0, done.stderr + text
        return [np.load(self.path(f"out{k}.npy")) for k in range(len(outputs))]


def same(found, wanted, what):
    """Equal bits."""
    wanted = np.ascontiguousarray(wanted)
    found = np.frombuffer(found.tobytes(), np.uint8)
    assert found.size == wanted.nbytes, what
    differ = np.flatnonzero(found != np.frombuffer(wanted.tobytes(), np.uint8))
    assert differ.size == 0, (what, differ[:8], wanted.reshape(-1)[differ[:8] // wanted.itemsize])
