# A kernel as an operator of PyTorch: called, compiled by torch.compile's front, with strides,
# scalars, several results and arguments that change in place.
#
# REQUIRES: python-package, torch
# RUN: env PYTHONPATH=%build/python %python %s

import facet
import torch


def refused(error, wanted, function, *args, **kwargs):
    try:
        function(*args, **kwargs)
    except error as caught:
        assert wanted in str(caught), (wanted, str(caught))
        return
    raise AssertionError(f"not refused: {wanted}")


def compile(text):
    return facet.compile(text, target="reference")


linear = compile("kernel linear(x: f32[M, K], w: f32[K, N], s: f32) -> y: f32[M, N] { y[m, n] = s * sum[k](x[m, k] * w[k, n]) }")
op = linear.torch_op()
x, w = torch.arange(12.).reshape(3, 4), torch.arange(20.).reshape(4, 5)
assert torch.equal(torch.ops.facet.linear(x, w, 2.0), 2 * x @ w) and torch.equal(op(x, w, 2.0), 2 * x @ w)
# Strides that a kernel does not take are copied, others not.
assert torch.equal(op(x[:, ::2], w[::2], 1.0), x[:, ::2] @ w[::2])
assert torch.equal(op(x.T, x, 1.0), x.T @ x) and torch.equal(op(x[:1].expand(3, 4), w, 1.0), x[:1].expand(3, 4) @ w)
assert op(x[:0], w, 1.0).shape == (0, 5)
refused(ValueError, "do not fit together", op, x, w[:3], 1.0)
refused(RuntimeError, "no autograd formula", lambda: op(x.requires_grad_(), w, 1.0).sum().backward())
x.requires_grad_(False)

# PyTorch's own checks of an operator: schema, shapes without data, tracing.
torch.library.opcheck(op, (x, w, 0.5), test_utils=("test_schema", "test_faketensor"))
traced = torch.compile(lambda a, b: op(a + 1, b, 1.0) * 2, backend="eager", fullgraph=True)
assert torch.equal(traced(x, w), ((x + 1) @ w) * 2) and torch.equal(traced(x[:2], w), ((x[:2] + 1) @ w) * 2)

two = compile("kernel two(a: bf16[M, N], by: i32) -> lo: f32[M], hi: bf16[M, N] "
              "{ lo[m] = min[n](a[m, n]) hi[m, n] = bf16(f32(by) * a[m, n]) }").torch_op("mine::two")
a = torch.tensor([[1.5, -2], [3, 4]], dtype=torch.bfloat16)
lo, hi = torch.ops.mine.two(a, 3)
assert lo.tolist() == [-2, 3] and hi.dtype == torch.bfloat16 and torch.equal(hi, 3 * a)
torch.library.opcheck(two, (a, 3), test_utils=("test_schema", "test_faketensor"))

scale = compile("kernel scale(s: f32, c: inout f32[N]) { c[n] = s * c[n] }").torch_op()
c = torch.ones(4)
assert scale(3.0, c) is None and c.tolist() == [3] * 4
torch.library.opcheck(scale, (3.0, c), test_utils=("test_schema", "test_faketensor"))
refused(TypeError, "four: PyTorch has no elements of type i4",
        compile("kernel four(a: i4[N]) -> y: i4[N] { y[n] = i4(a[n]) }").torch_op)
