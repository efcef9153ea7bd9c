# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The element types: how NumPy holds them and how memory does.

u4 and i4 are one element per byte in NumPy (uint8, int8) and two per byte in
memory, the first in the low nibble; everything else is the same in both.
"""

import ctypes

import ml_dtypes
import numpy as np

TYPES = {
    "f64": np.float64, "f32": np.float32, "i64": np.int64, "i32": np.int32, "bool": np.bool_,
    "f16": np.float16, "bf16": ml_dtypes.bfloat16,
    "f8e4m3": ml_dtypes.float8_e4m3, "f8e4m3fn": ml_dtypes.float8_e4m3fn,
    "f8e5m2": ml_dtypes.float8_e5m2,
    "i16": np.int16, "i8": np.int8, "u8": np.uint8, "i4": np.int8, "u4": np.uint8,
}
FLOATS = {t for t in TYPES if t[0] == "f" or t == "bf16"}
SCALARS = {"f64": ctypes.c_double, "f32": ctypes.c_float, "i64": ctypes.c_int64,
           "i32": ctypes.c_int32, "bool": ctypes.c_bool}


def bits(element):
    return 4 if element in ("u4", "i4") else 8 * np.dtype(TYPES[element]).itemsize


def pack_nibbles(x):
    """[..., 2n] values → [..., n] bytes."""
    x = x.astype(np.uint8) & 15
    return x[..., 0::2] | (x[..., 1::2] << 4)


def unpack_nibbles(x, element):
    low, high = x & 15, x >> 4
    y = np.stack([low, high], axis=-1).reshape(*x.shape[:-1], 2 * x.shape[-1])
    return np.where(y > 7, y.astype(np.int16) - 16, y).astype(np.int8) if element == "i4" else y
