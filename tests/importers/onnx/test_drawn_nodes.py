"""Slices, pools and resizes with attributes drawn at random, against onnxruntime; the seeds are fixed.

What docs/reference/onnx.md says of differences is not drawn.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from buildtool.errors import ModelFileError
from tests.importers.onnx.harness import Case, compare, imported, reference

_CASES = 50
_LOWEST = np.finfo(np.float32).min
_FAR = (2**63 - 1, 2**63 - 2, -(2**63), -(2**63) + 1, 2**31 - 1, -(2**31))
_SCALES = (0.25, 0.5, 0.6, 0.8, 1.0, 1.5, 1.7, 2.0, 2.6, 3.0)
_COORDINATES = ("half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "asymmetric", "align_corners")
_ROUNDINGS = ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")
_Rng = np.random.Generator


def _one_of(rng: _Rng, choices: tuple[Any, ...]) -> Any:
    return choices[int(rng.integers(len(choices)))]


def _numbers(rng: _Rng, *shape: int) -> np.ndarray:
    return np.asarray(rng.uniform(-2, 2, shape), np.float32)


def _slice(rng: _Rng) -> Case:
    rank = int(rng.integers(1, 4))
    axes = rng.permutation(rank)[: int(rng.integers(1, rank + 1))]

    def bounds() -> np.ndarray:
        return np.array([_one_of(rng, _FAR) if rng.random() < 0.2 else rng.integers(-9, 10) for _ in axes], np.int64)

    steps = np.array([_one_of(rng, (-3, -2, -1, 1, 2, 3, *_FAR)) for _ in axes], np.int64)
    lists = [bounds(), bounds(), axes - rank * rng.integers(0, 2, len(axes)), steps]
    return Case("Slice", [_numbers(rng, *rng.integers(1, 7, rank)), *lists], {}, (1, 2, 3, 4))


def _pool(rng: _Rng, op: str) -> Case:
    rank = int(rng.integers(1, 4))
    kernel, strides, dilations = rng.integers(1, 5, rank), rng.integers(1, 5, rank), rng.integers(1, 3, rank)
    attributes: dict[str, Any] = {"ceil_mode": int(rng.integers(2))}
    if rng.random() < 0.7:
        attributes["pads"] = [int(rng.integers(0, side)) for side in (*kernel, *kernel)]
    else:
        attributes["auto_pad"] = _one_of(rng, ("VALID", "SAME_UPPER", "SAME_LOWER"))
        if attributes["auto_pad"] != "VALID":
            strides, dilations = np.minimum(strides, kernel), np.ones(rank, np.int64)
    attributes |= {"kernel_shape": kernel.tolist(), "strides": strides.tolist(), "dilations": dilations.tolist()}
    if op == "AveragePool":
        attributes["count_include_pad"] = int(rng.integers(2))
    elif op == "LpPool":
        attributes["p"] = int(rng.integers(1, 4))
    outputs = 1 + int(op == "MaxPool" and rng.random() < 0.3)
    return Case(op, [_numbers(rng, 1, 2, *rng.integers(1, 8, rank))], attributes, opset=19, outputs=outputs)


def _resize(rng: _Rng) -> Case:
    mode, coordinates = _one_of(rng, ("nearest", "linear", "cubic")), _one_of(rng, _COORDINATES)
    x = _numbers(rng, 1, 2, *rng.integers(1, 8, 2))
    attributes = {"mode": mode, "coordinate_transformation_mode": coordinates}
    if mode == "nearest":
        attributes["nearest_mode"] = _one_of(rng, _ROUNDINGS)
    if coordinates == "align_corners" or rng.random() < 0.5:
        sizes = np.array([1, 2, *rng.integers(1, 12, 2)], np.int64)
        return Case("Resize", [x, None, None, sizes], attributes, (3,), opset=19)
    scales = [1.0, 1.0, *(max(_one_of(rng, _SCALES), 1 / side) for side in x.shape[2:])]
    return Case("Resize", [x, None, np.array(scales, np.float32)], attributes, (2,), opset=19)


_DRAWN: dict[str, Callable[[_Rng], Case]] = {
    "Slice": _slice,
    "MaxPool": lambda rng: _pool(rng, "MaxPool"),
    "AveragePool": lambda rng: _pool(rng, "AveragePool"),
    "LpPool": lambda rng: _pool(rng, "LpPool"),
    "Resize": _resize,
}


@pytest.mark.parametrize("op", _DRAWN)
def test_agrees_with_onnxruntime(op: str, tmp_path: Path) -> None:
    rng, compared = np.random.default_rng(7), 0
    for _ in range(_CASES):
        case = _DRAWN[op](rng)
        try:
            expected = reference(case.model(), case.fed())
        except Exception:  # onnxruntime has its own errors for pools without windows, and others that it does not run
            continue
        if op.endswith("Pool") and _without_windows(case):
            with pytest.raises(ModelFileError, match=f"{op}: its window spans"):
                imported(case.model(), tmp_path)
            continue
        if op == "MaxPool":  # windows in the padding alone, and their places
            expected[0] = np.where(expected[0] == _LOWEST, -np.inf, expected[0])
            expected[1:] = [np.maximum(places, -1) for places in expected[1:]]
        compare(imported(case.model(), tmp_path).graph, list(case.fed().values()), expected, 1e-4, 1e-4)
        compared += 1
    assert compared > _CASES // 2


def _without_windows(case: Case) -> bool:
    """Whether an axis has no window. onnxruntime divides towards 0, and so counts some that are none."""
    attributes, (x,) = case.attributes, case.inputs
    assert x is not None
    if attributes.get("auto_pad", "VALID") != "VALID":
        return False
    rank = x.ndim - 2
    pads = attributes.get("pads", [0] * (2 * rank))
    for axis in range(rank):
        span = (attributes["kernel_shape"][axis] - 1) * attributes["dilations"][axis] + 1
        room = x.shape[2 + axis] + pads[axis] + pads[axis + rank] - span
        if room <= (-attributes["strides"][axis] if attributes["ceil_mode"] else -1):
            return True
    return False
