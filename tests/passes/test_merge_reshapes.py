"""Of reshapes in a row only the last matters."""

from __future__ import annotations

from buildtool.passes.merge_reshapes import MergeReshapes
from tests.passes.harness import Maker, apply, ops


def test_reshapes_in_a_row_become_one() -> None:
    make = Maker()
    x = make.input(2, 3, 4)
    for shape in ((6, 4), (24,), (4, 6)):
        x = make("reshape", x, shape=shape)
    graph = make.finish(x)
    assert apply(graph, MergeReshapes)
    assert ops(graph) == ["reshape"]


def test_a_first_reshape_that_others_read_stays() -> None:
    make = Maker()
    flat = make("reshape", make.input(2, 3), shape=(6,))
    graph = make.finish(make("reshape", flat, shape=(3, 2)), make("neg", flat))
    assert apply(graph, MergeReshapes)
    assert ops(graph) == ["reshape", "reshape", "neg"]
