# Arrays of JAX go in without a copy, results are arrays of JAX; results and inout arguments
# cannot be arrays of JAX, which are read-only.
#
# REQUIRES: python-package, jax
# RUN: env PYTHONPATH=%build/python JAX_PLATFORMS=cpu %python %s

import facet
import jax
import jax.numpy as jnp
import numpy as np

for name, dtype in (("f32", jnp.float32), ("bf16", jnp.bfloat16), ("f8e4m3fn", jnp.float8_e4m3fn), ("i8", jnp.int8)):
    value = "a[m, n]" if name == "f32" else f"{name}(a[m, n])"
    copy = facet.compile(f"kernel copy(a: {name}[M, N]) -> y: {name}[M, N] {{ y[m, n] = {value} }}", target="reference")
    a = jnp.arange(6).reshape(2, 3).astype(dtype)
    y = copy(a)
    assert isinstance(y, jax.Array) and y.dtype == dtype and (y == a).all(), (name, y)
    out = np.zeros((2, 3), y.dtype)
    assert copy(a, out=out) is out and (out == np.asarray(a)).all()
    for out in (a, jnp.zeros_like(a)):
        try:
            copy(a, out=out)
            raise AssertionError(f"{name}: wrote to an array of JAX")
        except TypeError as error:
            assert "which the kernel writes" in str(error), error
two = facet.compile("kernel two(a: f32[N]) -> y: f32[N], z: f32[N] { y[n] = a[n] z[n] = -a[n] }", target="reference")
y, z = two(jnp.ones(3))
assert isinstance(y, jax.Array) and isinstance(z, jax.Array) and (y == -z).all()
