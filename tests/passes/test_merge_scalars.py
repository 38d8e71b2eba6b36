"""Rows of products and sums with constants become one product and one sum."""

from __future__ import annotations

import pytest

from buildtool.passes.merge_scalars import MergeScalars
from tests.passes.harness import Maker, apply, ops


@pytest.mark.parametrize(
    ("row", "left"),
    [
        (["mul", "mul"], ["mul"]),
        (["mul", "div", "mul"], ["mul"]),
        (["add", "sub"], ["add"]),
        (["add", "mul", "add"], ["mul", "add"]),
        (["mul", "add", "mul", "sub", "div"], ["mul", "add"]),
    ],
)
@pytest.mark.parametrize("shape", [(), (3,), (2, 1)])
def test_rows(row: list[str], left: list[str], shape: tuple[int, ...]) -> None:
    make = Maker()
    x = make.input(2, 3)
    for op in row:
        x = make(op, x, make.random(*shape, low=0.5))
    graph = make.finish(x)
    assert apply(graph, MergeScalars)
    assert ops(graph) == left


def test_differences_from_constants() -> None:
    make = Maker()
    x = make("sub", make.random(3), make("sub", make.random(3), make.input(2, 3)))
    graph = make.finish(x)
    assert not apply(graph, MergeScalars)  # a product and a sum are no gain over two nodes
    make = Maker()
    x = make("sub", make.random(3), make("add", make("add", make.input(2, 3), make.random(3)), make.random(3)))
    graph = make.finish(x)
    assert apply(graph, MergeScalars)
    assert ops(graph) == ["mul", "add"]


def test_scalars_that_grow_or_are_read_elsewhere_are_not_merged() -> None:
    make = Maker()
    x = make("mul", make("mul", make.input(2, 3), make.random(3)), make.random(2, 1))
    assert not apply(make.finish(x), MergeScalars)
    make = Maker()
    x = make("mul", make.input(2, 3), make.random(3))
    assert not apply(make.finish(make("mul", x, make.random(3)), make("relu", x)), MergeScalars)


@pytest.mark.parametrize("rounding", ["ceil", "floor"])
def test_scalars_before_rounding_are_not_merged(rounding: str) -> None:
    """(4 + 0.5) / 3 - 0.5 is 1, and 4 * (1 / 3) - 1 / 3 is more than 1 in single precision."""
    make = Maker()
    x = make(
        "sub", make("div", make("add", make.input(2, 3), make.constant(0.5)), make.constant(3.0)), make.constant(0.5)
    )
    graph = make.finish(make(rounding, make("abs", x)))
    assert not apply(graph, MergeScalars)
