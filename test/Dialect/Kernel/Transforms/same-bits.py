# RUN: %facet compile %examples/attention/attention.facet --target=reference --emit=kernel -o %t.mlir
# RUN: env PYTHONPATH=%source/test/Conversion/KernelToLoops/Inputs %python %s %t.mlir
"""Attention through the reference road, before and after each simplification: the same bits."""

import subprocess
import sys

import loops
import ml_dtypes
import numpy as np

B, S, G, R, D, T = 2, 5, 2, 3, 4, 7
random = np.random.default_rng(0)
q, k, v = (random.standard_normal(shape).astype(ml_dtypes.bfloat16)
           for shape in ((B, S, G * R, D), (B, T, G, D), (B, T, G, D)))


def run(*passes):
    text = subprocess.run(["facet-opt", sys.argv[1], *passes], check=True, capture_output=True,
                          text=True).stdout
    o, lse = np.full((B, S, G * R, D), np.nan, ml_dtypes.bfloat16), np.full((B, G * R, S), np.nan, np.float32)
    assert loops.call(loops.build(text), "attention", [B, S, G, R, D, T], [q, k, v, o, lse]) == 0
    assert not np.isnan(lse).any() and not np.isnan(o.astype(np.float32)).any()
    return o.tobytes() + lse.tobytes()


plain = run()
for passes in (["--kernel-simplify"], ["--kernel-decompose-softmax"],
               ["--kernel-decompose-softmax", "--cse", "--canonicalize"],
               ["--kernel-decompose-softmax", "--kernel-simplify"]):
    assert run(*passes) == plain, passes
