"""Nearest resizes whose positions are halfway, or on an element, but for rounding, against onnxruntime."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.importers.onnx.harness import Case, check

_COORDINATES = ("half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "asymmetric", "align_corners")
_ROUNDINGS = ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")
#: Of height and width: old and new.
_SIZES = [((28, 1), (28, 166)), ((7, 2), (70, 155)), ((11, 26), (3, 1)), ((13, 7), (5, 3))]


@pytest.mark.parametrize("rounding", _ROUNDINGS)
@pytest.mark.parametrize("coordinates", _COORDINATES)
def test_takes_the_element_that_onnxruntime_takes(coordinates: str, rounding: str, tmp_path: Path) -> None:
    attributes = {"mode": "nearest", "coordinate_transformation_mode": coordinates, "nearest_mode": rounding}
    for number, (height, width) in enumerate(_SIZES):
        x = np.arange(height[0] * width[0], dtype=np.float32).reshape(1, 1, height[0], width[0])
        sizes = np.array([1, 1, height[1], width[1]], np.int64)
        folder = tmp_path / str(number)
        folder.mkdir()
        check(Case("Resize", [x, None, None, sizes], attributes, (3,), opset=19), folder, rtol=0, atol=0)
