# Texts and files, sizes, several kernels, messages with their places, what a kernel says of
# itself.
#
# REQUIRES: python-package
# RUN: rm -rf %t && mkdir -p %t && cd %t && env PYTHONPATH=%build/python %python %s %examples

import pathlib
import sys
import warnings

import facet
import numpy as np

examples = pathlib.Path(sys.argv[1])
warnings.simplefilter("error")


def refused(error, wanted, function, *args, **kwargs):
    try:
        function(*args, **kwargs)
    except error as caught:
        assert wanted in str(caught), (wanted, str(caught))
        return caught
    raise AssertionError(f"not refused: {wanted}")


# The docstring of the package is true.
linear = facet.compile('''
  kernel linear(x: f32[M, K], w: f32[K, N], b: f32[N]) -> y: f32[M, N] {
    y[m, n] = gelu(sum[k](x[m, k] * w[k, n]) + b[n])
  }''', target="reference")
assert repr(linear) == "<facet.Kernel linear(x: f32[M, K], w: f32[K, N], b: f32[N]) -> y: f32[M, N]>"
assert linear.info.sizes == ("M", "K", "N") and linear.info.version == facet.__version__
assert linear.flops(M=2, K=3, N=4) >= 2 * 2 * 3 * 4
refused(TypeError, "linear: no value for 'N'", linear.flops, M=1, K=1)
refused(TypeError, "linear: there is no size 'Z'", linear.flops, Z=1)
assert linear.result_shapes((2, 3), (3, 4), (4,)) == ((2, 4),) and linear.result_shapes((2, 3), None, None, N=5) == ((2, 5),)
refused(TypeError, "linear: takes 3 shapes, 1 are given", linear.result_shapes, (2, 3))
refused(TypeError, "linear: 'w' has 2 axes, not 1", linear.result_shapes, (2, 3), (3,), (4,))
refused(TypeError, "linear: no argument says what 'N' is", linear.result_shapes, (2, 3), None, None)

# Without a target: the best code for this machine, which a call can use.
native = facet.compile("kernel f(a: f32[N]) -> y: f32[N] { y[n] = 2 * a[n] }")
assert (native(np.ones(9, np.float32)) == 2).all() and "f:" in native.asm()

# Files, by a path or its name; documentation; const.
path = examples / "gemm" / "linear.facet"
for source in (path, str(path)):
    kernel = facet.compile(source, target="reference")
    assert kernel.info.documentation.startswith("y = gelu(x·w + b)"), kernel.info
    assert str(kernel.info.arguments[1]) == "w: const bf16[K, N]"
refused(FileNotFoundError, "none.facet", facet.compile, "none.facet")

# What it is made of.
assert "linear:" in linear.asm() and "define" in linear.llvm() and "int linear(" in linear.header()
assert "func" in linear.mlir() and linear.emit("obj").startswith(b"\x7fELF")
refused(facet.CompileError, "'--emit' takes", linear.emit, "pdf")
page = linear._repr_html_()
assert "<table>" in page and "x: f32[M, K]" in page and "-&gt;" in page, page

# Sizes.
text = "kernel f(a: f32[N]) -> y: f32[N] { y[n] = 2 * a[n] }"
a = np.ones(3, np.float32)
for sizes in (3, (1, 3), "1,3", "5,*"):
    assert (facet.compile(text, target="reference", N=sizes)(a) == 2).all()
refused(ValueError, "f: 'N': a size has another value than the ones compiled for", facet.compile(text, target="reference", N=4), a)
refused(facet.CompileError, "'-D Z': no kernel has this size", facet.compile, text, target="reference", Z=4)

# Several kernels.
two = text + text.replace("f(", "g(")
assert list(facet.compile_all(two, target="reference")) == ["f", "g"]
assert facet.compile(two, target="reference", kernel="g").info.name == "g"
refused(ValueError, "there are several kernels: f, g; kernel= chooses one", facet.compile, two, target="reference")
refused(ValueError, "there is no kernel 'h'; there is f, g", facet.compile, two, target="reference", kernel="h")

# Messages.
error = refused(facet.CompileError, "k.facet:2:10: error: unknown name `b`", facet.compile,
                "kernel f(a: f32[N]) -> y: f32[N] {\n  y[n] = b[n]\n}", target="reference", name="k.facet")
assert error.messages == (("error", "k.facet", 2, 10, 11, "", "unknown name `b`"),), error.messages
refused(facet.CompileError, "there is no target '@x'", facet.compile, text, target="@x")
unused = "kernel f(a: f32[N], b: f32[N]) -> y: f32[N] { y[n] = a[n] }"
warning = refused(facet.CompileWarning, "argument `b` is never read [-Wunused-argument]", facet.compile, unused, target="reference")
facet.compile(unused, target="reference", warnings=["no-unused"])
refused(facet.CompileError, "never read", facet.compile, unused, target="reference", warnings=["error"])

# Imports: beside the file of that name, and in the folders given.
pathlib.Path("lib.facet").write_text("fn twice(x) = 2 * x\n")
pathlib.Path("main.facet").write_text('import "lib.facet"\n' + text.replace("2 * a[n]", "twice(a[n])"))
assert (facet.compile("main.facet", target="reference")(a) == 2).all()
imported = pathlib.Path("main.facet").read_text()
assert (facet.compile(imported, target="reference", include_dirs=[pathlib.Path.cwd()], name="/somewhere/x.facet")(a) == 2).all()

# A kernel keeps its code alive; so does a result nothing but itself.
kernels = facet.compile_all(two, target="reference")
g = kernels["g"]
del kernels
assert (g(a) == 2).all()

for names in (facet.__all__,):
    assert all(hasattr(facet, name) for name in names)
assert (pathlib.Path(facet.get_include()) / "facet" / "abi.h").exists()
assert (pathlib.Path(facet.get_cmake_dir()) / "FacetConfig.cmake").exists()
