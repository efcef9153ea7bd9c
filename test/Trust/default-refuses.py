# RUN: env PYTHONPATH=%source/python:%S/Inputs %python %s %facet
"""default-refuses: products of every type compile for the default targets without a flag,
down to what is handed to LLVM; sizes far larger than any block make the same code."""

from roads import Kernels, facet

SUMS = {"i8": "i32", "u8": "i32", "i16": "i32", "i32": "i32", "i64": "i64", "bf16": "f32", "f16": "f32", "f32": "f32", "f64": "f64",
        "f8e4m3": "f32", "f8e4m3fn": "f32", "f8e5m2": "f32", "i4": "i32", "u4": "i32"}
k = Kernels("".join(f"kernel product_{t}(a: {t}[M, K], b: {t}[K, N]) -> c: {s}[M, N] {{ c[m, n] = sum[k](a[m, k] * b[k, n]) }}\n"
                    for t, s in SUMS.items())
            + "kernel wide(x: f32[B, S, 8192], w: f32[8192, 3072]) -> y: f32[B, S, 3072] { y[b, s, n] = sum[k](x[b, s, k] * w[k, n]) }\n", cpu=False)
text = facet("compile", k.source, "--emit=mlir", "-o", "-", "-w")
for t in [*(f"product_{t}" for t in SUMS), "wide"]:
    assert t in text, t
