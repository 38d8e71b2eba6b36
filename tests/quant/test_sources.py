"""Models with quantised operators are known as such; those that quantise by the range of each run are not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx import helper

from buildtool.quant.sources import is_quantised
from tests.importers.onnx.harness import imported, model_of, random

_WEIGHTS = {"scale": np.array(0.1, np.float32), "zero": np.array(3, np.uint8)}
_STORED = [
    helper.make_node("QuantizeLinear", ["x", "scale", "zero"], ["q"]),
    helper.make_node("DequantizeLinear", ["q", "scale", "zero"], ["d"]),
    helper.make_node("Relu", ["d"], ["y"]),
]
_BY_RANGE = [
    helper.make_node("DynamicQuantizeLinear", ["x"], ["q", "s", "z"]),
    helper.make_node("DequantizeLinear", ["q", "s", "z"], ["y"]),
]


@pytest.mark.parametrize(("nodes", "expected"), [(_STORED, True), (_BY_RANGE, False)])
def test_quantised_models(nodes: list[object], expected: bool, tmp_path: Path) -> None:
    held = _WEIGHTS if expected else {}
    model = model_of(nodes, {"x": random(2, 3)}, ["y"], held)  # type: ignore[arg-type]
    assert is_quantised(imported(model, tmp_path).graph) is expected
