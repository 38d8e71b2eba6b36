"""Concatenations of concatenations, of what was just cut, and splits of what was just put together."""

from __future__ import annotations

from buildtool.ir.dims import symbol
from buildtool.passes.merge_concats import MergeConcats
from tests.passes.harness import Maker, apply, ops


def test_nested() -> None:
    make = Maker()
    x, y = make.input(2, 3), make.input(2, 4)
    inner = make("concat", make("concat", x, y, axis=1), x, axis=1)
    graph = make.finish(make("concat", y, inner, axis=1))
    assert apply(graph, MergeConcats)
    assert ops(graph) == ["concat"]


def test_run_time_sizes_that_would_be_added_in_another_order_stay() -> None:
    make = Maker()
    size = symbol("n", 1, 4)
    x, y, z = (make.input(2, size) for _ in range(3))
    graph = make.finish(make("concat", x, make("concat", y, z, axis=1), axis=1))
    assert not apply(graph, MergeConcats, sizes=[{"n": 3}])
    make = Maker()
    x, y, z = (make.input(2, size) for _ in range(3))
    graph = make.finish(make("concat", make("concat", x, y, axis=1), z, axis=1))
    assert apply(graph, MergeConcats, sizes=[{"n": 3}])
    assert ops(graph) == ["concat"]


def test_another_axis_or_reader_stays() -> None:
    make = Maker()
    x = make.input(2, 3)
    inner = make("concat", x, x, axis=0)
    graph = make.finish(make("concat", inner, inner, axis=1), make("concat", inner, x, axis=0))
    assert not apply(graph, MergeConcats)


def test_parts_of_a_split() -> None:
    make = Maker()
    x = make("relu", make.input(2, 9))
    first, last = make.all("split", x, axis=1, sizes=(4, 5))
    graph = make.finish(make("abs", make("concat", first, last, axis=1)))
    assert apply(graph, MergeConcats)
    assert ops(graph) == ["relu", "abs"]
    make = Maker()
    first, last = make.all("split", make.input(2, 10), axis=1, sizes=(5, 5))
    assert not apply(make.finish(make("concat", last, first, axis=1)), MergeConcats)


def test_neighbouring_slices() -> None:
    make = Maker()
    x = make("relu", make.input(2, 9))
    parts = [make("slice", x, starts=(0, at), steps=(1, 1), sizes=(2, 3)) for at in (0, 3, 6)]
    graph = make.finish(make("abs", make("concat", *parts, axis=1)))
    assert apply(graph, MergeConcats)
    assert ops(graph) == ["relu", "abs"]


def test_a_split_of_parts() -> None:
    make = Maker()
    x, y = make.input(2, 3), make.input(2, 4)
    left, right = make.all("split", make("concat", x, y, axis=1), axis=1, sizes=(3, 4))
    graph = make.finish(make("relu", left), make("abs", right))
    assert apply(graph, MergeConcats)
    assert ops(graph) == ["relu", "abs"]
