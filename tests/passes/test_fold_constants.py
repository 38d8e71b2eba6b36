"""Constants are computed, unless the result is much larger than what it comes from."""

from __future__ import annotations

import numpy as np
import pytest

from buildtool.ir.dims import symbol
from buildtool.passes.fold_constants import MOST_REPEATED, FoldConstants, unfold
from tests.passes.harness import CONV, Maker, apply, ops


def test_a_chain_of_constants_becomes_one() -> None:
    make = Maker()
    bias = make("mul", make("exp", make.random(3)), make.constant(2.0))
    graph = make.finish(make("sub", make.input(2, 3), bias))
    assert apply(graph, FoldConstants)
    assert ops(graph) == ["sub"]
    assert "mul_1:0" in graph.nodes[0].inputs[1].source_names


def test_several_outputs_are_folded_together() -> None:
    make = Maker()
    first, second = make.all("split", make.random(4), axis=0, sizes=(1, 3))
    graph = make.finish(make("sub", make("sub", make.input(2, 3), second), first))
    assert apply(graph, FoldConstants)
    assert ops(graph) == ["sub", "sub"]


def test_a_result_much_larger_than_its_inputs_is_not_stored() -> None:
    make = Maker()
    large = make("add", make.random(200, 1), make.random(1, 200))
    graph = make.finish(make("mul", make.input(200, 200), large))
    assert not apply(graph, FoldConstants)


def test_constants_that_double_and_double_end_before_memory_does() -> None:
    """30 nodes of a file of a kilobyte would fill 4 GiB."""
    make = Maker()
    value = make.random(4)
    for _ in range(30):
        value = make("concat", value, value, axis=0)
    graph = make.finish(make("add", make.input(4 << 30), value))
    while FoldConstants().run(graph):
        pass
    constants = [value.constant.nbytes for node in graph.nodes for value in node.inputs if value.constant is not None]
    assert max(constants) == MOST_REPEATED
    assert len(graph.nodes) > 5


def test_chips_get_constants_that_are_spread() -> None:
    make = Maker()
    graph = make.finish(make("mul", make.input(200, 200), make("broadcast_to", make.constant(0.5), shape=(200, 200))))
    assert not apply(graph, FoldConstants)
    assert unfold(graph)
    assert ops(graph) == ["mul"]
    huge = Maker()
    graph = huge.finish(huge("mul", huge.input(1, 1), huge("broadcast_to", huge.constant(0.5), shape=(4097, 4097))))
    assert not unfold(graph)
    assert ops(graph) == ["broadcast_to", "mul"]


def test_a_small_result_is_stored_even_if_it_grows() -> None:
    make = Maker()
    small = make("add", make.random(10, 1), make.random(1, 10))
    graph = make.finish(make("mul", make.input(10, 10), small))
    assert apply(graph, FoldConstants)
    assert ops(graph) == ["mul"]


def test_weights_of_any_size_are_rearranged() -> None:
    make = Maker()
    weights = make("transpose", make.random(300, 200), perm=(1, 0))
    graph = make.finish(make("fully_connected", make.input(2, 300), weights))
    assert apply(graph, FoldConstants)
    assert ops(graph) == ["fully_connected"]


def test_expensive_nodes_are_not_folded() -> None:
    make = Maker()
    made = make("conv2d", make.random(1, 80, 80, 64), make.random(64, 3, 3, 64), **CONV)
    graph = make.finish(make("mul", make.input(1), made))
    assert not FoldConstants().run(graph)


def test_an_index_out_of_range_is_left_to_the_runtime() -> None:
    make = Maker()
    wrong = make("gather", make.random(3), make.graph.new_constant("i", np.array([7])), axis=0)
    graph = make.finish(make("mul", make.input(1), wrong))
    assert not FoldConstants().run(graph)


def test_an_element_at_a_run_time_place_is_not_folded() -> None:
    make = Maker()
    x = make.input(symbol("n", 1, 4))
    one = make(
        "slice", make.constant(np.arange(4, dtype=np.float32)), starts=(x.type.shape[0] - 1,), steps=(1,), sizes=(1,)
    )
    assert not apply(make.finish(make("mul", x, one)), FoldConstants, sizes=[{"n": 3}])


@pytest.mark.parametrize("also_added", [False, True])
def test_weights_in_fewer_bits_are_expanded_for_layers_that_pack_them(also_added: bool) -> None:
    """Otherwise they would be expanded, transposed and packed in every run."""
    hidden = 40
    make = Maker()
    stored = make.graph.new_constant("r", np.ones((hidden, 4 * hidden), np.int8))
    expanded = make("dequantize_linear", stored, make.constant(0.5), axis=0, block=0)
    weights = make("transpose", expanded, perm=(1, 0))
    x, states = make.input(2, 1, 4 * hidden), [make.input(1, hidden) for _ in range(2)]
    y = make("lstm", x, weights, *states, function_f="sigmoid")
    sums = [make("add", make.input(4 * hidden, hidden), weights)] if also_added else []
    graph = make.finish(y, *sums)
    assert apply(graph, FoldConstants) != also_added
    assert ops(graph) == (["dequantize_linear", "transpose", "lstm", "add"] if also_added else ["lstm"])
