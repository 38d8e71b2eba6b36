"""Volumes, norms, resizes by tables, grids and regions against onnxruntime."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from buildtool.errors import ModelFileError
from buildtool.ir.operator import Array
from tests.importers.onnx.harness import Case, check, imported, random

_IMAGE = random(1, 4, 6, 7)
_VOLUME = random(1, 4, 3, 4, 5)
_REGIONS = np.array([[1, 1, 5, 4], [-2, 0, 9, 8], [3, 3, 3, 3], [2.4, 1.6, 6.5, 5.5]], np.float32)
_WITH_PICTURES = np.concatenate([np.array([[0], [1], [0], [1]], np.float32), _REGIONS], axis=1)

VOLUMES = [
    Case("Conv", [_VOLUME, random(6, 2, 2, 3, 2), random(6)], {"group": 2, "strides": [1, 2, 1]}, (1, 2)),
    Case("Conv", [_VOLUME, random(6, 4, 3, 3, 3)], {"auto_pad": "SAME_LOWER"}, (1,)),
    Case(
        "ConvTranspose",
        [_VOLUME, random(4, 3, 3, 2, 3), random(6)],
        {"group": 2, "strides": [2, 1, 2], "pads": [1, 0, 1, 0, 1, 0], "output_padding": [1, 0, 1]},
        (1, 2),
    ),
    Case("MaxPool", [_VOLUME], {"kernel_shape": [2, 3, 2], "strides": [2, 1, 2], "ceil_mode": 1}, opset=12),
    Case("MaxPool", [_VOLUME], {"kernel_shape": [2, 3, 2], "pads": [1, 0, 1, 0, 1, 0]}, outputs=2, opset=12),
    Case("MaxPool", [_IMAGE], {"kernel_shape": [2, 2], "storage_order": 1}, outputs=2, opset=12),
    Case("AveragePool", [_VOLUME], {"kernel_shape": [2, 3, 2], "strides": [2, 1, 2], "count_include_pad": 1}),
    Case("AveragePool", [_VOLUME], {"kernel_shape": [2, 3, 2], "strides": [2, 2, 2], "ceil_mode": 1}, opset=19),
    *(
        Case("LpPool", [_IMAGE], {"kernel_shape": [2, 3], "strides": [2, 1], "pads": [1, 0, 0, 1], "p": p}, opset=18)
        for p in (1, 2, 3)
    ),
    Case("LpPool", [_IMAGE], {"kernel_shape": [2, 3], "strides": [3, 2], "ceil_mode": 1}, opset=18),
    *(  # windows larger than the padded input
        Case(op, [_IMAGE], {"kernel_shape": [8, 11], "strides": [2, 3], "pads": [1, 1, 0, 2], "ceil_mode": 1}, opset=19)
        for op in ("MaxPool", "AveragePool", "LpPool")
    ),
    Case("MaxPool", [_IMAGE], {"kernel_shape": [7, 9], "strides": [2, 3], "ceil_mode": 1}, outputs=2, opset=12),
    *(Case("GlobalLpPool", [_IMAGE], {"p": p}) for p in (1, 2, 3)),
]
NORMS = [
    *(Case("InstanceNormalization", [x, random(4), random(4)], {}, (1, 2)) for x in (random(2, 4, 9), _IMAGE, _VOLUME)),
    Case("GroupNormalization", [random(2, 6, 4, 5), random(3), random(3)], {"num_groups": 3}, (1, 2), opset=18),
    Case("GroupNormalization", [random(2, 6, 4, 5), random(6), random(6)], {"num_groups": 3}, (1, 2), opset=21),
    Case("LayerNormalization", [_IMAGE, random(4, 6, 7), random(4, 6, 7)], {"axis": 1}, (1, 2), outputs=3),
    Case("LayerNormalization", [_IMAGE, random(7)], {"epsilon": 1e-3}, (1,)),
    Case("LRN", [random(2, 7, 4, 5)], {"size": 3, "alpha": 0.3, "beta": 0.6, "bias": 1.5}),
]


def _resize(scales: tuple[float, ...], x: Array = _IMAGE, **attributes: Any) -> Case:
    return Case("Resize", [x, None, np.array(scales, np.float32)], attributes, (2,), opset=18)


_REGION = np.array([0, 0, -0.3, 0.2, 1, 1, 1.2, 0.9], np.float32)
RESIZES = [
    *(
        _resize((1, 1, 1.7, 0.6), mode="cubic", coordinate_transformation_mode=coordinates)
        for coordinates in ("half_pixel", "asymmetric", "pytorch_half_pixel")
    ),
    _resize((1, 1, 1.7, 0.6), mode="cubic", exclude_outside=1, cubic_coeff_a=-0.5),
    _resize((1, 1, 0.45, 0.6), mode="cubic", antialias=1),
    *(  # positions halfway between two elements, as 32-bit floats have them
        _resize(
            (1, 1, 0.8, 0.8),
            random(1, 2, 7, 6),
            coordinate_transformation_mode="half_pixel_symmetric",
            mode="nearest",
            nearest_mode=nearest_mode,
        )
        for nearest_mode in ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")
    ),
    *(  # of the operator sets 11 and 12
        Case(
            "Resize",
            [_IMAGE, np.zeros(0, np.float32), np.array([1, 1, 1.7, 0.6], np.float32)],
            {"coordinate_transformation_mode": "tf_half_pixel_for_nn", "mode": "nearest", "nearest_mode": nearest_mode},
            (1, 2),
            opset=11,
        )
        for nearest_mode in ("round_prefer_floor", "floor")
    ),
    Case(  # an axis of one element is resized like the others
        "Resize",
        [random(1, 2, 1, 6), None, None, np.array([1, 2, 3, 9])],
        {"mode": "nearest", "keep_aspect_ratio_policy": "not_smaller", "axes": [0, 1, 2, 3]},
        (3,),
        opset=18,
    ),
    *(  # what lies outside of the image has a value of its own
        Case(
            "Resize",
            [
                _IMAGE,
                np.array([0, 0, -0.3, 0.2, 1, 1, 1.2, 0.9], np.float32),
                None,
                np.array([*_IMAGE.shape[:2], 5, 6]),
            ],
            {"coordinate_transformation_mode": "tf_crop_and_resize", "mode": mode, **more},
            (1, 3),
            opset=13,
        )
        for mode, more in (("linear", {}), ("linear", {"extrapolation_value": -3.5}), ("nearest", {}))
    ),
    _resize((1, 1, 2.6, 0.25), mode="cubic", coordinate_transformation_mode="pytorch_half_pixel"),
    _resize((1, 1, 0.45, 0.6), mode="linear", antialias=1),
    _resize((1, 1, 2, 1.7, 0.6), _VOLUME, mode="linear"),
    _resize((1, 1, 2, 1.7, 0.6), _VOLUME, mode="nearest"),
]


def _grid(mode: str, padding: str, align_corners: int) -> Case:
    attributes = {"mode": mode, "padding_mode": padding, "align_corners": align_corners}
    return Case("GridSample", [_IMAGE, random(1, 3, 5, 2, low=-1.5, high=1.5)], attributes, opset=16)


SAMPLES = [
    *(
        _grid(mode, padding, align_corners)
        for mode in ("bilinear", "nearest", "bicubic")
        for padding in ("zeros", "border", "reflection")
        for align_corners in (0, 1)
    ),
    Case("GridSample", [_VOLUME, random(1, 2, 4, 5, 3, low=-1.5, high=1.5)], {"mode": "linear"}, opset=20),
    *(
        Case(
            "RoiAlign",
            [random(2, 3, 8, 9), _REGIONS, np.array([0, 1, 0, 1])],
            {"mode": mode, "output_height": 3, "output_width": 2, "spatial_scale": 0.7},
            opset=opset,
        )
        for mode in ("avg", "max")
        for opset in (10, 16)
    ),
    Case("MaxRoiPool", [random(2, 3, 8, 9), _WITH_PICTURES], {"pooled_shape": [3, 2], "spatial_scale": 0.7}),
    Case(
        "DeformConv",
        [random(1, 4, 6, 6), random(6, 2, 3, 3), random(1, 36, 6, 6), random(6), random(1, 18, 6, 6, low=0)],
        {"group": 2, "offset_group": 2, "pads": [1, 1, 1, 1]},
        (1, 3),
        opset=19,
    ),
    Case("Det", [random(2, 3, 4, 4)], {}),
    Case("AffineGrid", [random(2, 2, 3), np.array([2, 3, 4, 5])], {"align_corners": 1}, (1,), opset=20),
]


@pytest.mark.parametrize("case", [*VOLUMES, *NORMS, *RESIZES, *SAMPLES], ids=str)
def test_agrees_with_onnxruntime(case: Case, tmp_path: Path) -> None:
    check(case, tmp_path, rtol=1e-4, atol=2e-5)


@pytest.mark.parametrize("op", ["MaxPool", "AveragePool", "LpPool"])
@pytest.mark.parametrize(("ceil_mode", "kernel"), [(0, 7), (1, 8)])
def test_a_pool_without_a_window(op: str, ceil_mode: int, kernel: int, tmp_path: Path) -> None:
    """The error names the operator of the file, whatever the pool becomes."""
    case = Case(op, [_IMAGE], {"kernel_shape": [kernel, 2], "strides": [2, 2], "ceil_mode": ceil_mode}, opset=19)
    with pytest.raises(ModelFileError, match=rf"{op}: its window spans {kernel} elements of an axis that has 6"):
        imported(case.model(), tmp_path)
