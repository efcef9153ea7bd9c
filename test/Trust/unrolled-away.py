# RUN: env PYTHONPATH=%source/python:%S/Inputs %python %s %facet
"""unrolled-away, stack: the size of the code and of its stack follow the register tile,
never the block or the matrix."""

import re

from roads import Kernels, facet

k = Kernels("""
kernel f(a: f32[M, K], b: f32[K, N]) -> c: f32[M, N] { c[m, n] = sum[k](a[m, k] * b[k, n]) }
""", cpu=False)
sizes, frames = {}, {}
for block in 1, 4, 16, 64:
    source = k.path / f"b{block}.facet"
    source.write_text(k.text + f'schedule f on "x86-64-v3" {{ c: tile(m = 4, n = 16), block(m = {4 * block}, n = {16 * block}, k = {16 * block}) }}\n')
    sizes[block] = (facet("compile", source, "--target=x86-64-v3", "-o", k.path / "f.o"), (k.path / "f.o").stat().st_size)[1]
for n in 64, 4096:
    text = facet("compile", k.source, "--target=x86-64-v3", f"-DM={n}", f"-DK={n}", f"-DN={n}", "--emit=asm", "-o", "-")
    sizes[f"fixed {n}"] = len(text)
    frames[n] = max([int(size) for size in re.findall(r"subq\s+\$(\d+), %rsp", text)], default=0)
blocks = [sizes[block] for block in (1, 4, 16, 64)]
assert max(blocks) <= 1.1 * min(blocks), blocks
assert sizes["fixed 4096"] <= 1.2 * sizes["fixed 64"], sizes
# 64 KiB is the scratch of a call that brings none (docs/Interface.md).
assert max(frames.values()) <= 65536 + 4096, frames
