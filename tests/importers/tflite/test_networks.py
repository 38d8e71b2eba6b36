"""Trained networks: each gives what LiteRT gives, imported and optimised."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from buildtool.importers.request import ImportRequest
from buildtool.importers.tflite import import_model
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
