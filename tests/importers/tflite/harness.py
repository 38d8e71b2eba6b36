"""Makes one-operator models, imports them, and compares the graph with LiteRT before and after all passes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from buildtool.importers.request import ImportedModel, ImportRequest, TensorRequest
from buildtool.importers.tflite import import_model
from buildtool.ir.evaluate import evaluate
from buildtool.ir.graph import Graph
from buildtool.ir.operator import Array
from buildtool.ir.verify import verify
from buildtool.passes.pipeline import optimise
from tests.importers.tflite.writer import GraphSpec, NodeSpec, Quantisation, TensorSpec, write


@dataclass(frozen=True)
class Case:
    """One operator: its inputs in order, some of them weights, None where one is left out, and its outputs' types.

    `quantised` has the scale and zero point of inputs by their number, and of outputs by -1, -2 and so on.
    """

    op: str
    inputs: Sequence[Array | None]
    options: str = ""
    values: Mapping[str, Any] = field(default_factory=dict)
    constants: Sequence[int] = ()
    outputs: Sequence[str] = ("float32",)
    custom: bytes = b""
    version: int = 1
    quantised: Mapping[int, Quantisation] = field(default_factory=dict)
    states: Sequence[int] = ()
    rtol: float = 1e-5
    atol: float = 1e-5
    steps: int = 0  # by how much whole numbers may differ
    expected: Sequence[Array] | None = None  # where LiteRT does not have the operator

    def __str__(self) -> str:
        shapes = "x".join("-" if array is None else str(list(array.shape)).replace(" ", "") for array in self.inputs)
        shown = ",".join(f"{key}={value}" for key, value in self.values.items())
        kind = next((str(array.dtype) for array in self.inputs if array is not None), "")
        return f"{self.op}-{kind}-{shapes}-{shown}"[:120]

    def file(self) -> bytes:
        tensors: list[TensorSpec] = []
        places: list[int] = []
        fed: list[int] = []
        for index, array in enumerate(self.inputs):
            if array is None:
                places.append(-1)
                continue
            places.append(len(tensors))
            held = index in self.constants
            if not held and index not in self.states:
                fed.append(len(tensors))
            quantisation = self.quantised.get(index)
            tensors.append(
                TensorSpec(
                    f"x{index}",
                    str(array.dtype),
                    array.shape,
                    array if held else None,
                    quantisation,
                    is_state=index in self.states,
                )
            )
        made = list(range(len(tensors), len(tensors) + len(self.outputs)))
        for number, dtype in enumerate(self.outputs):
            tensors.append(TensorSpec(f"y{number}", dtype, (), None, self.quantised.get(-1 - number)))
        node = NodeSpec(self.op, places, made, self.options, self.values, self.custom, self.version)
        return write(GraphSpec(tensors, [node], fed, made))

    def fed(self) -> dict[str, Array]:
        skipped = {*self.constants, *self.states}
        return {
            f"x{index}": array for index, array in enumerate(self.inputs) if array is not None and index not in skipped
        }


def litert(file: bytes, inputs: Mapping[str, Array]) -> list[Array]:
    """What LiteRT computes."""
    runtime = pytest.importorskip("ai_edge_litert.interpreter")
    kind = runtime.OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
    interpreter = runtime.Interpreter(model_content=file, experimental_op_resolver_type=kind, num_threads=1)
    for detail in interpreter.get_input_details():
        interpreter.resize_tensor_input(detail["index"], inputs[detail["name"]].shape)
    interpreter.allocate_tensors()
    for detail in interpreter.get_input_details():
        interpreter.set_tensor(detail["index"], inputs[detail["name"]])
    interpreter.invoke()
    return [np.asarray(interpreter.get_tensor(detail["index"])) for detail in interpreter.get_output_details()]


def imported(
    file: bytes, folder: Path, inputs: Sequence[TensorRequest] = (), outputs: Sequence[TensorRequest] = ()
) -> ImportedModel:
    path = folder / "model.tflite"
    path.write_bytes(file)
    result = import_model(ImportRequest("test", path, inputs=tuple(inputs), outputs=tuple(outputs)))
    verify(result.graph)
    return result


def run(graph: Graph, inputs: Mapping[str, Array]) -> list[Array]:
    results = evaluate(graph, {value.name: inputs[value.name] for value in graph.inputs})
    return [results[value.name] for value in graph.outputs]


def check(case: Case, folder: Path) -> Graph:
    """Imports a case and compares it with LiteRT; gives the optimised graph."""
    file, inputs = case.file(), case.fed()
    expected = litert(file, inputs) if case.expected is None else case.expected
    graph = imported(file, folder).graph
    compare(case, run(graph, inputs), expected)
    optimise(graph)
    compare(case, run(graph, inputs), expected)
    return graph


def compare(case: Case, results: Sequence[Array], expected: Sequence[Array]) -> None:
    assert len(results) == len(expected)
    for result, wanted in zip(results, expected, strict=True):
        assert tuple(result.shape) == tuple(wanted.shape)
        assert result.dtype == wanted.dtype
        if wanted.dtype.kind == "f":
            np.testing.assert_allclose(result, wanted, rtol=case.rtol, atol=case.atol)
        else:
            np.testing.assert_allclose(result.astype(np.int64), wanted.astype(np.int64), rtol=0, atol=case.steps)


def random(*shape: int, seed: int = 0, low: float = -2.0, high: float = 2.0) -> Array:
    values = np.random.default_rng((seed, *shape)).uniform(low, high, shape)
    return np.asarray(values, np.float32)


def whole(*shape: int, dtype: str = "int8", seed: int = 0, low: int | None = None, high: int | None = None) -> Array:
    ends = np.iinfo(dtype)
    low, high = ends.min if low is None else low, ends.max if high is None else high
    return np.random.default_rng((seed, *shape)).integers(low, high, shape, dtype=dtype, endpoint=True)


def ints(*values: Any, dtype: str = "int32") -> Array:
    """A weight that is a list of numbers; one list of lists becomes a matrix."""
    return np.array(values[0] if len(values) == 1 and isinstance(values[0], list) else values, dtype)
