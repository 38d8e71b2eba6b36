"""The conformance cases that the installed `onnx` package carries or generates, by suite.

`node` holds the generated one-operator cases, `edge` those of them that any inference runtime should take: one node of
the default domain, common element types, rank <= 5, nothing random, sequential, textual or for training.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import numpy_helper
from onnx.backend.test.loader import load_model_tests
from onnx.backend.test.runner import Runner

SUITES = ("node", "pytorch_converted", "pytorch_operator", "light")

_COMMON_TYPES = {
    onnx.TensorProto.FLOAT,
    onnx.TensorProto.FLOAT16,
    onnx.TensorProto.INT8,
    onnx.TensorProto.UINT8,
    onnx.TensorProto.INT32,
    onnx.TensorProto.INT64,
    onnx.TensorProto.BOOL,
}
_NOT_FOR_INFERENCE = {"Adagrad", "Adam", "Gradient", "Momentum", "SoftmaxCrossEntropyLoss", "NegativeLogLikelihoodLoss"}
_RANDOM = {"Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"}
_CONTROL_FLOW = {"If", "Loop", "Scan", "SequenceMap"}
_MAX_EDGE_RANK = 5


@dataclass(frozen=True)
class ConformanceCase:
    """A model, and pairs of inputs and expected outputs in its order. Values may be lists or None, not only arrays."""

    name: str
    suite: str
    model: onnx.ModelProto
    data: tuple[tuple[tuple[Any, ...], tuple[Any, ...]], ...]
    rtol: float
    atol: float

    @property
    def operators(self) -> tuple[str, ...]:
        """The operators of the outermost graph, with their domain where it is not the default one."""
        found = (f"{node.domain}.{node.op_type}" if node.domain else node.op_type for node in self.model.graph.node)
        return tuple(dict.fromkeys(found))

    @property
    def is_edge(self) -> bool:
        """Whether the case belongs to the edge subset of the node suite."""
        nodes = self.model.graph.node
        values = (*self.model.graph.input, *self.model.graph.output)
        return (
            self.suite == "node"
            and len(nodes) == 1
            and nodes[0].domain in ("", "ai.onnx")
            and nodes[0].op_type not in _NOT_FOR_INFERENCE | _RANDOM | _CONTROL_FLOW
            and not (nodes[0].op_type == "Dropout" and len(nodes[0].input) > 2)
            and not any(attribute.name == "training_mode" and attribute.i for attribute in nodes[0].attribute)
            and all(_is_common(value) for value in values)
        )


def _is_common(value: onnx.ValueInfoProto) -> bool:
    kind = value.type
    return (
        kind.WhichOneof("value") == "tensor_type"
        and kind.tensor_type.elem_type in _COMMON_TYPES
        and len(kind.tensor_type.shape.dim) <= _MAX_EDGE_RANK
    )


def load(suite: str) -> Iterator[ConformanceCase]:
    """The cases of one suite, in the order of the package."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # generating the cases divides by zero on purpose
        if suite == "node":
            yield from _generated()
        elif suite == "light":
            yield from _light()
        else:
            yield from _stored(suite)


def _generated() -> Iterator[ConformanceCase]:
    for case in load_model_tests(kind="node"):
        assert case.model is not None and case.data_sets is not None
        data = tuple((tuple(map(_plain, inputs)), tuple(map(_plain, outputs))) for inputs, outputs in case.data_sets)
        yield ConformanceCase(case.name, "node", case.model, data, case.rtol, case.atol)


def _stored(suite: str) -> Iterator[ConformanceCase]:
    for case in load_model_tests(kind=suite.replace("_", "-")):
        assert case.model_dir is not None
        folder = Path(case.model_dir)
        sets = [
            (_read_all(data, "input"), _read_all(data, "output")) for data in sorted(folder.glob("test_data_set_*"))
        ]
        model = onnx.load(folder / "model.onnx")
        yield ConformanceCase(case.name, suite, model, tuple(sets), case.rtol, case.atol)


def _light() -> Iterator[ConformanceCase]:
    root = Path(onnx.__file__).parent.parent
    for case in load_model_tests(kind="real"):
        assert case.url is not None
        path = root / case.url
        model = onnx.load(path)
        held = {tensor.name for tensor in model.graph.initializer}
        fed = [value for value in model.graph.input if value.name not in held]
        inputs = tuple(Runner.generate_dummy_data(value, seed=0, name=case.model_name, random=False) for value in fed)
        expected = _read_tensor(path.with_name(f"{path.stem}_output_0.pb"))
        yield ConformanceCase(case.name, "light", model, ((inputs, (expected,)),), case.rtol, case.atol)


def _read_all(folder: Path, kind: str) -> tuple[Any, ...]:
    files = sorted(folder.glob(f"{kind}_*.pb"), key=lambda file: int(file.stem.rsplit("_", 1)[1]))
    return tuple(_read_tensor(file) for file in files)


def _read_tensor(file: Path) -> Any:
    tensor = onnx.TensorProto()
    tensor.ParseFromString(file.read_bytes())
    return numpy_helper.to_array(tensor)


def _plain(item: Any) -> Any:
    """Generated data as NumPy arrays; lists (sequences) and None (absent optionals) stay what they are."""
    if isinstance(item, onnx.TensorProto):
        return numpy_helper.to_array(item)
    if item is None or (isinstance(item, Sequence) and not isinstance(item, (str, bytes))):
        return item
    return np.asarray(item)
