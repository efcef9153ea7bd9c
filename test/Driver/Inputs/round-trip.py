"""round-trip.py FACET: sends arrays of every type through a copying kernel."""
import subprocess
import sys

import ml_dtypes
import numpy as np

facet = sys.argv[1]
rng = np.random.default_rng(7)
TYPES = {
    "bool": np.bool_, "i64": np.int64, "i32": np.int32, "i16": np.int16, "i8": np.int8,
    "u8": np.uint8, "f64": np.float64, "f32": np.float32, "f16": np.float16,
    "bf16": ml_dtypes.bfloat16, "f8e4m3": ml_dtypes.float8_e4m3,
    "f8e4m3fn": ml_dtypes.float8_e4m3fn, "f8e5m2": ml_dtypes.float8_e5m2,
    "i4": ml_dtypes.int4, "u4": ml_dtypes.uint4,
}
WRAP = {"i16", "i8", "u8", "i4", "u4"}  # storage integers need the conversion back

kernels = []
for name in TYPES:
    value = f"{name}(a[m, n])" if name in WRAP else "a[m, n]"
    kernels.append(f"kernel copy_{name}(a: {name}[M, N]) -> y: {name}[M, N] {{ y[m, n] = {value} }}")
with open("copy.facet", "w") as file:
    file.write("\n".join(kernels) + "\n")


def run(name, array, label):
    np.save("in.npy", array)
    done = subprocess.run([facet, "run", "copy.facet", f"--kernel=copy_{name}", "a=in.npy", "y=out.npy"],
                          capture_output=True, text=True)
    assert done.returncode == 0, (name, label, done.stderr)
    return np.load("out.npy")


def pack(array):
    nibbles = array.astype(np.int8).view(np.uint8) & 15
    return nibbles[..., 0::2] | nibbles[..., 1::2] << 4


for name, dtype in TYPES.items():
    values = rng.integers(0, 2 if name == "bool" else 8, (5, 6)).astype(dtype)
    if name[0] in "fb" and name != "bool":
        values[0, 0] = -0.0
    for order in "C", "F":
        out = run(name, np.asarray(values, order=order), order)
        if name in ("i4", "u4"):
            assert out.dtype == np.uint8 and (out == pack(values)).all(), (name, order, out)
            again = run(name, np.asarray(out, order=order), "packed " + order)
            assert (again == out).all(), (name, order)
        else:
            assert (out.view(dtype).view(np.uint8) == np.ascontiguousarray(values).view(np.uint8)).all(), (name, order)
    if np.dtype(dtype).isbuiltin == 1 and np.dtype(dtype).itemsize > 1:
        out = run(name, values.astype(np.dtype(dtype).newbyteorder(">")), "big-endian")
        assert (out == values).all(), name
    empty = run(name, np.zeros((0, 6), dtype), "empty")
    assert empty.shape == ((0, 3) if name in ("i4", "u4") else (0, 6)), empty.shape
