# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What examples/digits/digits.facet means."""

from ..bounded import dot
from ..registry import meaning


@meaning("digits", usual=dict(M=8, K=16, H=12, C=10), primes=dict(M=7, K=13, H=11, C=5))
def digits(x):
    pixels = x.image("mk").real().bf16()
    hidden = (dot("k", pixels, x.w1("kh")) + x.b1("h")).relu().bf16()
    logits = x.result("logits", "mc", dot("h", hidden, x.w2("hc")) + x.b2("c"))
    x.result("digit", "m", logits.best("c"))
