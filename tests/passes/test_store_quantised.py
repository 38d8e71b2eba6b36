"""What is stored in a few bits: nodes with known ranges and kernels, and nothing else."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from buildtool.ir.evaluate import evaluate
from buildtool.ir.graph import Graph, Node, Value
from buildtool.ir.quantised import is_quantised
from buildtool.ir.types import DType, QuantType
from buildtool.ir.verify import verify
from buildtool.passes.store_quantised import StoreQuantised
from tests.passes.harness import CONV, Maker, ops

_POOL: dict[str, Any] = {
    "kernel": (2, 2),
    "strides": (2, 2),
    "pads": (0, 0, 0, 0),
    "dilations": (1, 1),
    "ceil_mode": False,
}


def _nothing(node: Node) -> str:
    return ""


def _ranged(make: Maker, value: Value, scale: float, zero: int = 0) -> Value:
    value.source_names = value.source_names or (value.name,)
    make.graph.ranges[value.source_names[0]] = QuantType((scale,), (zero,))
    return value


def _stored(graph: Graph, objection: Any = _nothing, most: float = 0.1) -> StoreQuantised:
    """Runs the pass, and compares with the network of real numbers."""
    x = {
        value.name: np.random.default_rng(2).uniform(-1, 1, value.type.shape).astype(np.float32)  # type: ignore[arg-type]
        for value in graph.inputs
    }
    before = evaluate(graph, x)
    one = StoreQuantised(objection)
    one.run(graph)
    verify(graph)
    assert not StoreQuantised(objection).run(graph.clone())
    for name, array in evaluate(graph, x).items():
        assert array.dtype == np.float32
        assert np.abs(array - before[name]).max() <= most
    return one


def _network(make: Maker) -> Value:
    x = _ranged(make, make.input(1, 6, 6, 4), 1 / 127)
    y = _ranged(make, make.conv(x, 8, bias=True), 0.04)
    return _ranged(make, make.conv(make("max_pool2d", y, **_POOL), 5, kernel=1), 0.08)


def test_a_network() -> None:
    make = Maker()
    graph = make.finish(_network(make))
    assert not _stored(graph, most=0.3).kept
    assert ops(graph) == ["requantize", "conv2d", "max_pool2d", "conv2d", "requantize"]
    x, w, b = (value.type for value in graph.nodes[1].inputs)
    assert (x.dtype, w.dtype, b.dtype) == (DType.S8, DType.S8, DType.S32)
    assert w.quant is not None and b.quant is not None and x.quant is not None
    assert len(w.quant.scales) == 8
    np.testing.assert_allclose(b.quant.scales, np.float32(x.quant.scales[0]) * np.asarray(w.quant.scales, np.float32))
    assert graph.nodes[2].outputs[0].type.quant == graph.nodes[1].outputs[0].type.quant  # it only picks numbers


def test_a_node_without_a_range_stays_real_and_says_why() -> None:
    make = Maker()
    y = _network(make)
    graph = make.finish(make("abs", y))
    kept = _stored(graph, most=0.3).kept
    assert [(item.op, "range" in item.reason) for item in kept] == [("abs", True)]
    assert ops(graph)[-2:] == ["requantize", "abs"]


def test_nodes_without_a_kernel_stay_real() -> None:
    make = Maker()
    graph = make.finish(_network(make))
    kept = _stored(graph, lambda node: "no kernel" if node.op.name == "max_pool2d" else "", most=0.3).kept
    assert [(item.op, item.reason) for item in kept] == [("max_pool2d", "no kernel")]
    assert ops(graph) == ["requantize", "conv2d", "requantize", "max_pool2d", "requantize", "conv2d", "requantize"]
    assert not is_quantised(graph.nodes[3])


def test_a_value_that_is_read_both_ways_is_stored_once() -> None:
    make = Maker()
    y = _network(make)
    graph = make.finish(make("abs", y), make("neg", y), make("reshape", y, shape=(20,)))
    _stored(graph, most=0.3)
    assert ops(graph).count("requantize") == 3  # the input, what abs and neg read, the last output
    assert [name for name in ops(graph) if name != "requantize"][-3:] == ["abs", "neg", "reshape"]


@pytest.mark.parametrize("op", ["sigmoid", "tanh"])
def test_bounded_functions_need_no_range(op: str) -> None:
    make = Maker()
    graph = make.finish(make(op, _ranged(make, make.input(1, 64), 1 / 127)))
    assert not _stored(graph, most=0.02).kept
    assert ops(graph) == ["requantize", op, "requantize"]


def test_residuals_have_a_scale_of_their_own() -> None:
    make = Maker()
    x = _ranged(make, make.input(1, 5, 5, 4), 1 / 127)
    other = _ranged(make, make("relu", x), 1 / 255, -128)
    conv = make("conv2d", x, make.random(4, 1, 1, 4), make.random(4), other, **CONV)
    graph = make.finish(_ranged(make, conv, 0.03))
    assert not _stored(graph, most=0.08).kept
    (node,) = (node for node in graph.nodes if node.op.name == "conv2d")
    assert node.inputs[3].type.quant == QuantType((1 / 255,), (-128,))


def test_numbers_that_are_no_numbers_are_not_stored() -> None:
    make = Maker()
    x = _ranged(make, make.input(1, 3, 3, 2), 1 / 127)
    w = make.constant(np.full((1, 1, 1, 2), np.inf, np.float32))
    graph = make.finish(_ranged(make, make("conv2d", x, w, **CONV), 1.0))
    one = StoreQuantised(_nothing)
    assert not one.run(graph)
    assert "cannot be quantised" in one.kept[0].reason


def test_sixteen_bits() -> None:
    make = Maker()
    x = _ranged(make, make.input(1, 9), 1 / 32767)
    make.graph.ranges[x.source_names[0]] = QuantType((1 / 32767,), (0,), bits=16)
    graph = make.finish(make("reshape", x, shape=(9, 1)))
    _stored(graph, most=1e-4)
    assert graph.nodes[0].outputs[0].type.dtype is DType.S16


@pytest.mark.parametrize(("high", "left"), [(2.55, ["requantize", "reduce_mean", "requantize"]), (1.0, None)])
def test_bounds_at_the_ends_of_what_is_stored_are_not_needed(high: float, left: list[str] | None) -> None:
    make = Maker()
    x = _ranged(make, make.input(1, 3, 3, 2), 0.01)
    y = _ranged(make, make("reduce_mean", x, axes=(1, 2), keepdims=True), 0.01, -128)
    y = _ranged(make, make("clip", y, low=0.0, high=high), 0.01, -128)
    graph = make.finish(make("neg", y))
    _stored(graph)
    assert ops(graph) == [*(left or ["requantize", "reduce_mean", "clip", "requantize"]), "neg"]


@pytest.mark.parametrize("read_twice", [False, True])
def test_parts_of_a_concat_are_stored_before_they_are_joined(read_twice: bool) -> None:
    make = Maker()
    x = _ranged(make, make.input(1, 3, 3, 2), 1 / 127)
    part = _ranged(make, make.conv(x, 4, kernel=1, bias=True), 0.03)
    joined = make("concat", make("abs", x), part, axis=3)
    y = _ranged(make, make("clip", joined, low=-128 * 0.02, high=127 * 0.02), 0.02)
    y = _ranged(make, make.conv(y, 4), 0.05)
    graph = make.finish(y, make("neg", joined)) if read_twice else make.finish(y)
    _stored(graph, lambda node: "no kernel" if node.op.name in ("abs", "neg") else "", most=0.4)
    [concat] = [node for node in graph.nodes if node.op.name == "concat"]
    assert {value.type.dtype for value in concat.inputs} == ({DType.F32} if read_twice else {DType.S8})
    assert "clip" not in ops(graph)
    # Of the input, what abs gives and the output; or of the input, the other part, both joined and the output.
    assert ops(graph).count("requantize") == (4 if read_twice else 3)


@pytest.mark.parametrize(("step", "left"), [(0.02, "real"), (2.0, "stored")])
def test_weights_with_zero_points_stay_real_where_it_matters(step: float, left: str) -> None:
    make = Maker()
    x = _ranged(make, make.input(1, 6, 6, 8), 1 / 127)
    whole = np.random.default_rng(1).integers(-180, 76, (4, 3, 3, 8))
    whole[:, 0, 0, 0] = -180
    w = make.constant(whole * np.float32(0.01))
    graph = make.finish(_ranged(make, make("conv2d", x, w, **CONV), step))
    kept = _stored(graph, most=step).kept
    assert ["zero points" in item.reason for item in kept] == ([True] if left == "real" else [])


def test_a_bias_fits_where_a_channel_hardly_does_anything() -> None:
    """As a folded batch norm leaves it, with weights next to nothing: their own scale would cut the bias off."""
    make = Maker()
    x = _ranged(make, make.input(1, 6, 6, 4), 1 / 127)
    y = make.conv(x, 8, bias=True)
    weights = make.graph.nodes[-1].inputs[1]
    assert weights.constant is not None
    weights.constant = weights.constant * np.array([1e-6, 1, 1e-6, 1, 1, 1, 1, 1], np.float32).reshape(-1, 1, 1, 1)
    graph = make.finish(_ranged(make, y, 0.06))
    assert not _stored(graph, most=0.2).kept
    bias = graph.nodes[1].inputs[2]
    assert bias.constant is not None
    assert np.abs(bias.constant.astype(np.float64)).max() <= 2**30
