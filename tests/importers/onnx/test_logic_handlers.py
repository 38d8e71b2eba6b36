"""Elementary functions, comparisons, logic, choices and what works along an axis, against onnxruntime."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from buildtool.errors import LatheError
from buildtool.importers.request import TensorRequest
from buildtool.ir.types import DType
from tests.importers.onnx.harness import NEWEST_OF_RUNTIME, Case, check, imported, model_of, random, run

_X = random(2, 3, 5)
_Y = random(3, 1, seed=1)
_ODD = np.array([0.5, -1.5, 2.5, np.nan, np.inf, -np.inf, -0.0, 3.0], np.float32)
_FLAGS = np.array([[True, False, True], [False, False, True]])
_S64 = np.array([[7, -7, 0, 9], [-(2**40), 3, 5, -1]])

FUNCTIONS = [
    *(Case(op, [_X], opset=opset) for op in ("Sin", "Cos", "Tan", "Atan") for opset in (7, NEWEST_OF_RUNTIME)),
    *(Case(op, [random(4, 7, low=-0.9, high=0.9)]) for op in ("Asin", "Acos", "Atanh")),
    *(Case(op, [_X], opset=9) for op in ("Sinh", "Cosh", "Asinh", "Sign")),
    Case("Acosh", [random(4, 7, low=1.0, high=5.0)]),
    Case("Round", [_ODD], opset=11),
    Case("Sign", [_S64]),
    *(Case(op, [_X]) for op in ("Softsign", "Celu", "Selu", "ThresholdedRelu", "Shrink")),
    Case("Mish", [_X], opset=18),
    Case("Celu", [_X], {"alpha": 0.7}),
    Case("Selu", [_X], {"alpha": 0.7, "gamma": 1.5}, opset=7),
    Case("ThresholdedRelu", [_X], {"alpha": 0.3}, opset=10),
    Case("Shrink", [_X], {"lambd": 1.0, "bias": 0.25}, opset=9),
    Case("IsNaN", [_ODD], opset=9),
    Case("IsInf", [_ODD], opset=10),
    Case("IsInf", [_ODD], {"detect_negative": 0}),
    Case("IsInf", [_ODD], {"detect_positive": 0}, opset=20),
]
LOGIC = [
    *(Case(op, [_FLAGS, _FLAGS[1]], opset=7) for op in ("And", "Or", "Xor")),
    Case("Not", [_FLAGS]),
    *(Case(op, [_X, _Y], opset=opset) for op in ("Less", "Greater") for opset in (7, 9, 13)),
    *(Case(op, [_X, _Y], opset=16) for op in ("LessOrEqual", "GreaterOrEqual")),
    *(Case(op, [_S64, _S64[0]], opset=13) for op in ("Equal", "Less", "Greater")),
    Case("LessOrEqual", [_ODD, np.array(2.5, np.float32)], opset=12),
    Case("Equal", [_FLAGS, _FLAGS[1]], opset=7),
    Case("Equal", [_ODD, _ODD], opset=19),
    Case("GreaterOrEqual", [_ODD, _ODD], {}, (0, 1), opset=16),  # known on import, NaN included
    *(Case(op, [_S64, _S64[0]], opset=18) for op in ("BitwiseAnd", "BitwiseOr", "BitwiseXor")),
    Case("BitwiseNot", [_S64], opset=18),
    *(
        Case("BitShift", [np.arange(6, dtype=np.uint8) * 40, np.array(2, np.uint8)], {"direction": direction})
        for direction in ("LEFT", "RIGHT")
    ),
    Case("Where", [_FLAGS, random(2, 3), random(3, seed=2)], opset=9),
    Case("Where", [_FLAGS, random(2, 3), random(3, seed=2)], {}, (0, 1, 2), opset=16),
    Case("Where", [_FLAGS[0], _S64[:, :3], np.array(5)]),
    Case("Mod", [_S64, np.array([2, -3, 4, 5])], opset=10),
    Case("Mod", [_X, _Y], {"fmod": 1}, opset=13),
    Case("Pow", [np.array([1, 2, 3]), np.array([2.0, 0.5, 3.0], np.float32)], opset=15),
    Case("Pow", [np.array([1, 2, 3]), np.array([2.0, 3.0, 0.0], np.float32)], {}, (1,), opset=15),
]
_AXES = np.array([1])
ALONG_AXES = [
    *(
        Case(op, [_X], {"axis": axis}, opset=opset)
        for op in ("ArgMax", "ArgMin")
        for axis in (1, -1)
        for opset in (11, 13)
    ),
    Case("ArgMax", [_S64], {"axis": 1, "keepdims": 0, "select_last_index": 1}),
    Case("Hardmax", [_X], {"axis": 1}, opset=11),
    Case("Hardmax", [_X], {"axis": 1}, opset=13),
    Case("LogSoftmax", [_X], {"axis": 1}, opset=11),
    Case("LogSoftmax", [_X], opset=13),
    *(
        Case("CumSum", [_X, np.array(axis)], {"exclusive": exclusive, "reverse": reverse}, (1,), opset=14)
        for axis, exclusive, reverse in ((0, 0, 0), (1, 1, 0), (-1, 0, 1), (2, 1, 1))
    ),
    *(
        Case(op, [random(2, 3, 5, low=0.1)], {"axes": [1], "keepdims": keepdims}, opset=opset)
        for op in ("ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceSumSquare")
        for keepdims in (0, 1)
        for opset in (7, 13)
    ),
    *(Case(op, [_X, _AXES], {}, (1,), opset=18) for op in ("ReduceL1", "ReduceL2", "ReduceLogSumExp")),
    Case("ReduceLogSumExp", [_X * np.float32(300), _AXES], {}, (1,), opset=18),
    Case("ReduceLogSumExp", [np.array([[-np.inf, 1.0], [-np.inf, -np.inf]], np.float32), _AXES], {}, (1,), opset=18),
    Case("ReduceL2", [_S64[:, 1:3] % 100], {"axes": [0]}),
    *(Case("LpNormalization", [_X], {"axis": 1, "p": power}) for power in (1, 2)),
    Case("LpNormalization", [np.zeros((2, 3), np.float32)], opset=22),
    Case("MeanVarianceNormalization", [random(2, 3, 4, 5)]),
    Case("MeanVarianceNormalization", [random(2, 3, 4, 5)], {"axes": [-1, 1]}),
]


@pytest.mark.parametrize("case", FUNCTIONS, ids=str)
def test_functions(case: Case, tmp_path: Path) -> None:
    check(case, tmp_path)


@pytest.mark.parametrize("case", LOGIC, ids=str)
def test_logic(case: Case, tmp_path: Path) -> None:
    check(case, tmp_path)


@pytest.mark.parametrize("case", ALONG_AXES, ids=str)
def test_along_axes(case: Case, tmp_path: Path) -> None:
    check(case, tmp_path)


def test_swish_with_another_slope(tmp_path: Path) -> None:
    graph = imported(Case("Swish", [_X], {"alpha": 2.0}, opset=24).model(), tmp_path).graph
    np.testing.assert_allclose(run(graph, [_X])[0], _X / (1 + np.exp(-2 * _X)), rtol=1e-5)


def test_swish_gate(tmp_path: Path) -> None:
    gate, value = random(2, 6), random(2, 6, seed=3)
    graph = imported(Case("SwiGLU", [gate, value], opset=28).model(), tmp_path).graph
    np.testing.assert_allclose(run(graph, [gate, value])[0], gate / (1 + np.exp(-gate)) * value, rtol=1e-5)


def test_largest_of_truth_values_and_of_nothing(tmp_path: Path) -> None:
    axes = np.array([1])
    graph = imported(Case("ReduceMax", [_FLAGS, axes], {}, (1,), opset=20).model(), tmp_path).graph
    assert run(graph, [_FLAGS])[0].tolist() == [[True], [True]]
    nothing = np.zeros((2, 0), np.float32)
    graph = imported(Case("ReduceMin", [nothing, axes], {}, (0, 1), opset=20).model(), tmp_path).graph
    assert run(graph, [])[0].tolist() == [[np.inf], [np.inf]]


def test_reduction_over_no_axes_still_applies_the_function(tmp_path: Path) -> None:
    case = Case("ReduceSumSquare", [_X], {"noop_with_empty_axes": 1}, opset=18)
    np.testing.assert_allclose(run(imported(case.model(), tmp_path).graph, [_X])[0], _X * _X)


def test_comparison_of_sizes_that_vary_folds_where_the_bounds_tell(tmp_path: Path) -> None:
    nodes = [
        Case("Shape", [_X]).model().graph.node[0],
        Case("Greater", [_S64, _S64]).model().graph.node[0],
    ]
    nodes[0].output[0] = "sizes"
    nodes[1].input[0], nodes[1].input[1] = "sizes", "zeros"
    weights = {"zeros": np.zeros(3, np.int64)}
    model = model_of(nodes, {"x0": _X}, ["y0"], weights, shapes={"x0": ["n", 3, 5]})
    request = TensorRequest("x0", shape=((1, 8), 3, 5), data_format="NONE", dtype=DType.F32)
    graph = imported(model, tmp_path, [request]).graph
    assert run(graph, [_X])[0].tolist() == [True, True, True]


@pytest.mark.parametrize(
    "case",
    [
        Case("BitShift", [np.arange(3, dtype=np.uint8), np.arange(3, dtype=np.uint8)], {"direction": "UP"}),
        Case("LpNormalization", [_X], {"p": 3}),
        Case("And", [_X, _X]),
        Case("Where", [_X, _X, _X]),
        Case("CumSum", [_X, np.array([0, 1])], {}, (1,)),
        Case("CumSum", [_X, np.array(3)], {}, (1,)),
        Case("ArgMax", [_X], {"axis": 3}),
        Case("Celu", [_X], {"alpha": 0.0}),
    ],
    ids=str,
)
def test_wrong_operands_and_attributes_are_errors(case: Case, tmp_path: Path) -> None:
    with pytest.raises(LatheError):
        imported(case.model(), tmp_path)
