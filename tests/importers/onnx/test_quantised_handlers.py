"""Quantised operators against onnxruntime: those of ONNX exactly, those of com.microsoft to a step of the result.

com.microsoft's operators are imported as what their numbers stand for; onnxruntime takes shortcuts (tables, fixed
point) that may round to the neighbour.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper

from buildtool.errors import UnsupportedError
from buildtool.importers.onnx import supported_operators
from buildtool.ir.operator import Array
from buildtool.passes.pipeline import optimise
from tests.importers.onnx.harness import Case, check, imported, random, reference, run

_BOTH = [np.uint8, np.int8]


def _stored(*shape: int, dtype: Any = np.uint8, seed: int = 0) -> Array:
    limits = np.iinfo(dtype)
    return np.random.default_rng((seed, *shape)).integers(limits.min, limits.max + 1, shape).astype(dtype)


def _scale(value: float) -> Array:
    return np.array(value, np.float32)


def _zero(value: int, dtype: Any = np.uint8) -> Array:
    return np.array(value, dtype)


_EXACT = [
    Case("QuantizeLinear", [random(3, 5), _scale(0.02), _zero(100)], {}, (1, 2)),
    Case("QuantizeLinear", [random(3, 5), _scale(0.02)], {}, (1,)),
    Case("QuantizeLinear", [random(3, 5), np.full(1, 0.02, np.float32), np.full(1, 7, np.int8)], {}, (1, 2)),
    Case("QuantizeLinear", [random(2, 3, 4), random(3, low=0.01, high=0.1), _stored(3)], {"axis": -2}, (1, 2)),
    Case(
        "QuantizeLinear",
        [random(4, 6), random(4, 2, low=0.01, high=0.1), _stored(4, 2, dtype=np.int8)],
        {"axis": 1, "block_size": 3},
        (1, 2),
        opset=21,
    ),
    Case("DequantizeLinear", [_stored(3, 5), _scale(0.1), _zero(9)], {}, (1, 2)),
    Case("DequantizeLinear", [_stored(2, 3, 4), random(4, low=0.1), _stored(4)], {"axis": 2}, (1, 2)),
    Case("DequantizeLinear", [np.arange(-9, 9, dtype=np.int32), _scale(0.5)], {}, (1,)),
    Case("DynamicQuantizeLinear", [random(4, 7)], {}, (), 3),
    Case("DynamicQuantizeLinear", [random(4, 7, low=0.5)], {}, (), 3),
    Case("DynamicQuantizeLinear", [np.zeros((2, 3), np.float32)], {}, (), 3),
    Case("ConvInteger", [_stored(1, 3, 7, 6), _stored(4, 3, 3, 3), _zero(120), _zero(130)], {}, (1, 3)),
    Case("ConvInteger", [_stored(1, 3, 7, 6), _stored(4, 3, 3, 3)], {"auto_pad": "SAME_UPPER"}, (1,)),
    Case("ConvInteger", [_stored(1, 3, 9), _stored(4, 3, 3), _zero(120)], {"pads": [1, 1]}, (1,)),
    Case("MatMulInteger", [_stored(3, 5), _stored(5, 4), _zero(120), _zero(130)], {}, (1,)),
    Case("MatMulInteger", [_stored(3, 5), _stored(5, 4, dtype=np.int8)], {}),
    Case(
        "QLinearMatMul",
        [_stored(3, 5), _scale(0.1), _zero(9), _stored(5, 4), _scale(0.2), _zero(99), _scale(2.5), _zero(100)],
        {},
        (1, 2, 3, 4, 5, 6, 7),
    ),
    Case(
        "QLinearConv",
        [
            *(_stored(1, 3, 7, 6), _scale(0.1), _zero(120)),
            *(_stored(4, 3, 3, 3), _scale(0.2), _zero(130)),
            *(_scale(9.0), _zero(100), np.arange(-200, 200, 100, dtype=np.int32)),
        ],
        {"strides": [2, 1], "pads": [1, 0, 1, 2]},
        (1, 2, 3, 4, 5, 6, 7, 8),
    ),
]


@pytest.mark.parametrize("case", _EXACT, ids=str)
def test_quantised_operators(case: Case, tmp_path: Path) -> None:
    check(case, tmp_path, rtol=1e-6, atol=0)


def _operand(dtype: Any, *shape: int, seed: int = 0) -> list[Array]:
    middle = 128 if dtype is np.uint8 else 0
    return [_stored(*shape, dtype=dtype, seed=seed), _scale(0.03 + 0.01 * seed), _zero(middle - 5 - seed, dtype)]


def _vendors(dtype: Any) -> list[tuple[str, Sequence[Array], Mapping[str, Any]]]:
    middle = 128 if dtype is np.uint8 else 0
    result = [_scale(0.07), _zero(middle + 3, dtype)]
    x, other = _operand(dtype, 2, 3, 6, 5), _operand(dtype, 3, 1, 5, seed=1)
    fine = [_scale(1 / 256), _zero(middle - 128, dtype)]
    inputs, pool = [*x, *result], {"kernel_shape": [3, 2], "strides": [2, 1], "pads": [1, 0, 1, 1]}
    return [
        ("QLinearAdd", [*x, *other, *result], {}),
        ("QLinearMul", [*x, *other, *result], {}),
        ("QLinearSigmoid", [*x, *fine], {}),
        ("QLinearLeakyRelu", inputs, {"alpha": 0.2}),
        ("QLinearConcat", [*result, *x, *_operand(dtype, 2, 4, 6, 5, seed=2)], {"axis": 1}),
        ("QLinearGlobalAveragePool", [*x, _scale(0.02), _zero(middle, dtype)], {"channels_last": 0}),
        ("QLinearAveragePool", inputs, pool),
        ("QLinearAveragePool", inputs, pool | {"count_include_pad": 1}),
        ("QLinearSoftmax", [*x, *fine], {"opset": 13, "axis": 1}),
        ("QLinearSoftmax", [*x, *fine], {"opset": 12, "axis": 1}),
        ("QLinearWhere", [random(2, 3, 6, 5) > 0, *x, *other, *result], {}),
        *_products(dtype),
    ]


def _products(dtype: Any) -> list[tuple[str, Sequence[Array], Mapping[str, Any]]]:
    """QGemm: with a scale for all weights or for each column, with sums or without, either operand turned."""
    middle = 128 if dtype is np.uint8 else 0
    result = [_scale(0.9), _zero(middle + 3, dtype)]
    rows = np.linspace(0.01, 0.05, 4).astype(np.float32)
    one = [_stored(7, 4, dtype=np.int8), _scale(0.02), _zero(3, np.int8)]
    each = [_stored(4, 7, dtype=np.int8), rows, np.zeros(4, np.int8)]
    sums = np.array([900, -1300, 0, 7], np.int32)
    return [
        ("QGemm", [*_operand(dtype, 3, 7), *one, sums, *result], {"alpha": 1.0}),
        ("QGemm", [*_operand(dtype, 7, 3), *each, sums, *result], {"alpha": 1.0, "transA": 1, "transB": 1}),
        ("QGemm", [*_operand(dtype, 3, 7), *each, sums * 40, *result], {"alpha": 0.5, "transB": 1}),
        ("QGemm", [*_operand(dtype, 3, 7), each[0].T.copy(), *each[1:], sums, *result], {"alpha": 1.0}),
    ]


@pytest.mark.parametrize("dtype", _BOTH)
@pytest.mark.parametrize("index", range(15))
def test_quantised_operators_of_onnxruntime(dtype: Any, index: int, tmp_path: Path) -> None:
    op, inputs, attributes = _vendors(dtype)[index]
    data = [position for position, array in enumerate(inputs) if array.ndim]
    held = tuple(position for position in range(len(inputs)) if position not in data)
    case = Case(op, inputs, {"domain": "com.microsoft", **attributes}, held)
    model = case.model()
    model.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    (expected,) = reference(model, case.fed())
    graph = imported(model, tmp_path).graph
    for _ in range(2):
        (result,) = run(graph, list(case.fed().values()))
        assert result.dtype == expected.dtype and result.shape == expected.shape
        steps = np.abs(result.astype(int) - expected.astype(int))
        assert steps.max() <= 1 and np.mean(steps) < 0.1
        optimise(graph)


def test_sums_are_quantised(tmp_path: Path) -> None:
    sums = np.arange(-20, 20, dtype=np.int32)  # of a type that onnxruntime does not quantise
    case = Case("QuantizeLinear", [sums, _scale(2.0), _zero(-3, np.int8)], {}, (1, 2))
    (result,) = run(imported(case.model(), tmp_path).graph, [sums])
    np.testing.assert_array_equal(result, np.rint(sums / 2) - 3)


@pytest.mark.parametrize("kind", [TensorProto.INT4, TensorProto.UINT4])
@pytest.mark.parametrize("raw", [False, True])
def test_weights_of_four_bits_are_widened(kind: int, raw: bool, tmp_path: Path) -> None:
    low = -8 if kind == TensorProto.INT4 else 0
    numbers = np.arange(low, low + 15).reshape(3, 5)
    model = Case("DequantizeLinear", [numbers.astype(np.int8), _scale(0.5)], {}, (0, 1), opset=21).model()
    packed = helper.make_tensor("x0", kind, (3, 5), numbers.reshape(-1))
    if raw:
        data = bytes(packed.int32_data)
        packed = helper.make_tensor("x0", kind, (3, 5), data, raw=True)
    model.graph.initializer[0].CopyFrom(packed)
    (result,) = run(imported(model, tmp_path).graph, [])
    np.testing.assert_array_equal(result, numbers * np.float32(0.5))


def test_nothing_is_quantised_to_four_bits(tmp_path: Path) -> None:
    model = Case("QuantizeLinear", [random(3), _scale(0.5), _zero(1)], {}, (1, 2), opset=21).model()
    model.graph.initializer[1].CopyFrom(helper.make_tensor("x2", TensorProto.UINT4, (), [1]))
    with pytest.raises(UnsupportedError, match="quantised to 4 bits"):
        imported(model, tmp_path)


def test_operators_of_vendors_are_listed_by_their_titles() -> None:
    assert "com.microsoft.QLinearAdd" in supported_operators()
