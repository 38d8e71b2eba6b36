"""Transposes in a row become one, or none, or a reshape."""

from __future__ import annotations

from buildtool.ir.dims import symbol
from buildtool.passes.merge_transposes import MergeTransposes
from tests.passes.harness import NCHW, NHWC, Maker, apply, ops


def test_opposite_transposes_cancel() -> None:
    make = Maker()
    x = make("neg", make.input(2, 3, 4, 5))
    graph = make.finish(make("relu", make("transpose", make("transpose", x, perm=NHWC), perm=NCHW)))
    assert apply(graph, MergeTransposes)
    assert ops(graph) == ["neg", "relu"]


def test_three_in_a_row_become_one() -> None:
    make = Maker()
    x = make.input(2, 3, 4)
    for perm in ((1, 0, 2), (2, 1, 0), (0, 2, 1)):
        x = make("transpose", x, perm=perm)
    graph = make.finish(x)
    assert apply(graph, MergeTransposes)
    assert ops(graph) == ["transpose"]


def test_a_first_transpose_that_others_read_stays() -> None:
    make = Maker()
    moved = make("transpose", make.input(2, 3, 4), perm=(1, 0, 2))
    graph = make.finish(make("transpose", moved, perm=(2, 1, 0)), make("neg", moved))
    assert apply(graph, MergeTransposes)
    assert sorted(ops(graph)) == ["neg", "transpose", "transpose"]


def test_moving_axes_of_size_one_is_a_reshape() -> None:
    make = Maker()
    batch = symbol("N", 1, 4)
    graph = make.finish(make("transpose", make.input(batch, 7, 1, 1), perm=NHWC))
    assert apply(graph, MergeTransposes, sizes=({"N": 1}, {"N": 3}))
    assert ops(graph) == ["reshape"]


def test_a_run_time_size_may_not_be_one() -> None:
    make = Maker()
    graph = make.finish(make("transpose", make.input(2, symbol("C", 1, 4)), perm=(1, 0)))
    assert not apply(graph, MergeTransposes, sizes=({"C": 1}, {"C": 3}))
