# Tensors by DLPack, versioned and not: shapes, strides, offsets; read-only ones and other
# devices are refused; every tensor is given back once.
#
# REQUIRES: python-package
# RUN: env PYTHONPATH=%build/python %python %s

import ctypes

import facet
import numpy as np

add = facet.compile("kernel add(a: bf16[M, N], b: f32[N]) -> y: f32[M, N] { y[m, n] = f32(a[m, n]) + b[n] }",
                    target="reference")

api = ctypes.pythonapi
api.PyCapsule_New.restype = ctypes.py_object
api.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
api.PyCapsule_GetName.restype = ctypes.c_char_p
api.PyCapsule_GetName.argtypes = [ctypes.c_void_p]
api.PyCapsule_GetPointer.restype = ctypes.c_void_p
api.PyCapsule_GetPointer.argtypes = [ctypes.c_void_p, ctypes.c_char_p]


class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device", ctypes.c_int32), ("device_id", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.c_void_p), ("strides", ctypes.c_void_p), ("offset", ctypes.c_uint64)]


class Old(ctypes.Structure):
    _fields_ = [("tensor", Tensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


class New(ctypes.Structure):
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("context", ctypes.c_void_p),
                ("deleter", ctypes.c_void_p), ("flags", ctypes.c_uint64), ("tensor", Tensor)]


given_back = 0


@ctypes.CFUNCTYPE(None, ctypes.c_void_p)
def destroy(capsule):
    global given_back
    assert api.PyCapsule_GetName(capsule) in (b"dltensor", b"dltensor_versioned")
    given_back += 1


class Producer:
    """Hands out `array` as `code`, in the way of a library that knows max_version or not."""

    def __init__(self, array, code, versioned, dense=False, **fields):
        self.array, self.versioned, self.dense = array, versioned, dense
        self.fields = dict(device=1, code=code, bits=8 * array.itemsize, lanes=1, **fields)

    def __dlpack__(self, **arguments):
        if not self.versioned and "max_version" in arguments:
            raise TypeError("__dlpack__() got an unexpected keyword argument 'max_version'")
        array = self.array
        # The pointer begins before the array: the offset leads to it.
        self.shape = (ctypes.c_int64 * array.ndim)(*array.shape)
        self.strides = (ctypes.c_int64 * array.ndim)(*[stride // array.itemsize for stride in array.strides])
        tensor = Tensor(array.ctypes.data - 64, self.fields["device"], 0, array.ndim, self.fields["code"],
                        self.fields["bits"], self.fields["lanes"], ctypes.addressof(self.shape),
                        None if self.dense else ctypes.addressof(self.strides), 64)
        if self.versioned:
            self.managed = New(self.fields.get("major", 1), 0, None, None, self.fields.get("flags", 0), tensor)
        else:
            self.managed = Old(tensor, None, None)
        name = b"dltensor_versioned" if self.versioned else b"dltensor"
        return api.PyCapsule_New(ctypes.addressof(self.managed), name, ctypes.cast(destroy, ctypes.c_void_p))

    def __dlpack_device__(self):
        return 1, 0


def refused(wanted, *args, **kwargs):
    try:
        add(*args, **kwargs)
    except TypeError as caught:
        assert wanted in str(caught), str(caught)
        return
    raise AssertionError(f"not refused: {wanted}")


# bfloat16 as the upper halves of f32.
values = np.arange(32, dtype=np.float32).reshape(4, 8)
halves = (values.view(np.uint32) >> 16).astype(np.uint16)
b = np.arange(3, dtype=np.float32)
calls = 0
for versioned in (False, True):
    for rows in (slice(None), slice(None, None, 2)):
        a = Producer(halves[rows, 2:5], 4, versioned)
        for out in (np.zeros_like(values[rows, :3]), None):
            calls += 1
            if out is None:
                y = add(a, Producer(b, 2, versioned))
            else:
                y = add(a, Producer(b, 2, versioned), out=Producer(out, 2, versioned)).array
                calls += 1
            assert (y == values[rows, 2:5] + b).all(), y
    assert (add(Producer(halves, 4, versioned, dense=True), values[0]) == values + values[0]).all()
assert given_back == 2 * (2 * (2 + 3) + 1), given_back

before = given_back
a, x, c = Producer(halves, 4, True), values[0], np.zeros_like(values)
refused("add: 'a' is bf16[M, N], not a tensor of DLPack type 2 with 16 bits", Producer(halves, 2, True), x)
cuda = Producer(halves, 4, True)
cuda.fields["device"] = 2
refused("add: 'a' is bf16[M, N], not a tensor on a device of DLPack's kind 2; kernels run in the CPU's memory", cuda, x)
refused("add: 'a' is bf16[M, N], not a tensor of a later DLPack", Producer(halves, 4, True, major=2), x)
refused("add: 'y' is f32[M, N], which the kernel writes; this tensor is read-only", a, x, out=Producer(c, 2, True, flags=1))
assert (add(Producer(halves, 4, True, flags=1), x) == values + x).all()
assert given_back == before + 6, given_back - before


class Broken:
    def __dlpack__(self, **_):
        raise BufferError("cannot export a tensor that requires a gradient")


try:
    add(Broken(), x)
    raise AssertionError("not refused")
except BufferError as error:
    assert "gradient" in str(error)
