"""Models that compute with the sizes of their inputs: against onnxruntime at several sizes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx import helper

from buildtool.importers.onnx import import_model
from buildtool.importers.request import TensorRequest
from buildtool.ir.evaluate import evaluate
from buildtool.ir.graph import Graph
from buildtool.ir.verify import verify
from buildtool.passes.pipeline import optimise
from tests.importers.onnx.harness import imported, model_of, random, reference
from tests.importers.onnx.run_time_sizes import MODELS, request


def _compare(graph: Graph, name: str) -> None:
    verify(graph)
    for feeds in MODELS[name].runs:
        found = evaluate(graph, feeds)
        for value, wanted in zip(graph.outputs, reference(MODELS[name].proto(), feeds), strict=True):
            assert found[value.name].shape == wanted.shape, value.name
            np.testing.assert_allclose(found[value.name], wanted, rtol=1e-5, atol=1e-5, err_msg=value.name)


@pytest.mark.parametrize("name", MODELS)
def test_like_onnxruntime(tmp_path: Path, name: str) -> None:
    graph = import_model(request(tmp_path, name)).graph
    assert set(MODELS[name].holds) <= {node.op.name for node in graph.walk()}
    _compare(graph, name)
    optimise(graph)
    _compare(graph, name)


def test_a_last_window_over_a_run_time_end(tmp_path: Path) -> None:
    """LpPool takes `ceil_mode` from opset 18 on."""
    pool = helper.make_node("LpPool", ["x"], ["y"], kernel_shape=[4], strides=[3], pads=[1, 0], ceil_mode=1)
    model = model_of([pool], {"x": random(1, 2, 9)}, ["y"], {}, opset=18, shapes={"x": [1, 2, "W"]})
    graph = imported(model, tmp_path, [TensorRequest("x", (1, 2, (4, 12)))]).graph
    for width in range(4, 13):
        x = random(1, 2, width)
        np.testing.assert_allclose(evaluate(graph, {"x": x})["y"], reference(model, {"x": x})[0], rtol=1e-5)


def test_copies_along_an_axis_of_four_whose_number_is_a_size(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("Shape", ["z"], ["count"]),
        helper.make_node("Concat", ["ones", "count", "one"], ["repeats"], axis=0),
        helper.make_node("Tile", ["x", "repeats"], ["y"]),
    ]
    weights = {"ones": np.ones(2, np.int64), "one": np.ones(1, np.int64)}
    feeds = {"x": random(1, 2, 3, 4), "z": random(5)}
    model = model_of(nodes, feeds, ["y"], weights, shapes={"z": ["N"]})
    requests = [TensorRequest("x", (1, 2, 3, 4)), TensorRequest("z", ((1, 6),))]
    graph = imported(model, tmp_path, requests).graph
    for count in (1, 2, 6):
        feeds["z"] = random(count)
        np.testing.assert_array_equal(evaluate(graph, feeds)["y"], reference(model, feeds)[0])
