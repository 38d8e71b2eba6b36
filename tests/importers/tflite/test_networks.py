"""Trained networks: each gives what LiteRT gives, imported and optimised."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import tflite

from buildtool.importers.request import ImportRequest
from buildtool.importers.tflite import import_model
from buildtool.ir.graph import Value
from buildtool.ir.operator import Array
from buildtool.ir.verify import verify
from buildtool.passes.pipeline import optimise
from tests.importers.tflite.harness import litert, run
from tests.importers.tflite.networks import NETWORKS, files
from tests.wheels import WheelNotAvailableError

pytestmark = pytest.mark.slow
LEAST_COSINE = 0.999999
#: With weights of bytes LiteRT rounds the inputs of layers to bytes too; Lathe computes them with floats.
LEAST_COSINE_OF_BYTES = 0.999
#: What is left of each network after all passes.
COUNTS = {
    "emotion_model_quantized": 29,
    "face_detection_back": 80,
    "face_detection_front": 57,
    "face_detection_full_range": 109,
    "face_detection_full_range_sparse": 101,
    "face_detection_short_range": 57,
    "face_landmark": 76,
    "iris_landmark": 143,
}


@pytest.fixture(params=sorted(Path(name).stem for names in NETWORKS.values() for name in names))
def file(request: pytest.FixtureRequest) -> Path:
    try:
        return files()[request.param]
    except WheelNotAvailableError as reason:
        pytest.skip(str(reason))


def _cosine(a: Array, b: Array) -> float:
    a, b = a.ravel().astype(np.float64), b.ravel().astype(np.float64)
    return float(a @ b / np.sqrt((a @ a) * (b @ b)))


def _rounded(x: Array) -> Array:
    """What LiteRT makes of the input of a layer of floats whose weights are bytes: 256 steps from least to most."""
    low, high = min(float(x.min()), 0.0), max(float(x.max()), 0.0)
    scale = (high - low) / 255 or 1.0
    zero = np.clip(np.round(-128 - low / scale), -128, 127)
    steps = np.clip(np.round(zero + x.astype(np.float64) / scale), -128, 127)
    return np.asarray((steps - zero) * scale, np.float32)


def _layers_with_bytes(data: bytes) -> list[bool]:
    """Of each convolution, whether its weights are bytes."""
    model = tflite.Model.GetRootAsModel(data, 0)
    graph = model.Subgraphs(0)
    kinds = tflite.BuiltinOperator.CONV_2D, tflite.BuiltinOperator.DEPTHWISE_CONV_2D
    nodes = [graph.Operators(number) for number in range(graph.OperatorsLength())]
    return [
        graph.Tensors(node.Inputs(1)).Type() == tflite.TensorType.INT8
        for node in nodes
        if model.OperatorCodes(node.OpcodeIndex()).BuiltinCode() in kinds
    ]


def test_weights_of_bytes_differ_by_what_litert_rounds() -> None:
    """With the inputs of those layers rounded as LiteRT rounds them the results are the same."""
    try:
        data = files()["emotion_model_quantized"].read_bytes()
        graph = import_model(ImportRequest("network", files()["emotion_model_quantized"])).graph
    except WheelNotAvailableError as reason:
        pytest.skip(str(reason))
    picture = np.random.default_rng(1).uniform(-1, 1, (1, 64, 64, 1)).astype(np.float32)
    values: dict[Value, Array] = {graph.inputs[0]: picture}
    of_bytes = iter(_layers_with_bytes(data))
    for node in graph.nodes:
        given = [values[value] if value.constant is None else value.constant for value in node.inputs]
        if node.op.name in ("conv2d", "dwconv2d") and next(of_bytes):
            given[0] = _rounded(given[0])
        values.update(zip(node.outputs, node.op.reference(*given), strict=True))
    (wanted,) = litert(data, {graph.inputs[0].name: picture})
    np.testing.assert_allclose(values[graph.outputs[0]], wanted, rtol=0, atol=1e-6)


def test_results(file: Path) -> None:
    result = import_model(ImportRequest("network", file))
    graph = result.graph
    optimise(graph)
    verify(graph)
    assert len(graph.nodes) == COUNTS[file.stem], Counter(node.op.name for node in graph.nodes)
    assert result.input_formats == ("NHWC",)
    shape = [dim for dim in graph.inputs[0].type.shape if isinstance(dim, int)]
    picture = np.random.default_rng(1).uniform(-1, 1, shape).astype(np.float32)
    inputs = {graph.inputs[0].name: picture}
    for found, wanted in zip(run(graph, inputs), litert(file.read_bytes(), inputs), strict=True):
        assert found.shape == wanted.shape
        assert _cosine(found, wanted) >= (LEAST_COSINE_OF_BYTES if "quantized" in file.stem else LEAST_COSINE)
