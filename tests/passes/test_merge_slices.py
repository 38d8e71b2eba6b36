"""Slices of slices and of concatenations; slices that cut everything into parts."""

from __future__ import annotations

from typing import Any

from buildtool.ir.graph import Value
from buildtool.passes.merge_slices import MergeSlices
from buildtool.passes.remove_noops import RemoveNoops
from buildtool.passes.split_slices import SplitSlices
from tests.passes.harness import Maker, apply, ops


def _cut(make: Maker, x: Value, start: int, size: int, step: int = 1) -> Value:
    """A slice along axis 1."""
    shape: Any = x.type.shape
    return make("slice", x, starts=(0, start, 0), steps=(1, step, 1), sizes=(shape[0], size, shape[2]))


def test_slices_of_slices() -> None:
    make = Maker()
    x = _cut(make, _cut(make, _cut(make, make.input(2, 12, 3), 10, 5, -2), 1, 3), 2, 2, -2)
    graph = make.finish(x)
    assert apply(graph, MergeSlices)
    assert ops(graph) == ["slice"]


def test_slices_of_one_part() -> None:
    make = Maker()
    x, y = make.input(2, 4, 3), make.input(2, 5, 3)
    joined = make("concat", x, y, axis=1)
    graph = make.finish(_cut(make, joined, 4, 5), _cut(make, joined, 5, 2, 2), _cut(make, joined, 0, 4))
    assert apply(graph, MergeSlices, RemoveNoops)
    assert sorted(ops(graph)) == ["slice", "slice", "slice"]  # the names of outputs keep two that do nothing
    assert all(node.op.name != "concat" for node in graph.nodes)


def test_slices_over_two_parts_stay() -> None:
    make = Maker()
    joined = make("concat", make.input(2, 4, 3), make.input(2, 5, 3), axis=1)
    assert not apply(make.finish(_cut(make, joined, 3, 2)), MergeSlices)


def test_slices_become_a_split() -> None:
    make = Maker()
    x = make.input(2, 9, 3)
    last, first = _cut(make, x, 4, 5), _cut(make, x, 0, 4)
    graph = make.finish(make("relu", first), make("abs", last))
    assert apply(graph, SplitSlices)
    assert ops(graph)[0] == "split"
    assert "slice" not in ops(graph)


def test_slices_with_gaps_or_overlaps_stay() -> None:
    for start in (3, 5):
        make = Maker()
        x = make.input(2, 9, 3)
        assert not apply(make.finish(_cut(make, x, 0, 4), _cut(make, x, start, 9 - start)), SplitSlices)
