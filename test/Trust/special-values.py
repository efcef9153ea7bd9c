# RUN: env PYTHONPATH=%source/python:%S/Inputs %python %s %facet
"""special-values: NaN, infinities and both zeros through max, min, where, exp, sigmoid and
gelu: the same table in vectors, in their tails and on the plain road; the caller's
floating-point state is what it was."""

import numpy as np
from roads import Kernels, facet

nan, inf = np.nan, np.inf
X = [nan, inf, -inf, 0.0, -0.0, 1e30, -1e30]
TABLE = {
    "clip": ("min(max(x[n], 0), 6)", [nan, 6, 0, 0, 0, 6, 0]),
    "elu": ("where(x[n] > 0, x[n], exp(x[n]) - 1)", [nan, inf, -1, 0, 0, 1e30, -1]),
    "sig": ("sigmoid(x[n])", [nan, 1, 0, 0.5, 0.5, 1, 0]),
    "expo": ("exp(x[n])", [nan, inf, 0, 1, 1, inf, 0]),
    "gel": ("gelu(x[n])", [nan, inf, None, 0, -0.0, 1e30, -0.0]),
}
k = Kernels("".join(f"kernel {name}(x: f32[N]) -> y: f32[N] {{ y[n] = {text} }}\n" for name, (text, _) in TABLE.items()), engine=False)
for name, (_, want) in TABLE.items():
    for count in (7, 1, 16, 33):
        x = np.resize(X, count).astype(np.float32)
        for road, found in k.roads(name, dict(N=count), dict(x=x)):
            for i, got in enumerate(found["y"]):
                w = want[i % 7]
                if w is None:  # gelu(-inf): the formula says NaN, the limit -0 (docs/Numerics.md)
                    assert np.isnan(got) or got == 0, (name, road, got)
                elif np.isnan(w):
                    assert np.isnan(got), (name, road, i, got)
                else:
                    assert got == np.float32(w), (name, road, i, got, w)
