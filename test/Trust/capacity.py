# RUN: env PYTHONPATH=%source/python:%S/Inputs %python %s %facet
"""capacity, machine-edited, late-and-placeless, foreign-words: rings that just fit run, one
slot more is refused with its place and the bytes; on machines with other sizes, where the
edge lies elsewhere; in words of the engine only, and of the CPU only on the CPU."""

import json
import pathlib
import re
import subprocess

from roads import FACET, Kernels, distinct, facet

TEXT = "kernel f(a: f32[M, K], b: f32[K, N]) -> c: f32[M, N] { c[m, n] = sum[k](a[m, k] * b[k, n]) }\n"
SIZES = dict(M=64, K=256, N=512)
k = Kernels(TEXT, cpu=False)


def schedule(target, clauses):
    path = k.path / "s.facet"
    path.write_text(TEXT + f'schedule f on "{target}" {{ c: {clauses} }}\n')
    return path


def compiled(target, clauses, code):
    return facet("compile", schedule("trn2" if "trn2" in str(target) else target, clauses), f"--target={target}", *(f"-D{s}={v}" for s, v in SIZES.items()),
                 "-o", k.path / "f.engine", code=code)


def fits(target, slots):
    try:
        compiled(target, f"tile(m = 64, n = 512), block(m = 64, n = 512, k = 128), slots(a = 2, b = {slots}, sums = 1, results = 1)", 0)
        return True
    except AssertionError:
        return False


trn2 = "trn2"
low, high = 2, 4096
assert fits(trn2, low) and not fits(trn2, high)
while high - low > 1:
    middle = (low + high) // 2
    low, high = (middle, high) if fits(trn2, middle) else (low, middle)
ring = f"tile(m = 64, n = 512), block(m = 64, n = 512, k = 128), slots(a = 2, b = {low}, sums = 1, results = 1)"
said = compiled(trn2, ring.replace(f"b = {low}", f"b = {high}"), 1)
assert re.search(r"s\.facet:2:\d+: error: .*bytes of the \d+ of each partition of SBUF", said), said
a, b = distinct(64, 256), distinct(256, 512)
full = Kernels(TEXT, f'schedule f on "trn2" {{ c: {ring} }}\n', cpu=False)
full.holds("f", SIZES, dict(a=a, b=b), c=a @ b)

# One bank more than there is.
assert "PSUM has 8 banks" in compiled(trn2, "tile(m = 64, n = 512), block(m = 64, n = 512, k = 128), slots(a = 2, b = 2, sums = 9, results = 1)", 1)

# Other sizes of the array and of its memories: no number of trn2 is in the code.
yaml = (pathlib.Path(__file__).resolve().parents[2] / "machines" / "trn2.yaml").read_text()
for rows, columns, moving in (128, 64, 512), (64, 128, 256), (32, 32, 512):
    text = re.sub(r"(?m)^(  rows: \{value: )128", rf"\g<1>{rows}", yaml, count=1)
    text = re.sub(r"(?m)^(  columns: \{value: )128", rf"\g<1>{columns}", text, count=1)
    text = re.sub(r"(?m)^(  moving_max: \{value: )512", rf"\g<1>{moving}", text, count=1)
    machine = k.path / f"edited{rows}x{columns}.yaml"
    machine.write_text(text)
    found = k.on_engine("f", dict(M=70, K=130, N=519), dict(a=distinct(70, 130), b=distinct(130, 519)), machine)
    assert (found["c"] == distinct(70, 130) @ distinct(130, 519)).all(), (rows, columns)

# Refusals in each target's words, as text and as JSON with a place.
wrong = ["tile(m = 0, n = 8)", "tile(m = 3, n = 7)", "block(m = 7, n = 100000, k = 1)", "nonsense(m = 1)", "pack = c"]
for target, foreign in ("trn2", r"AVX|register|cache|vector of|panel"), ("x86-64-v3", r"PSUM|SBUF|partition|bank|ring|slot|DMA"):
    refused = 0
    for clauses in wrong:
        done = subprocess.run([FACET, "compile", schedule(target, clauses), f"--target={target}", "-w", "--emit=mlir", "-o", k.path / "x.mlir",
                               *(f"-D{s}={v}" for s, v in SIZES.items()), "--diagnostics-format=json"], capture_output=True, text=True)
        said = done.stdout + done.stderr
        if done.returncode == 0:
            continue  # this one can be done
        refused += 1
        errors = [d for d in json.loads(said) if d["severity"] == "error"]
        assert errors and all(d["line"] == 2 and d["column"] for d in errors), said
        assert not re.search(foreign, errors[0]["message"]), (target, clauses, errors[0]["message"])
    assert refused >= 3, (target, refused)
