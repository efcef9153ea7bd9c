"""What is aimed at, as shares of the multiply-add peak unless said otherwise.

The figures are those of the best of twelve library builds on a CPU with full-width AVX-512 (Zen 5), or a little
above: a composite that no single library is. On another CPU they are a yardstick, not a promise.
"""

import re


def bar(group, case, packed):
    """The bar of a case, or None where it is not a share of the peak (see `relative`)."""
    kind, shape = case.split(":")[:2]
    m, n, k = (int(size) for size in shape.split("x"))
    if group == "tiny":
        return 0.82 if m == 16 else 0.97
    if group == "cache":
        return 0.98 if packed and m >= 384 else 0.97
    if group == "large":
        return 0.96 if packed else 0.95
    if group == "odd":
        if m == 1021:
            return 0.95 if packed else 0.93
        return {17: 0.55, 33: 0.90}.get(m, 0.96)
    if group == "prefill":
        return {32: 0.85, 128: 0.90, 512: 0.94}[m]
    if group == "narrow":
        return 0.93
    if group == "vit":
        return 0.97 if packed else 0.96
    if group == "f64":
        return 0.97 if m <= 256 else 0.95
    if group in ("bf16", "u8s8"):
        if m <= 16:
            return None
        if n == 11008 or k in (4096, 11008):
            return 0.90 if packed else {"bf16": 0.85, "u8s8": 0.86}[group]
        return 0.97 if packed else 0.95
    if group == "batch1000":
        return {16: 0.75, 32: 0.94, 64: 0.84}[m]
    if group == "attention" and kind == "f32":
        return 0.60 if k == 64 else 0.70
    return None


ELEMENT = {"f32": 4, "f64": 8, "bf16": 2, "u8s8": 1}


def few_rows(case):
    """(rows, bytes of the weights read per operation, share of the packed speed that the plain call must keep) of a
    case with so few rows that memory is its bound; None for others."""
    kind, shape = case.split(":")[:2]
    m, n, k = (int(size) for size in shape.split("x"))
    if m > 16 or n * k < 4096 * 4096 or case.count(":") > 1:
        return None
    return m, ELEMENT[kind] / (2 * m), 0.90 if kind == "f32" else 0.85


BANDWIDTH = 0.95  # of what reading memory gives, for one and four packed rows of f32


def relative(group, case):
    """(the case it is measured against, the share of its speed that must be kept): fused ones against the bare
    matmul, attention in bf16 against f32."""
    if group == "attention" and case.startswith("bf16"):
        return case.replace("bf16", "f32"), 1.3
    if group != "fused" or case.count(":") < 2:
        return None
    kind, shape, epilogue = case.split(":")
    loss = {"f32": (0.02, 0.05), "bf16": (0.03, 0.08)}[kind][epilogue != "bias_relu"]
    return re.sub(r":\w+$", "", case), 1 - loss
