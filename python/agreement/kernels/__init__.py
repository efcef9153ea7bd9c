# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The meaning of every kernel in examples/, by theme."""

from . import attention, digits, gemm, quantised, reductions, transformer  # noqa: F401
