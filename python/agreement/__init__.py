# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The meaning of the example kernels in NumPy, and compiled kernels against it.

    bounded.py     arrays whose elements carry a value and an error bound
    kernels/       what each kernel means and which data it is tried on
    registry.py    how those two are written down
    call.py        calls a compiled kernel through its C interface, with guards
    checks.py      what is tried on every kernel; longer.py: at random, for long
    compare.py     whether a result is one of the right ones
    selftest.py    whether compare.py would notice

Nothing here knows the compiler. `python -m agreement --help` runs it.
"""
