# A kernel on a simulated matrix engine gives the results of the call and a report; explain says
# how a kernel is computed; what is refused says why.
#
# REQUIRES: python-package
# RUN: env PYTHONPATH=%build/python %python %s

import facet
import ml_dtypes
import numpy as np


def refused(error, wanted, function, *args, **kwargs):
    try:
        function(*args, **kwargs)
    except error as caught:
        assert wanted in str(caught), (wanted, str(caught))
        return
    raise AssertionError(f"not refused: {wanted}")


linear = facet.compile("""
  kernel linear(x: bf16[M, K], w: bf16[K, N], b: f32[N]) -> y: f32[M, N] {
    y[m, n] = relu(sum[k](x[m, k] * w[k, n]) + b[n])
  }""", target="reference")
random = np.random.default_rng(1)
x = random.integers(-4, 5, (70, 96)).astype(ml_dtypes.bfloat16)
w = random.integers(-4, 5, (96, 130)).astype(ml_dtypes.bfloat16)
b = random.integers(-9, 9, 130).astype(np.float32)

# Small whole numbers: both roads are exact.
y, report = facet.simulate(linear, x, w, b)
assert (y == np.maximum(x.astype(np.float32) @ w.astype(np.float32) + b, 0)).all() and (y == linear(x, w, b)).all()
assert report["machine"] == "trn2" and report["sizes"] == {"M": 70, "K": 96, "N": 130}, report.values
assert report["findings"] == [] and 0 < report.seconds < 1e-3 and report["time_ns"] >= report["bound_ns"]
assert repr(report).startswith("<facet.Report linear on trn2: ") and "critical path" in str(report)
assert "matmul" in report.asm() and "<html" in report.html() and len(report.trace()) > 100
assert "<iframe srcdoc" in report._repr_html_() and "<html" not in report._repr_html_()

# Into the caller's memory, with strides that a program on this machine would refuse.
out = np.zeros((130, 70), np.float32)
assert facet.simulate(linear, x, w, b, out=out.T, target="trn1")[0].base is out and (out.T == y).all()
assert facet.simulate(linear, x[::-1], w, b=b)[0].tobytes() == y[::-1].tobytes()

scale = facet.compile("kernel scale(s: f32, c: inout f32[N]) { c[n] = s * c[n] }", target="reference")
c = np.arange(10, dtype=np.float32)
answer, _ = facet.simulate(scale, 3, c[::3])
assert answer is None and c.tolist() == [0, 1, 2, 9, 4, 5, 18, 7, 8, 27]
count = facet.compile("kernel count(has: bool, b: f32[N]) -> y: f32[N] { y[n] = where(has, b[n], 1) }", target="reference")
assert facet.simulate(count, False, np.ones(4, np.float32), N=4)[0].tolist() == [1] * 4

refused(facet.CompileError, "size K is 96", facet.simulate, linear, x, w[:9], b, out=np.zeros((70, 130), np.float32))
refused(TypeError, "linear: 'b' is f32[N], not an array of float64", facet.simulate, linear, x, w, b.astype(np.float64))
refused(facet.CompileError, "is no matrix engine", facet.simulate, linear, x, w, b, target="x86-64-v3")
f64 = facet.compile("kernel f(a: f64[N]) -> y: f64[N] { y[n] = 2.0 * a[n] }", target="reference")
refused(facet.CompileError, "f64", facet.simulate, f64, np.ones(4))

# Plans.
assert "kernel 'linear' by the reference road" in linear.explain(), linear.explain()
assert "trn2" in linear.explain(target="trn2", M=512, K=512, N=512)
plan = linear.explain("json", target="trn2", M=512, K=512, N=512)
assert plan["kernel"] == "linear" and plan["target"] == "trn2", plan
fixed = linear.explain("schedule", target="x86-64-v3", M=64, K=64, N=64)
again = facet.compile(linear._text.text + fixed, target="x86-64-v3", M=64, K=64, N=64)
assert again.explain("schedule") == fixed, (fixed, again.explain("schedule"))
refused(facet.CompileError, "not as 'yaml'", linear.explain, "yaml")
refused(facet.CompileError, "there is no target", linear.explain, target="none")
