"""Layers with constant weights, which numbers per channel can be folded into."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import pytest

from buildtool.ir.graph import Graph, Value
from tests.passes.harness import CONV, Maker, names

Layer: TypeAlias = Callable[[Maker, bool], Value]


def conv_layer(make: Maker, bias: bool) -> Value:
    return make.conv(make.input(1, 5, 6, 3), 4, bias=bias)


def depthwise_layer(make: Maker, bias: bool) -> Value:
    rest = [make.random(4)] if bias else []
    return make("dwconv2d", make.input(1, 5, 6, 2), make.random(3, 3, 4), *rest, multiplier=2, **CONV)


def depthwise(make: Maker, x: Value, kernel: int = 3, bias: bool = True, **attributes: Any) -> Value:
    """A depthwise convolution of a channels-last value that keeps the size, unless the attributes say otherwise."""
    channels = x.type.shape[-1]
    assert isinstance(channels, int)
    filters = channels * int(attributes.get("multiplier", 1))
    rest = [make.random(filters)] if bias else []
    same = {**CONV, "pads": (1, 1, 1, 1)}
    return make("dwconv2d", x, make.random(kernel, kernel, filters), *rest, **{**same, **attributes})


def deconv_layer(make: Maker, bias: bool) -> Value:
    rest = [make.random(4)] if bias else []
    x, filters = make.input(1, 5, 6, 6), make.random(4, 3, 3, 3)
    return make("deconv2d", x, filters, *rest, groups=2, output_padding=(0, 0), **CONV)


def product_layer(make: Maker, bias: bool) -> Value:
    rest = [make.random(4)] if bias else []
    return make("fully_connected", make.input(2, 3, 7), make.random(4, 7), *rest)


LAYERS = pytest.mark.parametrize("layer", [conv_layer, depthwise_layer, deconv_layer, product_layer])
BIAS = pytest.mark.parametrize("bias", [False, True])


def norm(make: Maker, x: Value) -> Value:
    return make("batch_norm", x, make.random(4), make.random(4), make.random(4), make.random(4, low=0.1), epsilon=1e-3)


def check_folded(graph: Graph, name: str) -> None:
    """Only the layer is left, under its own name, with a bias; its result has the name of what was folded."""
    (node,) = graph.nodes
    assert node.name == f"{node.op.name}_0"
    assert len(node.inputs) == 3
    assert name in names(graph)
