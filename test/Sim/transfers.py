# Transfers and the tensor engine against NumPy and ml_dtypes, to the bit.
# RUN: mkdir -p %t && env PYTHONPATH=%S/Inputs %python %s %facet-sim %t

import sys

import ml_dtypes
import numpy as np
from simulate import BYTES, Case, same

case = Case(*sys.argv[1:])
np.seterr(all="ignore")
rng = np.random.default_rng(5)
f32 = np.float32
P, N = 32, 64


def through(source, dtype, back, machine="trn2", flags=""):
    """The bits of `source` (f32) copied to dtype in sbuf, and those copied back to f32."""
    case.machine = machine
    n = source.shape[1]
    code = (f".queue sync\ndma_copy dst=sbuf.{dtype}[0:{P}, 0x10000, {n}], "
            f"src=sbuf.f32[0:{P}, 0, {n}]{flags}, wait(ready >= 16), update(half += 1)\n"
            f"dma_copy dst=sbuf.f32[0:{P}, 0x14000, {n}], src=sbuf.{dtype}[0:{P}, 0x10000, {n}], "
            f"wait(half >= 16), update(all += 1)")
    text, arguments = case.program("vector", "nop wait(all >= 16)", [("f32", source)],
                                   [(dtype, P, n), ("f32", P, n)], ".semaphore half\n.semaphore all\n")
    head, tail = text.split(".queue sync\n")
    first, *rest = tail.splitlines()
    done = case.raw(head + "\n".join([code.split("\n")[0], first, *code.split("\n")[1:], *rest]) + "\n",
                    *arguments)
    assert done.returncode == 0, done.stderr
    case.machine = "trn2"
    return np.load(case.path("out0.npy")), np.load(case.path("out1.npy"))


# Every type of up to 16 bits: ties, subnormals, overflow, infinities, NaN.
bits = rng.integers(0, 2**32, (P, N), dtype=np.uint32)
values = bits.view(f32).copy()
values[:16] = (rng.standard_normal((16, N)) * 2.0 ** rng.integers(-20, 12, (16, N))).astype(f32)
values[0, :10] = [0.0, -0.0, np.inf, -np.inf, np.nan, 240, 248, 57344, 61440, 65519.996]
values[1, :8] = [65520, 3.3961776e38, 464, 480, 2.0**-10, 3 * 2.0**-11, 2.0**-17, 1.5]
canonical = {"bf16": 0x7FC0, "f16": 0x7E00, "f8e4m3": 0x7C, "f8e5m2": 0x7E, "f8e4m3fn": 0x7F}
numpy_types = {"bf16": ml_dtypes.bfloat16, "f16": np.float16, "f8e4m3": ml_dtypes.float8_e4m3,
               "f8e5m2": ml_dtypes.float8_e5m2, "f8e4m3fn": ml_dtypes.float8_e4m3fn}
for dtype, numpy_type in numpy_types.items():
    machine = "trn3" if dtype == "f8e4m3fn" else "trn2"
    unsigned = np.uint16 if BYTES[dtype] == 2 else np.uint8
    narrow = values.astype(numpy_type)
    wanted = narrow.view(unsigned).copy()
    wanted[np.isnan(narrow.astype(f32))] = canonical[dtype]
    back = wanted.view(numpy_type).astype(f32)
    back[np.isnan(back)] = np.array([0x7FC00000], np.uint32).view(f32)[0]
    found = through(values, dtype, back, machine)
    same(found[0], wanted, dtype)
    same(found[1], back, dtype + " back")
    largest = f32(ml_dtypes.finfo(numpy_type).max)
    narrow = np.clip(values, -largest, largest).astype(numpy_type)
    wanted = narrow.view(unsigned).copy()
    wanted[np.isnan(narrow.astype(f32))] = canonical[dtype]
    same(through(values, dtype, back, machine, ", sat")[0], wanted, dtype + " sat")
tf32 = values.view(np.uint32).astype(np.uint64)
tf32 = ((tf32 + 0xFFF + (tf32 >> 13 & 1)) & 0xFFFFE000).astype(np.uint32)
tf32[np.isnan(values)] = 0x7FC00000
same(through(values, "tf32", None)[0], tf32, "tf32")

