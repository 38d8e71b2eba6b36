"""The order of what is flattened becomes the order of the weights."""

from __future__ import annotations

from buildtool.ir.dims import symbol
from buildtool.passes.absorb_transposes import AbsorbTransposes
from tests.passes.harness import NCHW, Maker, apply, ops


def test_a_flattened_picture() -> None:
    make = Maker()
    moved = make("transpose", make.input(2, 3, 4, 5), perm=NCHW)
    flat = make("reshape", moved, shape=(2, 60))
    graph = make.finish(make("fully_connected", flat, make.random(7, 60), make.random(7)))
    assert apply(graph, AbsorbTransposes)
    assert ops(graph) == ["reshape", "fully_connected"]


def test_a_run_time_batch() -> None:
    make = Maker()
    batch = symbol("N", 1, 4)
    flat = make("reshape", make("transpose", make.input(batch, 3, 4, 5), perm=NCHW), shape=(batch, 60))
    graph = make.finish(make("fully_connected", flat, make.random(7, 60)))
    assert apply(graph, AbsorbTransposes, sizes=({"N": 1}, {"N": 3}))
    assert ops(graph) == ["reshape", "fully_connected"]


def test_one_axis_of_several_leading_ones() -> None:
    make = Maker()
    flat = make("reshape", make("transpose", make.input(2, 3, 4, 5), perm=(0, 1, 3, 2)), shape=(6, 20))
    graph = make.finish(make("fully_connected", flat, make.random(7, 20)))
    assert apply(graph, AbsorbTransposes)
    assert ops(graph) == ["reshape", "fully_connected"]


def test_a_transpose_that_moves_the_batch_stays() -> None:
    make = Maker()
    flat = make("reshape", make("transpose", make.input(2, 3, 4, 5), perm=(1, 0, 2, 3)), shape=(3, 40))
    graph = make.finish(make("fully_connected", flat, make.random(7, 40)))
    assert not apply(graph, AbsorbTransposes)


def test_a_transpose_that_others_read_stays_for_them() -> None:
    make = Maker()
    moved = make("transpose", make.input(2, 3, 4, 5), perm=NCHW)
    flat = make("reshape", moved, shape=(2, 60))
    graph = make.finish(make("fully_connected", flat, make.random(7, 60)), make("relu", moved))
    assert apply(graph, AbsorbTransposes)
    assert sorted(ops(graph)) == ["fully_connected", "relu", "reshape", "transpose"]


def test_flattened_values_that_others_read_stay() -> None:
    make = Maker()
    flat = make("reshape", make("transpose", make.input(2, 3, 4, 5), perm=NCHW), shape=(2, 60))
    graph = make.finish(make("fully_connected", flat, make.random(7, 60)), flat)
    assert not apply(graph, AbsorbTransposes)
