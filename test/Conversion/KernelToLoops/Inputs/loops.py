"""Runs kernels, in the language or as kernel IR, through the reference road, for tests."""

import ctypes
import os
import subprocess
import tempfile

import ml_dtypes
import numpy as np

DTYPES = {
    "f32": np.float32, "f64": np.float64, "i32": np.int32, "i64": np.int64,
    "i1": np.bool_, "i16": np.int16, "i8": np.int8, "ui8": np.uint8,
    "bf16": ml_dtypes.bfloat16, "f16": np.float16,
    "f8E4M3": ml_dtypes.float8_e4m3, "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E5M2": ml_dtypes.float8_e5m2,
}


class Error(ctypes.Structure):
    """facet_error of facet/abi.h."""

    _fields_ = [("code", ctypes.c_int32), ("axis", ctypes.c_int32),
                ("kernel", ctypes.c_char_p), ("argument", ctypes.c_char_p),
                ("found", ctypes.c_int64), ("wanted", ctypes.c_int64)]


def build(text, options=()):
    """The library made of `text`, in the language or as kernel IR."""
    suffix = "mlir" if "kernel.func" in text else "facet"
    with tempfile.TemporaryDirectory() as folder:
        source, obj, lib = (os.path.join(folder, n) for n in ("k." + suffix, "k.o", "k.so"))
        with open(source, "w") as f:
            f.write(text)
        subprocess.run(["facet-kernel-object", source, obj, *options], check=True)
        subprocess.run(["cc", "-shared", "-nostdlib", "-o", lib, obj], check=True)
        undefined = subprocess.run(["nm", "-u", obj], check=True, capture_output=True,
                                   text=True).stdout.split()
        assert set(undefined) <= {"U", "memcpy", "memset", "_GLOBAL_OFFSET_TABLE_"}, undefined
        return ctypes.CDLL(lib)


def memory(array):
    """Pointer and strides of an array; None is NULL, with rank 1."""
    if array is None:
        return [ctypes.c_void_p(None)]
    result = [ctypes.c_void_p(array.ctypes.data)]
    for stride in array.strides[:-1]:
        result.append(ctypes.c_int64(stride // array.itemsize))
    return result


def aligned(size):
    """Workspace of exactly `size` bytes, 64-byte aligned, full of NaN."""
    raw = np.full(size + 128, 0xFF, np.uint8)
    start = -raw.ctypes.data % 64
    return raw, raw[start:start + size]


def call(lib, name, sizes, arrays, error=None, form="impl"):
    """Calls NAME.impl; `arrays` are parameters, then results. Returns its code."""
    sizes = [ctypes.c_int64(s) for s in sizes]
    space = getattr(lib, name + (".workspace" if form == "impl" else ".judge.workspace"))
    space.restype = ctypes.c_int64
    size = space(*sizes)
    assert size >= 0
    keep, workspace = aligned(size)
    arguments = list(sizes)
    for array in arrays:
        arguments += memory(array)
    arguments.append(ctypes.c_void_p(workspace.ctypes.data))
    arguments.append(ctypes.byref(error) if error is not None else ctypes.c_void_p(None))
    code = getattr(lib, f"{name}.{form}")(*arguments)
    edges = np.concatenate([keep[:-keep.ctypes.data % 64], keep[(-keep.ctypes.data % 64) + size:]])
    assert (edges == 0xFF).all(), "wrote outside of the workspace"
    return code
