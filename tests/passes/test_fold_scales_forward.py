"""Numbers per channel in front of a layer go into its weights; an addition only where no zeros are padded."""

from __future__ import annotations

from typing import Any

import pytest

from buildtool.ir.graph import Value
from buildtool.passes.fold_scales_forward import FoldScalesForward
from tests.passes.harness import CONV, Maker, apply, ops

PADDED = {**CONV, "pads": (1, 1, 1, 1)}


def _layer(make: Maker, name: str, x: Value, bias: bool, settings: dict[str, Any]) -> Value:
    rest = [make.random(4)] if bias else []
    if name == "conv2d":
        return make("conv2d", x, make.random(4, 3, 3, 2), *rest, **settings)
    if name == "dwconv2d":
        return make("dwconv2d", x, make.random(3, 3, 4), *rest, multiplier=2, **settings)
    if name == "deconv2d":
        return make("deconv2d", x, make.random(4, 3, 3, 2), *rest, output_padding=(0, 0), **settings)
    return make("fully_connected", x, make.random(4, 2), *rest)


LAYERS = pytest.mark.parametrize("layer", ["conv2d", "dwconv2d", "deconv2d", "fully_connected"])
NUMBERS = pytest.mark.parametrize("shape", [(), (1, 1, 1, 1), (2,)])


@LAYERS
@NUMBERS
@pytest.mark.parametrize("bias", [False, True])
def test_scales(layer: str, shape: tuple[int, ...], bias: bool) -> None:
    make = Maker()
    scaled = make("mul", make.random(*shape, low=0.5), make.input(1, 5, 6, 2))
    graph = make.finish(_layer(make, layer, scaled, bias, PADDED))
    assert apply(graph, FoldScalesForward)
    assert ops(graph) == [layer]


@NUMBERS
@pytest.mark.parametrize("layer", ["conv2d", "dwconv2d", "fully_connected"])
@pytest.mark.parametrize("bias", [False, True])
def test_scales_and_shifts_without_pads(layer: str, shape: tuple[int, ...], bias: bool) -> None:
    make = Maker()
    divided = make("div", make.input(1, 5, 6, 2), make.random(*shape, low=0.5))
    moved = make("add", divided, make.random(*shape))
    graph = make.finish(_layer(make, layer, moved, bias, CONV))
    assert apply(graph, FoldScalesForward)
    assert ops(graph) == [layer]


@NUMBERS
@pytest.mark.parametrize("layer", ["conv2d", "dwconv2d", "deconv2d"])
def test_shifts_in_front_of_pads_stay(layer: str, shape: tuple[int, ...]) -> None:
    make = Maker()
    moved = make("add", make("mul", make.input(1, 5, 6, 2), make.random(*shape, low=0.5)), make.random(*shape))
    graph = make.finish(_layer(make, layer, moved, True, PADDED))
    assert apply(graph, FoldScalesForward)
    assert ops(graph) == ["add", layer]


def test_groups_take_one_number_only() -> None:
    for count, done in ((1, True), (4, False)):
        make = Maker()
        scaled = make("mul", make.input(1, 5, 6, 4), make.random(count, low=0.5))
        graph = make.finish(make("conv2d", scaled, make.random(4, 3, 3, 2), groups=2, **CONV))
        assert apply(graph, FoldScalesForward) is done


def test_scales_with_another_reader_stay() -> None:
    make = Maker()
    scaled = make("mul", make.input(1, 5, 6, 2), make.random(2))
    graph = make.finish(make.conv(scaled, 3), make("relu", scaled))
    assert not apply(graph, FoldScalesForward)
