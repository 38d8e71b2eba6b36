"""Branches that cannot compute at the declared sizes, as models for several sample rates have them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from buildtool.errors import ModelFileError
from buildtool.importers.onnx import import_model
from buildtool.ir.evaluate import evaluate
from buildtool.ir.operator import Array
from buildtool.passes.pipeline import optimise
from tests.importers.onnx.control_flow import Model, Shapes, request_for
from tests.importers.onnx.harness import reference

#: A frame of 512 samples at 16 kHz, of 256 samples at 8 kHz.
_RATES = """(float[1,n] x, int64 rate) => (float[1,4] y, int64[1] place)
        <int64 high = {16000}, int64[1] last = {2}> {
  wide = Equal(rate, high)
  y, place = If(wide) <then_branch = a () => (float[1,4] p, int64[1] i) {
    form16 = Constant<value = int64[3] {1, 4, 128}>()
    cut = Reshape(x, form16)
    p = ReduceSum<keepdims = 0>(cut, last)
    i = ArgMax<axis = 1, keepdims = 0>(p)
  }, else_branch = b () => (float[1,4] q, int64[1] j) {
    form8 = Constant<value = int64[3] {1, 4, 64}>()
    less = Reshape(x, form8)
    twice = Add(less, less)
    q = ReduceSum<keepdims = 0>(twice, last)
    j = ArgMin<axis = 1, keepdims = 0>(q)
  }>
}"""


def _model() -> Model:
    return Model(_RATES, ())


def _sized(samples: int) -> Shapes:
    return {"x": (1, samples), "rate": ()}


@pytest.mark.parametrize(("samples", "rate"), [(512, 16000), (256, 8000)])
def test_the_other_branch_computes(samples: int, rate: int, tmp_path: Path) -> None:
    proto = _model().proto()
    graph = import_model(request_for(tmp_path, proto, _sized(samples))).graph
    optimise(graph)
    x = np.random.default_rng(0).random((1, samples), np.float32)
    feeds: dict[str, Array] = {"x": x, "rate": np.array(rate, np.int64)}
    found = evaluate(graph, feeds)
    for name, wanted in zip(("y", "place"), reference(proto, feeds), strict=True):
        np.testing.assert_allclose(found[name], wanted, rtol=1e-6)


def test_an_impossible_branch_gives_no_numbers(tmp_path: Path) -> None:
    graph = import_model(request_for(tmp_path, _model().proto(), _sized(512))).graph
    found = evaluate(graph, {"x": np.ones((1, 512), np.float32), "rate": np.array(8000, np.int64)})
    assert np.isnan(found["y"]).all() and found["place"] == 0


def test_two_impossible_branches_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match="cannot become"):
        import_model(request_for(tmp_path, _model().proto(), _sized(100)))
