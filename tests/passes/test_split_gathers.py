"""Gathers in front of splits are cut."""

from __future__ import annotations

import numpy as np

from buildtool.ir.dims import symbol
from buildtool.ir.graph import Value
from buildtool.passes.split_gathers import SplitGathers
from tests.passes.harness import Maker, apply, ops


def _gathered(make: Maker, x: Value, places: list[int], axis: int) -> Value:
    return make("gather", x, make.graph.new_constant("p", np.array(places, np.int64)), axis=axis)


def test_each_part_has_a_gather_of_its_own() -> None:
    make = Maker()
    x = make.input(2, symbol("width", 1, 9), 6)
    first, second, third = make.all("split", _gathered(make, x, [5, 0, -2, 3, 3], 2), axis=2, sizes=(2, 1, 2))
    graph = make.finish(make("relu", first), second, make("abs", third))
    assert apply(graph, SplitGathers, sizes=[{"width": 4}])
    assert sorted(ops(graph)) == ["abs", "gather", "gather", "gather", "relu"]


def test_gathers_with_other_readers_axes_or_index_ranks_stay() -> None:
    make = Maker()
    x = make.input(4, 6)
    read_twice = _gathered(make, x, [1, 0], 0)
    across = _gathered(make, x, [3, 1], 0)
    chosen = make("gather", x, make.graph.new_constant("p", np.array([[1, 0], [2, 3]], np.int64)), axis=1)
    outputs = [make("relu", read_twice)]
    for value, axis, sizes in ((read_twice, 0, (1, 1)), (across, 1, (2, 4)), (chosen, 1, (1, 1))):
        outputs += make.all("split", value, axis=axis, sizes=sizes)
    graph = make.finish(*outputs)
    assert not apply(graph, SplitGathers)
