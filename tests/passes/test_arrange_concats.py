"""Concatenations are ordered for the convolutions that pick channels from them."""

from __future__ import annotations

import numpy as np
import pytest

from buildtool.ir.dims import symbol
from buildtool.ir.graph import Graph, Value
from buildtool.ir.types import QuantType
from buildtool.passes.absorb_channel_orders import AbsorbChannelOrders
from buildtool.passes.arrange_concats import ArrangeConcats
from tests.passes.harness import CONV, Maker, apply, names, ops


def _gathered(make: Maker, x: Value, places: list[int]) -> Value:
    return make("gather", x, make.graph.new_constant("p", np.array(places, np.int64)), axis=3)


def _slices(graph: Graph) -> list[int]:
    return [node.op.starts[3] for node in graph.nodes if node.op.name == "slice"]  # type: ignore[attr-defined]


def test_a_shuffled_half_becomes_a_slice() -> None:
    make = Maker()
    x = make.input(1, 3, 4, 5)
    left, right = make.conv(x, 6, 1, bias=True), make.conv(x, 6, 1)
    joined = make("concat", left, right, axis=3)
    shuffled = [channel + 6 * half for channel in range(6) for half in range(2)]
    passed, read = _gathered(make, joined, shuffled[:6]), _gathered(make, joined, shuffled[6:])
    graph = make.finish(passed, make.conv(read, 4, 1))
    graph.ranges["conv2d_1:0"] = QuantType((0.5,), (3,))
    assert apply(graph, ArrangeConcats)
    assert graph.range_of(graph.nodes[1].outputs[0]) == QuantType((0.5,), (3,)), "the same numbers in another order"
    assert ops(graph).count("gather") == 1
    assert _slices(graph) == [3]
    assert not {"conv2d_1:0", "concat_2:0"} & names(graph), "these tensors have another order now"


def test_a_gather_among_the_operands_picks_in_another_order() -> None:
    make = Maker()
    x = make.input(1, 2, 2, 6)
    joined = make("concat", _gathered(make, x, [4, 1, 3]), make.conv(x, 4, 1), make("relu", x), axis=3)
    graph = make.finish(make("fully_connected", _gathered(make, joined, [5, 0, 4]), make.random(3, 3)))
    assert apply(graph, ArrangeConcats)
    assert _slices(graph) == [2]
    assert ops(graph) == ["gather", "conv2d", "relu", "concat", "slice", "fully_connected"]


def test_rows_of_run_time_do_not_matter() -> None:
    make = Maker()
    x = make.input(1, symbol("rows", 2, 9), 4, 5)
    joined = make("concat", make.conv(x, 6, 1), make.conv(x, 6, 1), axis=3)
    shuffled = [channel + 6 * half for channel in range(6) for half in range(2)]
    passed, read = _gathered(make, joined, shuffled[:6]), _gathered(make, joined, shuffled[6:])
    graph = make.finish(passed, make.conv(read, 4, 1))
    assert apply(graph, ArrangeConcats, sizes=[{"rows": 2}, {"rows": 7}])
    assert _slices(graph) == [3]


def test_whole_operands_in_the_middle_stay() -> None:
    make = Maker()
    x = make.input(1, 2, 2, 3)
    parts = [make.conv(x, 2, 1), make("abs", x), make.conv(x, 2, 1)]
    joined = make("concat", *parts, axis=3)
    graph = make.finish(make.conv(_gathered(make, joined, [6, 4, 3, 2, 0]), 4, 1))
    assert apply(graph, ArrangeConcats)
    assert _slices(graph) == [1]


def _joined(make: Maker, x: Value, kind: str) -> Value:
    convolution = make.conv(x, 4, 1)
    if kind == "an operand that somebody else reads":
        make.graph.outputs.append(make("relu", convolution))
    if kind == "an operand of unknown making":
        convolution = make("sin", x)
    if kind == "groups":
        convolution = make("conv2d", x, make.random(4, 1, 1, 2), **CONV, groups=2)
    return make("concat", make("abs", x), convolution, axis=3)


@pytest.mark.parametrize(
    "kind",
    [
        "an operand that somebody else reads",
        "an operand of unknown making",
        "groups",
        "another reader",
        "twice",
        "no convolution",
        "apart",
    ],
)
def test_concats_whose_order_cannot_change_stay(kind: str) -> None:
    make = Maker()
    joined = _joined(make, make.input(1, 2, 2, 4), kind)
    places = {"twice": [5, 5], "apart": [1, 6]}.get(kind, [5, 7])
    picked = _gathered(make, joined, places)
    last = make("relu", picked) if kind == "no convolution" else make.conv(picked, 3, 1)
    others = [make("cos", joined)] if kind == "another reader" else []
    graph = make.finish(last, *others, *make.graph.outputs)
    assert not apply(graph, ArrangeConcats)


def test_orders_pass_depthwise_convolutions() -> None:
    make = Maker()
    x = _gathered(make, make("relu", make.input(1, 4, 4, 6)), [3, 1, 5, 0, 2, 4])
    thin = make("dwconv2d", x, make.random(3, 3, 6), make.random(6), **CONV, multiplier=1)
    graph = make.finish(make.conv(thin, 2, 1), make.conv(x, 3, 1))
    assert apply(graph, AbsorbChannelOrders)
    assert "gather" not in ops(graph)


def test_orders_do_not_pass_depthwise_convolutions_that_others_read() -> None:
    make = Maker()
    x = _gathered(make, make("relu", make.input(1, 4, 4, 6)), [3, 1, 5, 0, 2, 4])
    thin = make("dwconv2d", x, make.random(3, 3, 6), **CONV, multiplier=1)
    graph = make.finish(make.conv(thin, 2, 1), make("relu", thin))
    assert not apply(graph, AbsorbChannelOrders)
