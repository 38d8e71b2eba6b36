"""Activations, arithmetic and products against onnxruntime."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.importers.onnx.harness import NEWEST_OF_RUNTIME, Case, check, compare, imported, random, reference

_X = random(2, 3, 5)
_PLAIN = ["Relu", "Sigmoid", "Tanh", "Exp", "Abs", "Neg", "Floor", "Ceil", "Erf", "Softplus", "Identity"]


def _scalar(number: float) -> np.ndarray:
    return np.array(number, np.float32)


UNARY = [
    *(Case(op, [_X], opset=opset) for op in _PLAIN for opset in (9, 17, NEWEST_OF_RUNTIME)),
    *(Case(op, [random(7, low=0.1)]) for op in ("Log", "Sqrt", "Reciprocal")),
    Case("HardSwish", [_X]),
    Case("HardSigmoid", [_X]),
    Case("HardSigmoid", [_X], {"alpha": 0.3, "beta": 0.4}),
    Case("LeakyRelu", [_X]),
    Case("LeakyRelu", [_X], {"alpha": 0.25}),
    Case("Elu", [_X], {"alpha": 0.5}),
    Case("PRelu", [_X, random(3, 1)], {}, (1,)),
    Case("PRelu", [random(1, 4, 3, 3), random(4, 1, 1)], {}, (1,), opset=7),
    *(  # slopes of more elements than the input has
        Case("PRelu", [random(*x), random(*slope)], {}, constants)
        for x, slope in (((1, 3), (2, 3)), ((3,), (2, 3)), ((1, 2, 1), (1, 1, 4)), ((2, 4, 3, 1), (4,)), ((), (2,)))
        for constants in ((), (1,))
    ),
    Case("Gelu", [_X], opset=20),
    Case("Gelu", [_X], {"approximate": "tanh"}, opset=20),
    Case("Dropout", [_X], opset=7),
    Case("Dropout", [_X, _scalar(0.5)], {}, (1,), opset=12),
    Case("Clip", [_X], {"min": -0.5, "max": 1.0}, opset=7),
    Case("Clip", [_X], {"max": 1.0}, opset=10),
    Case("Clip", [_X], {}, opset=7),
    Case("Clip", [_X, _scalar(-1), _scalar(0.5)], {}, (1, 2), opset=11),
    Case("Clip", [_X, None, _scalar(0.5)], {}, (2,), opset=13),
    Case("Clip", [_X, _scalar(0)], {}, (1,), opset=13),
    Case("Clip", [_X, _scalar(-1), _scalar(1)], {}, (), opset=13),
    Case("Clip", [np.arange(9), np.array(2), np.array(5)], {}, (1, 2), opset=13),
    Case("Cast", [_X], {"to": 6}),
    Case("Cast", [_X], {"to": 9}),
    Case("Cast", [np.arange(5)], {"to": 1}),
]
ARITHMETIC = [
    *(Case(op, [_X, random(3, 1, seed=1, low=0.5)]) for op in ("Add", "Sub", "Mul", "Div", "Min", "Max")),
    *(Case(op, [_X, random(3, 1, seed=1, low=0.5)], {}, (1,), opset=7) for op in ("Add", "Sub", "Mul", "Div")),
    *(Case(op, [np.arange(6), np.arange(6)[::-1].copy()]) for op in ("Add", "Sub", "Mul")),
    Case("Pow", [random(4, 3, low=0.1), random(3)]),
    Case("Pow", [_X, np.array(2)], {}, (1,)),
    Case("Min", [_X]),
    Case("Max", [_X, random(5), random(3, 5)]),
    Case("Sum", [_X]),
    Case("Sum", [_X, random(5), random(3, 5)]),
    Case("Mean", [_X, random(5), random(3, 5)]),
    Case("MatMul", [random(4, 6), random(6, 3)]),
    Case("MatMul", [random(4, 6), random(6, 3)], {}, (1,)),
    Case("MatMul", [random(2, 3, 4, 6), random(6, 5)], {}, (1,)),
    Case("MatMul", [random(2, 4, 6), random(2, 6, 5)]),
    Case("MatMul", [random(6), random(6, 5)], {}, (1,)),
    Case("MatMul", [random(6), random(6)]),
    Case("Gemm", [random(4, 6), random(6, 3), random(3)], {}, (1, 2)),
    Case("Gemm", [random(4, 6), random(3, 6), random(3)], {"transB": 1}, (1, 2)),
    Case("Gemm", [random(4, 6), random(3, 6), random(1, 3)], {"transB": 1, "alpha": 0.5, "beta": 2.0}, (1, 2)),
    Case("Gemm", [random(6, 4), random(3, 6), random(4, 1)], {"transA": 1, "transB": 1, "beta": 0.3}, (1, 2)),
    Case("Gemm", [random(6, 4), random(6, 3)], {"transA": 1}, ()),
    Case("Gemm", [random(4, 6), random(6, 3), random(4, 3)], {"alpha": 0.5, "beta": 0.1}),
    Case("Gemm", [random(4, 6), random(6, 3), _scalar(2.0)], {}, (1, 2), opset=11),
    Case("Gemm", [random(4, 6), random(6, 3), random(3)], {}, (1, 2), opset=7),
]


@pytest.mark.parametrize("case", UNARY, ids=str)
def test_unary(case: Case, tmp_path: Path) -> None:
    check(case, tmp_path)


@pytest.mark.parametrize("case", ARITHMETIC, ids=str)
def test_arithmetic(case: Case, tmp_path: Path) -> None:
    graph = check(case, tmp_path, rtol=1e-4)
    if case.op == "Gemm" and 1 in case.constants:
        assert "fully_connected" in [node.op.name for node in graph.nodes]


@pytest.mark.parametrize(("exponent", "casts"), [(2.0, False), (0.5, True)])
def test_powers_of_integers(exponent: float, casts: bool, tmp_path: Path) -> None:
    """A whole exponent needs no floats."""
    case = Case("Pow", [np.array([1, 4, 9], np.int32), np.array([exponent], np.float32)], {}, (1,))
    graph = imported(case.model(), tmp_path).graph
    assert ("cast" in [node.op.name for node in graph.nodes]) is casts
    compare(graph, list(case.fed().values()), reference(case.model(), case.fed()))
