"""Blocks of pixels that become channels, and channels that become blocks, as exporters write them."""

from __future__ import annotations

import pytest

from buildtool.ir.dims import symbol
from buildtool.passes.recognise_blocks import RecogniseBlocks
from tests.passes.harness import Maker, apply, ops


@pytest.mark.parametrize("mode", ["DCR", "CRD"])
def test_depth_to_space(mode: str) -> None:
    make = Maker()
    height = symbol("height", 1, 8)
    parts = (2, 2, 3) if mode == "DCR" else (3, 2, 2)
    perm = (0, 3, 4, 1, 5, 2) if mode == "DCR" else (0, 1, 4, 2, 5, 3)
    x = make("reshape", make.input(2, 12, height, 5), shape=(2, *parts, height, 5))
    graph = make.finish(make("reshape", make("transpose", x, perm=perm), shape=(2, 3, height * 2, 10)))
    assert apply(graph, RecogniseBlocks, sizes=[{"height": 3}])
    assert ops(graph) == ["transpose", "depth_to_space", "transpose"]


@pytest.mark.parametrize("perm", [(0, 3, 5, 1, 2, 4), (0, 1, 3, 5, 2, 4)])
def test_space_to_depth(perm: tuple[int, ...]) -> None:
    make = Maker()
    x = make("reshape", make.input(2, 3, 6, 9), shape=(2, 3, 2, 3, 3, 3))
    graph = make.finish(make("reshape", make("transpose", x, perm=perm), shape=(2, 27, 2, 3)))
    assert apply(graph, RecogniseBlocks)
    assert ops(graph) == ["transpose", "space_to_depth", "transpose"]


def test_other_orders_and_shapes_stay() -> None:
    make = Maker()
    x = make("reshape", make.input(2, 12, 4, 5), shape=(2, 2, 2, 3, 4, 5))
    other = make("reshape", make("transpose", x, perm=(0, 3, 4, 2, 5, 1)), shape=(2, 3, 8, 10))
    longer = make("reshape", make("transpose", x, perm=(0, 3, 4, 1, 5, 2)), shape=(2, 3, 4, 20))
    assert not apply(make.finish(other, longer), RecogniseBlocks)