# dma_transpose and dma_gather from and to hbm; the index list in sbuf.
table = rng.integers(0, 2**16, (48, 64), dtype=np.uint16)
index = rng.integers(0, 48, (32, 1), dtype=np.int32)
np.save(case.path("table.npy"), table)
np.save(case.path("index.npy"), index)
done = case.raw("""
.buffer table in hbm.bf16[48, 64] at 0 bytes 6144
.buffer index in hbm.i32[32, 1] at 6144 bytes 128
.buffer turned out hbm.bf16[64, 48] at 0x4000 bytes 6144
.buffer rows out hbm.f32[32, 64] at 0x8000 bytes 8192
.semaphore have final=16
.semaphore gathered final=16
.queue sync
dma_copy dst=sbuf.i32[0:32, 0], src=hbm.i32[index, 32, 0], update(have += 1)
dma_transpose dst=hbm.bf16[turned, 64, 0, 48], src=hbm.bf16[table, 48, 0, 64]
dma_gather dst=sbuf.f32[0:32, 1024, 64], src=hbm.bf16[table, 48, 0, 64], index=sbuf.i32[0:32, 0], wait(have >= 16), update(gathered += 1)
dma_copy dst=hbm.f32[rows, 32, 0, 64], src=sbuf.f32[0:32, 1024, 64], wait(gathered >= 16)
""", *(f"{name}=" + case.path(name + ".npy") for name in ("table", "index", "turned", "rows")))
assert done.returncode == 0, done.stderr
same(np.load(case.path("turned.npy")), table.T, "dma_transpose")
wanted = (table[index[:, 0]].astype(np.uint32) << 16).view(f32)
wanted[np.isnan(wanted)] = np.array([0x7FC00000], np.uint32).view(f32)[0]
same(np.load(case.path("rows.npy")), wanted, "dma_gather")


def tensor(code, psum, inputs, outputs):
    """Instructions of the tensor engine, then a copy of psum's first bank."""
    dtype, p, n = outputs[0]
    text, arguments = case.program(
        "vector", f"copy dst=sbuf.{dtype}[0:{p}, 0x10000, {n}], src=psum.{psum}[0:{p}, 0, {n}], "
        "wait(summed >= 1)", inputs, outputs, ".semaphore summed\n"
        ".queue tensor\n" + f"nop wait(ready >= {16 * len(inputs)})\n" + code +
        "\nnop update(summed += 1)\n")
    done = case.raw(text, *arguments)
    assert done.returncode == 0, done.stderr
    return np.load(case.path("out0.npy"))


def chain(w, x, before=None):
    """The sums of a matmul; products of bf16 and f8 are exact in f32."""
    t = np.zeros((w.shape[1], x.shape[1]), f32)
    for k in range(w.shape[0]):
        t = t + w[k][:, None] * x[k][None, :]
    return t if before is None else before + t


w = (rng.standard_normal((128, 40)) * 2.0 ** rng.integers(-9, 9, (128, 40))).astype(ml_dtypes.bfloat16)
x = (rng.standard_normal((128, 100)) * 2.0 ** rng.integers(-9, 9, (128, 100))).astype(ml_dtypes.bfloat16)
inputs = [("bf16", w.view(np.uint16)), ("bf16", x.view(np.uint16))]
out = tensor("load_weights weights=sbuf.bf16[0:64, 0, 40]\n"
             "matmul dst=psum.f32[0:40, 0, 100], moving=sbuf.bf16[0:64, 0x2000, 100], start\n"
             "load_weights weights=sbuf.bf16[64:128, 0, 40]\n"
             "matmul dst=psum.f32[0:40, 0, 100], moving=sbuf.bf16[64:128, 0x2000, 100], stop",
             "f32", inputs, [("f32", 40, 100)])
wf, xf = w.astype(f32), x.astype(f32)
same(out, chain(wf[64:], xf[64:], chain(wf[:64], xf[:64])), "matmul rounds as it says")

out = tensor("load_weights weights=sbuf.bf16[0:128, 0, 40], for_transpose\n"
             "transpose dst=psum.bf16[0:40, 0, 128]", "bf16", inputs[:1], [("bf16", 40, 128)])
same(out, w.view(np.uint16).T, "transpose")

case.machine = "trn2"
e = rng.standard_normal((128, 64)).astype(ml_dtypes.float8_e4m3)
out = tensor("load_weights weights=sbuf.f8e4m3[0:128, 0, 2, 16], double_row\n"
             "matmul dst=psum.f32[0:16, 0, 32], moving=sbuf.f8e4m3[0:128, 0, 2, 32], start, stop, double_row",
             "f32", [("f8e4m3", e.view(np.uint8))], [("f32", 16, 32)])
ef = e.astype(f32)
same(out, chain(np.concatenate([ef[:, :16], ef[:, 16:32]]), np.concatenate([ef[:, :32], ef[:, 32:]])),
     "double row")

# f32: `low` costs time only, `high` does the whole product; whole numbers stay exact.
y = rng.integers(-99, 100, (64, 24)).astype(f32)
out = tensor("load_weights weights=sbuf.f32[0:64, 0, 24], pass=low\n"
             "matmul dst=psum.f32[0:24, 0, 24], moving=sbuf.f32[0:64, 0, 24], pass=low, start\n"
             "load_weights weights=sbuf.f32[0:64, 0, 24], pass=high\n"
             "matmul dst=psum.f32[0:24, 0, 24], moving=sbuf.f32[0:64, 0, 24], pass=high, start, stop",
             "f32", [("f32", y)], [("f32", 24, 24)])
same(out, y.T @ y, "passes of f32")
