"""Imported once, resized at run time: every size gives what onnxruntime gives, and nothing is left to fuse."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnxruntime
import pytest

from buildtool.codegen import container
from buildtool.ir.dims import bounds, evaluate
from buildtool.ir.graph import Graph
from buildtool.ir.operator import Operator
from buildtool.ir.verify import verify
from buildtool.ops._activation import ACTIVATIONS, ActivatedOperator
from buildtool.passes.pipeline import optimise
from buildtool.runtime import Library
from tests.native_builds import full_library
from tests.ocr.networks import NETWORKS, Network
from tests.ocr.pictures import page
from tests.wheels import WheelNotAvailableError

pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parents[2]
#: Nodes of the optimised graph; docs/reference/node-counts.md compares them with those of others.
COUNTS = {"det": 123, "rec": 112, "cls": 76}
_LAYERS = ("conv2d", "dwconv2d", "deconv2d")


@pytest.fixture(scope="module")
def library() -> Library:
    return Library(full_library())


@pytest.fixture(params=NETWORKS, ids=lambda network: network.name)
def network(request: pytest.FixtureRequest) -> Network:
    found: Network = request.param
    try:
        found.path()
    except WheelNotAvailableError as reason:
        pytest.skip(str(reason))
    return found


def _unfused(graph: Graph) -> list[str]:
    """Biases, activations and normalisations behind a convolution whose result nothing else reads."""
    producers = graph.producers()
    reads = [value for node in graph.walk() for value in node.inputs] + graph.outputs
    found = []
    for node in graph.walk():
        for value in node.inputs:
            maker = producers.get(value)
            # What follows an activation of the convolution's own is neither its bias nor its normalisation.
            if maker is None or maker.op.name not in _LAYERS or reads.count(value) != 1:
                continue
            others = [operand for operand in node.inputs if operand is not value]
            numbers = node.op.name in ("add", "sub", "mul", "div", "batch_norm")
            constant = numbers and bool(others) and all(operand.is_constant for operand in others)
            if (constant or node.op.name in ACTIVATIONS) and _has_no_activation(maker.op):
                found.append(f"{node!r} behind {maker!r}")
    return found


def _has_no_activation(op: Operator) -> bool:
    return isinstance(op, ActivatedOperator) and op.activation == "none"


def _cosine(a: npt.NDArray[Any], b: npt.NDArray[Any]) -> float:
    a, b = a.ravel().astype(np.float64), b.ravel().astype(np.float64)
    return float(a @ b / np.sqrt((a @ a) * (b @ b)))


def test_sizes_without_rebuild(network: Network, library: Library) -> None:
    graph = network.load().graph
    optimise(graph)
    verify(graph)
    assert _unfused(graph) == []
    assert len(graph.nodes) == COUNTS[network.name]
    files = container.write(graph, name=network.name, half=False)
    engine = library.engine(model=files.model, data=files.data, threads=2)
    session = onnxruntime.InferenceSession(str(network.path()), providers=["CPUExecutionProvider"])
    for height, width in network.sizes:
        picture = page(height, width)
        (wanted,) = session.run(None, {"x": picture})
        (found,) = engine.run({"x": picture}).values()
        assert found.shape == wanted.shape
        assert _cosine(found, wanted) > 0.9999, (height, width)


def test_symbolic_types(network: Network) -> None:
    """The types hold for every size: numbers for the symbols give the shapes that onnxruntime finds."""
    graph = network.load().graph
    optimise(graph)
    assert graph.symbols
    session = onnxruntime.InferenceSession(str(network.path()), providers=["CPUExecutionProvider"])
    (shape,) = [value.type.shape for value in graph.inputs]
    (result,) = [value.type.shape for value in graph.outputs]
    for height, width in network.sizes:
        numbers = {
            dim.symbol.name: size
            for dim, size in zip(shape, (1, 3, height, width), strict=True)
            if not isinstance(dim, int) and dim.symbol is not None
        }
        (wanted,) = session.run(None, {"x": page(height, width)})
        assert tuple(evaluate(dim, numbers) for dim in result) == wanted.shape
        assert all(low <= size <= high for size, (low, high) in zip(wanted.shape, map(bounds, result), strict=True))
