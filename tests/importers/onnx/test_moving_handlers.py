"""Operators that move or fold elements against onnxruntime."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.importers.onnx.harness import NEWEST_OF_RUNTIME, Case, check, random

_X = random(2, 3, 4, 5)


def _ints(*numbers: int) -> np.ndarray:
    return np.array(numbers, np.int64)


SHAPING = [
    Case("Reshape", [_X, _ints(6, -1)], {}, (1,), opset=7),
    Case("Reshape", [_X, _ints(0, 0, -1)], {}, (1,)),
    Case("Reshape", [_X, _ints(4, 5, 2, 3)], {"allowzero": 1}, (1,)),
    *(Case("Flatten", [_X], {"axis": axis}) for axis in (0, 1, 3, 4, -1)),
    Case("Flatten", [_X], {}, opset=7),
    Case("Squeeze", [random(1, 3, 1, 2)], {}, opset=11),
    Case("Squeeze", [random(1, 3, 1, 2)], {"axes": [0]}, opset=7),
    Case("Squeeze", [random(1, 3, 1, 2), _ints(-2)], {}, (1,)),
    Case("Unsqueeze", [_X], {"axes": [0, 5]}, opset=7),
    Case("Unsqueeze", [_X, _ints(-1, 0)], {}, (1,)),
    Case("Transpose", [_X]),
    Case("Transpose", [_X], {"perm": [0, 2, 3, 1]}),
    Case("Expand", [random(3, 1), _ints(2, 1, 4)], {}, (1,)),
    Case("Expand", [random(1, 4, 1, 1), _ints(1, 4, 17, 9)], {}, (1,)),
    Case("Expand", [random(3, 4), _ints(1)], {}, (1,)),
    Case("Tile", [random(3, 1), _ints(2, 3)], {}, (1,)),
]
_I = np.random.default_rng(0).integers(-3, 3, (2, 3, 4, 5))
PLACING = [
    *(Case("Tile", [random(3, 70), _ints(100, count)], {}, (1,)) for count in (0, 1, 3)),
    Case("Expand", [random(1, 1), _ints(300, 300)], {}, (1,)),
    Case("GatherElements", [random(3, 4, 5), np.array([[[0, -1], [2, 1]]])], {"axis": 2}, (1,), opset=11),
    Case("GatherElements", [_X, _I[:, :, :2]], {"axis": -3}),
    Case("GatherND", [_X, _I[:, :, 0, :2] % 2], {}, opset=11),
    Case("GatherND", [_X, _ints(0, 1, 2, 1, 2, 0).reshape(2, 1, 3)], {"batch_dims": 1}, opset=12),
    Case("Scatter", [_X, _I[:1], random(1, 3, 4, 5)], {"axis": 1}, opset=9),
    Case("ScatterElements", [_X, _I, random(2, 3, 4, 5)], {"axis": -1}, opset=11),
    *(
        Case("ScatterElements", [_X, _I, random(2, 3, 4, 5)], {"axis": 2, "reduction": kind}, opset=18)
        for kind in ("add", "mul", "min", "max")
    ),
    Case("ScatterND", [_X, _ints(1, 0, 0, 2).reshape(2, 2), random(2, 4, 5)], {}, opset=11),
    *(
        Case("ScatterND", [_X, _ints(1, 1, 0).reshape(3, 1), random(3, 3, 4, 5)], {"reduction": kind}, opset=18)
        for kind in ("add", "mul", "min", "max")
    ),
    Case("TensorScatter", [_X, random(2, 3, 2, 5), _ints(1, 2)], {}, opset=24),
    Case("TensorScatter", [_X, random(2, 3, 4, 3), _ints(1, 4)], {"axis": 3, "mode": "circular"}, opset=24),
    *(
        Case("OneHot", [_ints(0, 4, -5, 9), np.array(5), random(2)], {"axis": axis}, (1,), opset=opset)
        for axis in (0, -1)
        for opset in (9, 11)
    ),
    Case("OneHot", [np.array([1.0, 2.0], np.float32), np.array(3), _ints(7, 8)], {}, (1,)),
    *(Case("Trilu", [_X, np.array(k)], {"upper": upper}, (1,)) for k in (-1, 0, 2) for upper in (0, 1)),
    Case("Trilu", [_X]),
]
_CORNERS = _ints(5, 7, 13, 15).reshape(1, 1, 2, 2)
REARRANGING = [
    Case("DepthToSpace", [random(1, 8, 2, 3)], {"blocksize": 2}, opset=7),
    *(Case("DepthToSpace", [random(2, 12, 2, 3)], {"blocksize": 2, "mode": mode}) for mode in ("DCR", "CRD")),
    Case("SpaceToDepth", [random(2, 3, 4, 6)], {"blocksize": 2}, opset=7),
    Case("ReverseSequence", [random(4, 3, 2), _ints(4, 1, 2)], {}),
    Case("ReverseSequence", [random(3, 4, 2), _ints(4, 1, 2)], {"batch_axis": 0, "time_axis": 1}),
    Case("CenterCropPad", [_X, _ints(1, 5, 2, 8)], {}, (1,), opset=18),
    Case("CenterCropPad", [_X, _ints(3, 4)], {"axes": [-1, 1]}, (1,), opset=18),
    Case("Col2Im", [random(2, 12, 20), _ints(5, 6), _ints(2, 2)], {}, (1, 2), opset=18),
    Case("Col2Im", [random(1, 5, 5), _ints(5, 5), _ints(1, 5)], {}, (1, 2), opset=18),
    Case("Col2Im", [random(1, 6, 1), _ints(1, 3), _ints(1, 3)], {}, (1, 2), opset=18),
    Case("Unsqueeze", [random(2, 3), _ints(0, 2, 3, 5, 6, 7)], {}, (1,), opset=13),
    Case(
        "Col2Im",
        [random(1, 9, 4), _ints(5, 5), _ints(3, 3)],
        {"strides": [2, 2], "dilations": [1, 1]},
        (1, 2),
        opset=18,
    ),
    Case(
        "MaxUnpool",
        [random(1, 1, 2, 2), _ints(5, 7, 13, 15).reshape(1, 1, 2, 2)],
        {"kernel_shape": [2, 2], "strides": [2, 2]},
    ),
    Case("EyeLike", [random(3, 4)], {"k": 1, "dtype": 7}),
    Case("Pad", [_X, _ints(0, 1, 2, 5, 0, 3, 0, 7)], {"mode": "wrap"}, (1,), opset=19),
    Case("Pad", [np.array([[True, False]]), _ints(1, 1, 1, 1), np.array(True)], {}, (1, 2)),
    Case("Pad", [np.arange(6).reshape(2, 3), _ints(1, 1, 1, 1), np.array(-7)], {}, (1, 2)),
    *(Case("TopK", [_X], {"k": 2, "axis": 2}, outputs=2, opset=opset) for opset in (7,)),
    Case("TopK", [_X, _ints(3)], {}, (1,), outputs=2, opset=10),
    *(Case("TopK", [_X, _ints(3)], {"axis": 2, "largest": largest}, (1,), outputs=2) for largest in (0, 1)),
    *(Case("TopK", [np.round(_X).astype(kind), _ints(4)], {}, (1,), outputs=2) for kind in (np.int32, np.int64)),
    Case("BitCast", [_X], {"to": 6}, opset=26),
]
PARTS = [
    Case("Concat", [_X, random(2, 1, 4, 5), _X], {"axis": 1}),
    Case("Concat", [_X, _X], {"axis": -1}, (1,)),
    Case("Split", [_X], {"axis": 3, "split": [2, 3]}, outputs=2, opset=7),
    Case("Split", [_X], {"axis": 0}, outputs=2, opset=11),
    Case("Split", [_X, _ints(1, 3)], {"axis": -2}, (1,), outputs=2, opset=13),
    Case("Split", [_X], {"axis": 2}, outputs=2, opset=13),
    Case("Split", [_X], {"axis": 3, "num_outputs": 2}, outputs=2, opset=18),
    Case("Slice", [_X], {"starts": [1, -3], "ends": [2, 1000], "axes": [1, 3]}, opset=7),
    Case("Slice", [_X], {"starts": [0, 1], "ends": [-1, 2]}, opset=9),
    Case("Slice", [_X, _ints(1), _ints(2**63 - 1), _ints(2)], {}, (1, 2, 3), opset=10),
    Case("Slice", [_X, _ints(-1), _ints(-(2**63)), _ints(3), _ints(-2)], {}, (1, 2, 3, 4)),
    Case("Slice", [_X, _ints(0, 4), _ints(4, 0), _ints(2, 3), _ints(3, -1)], {}, (1, 2, 3, 4)),
    Case("Slice", [_X, _ints(-9), _ints(-(2**63)), _ints(3), _ints(-1)], {}, (1, 2, 3, 4)),
    Case("Slice", [_X, _ints(-2), _ints(2**31 - 1), _ints(3), _ints(-2)], {}, (1, 2, 3, 4)),
    Case("Slice", [_X, _ints(-2), _ints(2**63 - 1), _ints(2), _ints(-1)], {}, (1, 2, 3, 4)),
    Case("Pad", [_X], {"pads": [0, 1, 0, 2, 0, 0, 3, 0]}, opset=7),
    Case("Pad", [_X], {"pads": [0, 0, 1, 2, 0, 0, 2, 1], "mode": "reflect"}, opset=7),
    Case("Pad", [_X, _ints(0, 0, 1, 2, 0, 0, 2, 1)], {"mode": "edge"}, (1,)),
    Case("Pad", [_X, _ints(0, 0, 1, 2, 0, 0, 2, 1), np.array(1.5, np.float32)], {}, (1, 2)),
    Case("Pad", [_X, _ints(0, 0, -1, 2, 0, 0, 2, -1)], {}, (1,)),
    Case("Pad", [_X, _ints(1, 2, 3, 4), None, _ints(-1, 1)], {}, (1, 3), opset=18),
    Case("Gather", [_X, _ints(2, 0, -1)], {"axis": 1}, (1,)),
    Case("Gather", [_X, np.array([[0, 1], [1, 0]])], {}, ()),
    Case("Gather", [_X, np.array(1)], {"axis": 2}, (1,)),
]
FOLDS = [
    *(Case("Softmax", [_X], {"axis": axis}, opset=opset) for axis in (0, 1, 2, 3) for opset in (7, 11, 13)),
    Case("Softmax", [_X], {}, opset=7),
    Case("Softmax", [_X], {}, opset=NEWEST_OF_RUNTIME),
    Case("LogSoftmax", [_X * 40], {"axis": 1}, opset=11),
    Case("LogSoftmax", [_X * 40], {"axis": 2}, opset=13),
    *(
        Case(op, [_X], {"axes": [1, 3], "keepdims": keep}, opset=11)
        for op in ("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd")
        for keep in (0, 1)
    ),
    Case("ReduceSum", [_X, _ints(-1, 0)], {"keepdims": 0}, (1,)),
    Case("ReduceSum", [_X], {}),
    Case("ReduceSum", [_X], {"noop_with_empty_axes": 1}),
    Case("ReduceMean", [_X, _ints(2)], {}, (1,), opset=18),
    Case("ReduceMean", [_X], {"axes": [2, 3]}, opset=7),
]


@pytest.mark.parametrize("case", [*SHAPING, *PLACING, *REARRANGING, *PARTS], ids=str)
def test_moves(case: Case, tmp_path: Path) -> None:
    check(case, tmp_path, rtol=0, atol=0)


@pytest.mark.parametrize("case", FOLDS, ids=str)
def test_folds(case: Case, tmp_path: Path) -> None:
    check(case, tmp_path)
