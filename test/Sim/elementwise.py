# Each instruction of vector, scalar and gpsimd against NumPy, to the bit; activate inside
# its bounds against f64.
# RUN: mkdir -p %t && env PYTHONPATH=%S/Inputs %python %s %facet-sim %t

import math
import sys

import numpy as np
from simulate import Case, same

case = Case(*sys.argv[1:])
np.seterr(all="ignore")
rng = np.random.default_rng(3)
P, N = 32, 64
f32 = np.float32
NAN = np.array([0x7FC00000], np.uint32).view(f32)[0]


def canonical(x):
    x = np.array(x, f32)
    x[np.isnan(x)] = NAN
    return x


def floats():
    x = (rng.standard_normal((P, N)) * 10.0 ** rng.integers(-3, 4, (P, N))).astype(f32)
    x[0, :12] = [0.0, -0.0, np.inf, -np.inf, NAN, 1e-40, -1e-40, 3e38, -3e38, 0.5, 1.5, -2.5]
    x[1, :12] = x[0, :12][::-1]
    return x


a, b = floats(), floats()
b[2:4] = a[2:4]  # comparisons that hold
b[0, :2] = [-0.0, 0.0]
ints = rng.integers(-2**31, 2**31, (2, P, N), dtype=np.int64).astype(np.int32)
ia, ib = ints
ib[:8] = rng.integers(-3, 40, (8, N))  # shifts, small divisors, zero
ia[0, :4], ib[0, :4] = [-2**31, -2**31, 7, -7], [-1, 0, -2, 2]


def slots(count):
    return [f"sbuf.{{}}[0:{P}, {0x10000 + 4 * N * k}, {N}]" for k in range(count)]


def table(engine, dtype, rows, inputs, instruction):
    """One program of an instruction per row; rows: operation -> expected array."""
    code = [instruction.format(dst=dst.format(dtype), op=op)
            for dst, op in zip(slots(len(rows)), rows)]
    out, = case.run(engine, "\n".join(code), inputs, [(dtype, P, N * len(rows))])
    for k, (op, wanted) in enumerate(rows.items()):
        same(out[:, N * k:N * (k + 1)], wanted, (engine, op))


def ordered(x, y, greater):
    """max or min with -0 < +0 and NaN when either is."""
    r = np.where((x > y) == greater, x, y)
    equal = x == y
    r = np.where(equal, np.where(np.signbit(x) != greater, x, y), r)
    return canonical(np.where(np.isnan(x) | np.isnan(y), NAN, r))


one = f32(1)
A, B = f"sbuf.f32[0:{P}, 0, {N}]", f"sbuf.f32[0:{P}, 0x2000, {N}]"
table("vector", "f32", {
    "add": canonical(a + b), "sub": canonical(a - b), "mul": canonical(a * b),
    "max": ordered(a, b, True), "min": ordered(a, b, False),
    "abs_max": ordered(abs(a), abs(b), True), "abs_min": ordered(abs(a), abs(b), False),
    "eq": f32(a == b), "ne": f32(a != b), "lt": f32(a < b), "le": f32(a <= b),
    "gt": f32(a > b), "ge": f32(a >= b), "land": f32((a != 0) & (b != 0)),
    "lor": f32((a != 0) | (b != 0)), "bypass": canonical(a)},
    [("f32", a), ("f32", b)], f"tensor_tensor dst={{dst}}, a={A}, b={B}, op={{op}}")

relu = np.where(np.isnan(a), NAN, np.where(a > 0, a, f32(0)))
table("gpsimd", "f32", {
    "abs": canonical(abs(a)), "neg": canonical(-a), "square": canonical(a * a), "relu": relu,
    "reciprocal": canonical(one / a), "sqrt": canonical(np.sqrt(a)),
    "rsqrt": canonical(one / np.sqrt(a)), "lnot": f32(a == 0), "round": canonical(np.rint(a)),
    "floor": canonical(np.floor(a)), "ceil": canonical(np.ceil(a)),
    "sign": canonical(np.where((a == 0) | np.isnan(a), a, np.sign(a)))},
    [("f32", a)], f"tensor_scalar dst={{dst}}, src={A}, op0={{op}}")

I, J = A.replace("f32", "i32"), B.replace("f32", "i32")
wide, other = ia.astype(np.int64), ib.astype(np.int64)
inside = (other >= 0) & (other < 32)
shift = np.where(inside, other, 0)
divisor = np.where(other == 0, 1, other)


def wrap(x):
    return np.asarray(x, np.int64).astype(np.uint64).astype(np.uint32).view(np.int32)


