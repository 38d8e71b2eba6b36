"""Whole parts of a graph turn to channels-last order where that saves transposes, and only there."""

from __future__ import annotations

from typing import Any

import pytest

from buildtool.ir.dims import symbol
from buildtool.ir.graph import Graph
from buildtool.passes.merge_reshapes import MergeReshapes
from buildtool.passes.merge_transposes import MergeTransposes
from buildtool.passes.move_transposes import MoveTransposes
from buildtool.passes.remove_dead_code import RemoveDeadCode
from tests.passes.harness import NCHW, NHWC, Maker, apply, names, ops

UNARY: list[tuple[str, dict[str, Any]]] = [
    ("relu", {}),
    ("elu", {"alpha": 0.5}),
    ("pad", {"before": (0, 1, 2, 0), "after": (0, 0, 1, 3), "mode": "edge", "value": 0.0}),
    ("slice", {"starts": (0, 1, 3, 0), "steps": (1, 1, -1, 2), "sizes": (2, 3, 2, 3)}),
    ("softmax", {"axis": 1}),
    ("reduce_mean", {"axes": (2, 3), "keepdims": True}),
    ("reduce_max", {"axes": (1,), "keepdims": True}),
    ("identity", {}),
]


def _count(graph: Graph) -> int:
    """Transposes that move elements."""
    apply(graph, MergeTransposes)
    return ops(graph).count("transpose")


@pytest.mark.parametrize(("op", "attributes"), UNARY, ids=[op for op, _ in UNARY])
def test_between_two_layers(op: str, attributes: dict[str, Any]) -> None:
    make = Maker()
    x = make("transpose", make.input(2, 4, 5, 4), perm=NCHW)
    y = make(op, x, **attributes)
    graph = make.finish(make("transpose", y, perm=NHWC))
    assert apply(graph, MoveTransposes)
    assert ops(graph) == [op]
    assert f"{op}_1:0" in names(graph)


def test_a_residual_sum_with_broadcast_constants() -> None:
    make = Maker()
    first = make.wrapped_conv(make.input(1, 3, 4, 5), 6)
    second = make.wrapped_conv(make("relu", first), 6)
    total = make("add", make("mul", first, make.random(6, 1, 1)), make("add", second, make.random(1, 6, 4, 1)))
    graph = make.finish(make.wrapped_conv(make("relu", total), 2))
    assert apply(graph, MoveTransposes)
    assert ops(graph).count("transpose") == 2
    assert [ops(graph)[0], ops(graph)[-1]] == ["transpose", "transpose"]


def test_concatenation_and_split() -> None:
    make = Maker()
    x = make.input(1, 3, 4, 5)
    joined = make("concat", make.wrapped_conv(x, 2), make.wrapped_conv(x, 4), axis=1)
    parts = make.all("split", joined, axis=1, sizes=(3, 3))
    graph = make.finish(make("add", make.wrapped_conv(parts[0], 2), make.wrapped_conv(parts[1], 2)))
    assert apply(graph, MoveTransposes)
    assert ops(graph).count("transpose") == 2
    assert graph.nodes[[*ops(graph)].index("concat")].op.attributes()["axis"] == 3


def test_a_channel_shuffle_keeps_one_transpose() -> None:
    make = Maker()
    x = make.wrapped_conv(make.input(1, 3, 4, 5), 6)
    groups = make("reshape", x, shape=(1, 2, 3, 4, 5))
    shuffled = make("transpose", groups, perm=(0, 2, 1, 3, 4))
    back = make("reshape", shuffled, shape=(1, 6, 4, 5))
    graph = make.finish(make("transpose", make.wrapped_conv(back, 2), perm=NHWC))
    assert apply(graph, MoveTransposes)
    assert ops(graph) == ["transpose", "conv2d", "reshape", "transpose", "reshape", "conv2d"]
    assert graph.nodes[3].op.attributes()["perm"] == (0, 1, 2, 4, 3)


def test_a_head_of_mean_and_flatten_needs_no_transpose() -> None:
    make = Maker()
    batch = symbol("N", 1, 3)
    x = make("transpose", make.input(batch, 4, 5, 6), perm=NCHW)
    mean = make("reduce_mean", x, axes=(2, 3), keepdims=True)
    flat = make("reshape", mean, shape=(batch, 6))
    graph = make.finish(make("fully_connected", flat, make.random(2, 6)))
    assert apply(graph, MoveTransposes, sizes=({"N": 1}, {"N": 3}))
    assert ops(graph) == ["reduce_mean", "reshape", "fully_connected"]


