"""Random operators: distributions, independence of nodes, and the same numbers in every run."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper

from buildtool.importers.request import TensorRequest
from buildtool.ir.evaluate import evaluate
from buildtool.ir.graph import Graph
from buildtool.ir.operator import Array
from buildtool.passes.pipeline import optimise
from tests.importers.onnx.harness import imported, model_of

_X = np.zeros((1, 200, 300), np.float32)


def _graph(folder: Path, *nodes: object, **bounds: tuple[int, int]) -> Graph:
    names = [f"y{index}" for index in range(len(nodes))]
    model = model_of(list(nodes), {"x": _X}, names, {}, shapes={"x": [1, "t", 300]})  # type: ignore[arg-type]
    return imported(model, folder, [TensorRequest("x", (1, bounds.get("t", (1, 200)), 300))]).graph


def _correlation(a: Array, b: Array) -> float:
    return float(np.corrcoef(a.ravel(), b.ravel())[0, 1])


def test_normal_numbers(tmp_path: Path) -> None:
    """Moments and quantiles of 60,000 numbers, and correlations along both axes."""
    nodes = [
        helper.make_node("RandomNormalLike", ["x"], ["y0"]),
        helper.make_node("RandomNormalLike", ["x"], ["y1"], mean=3.0, scale=0.5, seed=7.0),
    ]
    graph = _graph(tmp_path, *nodes)
    for _ in range(2):
        y, other = (evaluate(graph, {"x": _X})[name] for name in ("y0", "y1"))
        assert y.shape == _X.shape
        np.testing.assert_allclose([y.mean(), y.std(), (y**3).mean(), (y**4).mean()], [0, 1, 0, 3], atol=0.08)
        np.testing.assert_allclose(np.quantile(y, [0.025, 0.5, 0.975]), [-1.96, 0, 1.96], atol=0.03)
        np.testing.assert_allclose([other.mean(), other.std()], [3, 0.5], atol=0.01)
        pairs = [(y[:, :-1], y[:, 1:]), (y[..., :-1], y[..., 1:]), (y, other)]
        assert max(abs(_correlation(*pair)) for pair in pairs) < 0.02
        optimise(graph)


def test_uniform_numbers(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("RandomUniformLike", ["x"], ["y0"], low=-2.0, high=6.0),
        helper.make_node("RandomUniform", [], ["y1"], shape=[50, 60], dtype=TensorProto.DOUBLE),
        helper.make_node("RandomNormal", [], ["y2"], shape=[1], seed=3.0),
    ]
    y, fixed, one = (evaluate(_graph(tmp_path, *nodes), {"x": _X})[name] for name in ("y0", "y1", "y2"))
    np.testing.assert_allclose(np.quantile(y, [0, 0.25, 0.5, 0.75, 1]), [-2, 0, 2, 4, 6], atol=0.08)
    assert fixed.shape == (50, 60)
    assert fixed.dtype == np.float64
    assert 0 < fixed.min() < fixed.max() <= 1
    assert one.shape == (1,)


def test_chances(tmp_path: Path) -> None:
    x = np.full(_X.shape, 0.3, np.float32)
    y = evaluate(_graph(tmp_path, helper.make_node("Bernoulli", ["x"], ["y0"])), {"x": x})["y0"]
    assert set(np.unique(y)) == {0, 1}
    assert abs(y.mean() - 0.3) < 0.01


@pytest.mark.parametrize("count", [1, 7, 200])
def test_a_shorter_input_has_the_same_numbers_in_front(tmp_path: Path, count: int) -> None:
    graph = _graph(tmp_path, helper.make_node("RandomNormalLike", ["x"], ["y0"]))
    y, whole = (evaluate(graph, {"x": _X[:, :size]})["y0"] for size in (count, 200))
    np.testing.assert_array_equal(y, whole[:, :count])
