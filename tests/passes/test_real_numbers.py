"""Quantised networks as networks of real numbers: the same results, within the steps of what was stored."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from buildtool.ir.evaluate import evaluate
from buildtool.ir.graph import Graph, Value
from buildtool.ir.operator import Array
from buildtool.ir.types import DType, QuantType
from buildtool.ir.verify import verify
from buildtool.passes.real_numbers import RealNumbers
from tests.passes.harness import CONV, Maker, ops

_STEP = 0.02
_ZERO = 130


def _parameters(make: Maker, scale: float | Array = _STEP, zero: int = _ZERO, dtype: Any = np.uint8) -> list[Value]:
    scales = np.asarray(scale, np.float32)
    zeros = np.full(scales.shape, zero, dtype)
    return [make.constant(scales), make.graph.new_constant("z", zeros)]


def _quantized(make: Maker, x: Value, **changes: Any) -> Value:
    return make("quantize_linear", x, *_parameters(make, **changes), axis=0, block=0, to=DType.U8)


def _dequantized(make: Maker, x: Value, **changes: Any) -> Value:
    return make("dequantize_linear", x, *_parameters(make, **changes), axis=0, block=0)


def _rounded(make: Maker, x: Value) -> Value:
    return _dequantized(make, _quantized(make, x))


def _rewritten(graph: Graph, most: float = 1.5 * _STEP) -> Graph:
    """The graph on real numbers, after a comparison: it may be about a step away."""
    after = graph.clone()
    assert RealNumbers().run(after)
    verify(after)
    assert not RealNumbers().run(after.clone())
    rng = np.random.default_rng(3)
    inputs = {
        value.name: rng.uniform(-1, 1, value.type.shape).astype(np.float32)  # type: ignore[arg-type]
        if value.type.dtype.is_float
        else rng.integers(0, 256, value.type.shape).astype(value.type.dtype.numpy)  # type: ignore[arg-type]
        for value in graph.inputs
    }
    old, new = evaluate(graph, inputs), evaluate(after, inputs)
    assert list(old) == list(new)
    for name, array in old.items():
        assert np.abs(array.astype(float) - new[name].astype(float)).max() <= (most if array.dtype == np.float32 else 1)
    return after


def test_pairs_go_and_leave_their_ranges() -> None:
    make = Maker()
    x = _rounded(make, make.input(1, 4, 4, 3))
    y = _rounded(make, make("relu", x))
    graph = _rewritten(make.finish(y))
    assert ops(graph) == ["relu"]
    assert QuantType((float(np.float32(_STEP)),), (_ZERO - 128,)) in graph.ranges.values()
    assert set(graph.outputs[0].source_names) & set(graph.ranges)


def test_saturation_becomes_an_activation() -> None:
    """Quantisers leave out a relu where numbers are stored without a sign; a relu that is there needs no help."""
    make = Maker()
    y = make.conv(make.input(1, 4, 4, 3), 5)
    graph = _rewritten(make.finish(_dequantized(make, _quantized(make, y, zero=0), zero=0)))
    assert ops(graph) == ["conv2d", "clip"]
    clip = graph.nodes[1]
    assert clip.op.attributes() == pytest.approx({"low": 0.0, "high": 255 * _STEP})
    assert graph.range_of(clip.outputs[0]) == QuantType((float(np.float32(_STEP)),), (-128,))

    make = Maker()
    y = make("reshape", make("relu", make.conv(make.input(1, 4, 4, 3), 5)), shape=(20,))
    graph = _rewritten(make.finish(_dequantized(make, _quantized(make, y, zero=0), zero=0)))
    assert ops(graph) == ["conv2d", "relu", "reshape"]


def test_constants_become_real_at_once() -> None:
    make = Maker()
    stored = make.graph.new_constant("w", np.arange(-6, 6, dtype=np.int8).reshape(2, 1, 1, 6))
    scales = np.array([0.5, 0.25], np.float32)
    w = _dequantized(make, stored, scale=scales, zero=0, dtype=np.int8)
    graph = make.finish(make("conv2d", make.input(1, 3, 3, 6), w, **CONV))
    assert RealNumbers().run(graph)
    assert ops(graph) == ["conv2d"]
    expected = np.arange(-6, 6).reshape(2, 1, 1, 6) * scales.reshape(2, 1, 1, 1)
    np.testing.assert_array_equal(graph.nodes[0].inputs[1].constant, expected)


@pytest.mark.parametrize(("groups", "left"), [(1, "conv2d"), (4, "dwconv2d"), (2, "conv2d")])
@pytest.mark.parametrize("bias", [False, True])
def test_convolutions_of_bytes(groups: int, left: str, bias: bool) -> None:
    make, rng = Maker(), np.random.default_rng(0)
    filters = rng.integers(-127, 128, (4, 3, 3, 4 // groups)).astype(np.int8)
    w = make.graph.new_constant("w", filters)
    row = [make.graph.new_constant("b", rng.integers(-900, 900, 4).astype(np.int32))] if bias else []
    x = _quantized(make, make.input(1, 5, 5, 4))
    of_w = _parameters(make, np.array([0.01, 0.02, 0.005, 0.03]), 0, np.int8)
    y = make(
        "qlinear_conv",
        *(x, *_parameters(make), w, *of_w, *_parameters(make, 0.25), *row),
        **{**CONV, "pads": (1, 0, 0, 1), "groups": groups},
    )
    graph = _rewritten(make.finish(_dequantized(make, y, scale=0.25)), most=0.4)  # what x loses, nine times
    assert ops(graph) == [left]


def test_a_convolution_of_one_point_is_a_product() -> None:
    make, rng = Maker(), np.random.default_rng(0)
    x = _quantized(make, make.input(3, 1, 1, 8))
    w = make.graph.new_constant("w", rng.integers(-127, 128, (5, 1, 1, 8)).astype(np.int8))
    of_w = _parameters(make, np.linspace(0.01, 0.03, 5), 0, np.int8)
    y = make("qlinear_conv", x, *_parameters(make), w, *of_w, *_parameters(make, 0.25), **CONV, groups=1)
    graph = _rewritten(make.finish(_dequantized(make, y, scale=0.25)), most=0.4)
    assert ops(graph) == ["fully_connected"]


def test_products_of_bytes() -> None:
    make, rng = Maker(), np.random.default_rng(0)
    x = _quantized(make, make.input(3, 8))
    w = make.graph.new_constant("w", rng.integers(-127, 128, (8, 5)).astype(np.int8))
    of_w = _parameters(make, np.linspace(0.01, 0.03, 5), 0, np.int8)
    y = make("qlinear_matmul", x, *_parameters(make), w, *of_w, *_parameters(make, 0.25))
    graph = _rewritten(make.finish(_dequantized(make, y, scale=0.25)), most=0.4)
    assert ops(graph) == ["matmul"]


def test_nodes_that_move_stored_numbers_move_real_ones() -> None:
    make = Maker()
    x = _quantized(make, make.input(1, 4, 4, 2))
    pool = {"kernel": (2, 2), "strides": (2, 2), "pads": (0, 0, 0, 0), "dilations": (1, 1), "ceil_mode": False}
    y = make("transpose", make("max_pool2d", x, **pool), perm=(0, 3, 1, 2))
    border = {"before": (0, 0, 1, 0), "after": (0, 0, 0, 1), "mode": "constant", "value": float(_ZERO)}
    y = make("pad", make("concat", y, y, axis=1), **border)
    graph = _rewritten(make.finish(_dequantized(make, y)))
    assert ops(graph) == ["max_pool2d", "transpose", "concat", "pad"]
    assert graph.nodes[-1].op.attributes()["value"] == 0.0


def test_bounds_of_stored_numbers_are_bounds_of_real_ones() -> None:
    make = Maker()
    x = make("clip", _quantized(make, make.input(7)), low=float(_ZERO), high=160.0)
    graph = _rewritten(make.finish(_dequantized(make, x)))
    assert ops(graph) == ["clip"]
    assert graph.nodes[0].op.attributes()["low"] == 0.0


def test_stored_inputs_and_outputs_stay() -> None:
    make = Maker()
    x = make.input(1, 4, 4, 2, dtype=DType.U8)
    y = _quantized(make, make("relu", _dequantized(make, x)))
    graph = _rewritten(make.finish(make("transpose", y, perm=(0, 3, 1, 2))))
    assert ops(graph) == ["dequantize_linear", "relu", "transpose", "quantize_linear"]


def test_readers_of_whole_numbers_get_whole_numbers() -> None:
    make = Maker()
    stored = _quantized(make, make.input(5))
    counted = make("cast", make("reshape", stored, shape=(5, 1)), to=DType.F32)
    graph = _rewritten(make.finish(counted, make("relu", _dequantized(make, stored))))
    assert ops(graph) == ["reshape", "quantize_linear", "cast", "relu"]


def test_unknown_parameters_are_left_alone() -> None:
    make = Maker()
    scale, x = make.input(), make.input(4)
    stored = make("quantize_linear", x, scale, axis=0, block=0, to=DType.S8)
    graph = make.finish(make("dequantize_linear", stored, scale, axis=0, block=0))
    assert not RealNumbers().run(graph)


def test_pools_of_numbers_that_were_cast_are_pools() -> None:
    make = Maker()
    whole = make("cast", _quantized(make, make.input(1, 4, 4, 2)), to=DType.F32)
    pool = {"kernel": (2, 2), "strides": (2, 2), "pads": (0, 0, 0, 0), "dilations": (1, 1), "ceil_mode": False}
    y = make("cast", make("transpose", make("max_pool2d", whole, **pool), perm=(0, 3, 1, 2)), to=DType.U8)
    graph = _rewritten(make.finish(_dequantized(make, y)))
    assert ops(graph) == ["max_pool2d", "transpose"]


def test_whole_numbers_that_are_computed_with_stay_whole() -> None:
    make = Maker()
    whole = make("cast", _quantized(make, make.input(5)), to=DType.F32)
    graph = _rewritten(make.finish(make("neg", make("reshape", whole, shape=(5, 1)))))
    assert ops(graph) == ["reshape", "quantize_linear", "cast", "neg"]


def test_a_value_that_is_stored_twice_becomes_two_values() -> None:
    make = Maker()
    x = _rounded(make, make("relu", make.input(1, 4, 4, 3)))
    coarse = {"scale": 0.008, "zero": 0}
    y = _dequantized(make, _quantized(make, make("reshape", x, shape=(4, 12)), **coarse), **coarse)
    graph = _rewritten(make.finish(make("abs", x), make("neg", y)))
    clip = next(node for node in graph.nodes if node.op.name == "clip")
    assert clip.op.attributes() == pytest.approx({"low": 0.0, "high": 255 * 0.008})
    of_relu, of_clip = graph.range_of(graph.nodes[0].outputs[0]), graph.range_of(clip.outputs[0])
    assert of_relu is not None and of_clip is not None
    assert (*of_relu.scales, *of_clip.scales) == pytest.approx((_STEP, 0.008))


def test_bounds_of_bounds_are_one_clip() -> None:
    make = Maker()
    y = make("clip", _quantized(make, make.conv(make.input(1, 4, 4, 3), 5), zero=0), low=0.0, high=100.0)
    graph = _rewritten(make.finish(_dequantized(make, y, zero=0)))
    assert ops(graph) == ["conv2d", "clip"]
    assert graph.nodes[1].op.attributes() == pytest.approx({"low": 0.0, "high": 100 * _STEP})


def test_the_result_of_a_convolution_saturates_before_it_is_added() -> None:
    make = Maker()
    x = _rounded(make, make.input(1, 4, 4, 3))
    y = make("transpose", _rounded(make, make.conv(x, 3, kernel=1)), perm=(0, 3, 1, 2))
    total = make("add", y, make("transpose", x, perm=(0, 3, 1, 2)), activation="none")
    graph = _rewritten(make.finish(_rounded(make, total)))
    assert ops(graph) == ["conv2d", "transpose", "transpose", "clip", "add"]
    assert graph.range_of(graph.nodes[3].outputs[0]) is not None


def test_names_of_rounded_numbers_come_first() -> None:
    make = Maker()
    x = make("relu", make.input(4))
    stored = _quantized(make, x)
    y = _dequantized(make, stored)
    for value, name in ((x, "plain"), (stored, "stored"), (y, "rounded")):
        value.source_names = (name,)
    graph = _rewritten(make.finish(make("neg", y)))
    assert graph.nodes[0].outputs[0].source_names == ("stored", "rounded", "plain")


def test_a_relu_in_front_of_bounds_is_part_of_them() -> None:
    make = Maker()
    x = make("clip", make("relu", make.conv(make.input(1, 4, 4, 3), 5)), low=-2.5, high=2.5)
    graph = _rewritten(make.finish(_rounded(make, x)))
    assert ops(graph) == ["conv2d", "clip"]
    assert graph.nodes[1].op.attributes() == {"low": 0.0, "high": 2.5}


def test_numbers_of_sixteen_bits_are_cut_off() -> None:
    """No kernel stores them yet: what stays real has their ends."""
    make = Maker()
    x = make("relu", make.conv(make.input(1, 4, 4, 3), 5))
    scale, zero = make.constant(np.float32(1e-5)), make.graph.new_constant("z", np.zeros((), np.int16))
    y = make("quantize_linear", x, scale, zero, axis=0, block=0, to=DType.S16)
    graph = make.finish(make("dequantize_linear", y, scale, zero, axis=0, block=0))
    assert RealNumbers().run(graph)
    assert graph.outputs[0] in next(node for node in graph.nodes if node.op.name == "clip").outputs
    assert next(node for node in graph.nodes if node.op.name == "clip").op.attributes() == pytest.approx(
        {"low": 0.0, "high": 0.32767}
    )
