"""Whole networks: as small as another tool makes them, the same results, and the same again when they are imported."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest

from buildtool.exporters.onnx import Exported
from buildtool.importers.onnx import import_model
from buildtool.importers.request import ImportRequest, TensorRequest
from buildtool.ir.graph import Graph
from buildtool.ir.operator import Array
from buildtool.passes.pipeline import optimise
from tests.exporters.onnx.harness import checked, run_fast
from tests.ocr import networks as ocr
from tests.ocr.pictures import page
from tests.wheels import WheelNotAvailableError
from tests.zoo.networks import NETWORKS, cached

CACHE = Path(__file__).resolve().parents[3] / "build" / "test-zoo"
#: Nodes of the exported models. docs/reference/node-counts.md says how many onnxsim leaves: never fewer.
ZOO_NODES = {"mobilenet_v1": 56, "mobilenet_v2": 100, "squeezenet_v11": 64, "resnet18": 48, "shufflenet_v2": 140}
OCR_NODES = {"det": 168, "rec": 171, "cls": 124}


def _optimised(request: ImportRequest) -> Graph:
    graph = import_model(request).graph
    optimise(graph)
    return graph


def _alike(one: Array, other: Array) -> bool:
    assert one.shape == other.shape
    a, b = (array.ravel().astype(np.float64) for array in (one, other))
    return float(a @ b / np.sqrt((a @ a) * (b @ b))) > 0.999999 and float(np.abs(a - b).max()) < 1e-3


def _source(file: Path) -> Any:
    return onnxruntime.InferenceSession(str(file), providers=["CPUExecutionProvider"])


@pytest.mark.parametrize("name", NETWORKS)
def test_zoo(name: str, tmp_path: Path) -> None:
    file = cached(name, CACHE, size=64, width=0.25)
    graph = _optimised(ImportRequest(name, file))
    exported = checked(graph)
    assert exported.nodes <= ZOO_NODES[name]
    picture = np.random.default_rng(0).uniform(-1, 1, (1, 3, 64, 64)).astype(np.float32)
    (wanted,) = _source(file).run(None, {"input": picture})
    (found,) = run_fast(exported.content, {"input": picture})
    assert _alike(wanted, found)

    again = tmp_path / "again.onnx"
    again.write_bytes(exported.content)
    second_graph = _optimised(ImportRequest(name, again))
    second = checked(second_graph)
    if not any(node.op.name == "gather" for node in graph.nodes):  # transposes do not pass through a gather there
        assert len(second_graph.nodes) == len(graph.nodes)
        assert second.nodes <= exported.nodes
    (found,) = run_fast(second.content, {"input": picture})
    assert _alike(wanted, found)


@pytest.mark.slow
@pytest.mark.parametrize("network", ocr.NETWORKS, ids=lambda network: network.name)
def test_sizes_of_run_time(network: ocr.Network, tmp_path: Path) -> None:
    try:
        source = _source(network.path())
    except WheelNotAvailableError as reason:
        pytest.skip(str(reason))
    graph = network.load().graph
    optimise(graph)
    exported = checked(graph)
    assert exported.nodes <= OCR_NODES[network.name]
    again = tmp_path / "again.onnx"
    again.write_bytes(exported.content)
    second = _imported_again(network, again)
    for height, width in network.sizes[:2]:
        picture = page(height, width)
        (wanted,) = source.run(None, {"x": picture})
        for content in (exported.content, second.content):
            (found,) = run_fast(content, {"x": picture})
            assert _alike(wanted, found), (height, width)


def _imported_again(network: ocr.Network, file: Path) -> Exported:
    graph = _optimised(ImportRequest(network.name, file, inputs=(TensorRequest("x", network.bounds, "NCHW"),)))
    assert graph.symbols
    return checked(graph)
