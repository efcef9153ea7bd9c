"""A kernel as an operator of PyTorch.

    kernel linear(x: f32[M, K], s: f32) -> y: f32[M, N]
    torch.library.custom_op("facet::linear", schema="(Tensor x, float s) -> Tensor")

With the shapes of its results registered beside it, torch.compile and torch.export take it as
they take PyTorch's own.
"""

from __future__ import annotations

from typing import Any

import torch

_SCALARS = {"bool": "bool", "i8": "int", "i16": "int", "i32": "int", "i64": "int", "u8": "int"}


def _dtype(kernel: Any, element: str) -> torch.dtype:
    names = {"bool": "bool", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "u8": "uint8",
             "f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64",
             "f8e4m3fn": "float8_e4m3fn", "f8e5m2": "float8_e5m2"}
    if element not in names:
        raise TypeError(f"{kernel.info.name}: PyTorch has no elements of type {element}")
    return getattr(torch, names[element])


def _rows(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor, or a dense copy where its strides are none that a kernel takes."""
    tensor = tensor.detach()
    if tensor.dim() and (tensor.stride(-1) != 1 or 0 in tensor.stride()):
        return tensor.contiguous()
    return tensor


def operator(kernel: Any, name: str) -> Any:
    """See `Kernel.torch_op`."""
    info = kernel.info
    inputs = [argument for argument in info.arguments if argument.mode != "out"]
    results = [argument for argument in info.arguments if argument.mode == "out"]
    for argument in info.arguments:
        _dtype(kernel, argument.type)
    changed = [argument.name for argument in inputs if argument.mode == "inout"]
    words = []
    for argument in inputs:
        isTensor = argument.axes or argument.name in changed
        alias = f"(a{len(words)}!)" if argument.name in changed else ""
        words.append(f"{'Tensor' + alias if isTensor else _SCALARS.get(argument.type, 'float')} {argument.name}")
    answers = ", ".join("Tensor" for _ in results)
    schema = f"({', '.join(words)}) -> {answers if len(results) == 1 else f'({answers})'}"

    def call(*values: Any) -> Any:
        tensors = [_rows(value) if isinstance(value, torch.Tensor) and argument.mode != "inout" else value
                   for argument, value in zip(inputs, values)]
        out = tuple(torch.empty(shape, dtype=_dtype(kernel, result.type))
                    for result, shape in zip(results, shapes(values)))
        kernel(*tensors, **({"out": out} if out else {}))
        return out[0] if len(out) == 1 else out or None

    def shapes(values: Any) -> Any:
        return kernel.result_shapes(*(tuple(int(extent) for extent in value.shape) if isinstance(value, torch.Tensor)
                                      else () for value in values))

    def fake(*values: Any) -> Any:
        out = tuple(torch.empty(shape, dtype=_dtype(kernel, result.type), device="cpu")
                    for result, shape in zip(results, shapes(values)))
        return out[0] if len(out) == 1 else out or None

    made = torch.library.custom_op(name, call, mutates_args=changed, device_types="cpu", schema=schema)
    made.register_fake(fake)
    return made
