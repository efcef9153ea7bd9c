# RUN: %python %s %facet
# REQUIRES: jax
"""Functions that JAX traces, imported from its text and run, against JAX itself."""

import subprocess
import sys
import tempfile

import jax
import jax.numpy as jnp
import numpy as np


def layer(x, w, b):
    h = jax.nn.relu(x @ w + b)
    return jax.nn.softmax(h, axis=-1), jax.nn.gelu(h)


def attend(q, k, v):
    scores = jnp.einsum("bqd,bkd->bqk", q, k) / 8.0
    scores = jnp.where(jnp.tril(jnp.ones((5, 5), bool)), scores, -1e9)
    return (jnp.einsum("bqk,bkd->bqd", jax.nn.softmax(scores), v),)


def normal(x, g):
    centred = x - x.mean(-1, keepdims=True)
    return (centred * jax.lax.rsqrt((centred**2).mean(-1, keepdims=True) + 1e-5) * g,)


def mixed(x, w):
    return (jnp.tanh(x.T.astype(jnp.float32) @ w)[:, None, :], (x * 3 > x + 1) & (x < 5))


rng = np.random.default_rng(0)


def some(*shape):
    return rng.standard_normal(shape).astype(np.float32)


with tempfile.TemporaryDirectory() as folder:
    for function, arguments in ((layer, (some(7, 64), some(64, 32), some(32))), (attend, (some(2, 5, 64),) * 3),
                                (normal, (some(7, 64), some(64))), (mixed, (np.arange(12, dtype=np.int32).reshape(4, 3), some(4, 6)))):
        with open(f"{folder}/f.mlir", "w", encoding="utf-8") as file:
            file.write(jax.jit(function).lower(*arguments).as_text())
        wanted = function(*arguments)
        names = ["y"] if len(wanted) == 1 else [f"y{i}" for i in range(len(wanted))]
        for i, argument in enumerate(arguments):
            np.save(f"{folder}/x{i}.npy", argument)
        subprocess.run([sys.argv[1], "run", "-q", "-w", f"{folder}/f.mlir", *(f"x{i}={folder}/x{i}.npy" for i in range(len(arguments))),
                        *(f"{name}={folder}/{name}.npy" for name in names)], check=True)
        for name, want in zip(names, wanted):
            np.testing.assert_allclose(np.load(f"{folder}/{name}.npy"), np.asarray(want), rtol=3e-5, atol=3e-5)
