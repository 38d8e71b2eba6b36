"""Declared sizes that a constant of the model contradicts: an error that names it, and the sizes that fit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx.parser
import pytest

from buildtool.errors import ModelFileError
from buildtool.importers.onnx import import_model
from buildtool.ir.evaluate import evaluate
from tests.importers.onnx.control_flow import Model, Shapes, request_for
from tests.importers.onnx.harness import reference

_TABLE = np.arange(24 * 8, dtype=np.float32).reshape(1, 24, 8)
#: A table of positions, as it is and cut to the length.
_WHOLE = """(float[1,t,8] x) => (float[1,t,8] y) {
  y = Add(x, positions)
}"""
_CUT = """(float[1,t,8] x) => (float[1,t,8] y) <int64[1] zero = {0}, int64[1] axis1 = {1}> {
  t = Shape<start = 1, end = 2>(x)
  used = Slice(positions, zero, t, axis1)
  y = Add(x, used)
}"""
_FORM = """(float[t,8] x) => (float[2,12,8] y) <int64[3] form = {2, 12, 8}> {
  a = Relu(x)
  y = Reshape(a, form)
}"""


def _proto(text: str) -> onnx.ModelProto:
    return Model(text, (), weights={"positions": _TABLE} if "positions" in text else {}).proto()


@pytest.mark.parametrize(
    ("text", "shapes", "words"),
    [
        (_WHOLE, {"x": (1, (1, 64), 8)}, ["'t' 1..64", "constant 'positions'", "declare 1..24 for 't', or 24 alone"]),
        (_CUT, {"x": (1, (1, 64), 8)}, ["'t' 1..64", "constant 'positions'", "declare 1..24 for 't', or 24 alone"]),
        (_FORM, {"x": ((1, 64), 8)}, ["'t' 1..64", "the model fixes this size"]),
    ],
    ids=["whole", "cut", "form"],
)
def test_a_contradiction_is_told(text: str, shapes: Shapes, words: list[str], tmp_path: Path) -> None:
    with pytest.raises(ModelFileError) as caught:
        import_model(request_for(tmp_path, _proto(text), shapes))
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize(("text", "sizes"), [(_WHOLE, (24,)), (_CUT, (1, 7, 24))], ids=["whole", "cut"])
def test_sizes_that_fit(text: str, sizes: tuple[int, ...], tmp_path: Path) -> None:
    graph = import_model(request_for(tmp_path, _proto(text), {"x": (1, (1, 24), 8)})).graph
    for size in sizes:
        feeds = {"x": np.ones((1, size, 8), np.float32)}
        np.testing.assert_array_equal(evaluate(graph, feeds)["y"], reference(_proto(text), feeds)[0])