integer = {
    "add": wide + other, "sub": wide - other, "mul": ia.astype(np.int64) * other,
    "max": np.maximum(wide, other), "min": np.minimum(wide, other),
    "and": wide & other, "or": wide | other, "xor": wide ^ other,
    "shl": np.where(inside, wide << shift, 0),
    "shr": np.where(inside, (wide & 0xFFFFFFFF) >> shift, 0),
    "sar": wide >> np.clip(other, 0, 31), "eq": wide == other, "lt": wide < other,
    "floordiv": np.where(other == 0, 0, wide // divisor),
    "floormod": np.where(other == 0, 0, wide % divisor),
    "not": ~wide, "neg": -wide, "abs": wrap(abs(wide)), "square": wrap(wide) * 1 * wide}
table("gpsimd", "i32", {op: wrap(value) for op, value in integer.items()},
      [("i32", ia), ("i32", ib)], f"tensor_tensor dst={{dst}}, a={I}, b={J}, op={{op}}")

# tensor_scalar: operands and immediates, reversed, with a running maximum.
s = rng.standard_normal((P, 1)).astype(f32)
x = rng.standard_normal((P, N)).astype(f32)
D, S = f"sbuf.f32[0:{P}, 0x10000, {N}]", f"sbuf.f32[0:{P}, 0x2000]"
ACC = f"sbuf.f32[0:{P}, 0x14000]"
out, acc = case.run(
    "vector", f"tensor_scalar dst={D}, src={A}, s0={S}, acc={ACC}, op0=sub, op1=mul, acc_op=max, "
    "imm1=3.0, reverse0", [("f32", x), ("f32", s)], [("f32", P, N), ("f32", P, 1)])
wanted = (s - x) * f32(3)
same(out, wanted, "tensor_scalar")
same(acc, wanted.max(axis=1, keepdims=True), "acc max")

# scalar_tensor_tensor: reversed second operation, a running sum in order, carried.
out, acc = case.run(
    "gpsimd", f"tensor_scalar dst={ACC}, src={S}, op0=bypass\n"
    f"scalar_tensor_tensor dst={D}, src={A}, b=sbuf.f32[0:{P}, 0x4000, {N}], acc={ACC}, op0=mul, "
    "op1=sub, acc_op=add, imm0=0.1, reverse1, carry",
    [("f32", x), ("f32", s), ("f32", x[::-1].copy())], [("f32", P, N), ("f32", P, 1)])
wanted = x[::-1] - x * f32(0.1)
total = s[:, 0]
for column in wanted.T:
    total = total + column
same(out, wanted, "scalar_tensor_tensor")
same(acc, total, "acc add")

# reduce: two inner dimensions of three, strided, in order.
out, = case.run("vector", f"reduce dst=sbuf.f32[0:{P}, 0x10000, 4], "
                f"src=sbuf.f32[0:{P}, 0, 4@4, 2@32, 4@1], op=add, axes=2",
                [("f32", x)], [("f32", P, 4)])
total = np.zeros((P, 4), f32)
for i in range(4):
    parts = [x[:, 4 * i + 32 * j + e] for j in range(2) for e in range(4)]
    total[:, i] = parts[0]
    for part in parts[1:]:
        total[:, i] = total[:, i] + part
same(out, total, "reduce")

# copy and fill: bits are kept between same types, else the rules of conversion.
odd = ia.view(f32).copy()
odd.view(np.uint32)[0, 0] = 0x7F812345  # a NaN with a payload
out, = case.run("scalar", f"copy dst={D}, src={A}", [("f32", odd)], [("f32", P, N)])
same(out, odd, "copy keeps bits")
out, = case.run("vector", f"copy dst=sbuf.i8[0:{P}, 0x10000, {N}], src={A}", [("f32", a)],
                [("i8", P, N)])
same(out, np.clip(np.nan_to_num(np.rint(a)), -128, 127).astype(np.int8), "f32 to i8")
out, = case.run("gpsimd", f"copy dst=sbuf.i16[0:{P}, 0x10000, {N}], src={I}", [("i32", ia)],
                [("i16", P, N)])
same(out, ia.astype(np.int16), "i32 to i16 on gpsimd wraps")
out, = case.run("vector", f"copy dst=sbuf.i32[0:{P}, 0x10000, {N}], "
                f"src=sbuf.i32[0:{P}, 0, {N}]\n"
                f"tensor_scalar dst=sbuf.i32[0:{P}, 0x10000, {N}], src={I}, op0=add, imm0=0.0",
                [("i32", ia)], [("i32", P, N)])
through = np.clip(ia.astype(f32).astype(np.float64), -2**31, 2**31 - 1).astype(np.int32)
same(out, through, "vector counts in f32")
out, = case.run("vector", f"fill dst=sbuf.f16[0:{P}, 0x10000, {N}], value=0.1", [],
                [("f16", P, N)])
same(out, np.full((P, N), 0.1, np.float16), "fill")

# select, affine_select, iota.
mask = rng.integers(0, 2, (P, N)).astype(np.uint8)
out, = case.run("vector", f"select dst={D}, mask=sbuf.u8[0:{P}, 0, {N}], a={B}, imm0=-1.0",
                [("u8", mask), ("f32", x)], [("f32", P, N)])
same(out, np.where(mask, x, f32(-1)), "select")
p, n = np.mgrid[:P, :N]
out, = case.run("gpsimd", f"affine_select dst={D}, src={A}, index=index.i32[{P}@1, 3, {N}@-1], "
                "cmp=gt, imm0=-9.5", [("f32", x)], [("f32", P, N)])
same(out, np.where(3 + p - n > 0, x, f32(-9.5)), "affine_select")
out, = case.run("gpsimd", f"iota dst=sbuf.i32[0:{P}, 0x10000, {N}], "
                f"index=index.i32[{P}@100, -7, {N}@2]", [], [("i32", P, N)])
same(out, (-7 + 100 * p + 2 * n).astype(np.int32), "iota")

# block_transpose; the tensor engine's is in transfers.py.
out, = case.run("vector", f"block_transpose dst={D}, src={A}", [("f32", odd)], [("f32", P, N)])
same(out, np.concatenate([odd[:, :32].T, odd[:, 32:].T], axis=1), "block_transpose")

# activate: scale, bias and each function, in units in the last place of f32.
exact = {
    "exp": math.exp, "tanh": math.tanh, "erf": math.erf, "sigmoid": lambda v: 1 / (1 + math.exp(-v)),
    "gelu": lambda v: v * math.erfc(-v / math.sqrt(2)) / 2,
    "gelu_tanh": lambda v: v / (1 + math.exp(-2 * math.sqrt(2 / math.pi) * (v + 0.044715 * v**3))),
    "silu": lambda v: v / (1 + math.exp(-v)), "log": lambda v: math.log(abs(v)),
    "sqrt": lambda v: math.sqrt(abs(v)), "rsqrt": lambda v: 1 / math.sqrt(abs(v)),
    "reciprocal": lambda v: 1 / v, "relu": lambda v: max(v, 0.0), "abs": abs,
    "square": lambda v: v * v, "sign": lambda v: math.copysign(1, v), "identity": lambda v: v}
small = rng.uniform(-6, 6, (P, N)).astype(f32)
positive = {"log", "sqrt", "rsqrt"}
for sign in (False, True):
    names = [name for name in exact if (name in positive) == sign]
    source = abs(small) if sign else small
    code = [f"activate dst={dst.format('f32')}, src={A}, func={name}, imm_scale=0.5, imm_bias=0.25"
            for dst, name in zip(slots(len(names)), names)]
    out, = case.run("scalar", "\n".join(code), [("f32", source)], [("f32", P, N * len(names))])
    argument = (source.astype(np.float64) * 0.5 + 0.25).astype(f32)
    for k, name in enumerate(names):
        found = out[:, N * k:N * (k + 1)].astype(np.float64)
        wanted = np.vectorize(lambda v, f=exact[name]: f(float(v)), otypes=[float])(argument)
        bound = 2 * np.spacing(np.abs(wanted).astype(f32)).astype(np.float64)
        if name in ("gelu", "gelu_tanh", "silu"):
            bound += 2.0**-23 * np.abs(argument)
        assert (np.abs(found - wanted) <= bound).all(), name
edges = np.zeros((P, 8), f32)
edges[:] = [-np.inf, np.inf, NAN, 0.0, -0.0, -1.0, -200.0, 200.0]
names = ["exp", "log", "sigmoid", "gelu", "gelu_tanh", "silu", "rsqrt"]
code = [f"activate dst=sbuf.f32[0:{P}, {0x10000 + 32 * k}, 8], src=sbuf.f32[0:{P}, 0, 8], func={name}"
        for k, name in enumerate(names)]
out, = case.run("scalar", "\n".join(code), [("f32", edges)], [("f32", P, 8 * len(names))])
limits = np.array([
    [0, np.inf, NAN, 1, 1, math.exp(-1), 0, np.inf],
    [NAN, np.inf, NAN, -np.inf, -np.inf, NAN, NAN, math.log(200)],
    [0, 1, NAN, 0.5, 0.5, 1 / (1 + math.e), 0, 1]], f32)
assert np.array_equal(out[0, :24].reshape(3, 8)[:, :6], limits[:, :6], equal_nan=True)
for k in range(3, 6):
    row = out[0, 8 * k:8 * k + 8]
    assert np.isnan(row[0]) and row[1] == np.inf and np.isnan(row[2]) and row[3] == 0
    assert abs(row[6]) < 1e-30 and row[7] == 200
assert np.array_equal(out[0, 48:54], f32([NAN, 0, NAN, np.inf, -np.inf, NAN]), equal_nan=True)
