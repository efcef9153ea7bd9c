# A transformer block whose heads are split by Reshape: its products with their neighbours become
# kernels, what is between them is named, and every kernel agrees with ONNX's own evaluation.
#
# REQUIRES: python-package
# RUN: mkdir -p %t && cd %t && env PYTHONPATH=%S/Inputs %python %s %facet

import json
import subprocess
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper, shape_inference

from check_fragments import check_model

facet = sys.argv[1]
D, HEADS, T, F = 32, 4, 7, 48
random = np.random.default_rng(3)
constants, nodes = [], []


def constant(name, array):
    constants.append(numpy_helper.from_array(array, name))
    return name


def node(op, inputs, output, **attributes):
    nodes.append(helper.make_node(op, inputs, [output], name="/block/" + output, **attributes))
    return output


def weight(name, rows, columns):
    """int8 with a scale per column, as quantised models keep weights."""
    whole = constant(name + "_i8", random.integers(-127, 128, (rows, columns), dtype=np.int8))
    scale = constant(name + "_scale", (random.random(columns) / 1000).astype(np.float32))
    return node("Mul", [node("Cast", [whole], name + "_f32", to=TensorProto.FLOAT), scale], name)


def linear(x, name, rows, columns):
    bias = constant(name + "_bias", random.standard_normal(columns).astype(np.float32))
    return node("Add", [node("MatMul", [x, weight(name + "_w", rows, columns)], name + "_product"), bias], name)


def split(x, name, order):
    shape = constant(name + "_shape", np.array([0, 0, HEADS, D // HEADS]))
    return node("Transpose", [node("Reshape", [x, shape], name + "_split"), ], name + "_heads", perm=order)


scale = constant("ln_scale", random.random(D).astype(np.float32) + 0.5)
shift = constant("ln_shift", random.random(D).astype(np.float32))
x = node("LayerNormalization", ["x", scale, shift], "normed", axis=-1)
q, k, v = (linear(x, name, D, D) for name in ("query", "key", "value"))
scores = node("MatMul", [split(q, "query", [0, 2, 1, 3]), split(k, "key", [0, 2, 3, 1])], "scores")
weights = node("Softmax", [node("Mul", [scores, constant("factor", np.float32(0.35))], "scaled")], "weights", axis=-1)
mixed = node("Transpose", [node("MatMul", [weights, split(v, "value", [0, 2, 1, 3])], "mixed")], "turned", perm=[0, 2, 1, 3])
joined = node("Reshape", [mixed, constant("flat", np.array([0, 0, D]))], "joined")
attended = node("Add", [linear(joined, "out", D, D), "x"], "attended")
h = linear(attended, "up", D, F)
half = node("Mul", [h, constant("half", np.float32(0.5))], "halved")
erf = node("Erf", [node("Mul", [h, constant("root", np.float32(0.70710678))], "rooted")], "erf")
gelu = node("Mul", [half, node("Add", [erf, constant("one", np.float32(1))], "more")], "gelu")
node("Add", [linear(gelu, "down", F, D), attended], "y")
graph = helper.make_graph(nodes, "block", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, T, D])],
                          [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, T, D])], constants)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
onnx.save(shape_inference.infer_shapes(model, data_prop=True), "block.onnx")

parts, worst, seconds = check_model(facet, "block.onnx", {"x": random.standard_normal((1, T, D)).astype(np.float32)})
assert [part["kernel"] for part in parts["kernels"]] == ["block_query_product", "block_scores", "block_out_product"], parts
assert worst > 0 and min(seconds) > 0
# The same kernels on an engine, in f32 that it multiplies in passes.
check_model(facet, "block.onnx", {"x": random.standard_normal((1, T, D)).astype(np.float32)}, ["--target=trn2"], 1e-4)
assert {entry["op"] for entry in parts["left"]} == {"Reshape"}, parts["left"]
assert all("Reshape" in entry["name"] or "split" in entry["name"] or "joined" in entry["name"] for entry in parts["left"])
# Weights stay as narrow as the file has them, and the results that others read are results here.
with open("parts.facet", encoding="utf-8") as file:
    text = file.read()
assert "query_w_i8: const i8[32, 32]" in text and "query: f32[1, 7, 32], key: f32[1, 7, 32]," in text, text

# A tensor between two kernels whose shape the model does not say.
onnx.save(model, "bare.onnx")
parts = json.loads(subprocess.run([facet, "import", "bare.onnx", "-o", "bare.facet", "--fragments=-"], check=True,
                                  capture_output=True, text=True).stdout)
assert any(entry["why"] == "the shape of its operand 'query_split' is not in the model; ONNX's shape inference adds it"
           for entry in parts["left"]), parts["left"]

# Nothing to multiply, and what the option is not for.
only = helper.make_model(helper.make_graph([helper.make_node("Relu", ["x"], ["y"], name="r")], "g", graph.input[:1], graph.output[:1]),
                         opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
onnx.save(only, "only.onnx")
for arguments, code, message in ((["only.onnx"], 1, "only.onnx: error: no product of this model becomes a kernel"),
                                 (["only.onnx"], 1, "note: node 0 (Relu 'r'): no product is connected with it"),
                                 (["--einsum=ij,jk->ik"], 2, "'--fragments' is for .onnx files, whose nodes it names")):
    done = subprocess.run([facet, "import", *arguments, "--fragments=f.json"], capture_output=True, text=True)
    assert done.returncode == code and message in done.stderr, done
