# A kernel as a function of JAX: called, under jit and vmap, with scalars and several results; the
# handler is compiled against JAX's own headers.
#
# REQUIRES: python-package, jax
# RUN: rm -rf %t && mkdir -p %t && cd %t && env JAX_PLATFORMS=cpu PYTHONPATH=%build/python %python %s

import os
import pathlib

import facet
import jax
import jax.numpy as jnp
import numpy as np


def refused(error, wanted, function, *args, **kwargs):
    try:
        function(*args, **kwargs)
    except error as caught:
        assert wanted in str(caught), (wanted, str(caught))
        return
    raise AssertionError(f"not refused: {wanted}")


def compile(text):
    return facet.compile(text, target="reference")


kernel = compile("kernel linear(x: f32[M, K], w: f32[K, N], s: f32) -> y: f32[M, N] requires K % 2 == 0 "
                 "{ y[m, n] = s * sum[k](x[m, k] * w[k, n]) }")
pathlib.Path("made here").mkdir()
linear = kernel.jax_function("made here")
assert {path.name for path in pathlib.Path("made here").iterdir()} == {"linear.cpp", "linear.o", "linear.so"}
x, w = jnp.arange(12.).reshape(3, 4), jnp.arange(20.).reshape(4, 5)
y = linear(x, w, 2)
assert isinstance(y, jax.Array) and (y == 2 * x @ w).all()
whole = jax.jit(lambda x, w: linear(x + 1, w.T, 0.5).sum(axis=0))
assert (whole(x, w.T) == (0.5 * (x + 1) @ w).sum(axis=0)).all()
many = jax.vmap(lambda x: linear(x, w, 1.0))(jnp.stack([x, 2 * x]))
assert (many == jnp.stack([x @ w, 2 * x @ w])).all()
assert linear(x[:0], w, 1).shape == (0, 5)
refused(TypeError, "linear: 'x' is f32[M, K], not an array of int32", linear, x.astype(jnp.int32), w, 1)
refused(TypeError, "linear: takes 3 arguments, 2 are given", linear, x, w)
refused(Exception, "the shapes of the tensors do not fit together", linear, x, w[:2], 1)
refused(Exception, "the promise 'K % 2 == 0' is broken", linear, x[:, :3], w[:3], 1)

two = compile("kernel two(a: bf16[M, (Q, 2)]) -> lo: f32[M], q: bf16[M, Q] "
              "{ lo[m] = min[q, i: 2](a[m, q, i]) q[m, q] = bf16(sum[i](a[m, q, i])) }".replace("q: bf16[M, Q]", "z: bf16[M, Q]")
              .replace(" q[m, q] =", " z[m, q] =")).jax_function()
a = jnp.asarray([[1.5, -2, 3, 4]], jnp.bfloat16)
lo, z = jax.jit(two)(a)
assert lo.tolist() == [-2] and z.dtype == jnp.bfloat16 and z.tolist() == [[-0.5, 7]]

refused(TypeError, "scale: 'c' changes in place", compile("kernel scale(c: inout f32[N]) { c[n] = 2 * c[n] }").jax_function)
refused(TypeError, "four: 'a' is i4", compile("kernel four(a: i4[N]) -> y: i4[N] { y[n] = i4(a[n]) }").jax_function)
os.environ["CXX"] = "false"
refused(RuntimeError, "the handler for JAX could not be compiled by false", kernel.jax_function)
