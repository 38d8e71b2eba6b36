"""Makes one-node models, imports them, and compares the graph with onnxruntime before and after all passes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper

from buildtool.importers.onnx import import_model
from buildtool.importers.request import ImportedModel, ImportRequest, TensorRequest
from buildtool.ir.evaluate import evaluate
from buildtool.ir.graph import Graph
from buildtool.ir.operator import Array
from buildtool.ir.verify import verify
from buildtool.passes.pipeline import optimise

NEWEST_OF_RUNTIME = 26  # the newest opset that the installed onnxruntime runs


@dataclass(frozen=True)
class Case:
    """One node: its inputs in order, some of them weights, None where one is left out."""

    op: str
    inputs: Sequence[Array | None]
    attributes: Mapping[str, Any] = field(default_factory=dict)
    constants: Sequence[int] = ()  # positions of the inputs that the model holds
    outputs: int = 1
    opset: int = 17

    def __str__(self) -> str:
        shapes = "x".join("-" if array is None else str(list(array.shape)).replace(" ", "") for array in self.inputs)
        shown = ",".join(f"{key}={value}" for key, value in self.attributes.items())
        return f"{self.op}{self.opset}-{shapes}-{shown}"[:120]

    def model(self) -> onnx.ModelProto:
        names = ["" if array is None else f"x{index}" for index, array in enumerate(self.inputs)]
        outputs = [f"y{index}" for index in range(self.outputs)]
        node = helper.make_node(self.op, names, outputs, name="the_node", **self.attributes)
        return model_of([node], self.fed(), outputs, self.held(), self.opset)

    def fed(self) -> dict[str, Array]:
        return {
            f"x{index}": array
            for index, array in enumerate(self.inputs)
            if array is not None and index not in self.constants
        }

    def held(self) -> dict[str, Array]:
        return {f"x{index}": self.inputs[index] for index in self.constants}  # type: ignore[misc]


def model_of(
    nodes: Sequence[onnx.NodeProto],
    inputs: Mapping[str, Array],
    outputs: Sequence[str],
    weights: Mapping[str, Array],
    opset: int = 17,
    shapes: Mapping[str, Sequence[int | str]] | None = None,
) -> onnx.ModelProto:
    """A model; `shapes` overrides the declared shapes of inputs, with words for run-time sizes."""
    declared = {name: (shapes or {}).get(name, array.shape) for name, array in inputs.items()}
    graph = helper.make_graph(
        list(nodes),
        "test",
        [
            helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), declared[name])
            for name, array in inputs.items()
        ],
        [onnx.ValueInfoProto(name=name) for name in outputs],
        [numpy_helper.from_array(array, name) for name, array in weights.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)


def reference(model: onnx.ModelProto, inputs: Mapping[str, Array]) -> list[Array]:
    """What onnxruntime computes."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    complete = onnx.ModelProto()
    complete.CopyFrom(model)
    session = onnxruntime.InferenceSession(complete.SerializeToString(), options, ["CPUExecutionProvider"])
    return [np.asarray(array) for array in session.run(None, dict(inputs))]


def save(model: onnx.ModelProto, folder: Path) -> Path:
    file = folder / "model.onnx"
    file.write_bytes(model.SerializeToString())
    return file


def imported(
    model: onnx.ModelProto,
    folder: Path,
    inputs: Sequence[TensorRequest] = (),
    outputs: Sequence[TensorRequest] = (),
) -> ImportedModel:
    request = ImportRequest("test", save(model, folder), inputs=tuple(inputs), outputs=tuple(outputs))
    result = import_model(request)
    verify(result.graph)
    return result


def run(graph: Graph, inputs: Sequence[Array]) -> list[Array]:
    """The outputs of a graph, for inputs in its order."""
    results = evaluate(graph, {value.name: array for value, array in zip(graph.inputs, inputs, strict=True)})
    return [results[value.name] for value in graph.outputs]


def check(case: Case, folder: Path, rtol: float = 1e-5, atol: float = 1e-5) -> Graph:
    """Imports a case and compares it with onnxruntime; gives the optimised graph."""
    model = case.model()
    expected = reference(model, case.fed())
    graph = imported(model, folder).graph
    compare(graph, list(case.fed().values()), expected, rtol, atol)
    optimise(graph)
    compare(graph, list(case.fed().values()), expected, rtol, atol)
    return graph


def check_contributed(
    case: Case, outputs: Sequence[str], folder: Path, rtol: float = 1e-4, atol: float = 2e-5
) -> Graph:
    """As `check`, for an operator of com.microsoft; `outputs` are empty where one is left out."""
    model = contributed_model(case, outputs)
    fed = list(case.fed().values())
    expected = reference(model, case.fed())
    graph = imported(model, folder).graph
    compare(graph, fed, expected, rtol, atol)
    optimise(graph)
    compare(graph, fed, expected, rtol, atol)
    return graph


def contributed_model(case: Case, outputs: Sequence[str]) -> onnx.ModelProto:
    names = ["" if array is None else f"x{index}" for index, array in enumerate(case.inputs)]
    node = helper.make_node(
        case.op, names, list(outputs), name="the_node", domain="com.microsoft", **dict(case.attributes)
    )
    model = model_of([node], case.fed(), [name for name in outputs if name], case.held(), case.opset)
    model.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    return model


def compare(
    graph: Graph, inputs: Sequence[Array], expected: Sequence[Array], rtol: float = 1e-5, atol: float = 1e-5
) -> None:
    results = run(graph, inputs)
    assert len(results) == len(expected)
    for value, result, wanted in zip(graph.outputs, results, expected, strict=True):
        assert tuple(result.shape) == tuple(wanted.shape), value.name
        assert result.dtype == wanted.dtype, value.name
        np.testing.assert_allclose(result, wanted, rtol=rtol, atol=atol, err_msg=value.name)


def random(*shape: int, seed: int = 0, low: float = -2.0, high: float = 2.0) -> Array:
    values = np.random.default_rng((seed, *shape)).uniform(low, high, shape)
    return np.asarray(values, np.float32)
