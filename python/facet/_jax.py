"""A kernel as a function of JAX, for use under jax.jit.

XLA calls a handler in C++, which turns its buffers into DLTensors:

    kernel.o + handler.cpp + JAX's own headers ─ c++ ─▶ linear.so ─▶ jax.ffi.ffi_call

JAX's headers belong to the JAX that is installed, so the handler is compiled there and then.
"""

from __future__ import annotations

import ctypes
import os
import pathlib
import subprocess
import tempfile
from typing import Any

import jax
import jax.numpy as jnp

_HERE = pathlib.Path(__file__).resolve().parent

_HANDLER = r"""
#include <facet/runtime.h>
#include <vector>
#include "xla/ffi/api/ffi.h"

namespace ffi = xla::ffi;

extern "C" int NAME_dl(const facet_dltensor *const *in, facet_dltensor *const *out, const facet_exec *exec);

template <typename Buffer>
static facet_dltensor tensorOf(Buffer buffer) {
  struct { ffi::DataType type; uint8_t code, bits; } types[] = {
      {ffi::DataType::PRED, 6, 8}, {ffi::DataType::S8, 0, 8}, {ffi::DataType::S16, 0, 16},
      {ffi::DataType::S32, 0, 32}, {ffi::DataType::S64, 0, 64}, {ffi::DataType::U8, 1, 8},
      {ffi::DataType::F16, 2, 16}, {ffi::DataType::F32, 2, 32}, {ffi::DataType::F64, 2, 64},
      {ffi::DataType::BF16, 4, 16}, {ffi::DataType::F8E4M3, 8, 8}, {ffi::DataType::F8E4M3FN, 10, 8},
      {ffi::DataType::F8E5M2, 12, 8}};
  facet_dltensor tensor = {};
  tensor.data = buffer.untyped_data();
  tensor.device.device_type = 1;
  tensor.ndim = int32_t(buffer.dimensions().size());
  tensor.shape = const_cast<int64_t *>(buffer.dimensions().begin());
  tensor.dtype.lanes = 1;
  for (auto known : types)
    if (known.type == buffer.element_type()) {
      tensor.dtype.code = known.code;
      tensor.dtype.bits = known.bits;
    }
  return tensor; // of no bits when the type is none of a kernel, which then refuses it
}

static ffi::Error call(ffi::RemainingArgs args, ffi::RemainingRets results) {
  std::vector<facet_dltensor> tensors;
  for (size_t i = 0; i < args.size(); ++i)
    tensors.push_back(tensorOf(args.get<ffi::AnyBuffer>(i).value()));
  for (size_t i = 0; i < results.size(); ++i)
    tensors.push_back(tensorOf(*results.get<ffi::AnyBuffer>(i).value()));
  std::vector<facet_dltensor *> pointers;
  for (facet_dltensor &tensor : tensors)
    pointers.push_back(&tensor);
  int code = NAME_dl(pointers.data(), pointers.data() + args.size(), facet_default_exec());
  if (code == FACET_OK)
    return ffi::Error::Success();
  char text[400];
  facet_describe_error(facet_last_error(), text, sizeof text);
  return ffi::Error(ffi::ErrorCode::kInvalidArgument, text);
}

XLA_FFI_DEFINE_HANDLER_SYMBOL(facet_handler, call, ffi::Ffi::Bind().RemainingArgs().RemainingRets());
"""


def _build(kernel: Any, folder: pathlib.Path) -> pathlib.Path:
    """The library with kernel and handler."""
    name = kernel.info.name
    runtime = next(iter(sorted(_HERE.glob("lib*/**/libfacet-runtime.so.*"))), None)
    if runtime is None:
        raise FileNotFoundError("this package was built without libfacet-runtime")
    source, code, library = folder / f"{name}.cpp", folder / f"{name}.o", folder / f"{name}.so"
    source.write_text(_HANDLER.replace("NAME", name), encoding="utf-8")
    code.write_bytes(kernel.emit("obj"))
    command = [os.environ.get("CXX", "c++"), "-std=c++17", "-O1", "-fPIC", "-shared", f"-I{_HERE / 'include'}",
               "-isystem", jax.ffi.include_dir(), str(source), str(code), str(runtime), "-o", str(library)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{name}: the handler for JAX could not be compiled by {command[0]}:\n{done.stderr}")
    return library


def function(kernel: Any, folder: Any) -> Any:
    """See `Kernel.jax_function`."""
    info = kernel.info
    inputs = [argument for argument in info.arguments if argument.mode != "out"]
    results = [argument for argument in info.arguments if argument.mode == "out"]
    for argument in info.arguments:
        if argument.mode == "inout":
            raise TypeError(f"{info.name}: '{argument.name}' changes in place, which arrays of JAX do not")
        if argument.type in ("i4", "u4"):
            raise TypeError(f"{info.name}: '{argument.name}' is {argument.type}, whose elements JAX keeps otherwise")
    names = {"bool": "bool_", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "u8": "uint8",
             "f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64"}
    types = {argument.type: jnp.dtype(getattr(jnp, names.get(argument.type, argument.type.replace("f8", "float8_"))))
             for argument in info.arguments}
    if folder is None:
        with tempfile.TemporaryDirectory() as made:
            library = ctypes.CDLL(str(_build(kernel, pathlib.Path(made))))
    else:
        library = ctypes.CDLL(str(_build(kernel, pathlib.Path(folder).resolve())))
    target = f"facet_{info.name}_{id(library):x}"
    jax.ffi.register_ffi_target(target, jax.ffi.pycapsule(library.facet_handler), platform="cpu")

    def call(*values: Any, **sizes: int) -> Any:
        if len(values) != len(inputs):
            raise TypeError(f"{info.name}: takes {len(inputs)} arguments, {len(values)} are given")
        arrays = []
        for argument, value in zip(inputs, values):
            array = jnp.asarray(value, None if argument.axes else types[argument.type])
            if array.dtype != types[argument.type] or array.ndim != len(argument.axes):
                raise TypeError(f"{info.name}: '{argument.name}' is {argument.type}[{', '.join(argument.axes)}], "
                                f"not an array of {array.dtype} with shape {array.shape}")
            arrays.append(array)
        shapes = kernel.result_shapes(*(array.shape for array in arrays), **sizes)
        kinds = [jax.ShapeDtypeStruct(shape, types[result.type]) for result, shape in zip(results, shapes)]
        answer = jax.ffi.ffi_call(target, kinds, vmap_method="sequential")(*arrays)
        return answer[0] if len(answer) == 1 else tuple(answer)

    call.__name__ = info.name
    call.__doc__ = info.documentation or str(info)
    call.library = library  # stays loaded as long as the function
    return call
