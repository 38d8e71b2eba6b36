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


@pytest.mark.parametrize("case", [*SHAPING, *PARTS], ids=str)
def test_moves(case: Case, tmp_path: Path) -> None:
    check(case, tmp_path, rtol=0, atol=0)


@pytest.mark.parametrize("case", FOLDS, ids=str)
def test_folds(case: Case, tmp_path: Path) -> None:
    check(case, tmp_path)
