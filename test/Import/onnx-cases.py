# RUN: %python %s %facet matmul gemm einsum layer_normalization softmax_axis quantizelinear_u
"""The test cases that the ONNX project keeps for its ops: imported and run, or refused by name.

    onnx-cases.py FACET [WORD ...]    the cases with one of the words in their names; all without
"""

import collections
import pathlib
import re
import subprocess
import sys
import tempfile
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np

warnings.filterwarnings("ignore")
import onnx  # noqa: E402
import onnx.backend.test.case.node as onnx_cases  # noqa: E402

facet, words = sys.argv[1], sys.argv[2:]
source = pathlib.Path(__file__).parents[2] / "lib/Import"
known = {op for file in source.glob("Onnx*.cpp") for op in re.findall(r'\.Case\("(\w+)"', file.read_text())} | {"Constant"}


def names(parameters):
    return re.findall(r"(\w+):", re.sub(r"\[[^\]]*\]", "", parameters))


def array(value):
    return np.asarray(onnx.numpy_helper.to_array(value) if isinstance(value, onnx.TensorProto) else value)


def outcome(case):
    """One word, and what there is to say."""
    with tempfile.TemporaryDirectory() as folder:
        model, text = f"{folder}/{case.name}.onnx", f"{folder}/k.facet"
        onnx.save(case.model, model)
        done = subprocess.run([facet, "import", model, "-o", text], capture_output=True, text=True, check=False)
        if done.returncode:
            said = done.stderr.replace(model, "MODEL")
            return ("refused" if done.returncode == 1 and "error: " in said else "crash"), said
        kernel = pathlib.Path(text).read_text()
        arguments, results = re.search(r"kernel \w+\((.*)\)\s*-> (.*?) \{\n? ", kernel, re.S).groups()
        arguments, results = names(arguments), names(results)
        inputs, outputs = case.data_sets[0]
        if len(inputs) != len(arguments):
            return "wrong", f"{len(inputs)} inputs for\n{kernel}"
        command = [facet, "run", "-q", "-w", text]
        for name, value in zip(arguments, inputs):
            np.save(f"{folder}/{name}.npy", array(value))
            command.append(f"{name}={folder}/{name}.npy")
        done = subprocess.run([*command, *(f"{name}={folder}/result-{name}.npy" for name in results)], capture_output=True,
                              text=True, check=False)
        if done.returncode == 1 and "subscript" in done.stderr:
            return "refused", done.stderr  # a negative index, found at the call
        if done.returncode:
            return "wrong", done.stderr + kernel
        for name, want in zip(results, map(array, outputs)):
            got = np.load(f"{folder}/result-{name}.npy")
            got = got.view(want.dtype) if got.dtype.itemsize == want.dtype.itemsize else got
            relative = 1e-3 if want.dtype.itemsize < 4 else case.rtol
            if got.shape != want.shape or not np.allclose(got.astype(np.float64), want.astype(np.float64), relative,
                                                          max(case.atol, 1e-6), equal_nan=True):
                return "wrong", f"{got.ravel()[:8]} instead of {want.ravel()[:8]}\n{kernel}"
    return "agrees", ""


cases = [case for case in onnx_cases.collect_testcases() if all(node.op_type in known for node in case.model.graph.node)
         and (not words or any(word in case.name for word in words))]
with ThreadPoolExecutor(2) as workers:
    outcomes = list(workers.map(outcome, cases))
print(dict(collections.Counter(what for what, _ in outcomes)))
for case, (what, said) in zip(cases, outcomes):
    if what in ("wrong", "crash") or not words and what == "refused":
        print(f"{case.name}: {what}: {said}")
assert not any(what in ("wrong", "crash") for what, _ in outcomes)
assert sum(what == "agrees" for what, _ in outcomes) >= len(cases) // 3
