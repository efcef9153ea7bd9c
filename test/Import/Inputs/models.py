"""models.py FOLDER: small ONNX models for onnx.test, one per thing to show or to refuse."""

import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

folder = sys.argv[1]
F = TensorProto.FLOAT


def value(name, shape, kind=F):
    return helper.make_tensor_value_info(name, kind, shape)


def write(name, nodes, inputs, outputs, constants=(), opset=17):
    graph = helper.make_graph(nodes, name, inputs, outputs, [numpy_helper.from_array(array, key) for key, array in constants])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    onnx.save(model, f"{folder}/{name}.onnx")


def node(op, operands, result, **attributes):
    return helper.make_node(op, operands.split(), [result], name=f"the_{op}", **attributes)


w = np.ones((64, 32), np.float32)
b = np.ones(32, np.float32)
write("layer", [node("MatMul", "x W", "xw"), node("Add", "xw B", "sum"), node("Relu", "sum", "y")],
      [value("x", ["batch", 64])], [value("y", ["batch", 32])], [("W", w), ("B", b)])
write("shared", [node("MatMul", "x W", "/a/MatMul_output_0"), node("Tanh", "/a/MatMul_output_0", "t"),
                 node("Mul", "t /a/MatMul_output_0", "y"), node("Add", "y half", "z")],
      [value("x", [None, 64])], [value("y", [None, 32]), value("z", [None, 32])], [("W", w), ("half", np.float32(-0.5))])
write("heads", [node("Transpose", "k", "kt", perm=[0, 1, 3, 2]), node("MatMul", "q kt", "s"), node("Mul", "s scale", "ss"),
                node("Softmax", "ss", "p"), node("MatMul", "p v", "o")],
      [value(name, ["B", 8, "S", 64]) for name in "qkv"], [value("o", ["B", 8, "S", 64])], [("scale", np.float32(0.125))])
write("half", [node("MatMul", "x w", "y"), node("Sigmoid", "y", "z")],
      [value("x", ["M", 8], TensorProto.FLOAT16), value("w", [8, 4], TensorProto.FLOAT16)],
      [value("z", ["M", 4], TensorProto.FLOAT16)])

x = [value("x", ["M", 8])]
y = [value("y", None)]
write("conv", [node("Conv", "x W", "y")], x, y, [("W", w)])
write("strange", [helper.make_node("FusedGelu", ["x"], ["y"], domain="com.microsoft")], x, y)
write("split", [node("Reshape", "x shape", "y")], x, y, [("shape", np.array([-1, 2, 4]))])
write("depth", [node("MatMul", "x W", "y")], x, y, [("W", w)])
write("stretch", [node("Add", "x z", "y")], [*x, value("z", ["N", 8])], y)
write("types", [node("MatMul", "x z", "y")], [*x, value("z", [8, 8], TensorProto.DOUBLE)], y)
write("strings", [node("Identity", "x", "y")], [value("x", [3], TensorProto.STRING)], y)
write("shapeless", [node("Identity", "x", "y")], [value("x", None)], y)
write("order", [node("Relu", "z", "y"), node("Relu", "x", "z")], x, y)
write("missing", [node("MatMul", "x", "y")], x, y)
write("nothing", [node("Relu", "x", "z")], x, y)
write("axes", [node("ReduceSum", "x axes", "y")], [*x, value("axes", [1], TensorProto.INT64)], y)
write("old", [node("Softmax", "x", "y", axis=0)], x, y, opset=11)
write("second", [helper.make_node("LayerNormalization", ["x", "g"], ["y", "mean"]), node("Relu", "mean", "z")],
      [*x, value("g", [8])], [*y, value("z", None)])
write("division", [node("Div", "x x", "y")], [value("x", [4], TensorProto.INT32)], y)
write("odd", [node("Cast", "x", "y", to=TensorProto.FLOAT)], [value("x", [3], TensorProto.INT4)], y, opset=21)
write("power", [node("Pow", "x p", "y")], x, y, [("p", np.float32(2.5))])
eighths = helper.make_tensor("e", TensorProto.FLOAT8E5M2, [2], bytes([0x3c, 0xc1]), raw=True)  # 1, -2.5
nibbles = helper.make_tensor("h", TensorProto.INT4, [2], bytes([0xf3]), raw=True)  # 3, -1
graph = helper.make_graph([node("Cast", "e", "fe", to=F), node("Cast", "h", "fh", to=F), node("Mul", "fe fh", "p"), node("Add", "p z", "y")],
                          "narrow", [value("z", [2])], [value("y", [2])], [eighths, nibbles])
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)]), f"{folder}/narrow.onnx")
model = onnx.load(f"{folder}/depth.onnx")
model.graph.name = "outside"
model.graph.input[0].type.tensor_type.shape.dim[1].dim_value = 64
tensor = model.graph.initializer[0]
tensor.ClearField("raw_data")
tensor.data_location = TensorProto.EXTERNAL
tensor.external_data.add(key="location", value="weights.bin")
with open(f"{folder}/outside.onnx", "wb") as file:
    file.write(model.SerializeToString())
with open(f"{folder}/broken.onnx", "wb") as file:
    file.write(b"\x0a\xff\xff\xff\xff\x0fnot a model")
