# RUN: %python %s %facet
"""einsum's formulas against NumPy's einsum on the same arrays."""

import pathlib
import subprocess
import sys
import tempfile

import numpy as np

FORMULAS = ["ij,jk->ik", "bij,bjk->bik", "ij,jk", "kj,ji", "ii->i", "ii", "iij", ",ij->ij", "a,ab,b->", "ij->ji", "i,j->ij",
            "bhid,bhjd->bhij", "Bb,bB", "ij,kj,lj->ikl"]

rng = np.random.default_rng(5)
with tempfile.TemporaryDirectory() as folder:
    for formula in FORMULAS:
        terms = formula.split("->")[0].split(",")
        sizes = {letter: 2 + at * 3 % 7 for at, letter in enumerate(sorted(set("".join(terms))))}
        values = []
        for term in terms:
            values.append(rng.standard_normal([sizes[letter] for letter in term]).astype(np.float32))
            np.save(f"{folder}/x{len(values) - 1}.npy", values[-1])
        out = pathlib.Path(folder, "y.npy")
        subprocess.run([sys.argv[1], "run", "-q", f"--einsum={formula}", *(f"x{at}={folder}/x{at}.npy" for at in range(len(values))),
                        f"y={out}"], check=True)
        want = np.einsum(formula, *(value.astype(np.float64) for value in values))
        got = np.load(out)
        assert got.shape == want.shape, (formula, got.shape, want.shape)
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5, err_msg=formula)
