"""Loops over the steps of recurrent layers become these layers; what differs from them stays a loop."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

import numpy as np
import pytest

from buildtool.ir.graph import Graph, Value
from buildtool.ir.types import DType
from buildtool.passes.recognise_recurrent_layers import RecogniseRecurrentLayers
from tests.passes.harness import Maker, apply, ops
from tests.passes.test_regions import loop

_ROWS, _BATCH, _DEEP, _SIZE = 5, 2, 3, 4
Cell = Callable[[Maker, Value, list[Value]], list[Value]]


def _row(make: Maker, sequence: Value, number: Value) -> Value:
    return make("gather", sequence, make("cast", number, to=DType.S32), axis=0)


def _lstm(order: Sequence[int], function: str = "sigmoid") -> Cell:
    """The gates i, f, n, o stand in this order."""

    def cell(make: Maker, x: Value, states: list[Value]) -> list[Value]:
        output, state = states[:2]
        share = make("fully_connected", x, make.random(4 * _SIZE, _DEEP), make.random(4 * _SIZE))
        total = make("add", share, make("fully_connected", output, make.random(4 * _SIZE, _SIZE)))
        pieces = make.all("split", make("add", make.random(4 * _SIZE), total), axis=1, sizes=(_SIZE,) * 4)
        update, forget, new, shown = (pieces[place] for place in order)
        added = make("mul", make("tanh", new), make("sigmoid", update))
        after = make("add", added, make("mul", state, make(function, forget)))
        made = make("mul", make("tanh", after), make("sigmoid", shown))
        return [made, after, *(make("reshape", made, shape=other.type.shape) for other in states[2:]), made]

    return cell


def _gru(make: Maker, x: Value, states: list[Value]) -> list[Value]:
    (output,) = states
    share = make("fully_connected", x, make.random(3 * _SIZE, _DEEP), make.random(3 * _SIZE))
    held = make("add", make("fully_connected", output, make.random(3 * _SIZE, _SIZE)), make.random(3 * _SIZE))
    reset, keep, new = make.all("split", share, axis=1, sizes=(_SIZE,) * 3)
    theirs = [make("slice", held, starts=(0, place * _SIZE), steps=(1, 1), sizes=(_BATCH, _SIZE)) for place in range(3)]
    gates = [make("sigmoid", make("add", *pair)) for pair in zip((reset, keep), theirs, strict=False)]
    fresh = make("tanh", make("add", new, make("mul", gates[0], theirs[2])))
    rest = make("mul", make("sub", make.constant(1.0), gates[1]), fresh)
    made = make("add", make("mul", gates[1], output), rest)
    return [made, made]


def _looped(cell: Cell, states: int, trips: int = _ROWS, extra: Sequence[tuple[int, ...]] = ()) -> Graph:
    make = Maker()
    sequence = make.input(_ROWS, _BATCH, _DEEP)
    starts = [make.input(_BATCH, _SIZE) for _ in range(states)] + [make.input(*shape) for shape in extra]
    results = loop(make, trips, starts, lambda inner: cell(make, _row(make, sequence, inner[0]), inner[1:]))
    return make.finish(*results)


@pytest.mark.parametrize("order", list(itertools.permutations(range(4))), ids=str)
def test_lstm_with_gates_in_any_order(order: Sequence[int]) -> None:
    graph = _looped(_lstm(order), 2)
    apply(graph, RecogniseRecurrentLayers())
    assert ops(graph) == ["fully_connected", "lstm"]


def test_a_carried_copy_of_the_output_is_removed() -> None:
    graph = _looped(_lstm((0, 1, 2, 3)), 2, extra=[(1, _BATCH, _SIZE)])
    apply(graph, RecogniseRecurrentLayers())
    assert sorted(ops(graph)) == ["fully_connected", "lstm", "reshape"]


def test_gru() -> None:
    graph = _looped(_gru, 1)
    apply(graph, RecogniseRecurrentLayers())
    assert ops(graph) == ["fully_connected", "gru"]


def _shifted(make: Maker, x: Value, states: list[Value]) -> list[Value]:
    """The output is another number than the one that the next step reads."""
    made = _lstm((0, 1, 2, 3))(make, x, states)
    return [*made[:-1], make("add", made[-1], made[0])]


def _without_input(make: Maker, _: Value, states: list[Value]) -> list[Value]:
    return _lstm((0, 1, 2, 3))(make, make.random(_BATCH, _DEEP), states)


def _twice(make: Maker, x: Value, states: list[Value]) -> list[Value]:
    """One gate for two."""
    return _lstm((0, 1, 2, 2))(make, x, states)


@pytest.mark.parametrize(
    ("cell", "trips"),
    [
        (_lstm((0, 1, 2, 3)), _ROWS - 1),
        (_lstm((0, 1, 2, 3), "tanh"), _ROWS),
        (_shifted, _ROWS),
        (_without_input, _ROWS),
        (_twice, _ROWS),
    ],
)
def test_loops_of_other_cells_stay(cell: Cell, trips: int) -> None:
    graph = _looped(cell, 2, trips)
    assert not RecogniseRecurrentLayers().run(graph)
    assert ops(graph) == ["loop"]


def test_a_condition_that_the_data_decides() -> None:
    make = Maker()
    sequence, starts = make.input(_ROWS, _BATCH, _DEEP), [make.input(_BATCH, _SIZE) for _ in range(2)]
    cell = _lstm((0, 1, 2, 3))
    make.graph.outputs += loop(make, _ROWS, starts, lambda inner: cell(make, _row(make, sequence, inner[0]), inner[1:]))
    (node,) = make.graph.nodes
    around, make.graph.nodes = make.graph.nodes, node.regions[0].nodes
    largest = make("reduce_max", node.regions[0].outputs[1], axes=(0, 1), keepdims=False)
    node.regions[0].outputs[0] = make("less", largest, make.constant(np.float32(0.5)))
    make.graph.nodes = around
    assert not RecogniseRecurrentLayers().run(make.graph)
