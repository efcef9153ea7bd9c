# Tensors of PyTorch: in, out, as results, with strides; one that needs a gradient is refused by
# PyTorch itself.
#
# REQUIRES: python-package, torch
# RUN: env PYTHONPATH=%build/python %python %s

import facet
import torch

for name, dtype in (("f32", torch.float32), ("bf16", torch.bfloat16), ("i8", torch.int8)):
    value = "a[m, n]" if name == "f32" else f"{name}(a[m, n])"
    copy = facet.compile(f"kernel copy(a: {name}[M, N]) -> y: {name}[M, N] {{ y[m, n] = {value} }}", target="reference")
    a = torch.arange(24).reshape(4, 6).to(dtype)[::2, 1:4]
    y = copy(a)
    assert isinstance(y, torch.Tensor) and y.dtype == dtype and (y == a).all()
    out = torch.zeros(2, 8, dtype=dtype)[:, 5:]
    assert copy(a, out=out) is out and (out == a).all()
try:
    facet.compile("kernel f(a: f32[N]) -> y: f32[N] { y[n] = a[n] }", target="reference")(torch.ones(3, requires_grad=True))
    raise AssertionError("not refused")
except (RuntimeError, BufferError) as error:
    assert "grad" in str(error), error