def test_a_mean_that_drops_its_axes() -> None:
    make = Maker()
    x = make("transpose", make.input(2, 4, 5, 6), perm=NCHW)
    graph = make.finish(make("reduce_mean", x, axes=(2, 3), keepdims=False))
    assert apply(graph, MoveTransposes)
    assert ops(graph) == ["reduce_mean"]


def test_a_gate_made_by_products() -> None:
    """Squeeze and excitation: the factors have as many axes, but only the channels count."""
    make = Maker()
    x = make.wrapped_conv(make.input(1, 3, 4, 5), 6)
    mean = make("reshape", make("reduce_mean", x, axes=(2, 3), keepdims=True), shape=(1, 6))
    gate = make("reshape", make("sigmoid", make("fully_connected", mean, make.random(6, 6))), shape=(1, 6, 1, 1))
    graph = make.finish(make.wrapped_conv(make("mul", x, gate), 2))
    assert apply(graph, MoveTransposes)
    assert _count(graph) == 2


def test_a_broadcast_operand_that_is_computed() -> None:
    make = Maker()
    x = make.wrapped_conv(make.input(1, 3, 4, 5), 6)
    graph = make.finish(make.wrapped_conv(make("add", x, make("neg", make.input(6, 1, 1))), 2))
    assert apply(graph, MoveTransposes)
    assert _count(graph) == 2


def test_transposes_move_towards_the_outputs_where_that_costs_nothing() -> None:
    make = Maker()
    x = make("transpose", make.conv(make.input(1, 4, 5, 3), 6), perm=NCHW)
    graph = make.finish(make("softmax", make("reshape", make("relu", x), shape=(1, 6 * 2 * 3)), axis=1))
    assert apply(graph, MoveTransposes)
    assert ops(graph) == ["conv2d", "relu", "transpose", "reshape", "softmax"]


def test_transposes_of_the_inputs_stay_where_they_are() -> None:
    make = Maker()
    graph = make.finish(make.conv(make("transpose", make("relu", make.input(1, 3, 4, 5)), perm=NHWC), 2))
    assert not apply(graph, MoveTransposes)


def test_nothing_is_turned_that_would_need_more_transposes() -> None:
    make = Maker()
    x, y = make.input(2, 3, 4, 5), make.input(2, 5, 3, 4)
    total = make("add", make("transpose", x, perm=NCHW), y)
    flat = make("reshape", total, shape=(2, 60))
    graph = make.finish(flat, make("relu", total))
    assert not apply(graph, MoveTransposes)


def test_a_branch_that_needs_the_old_order_gets_it_back() -> None:
    make = Maker()
    x = make("relu", make.wrapped_conv(make.input(1, 3, 4, 5), 6))
    graph = make.finish(make.wrapped_conv(x, 2), make("reshape", x, shape=(1, 6 * 4 * 5)))
    before = ops(graph).count("transpose")
    assert apply(graph, MoveTransposes)
    assert ops(graph).count("transpose") == before - 1


def test_an_output_in_the_middle_keeps_its_order_and_name() -> None:
    make = Maker()
    x = make("relu", make.wrapped_conv(make.input(1, 3, 4, 5), 6))
    graph = make.finish(x, make.wrapped_conv(make("neg", x), 2))
    assert apply(graph, MoveTransposes)
    assert graph.outputs[0].name == "out0"
    assert graph.outputs[0].type.shape == (1, 6, 4, 5)


def test_one_dimensional_layers() -> None:
    make = Maker()
    x = make.input(2, 3, 9)
    for channels in (4, 5):
        last = make("transpose", x, perm=(0, 2, 1))
        length, depth = last.type.shape[1:]
        made = make.conv(make("reshape", last, shape=(2, 1, length, depth)), channels, 1)
        flat = make("reshape", made, shape=(2, length, channels))
        x = make("relu", make("transpose", flat, perm=(0, 2, 1)))
    graph = make.finish(x)
    assert apply(graph, MoveTransposes)
    apply(graph, MergeReshapes, RemoveDeadCode)
    assert ops(graph).count("transpose") == 2


def test_batch_norms_between_layers() -> None:
    make = Maker()
    x = make("transpose", make.wrapped_conv(make.input(1, 3, 4, 5), 6), perm=NHWC)
    numbers = [make.random(6) for _ in range(3)]
    y = make("batch_norm", x, *numbers, make.random(6, low=0.1), epsilon=1e-5)
    graph = make.finish(make.wrapped_conv(make("transpose", y, perm=NCHW), 2))
    assert apply(graph, MoveTransposes)
    assert ops(graph) == ["transpose", "conv2d", "batch_norm", "conv2d", "transpose"]
