"""Runs the kernels that `facet import --fragments` cuts from a model, each on the tensors that ONNX's reference
evaluation gives, and compares what they make with what it makes."""

import json
import os
import pathlib
import subprocess

import numpy as np
import onnx
from onnx.reference import ReferenceEvaluator


def evaluate(model, inputs):
    """All tensors of the graph, by name."""
    names = [output for node in model.graph.node for output in node.output if output]
    whole = onnx.ModelProto()
    whole.CopyFrom(model)
    del whole.graph.output[:]
    whole.graph.output.extend(onnx.helper.make_empty_tensor_value_info(name) for name in names)
    return inputs | dict(zip(names, ReferenceEvaluator(whole).run(None, inputs)))


def check_model(facet, path, inputs, options=(), tolerance=2e-5, kernels=None, rounds=1):
    """The manifest, the largest error of an element in parts of its tensor's largest, and the seconds that a call of
    each kernel takes at best, of `rounds` (`kernels`: the first so many alone)."""
    folder = pathlib.Path("parts.arrays")
    folder.mkdir(exist_ok=True)
    subprocess.run([facet, "import", path, "-o", "parts.facet", "--fragments=parts.json", f"--weights={folder}"], check=True)
    parts = json.loads(pathlib.Path("parts.json").read_text(encoding="utf-8"))
    model = onnx.load(path)
    # Every node is in one kernel, or left with a reason, or makes a constant.
    numbers = [number for part in parts["kernels"] for number in part["nodes"]] + [entry["node"] for entry in parts["left"]]
    assert len(numbers) == len(set(numbers)), "a node is in two places"
    rest = {model.graph.node[number].op_type for number in set(range(len(model.graph.node))) - set(numbers)}
    assert rest <= {"Constant"}, rest
    tensors = evaluate(model, inputs)
    worst, seconds = 0, []
    for part in parts["kernels"][:kernels]:
        arguments = []
        for entry in part["inputs"]:
            np.save(folder / "in.npy", np.ascontiguousarray(tensors[entry["tensor"]]))
            os.replace(folder / "in.npy", folder / f"{entry['name']}.npy")
            arguments.append(f"{entry['name']}={folder}/{entry['name']}.npy")
        arguments += [f"{entry['name']}={folder}/{part['kernel']}.{entry['name']}.npy" for entry in part["constants"]]
        arguments += [f"{entry['name']}={folder}/out.{entry['name']}.npy" for entry in part["results"]]
        command = [facet, "run", "-w", "parts.facet", f"--kernel={part['kernel']}", *options, *arguments, f"--json={folder}/run.json"]
        taken = []
        for _ in range(rounds):
            subprocess.run(command, check=True, capture_output=True)
            taken.append(json.loads((folder / "run.json").read_text())["seconds"])
        seconds.append(min(taken))
        for entry in part["results"]:
            got, wanted = np.load(folder / f"out.{entry['name']}.npy"), tensors[entry["tensor"]]
            assert got.shape == wanted.shape and got.dtype == wanted.dtype, (part["kernel"], entry, got.shape, wanted.shape)
            error = np.abs(got.astype(np.float64) - wanted).max() / np.abs(wanted).max()
            assert error <= tolerance, (part["kernel"], entry, error)
            worst = max(worst, error)
    return parts, worst, seconds
