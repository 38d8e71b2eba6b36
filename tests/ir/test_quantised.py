"""Nodes on quantised numbers: dequantise, compute, quantise."""

from __future__ import annotations

import numpy as np
import pytest

from buildtool.errors import GraphError
from buildtool.ir import quantised, text
from buildtool.ir.evaluate import evaluate
from buildtool.ir.graph import Graph, Value
from buildtool.ir.text_reader import read
from buildtool.ir.types import DType, QuantType, TensorType
from buildtool.ir.verify import verify
from buildtool.ops.conv2d import Conv2d
from buildtool.ops.registry import registry
from buildtool.ops.sigmoid import Sigmoid

_X = QuantType((0.05,), (-3,))
_W = QuantType((0.01, 0.02, 0.04), (0, 0, 0), axis=0)
_B = QuantType(tuple(0.05 * scale for scale in _W.scales), (0, 0, 0), axis=0)
_Y = QuantType((1.5,), (-90,))


def _convolution() -> Graph:
    """A convolution of 8-bit numbers with bias and activation."""
    rng = np.random.default_rng(7)
    graph = Graph(name="small")
    graph.inputs.append(Value("x", TensorType(DType.S8, (1, 5, 4, 2), _X)))
    w = graph.new_constant("w", rng.integers(-127, 128, (3, 3, 3, 2)).astype(np.int8))
    w.type = TensorType(DType.S8, (3, 3, 3, 2), _W)
    b = graph.new_constant("b", rng.integers(-400, 400, 3).astype(np.int32))
    b.type = TensorType(DType.S32, (3,), _B)
    node = graph.new_node(
        Conv2d(pads=(1, 1, 1, 1), activation="relu"), [graph.inputs[0], w, b], "conv", stored=[(DType.S8, _Y)]
    )
    graph.nodes.append(node)
    graph.outputs = list(node.outputs)
    return graph


def _by_hand(graph: Graph, x: np.ndarray) -> np.ndarray:
    """The same in whole numbers, pixel by pixel."""
    w, b = (value.constant for value in graph.nodes[0].inputs[1:])
    assert w is not None
    assert b is not None
    wide = np.pad(x.astype(np.int64) - _X.zero_points[0], ((0, 0), (1, 1), (1, 1), (0, 0)))
    y = np.zeros((1, 5, 4, 3), np.int8)
    for i, j, o in np.ndindex(5, 4, 3):
        total = int((wide[0, i : i + 3, j : j + 3] * w[o].astype(np.int64)).sum()) + int(b[o])
        real = max(total * np.float64(np.float32(_X.scales[0])) * np.float64(np.float32(_W.scales[o])), 0.0)
        y[0, i, j, o] = np.clip(np.rint(real / np.float64(np.float32(_Y.scales[0]))) + _Y.zero_points[0], -128, 127)
    return y


def test_a_convolution_of_stored_numbers() -> None:
    graph = _convolution()
    verify(graph)
    x = np.random.default_rng(1).integers(-128, 128, (1, 5, 4, 2)).astype(np.int8)
    (y,) = evaluate(graph, {"x": x}).values()
    steps = np.abs(y.astype(int) - _by_hand(graph, x))
    assert y.dtype == np.int8
    assert len(np.unique(y)) > 20
    assert steps.max() <= 1
    assert (steps == 0).mean() > 0.95


def test_the_text_form_keeps_it() -> None:
    graph = _convolution()
    again = read(*text.write(graph), registry())
    verify(again)
    assert again.outputs[0].type == graph.outputs[0].type
    assert again.nodes[0].inputs[1].type.quant == _W


def test_real_numbers_come_out_where_nothing_stores_them() -> None:
    graph = Graph(name="border")
    graph.inputs.append(Value("x", TensorType(DType.U8, (256,), QuantType((0.05,), (128,)))))
    graph.nodes.append(graph.new_node(Sigmoid(), graph.inputs, stored=[None]))
    graph.outputs = list(graph.nodes[0].outputs)
    verify(graph)
    (y,) = evaluate(graph, {"x": np.arange(256, dtype=np.uint8)}).values()
    assert y.dtype == np.float32
    np.testing.assert_allclose(y, 1 / (1 + np.exp(-0.05 * (np.arange(256) - 128))), rtol=1e-6)


@pytest.mark.parametrize(
    ("dtype", "bits", "expected"),
    [
        (DType.S8, 8, [-128, 127, 0]),
        (DType.S8, 4, [-8, 7, 0]),
        (DType.U8, 8, [0, 255, 5]),
        (DType.S16, 16, [-32768, 32767, 0]),
    ],
)
def test_numbers_stay_in_their_range(dtype: DType, bits: int, expected: list[int]) -> None:
    zero = 5 if dtype is DType.U8 else 0
    type_ = TensorType(dtype, (3,), QuantType((0.5,), (zero,), bits=bits))
    stored = quantised.quantised(np.array([-1e9, 1e9, np.nan]), type_)
    assert stored.tolist() == expected


def test_halves_are_rounded_to_the_even_step() -> None:
    type_ = TensorType(DType.S8, (4,), QuantType((1.0,), (0,)))
    assert quantised.quantised(np.array([0.5, 1.5, 2.5, -0.5]), type_).tolist() == [0, 2, 2, 0]


def test_an_output_needs_the_shape_of_the_operator() -> None:
    graph = _convolution()
    graph.outputs[0].type = TensorType(DType.S8, (1, 5, 4, 2), _Y)
    with pytest.raises(GraphError, match="the operator returns"):
        verify(graph)


def test_floats_store_no_quantised_numbers() -> None:
    graph = _convolution()
    graph.outputs[0].type = TensorType(DType.F32, (1, 5, 4, 3), _Y)
    with pytest.raises(GraphError, match="f32 cannot store quantised values"):
        verify(graph)
