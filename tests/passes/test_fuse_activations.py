"""Activations become attributes of the layers before them."""

from __future__ import annotations

from typing import Any

import pytest

from buildtool.ir.types import DType
from buildtool.passes.fuse_activations import FuseActivations
from tests.passes.harness import CONV, Maker, apply, names, ops

ACTIVATIONS: list[tuple[str, dict[str, Any]]] = [
    ("relu", {}),
    ("clip", {"low": -0.25, "high": 0.5}),
    ("sigmoid", {}),
    ("tanh", {}),
    ("leaky_relu", {"alpha": 0.25}),
    ("elu", {"alpha": 0.5}),
    ("hard_sigmoid", {"alpha": 0.2, "beta": 0.5}),
    ("hard_swish", {}),
    ("swish", {}),
]


@pytest.mark.parametrize(("op", "attributes"), ACTIVATIONS, ids=[op for op, _ in ACTIVATIONS])
@pytest.mark.parametrize("layer", ["conv2d", "dwconv2d", "deconv2d", "fully_connected", "add"])
def test_every_activation_into_every_layer(op: str, attributes: dict[str, Any], layer: str) -> None:
    make = Maker()
    x = make.input(1, 5, 6, 3)
    made = {
        "conv2d": lambda: make("conv2d", x, make.random(4, 3, 3, 3), **CONV),
        "dwconv2d": lambda: make("dwconv2d", x, make.random(3, 3, 3), **CONV),
        "deconv2d": lambda: make("deconv2d", x, make.random(4, 3, 3, 3), output_padding=(0, 0), **CONV),
        "fully_connected": lambda: make("fully_connected", x, make.random(4, 3)),
        "add": lambda: make("add", x, make.input(3)),
    }[layer]()
    graph = make.finish(make(op, made, **attributes))
    assert apply(graph, FuseActivations)
    assert ops(graph) == [layer]
    assert graph.nodes[0].name == f"{layer}_0"
    assert f"{op}_1:0" in names(graph)


def test_only_one_activation_fits() -> None:
    make = Maker()
    graph = make.finish(make("tanh", make("relu", make.conv(make.input(1, 5, 6, 3), 4))))
    assert apply(graph, FuseActivations)
    assert ops(graph) == ["conv2d", "tanh"]


def test_a_result_that_others_read_is_kept() -> None:
    make = Maker()
    layer = make.conv(make.input(1, 5, 6, 3), 4)
    graph = make.finish(make("relu", layer), make("sigmoid", layer))
    assert not apply(graph, FuseActivations)


def test_sums_of_whole_numbers_have_no_activation() -> None:
    make = Maker()
    x = make.input(5, dtype=DType.S32)
    graph = make.finish(make("clip", make("add", x, x), low=0.0, high=3.0))
    assert not apply(graph, FuseActivations)


def test_only_bounds_are_fused_into_quantised_nodes() -> None:
    make = Maker()
    x = make("relu", make.conv(make.input(1, 4, 4, 3), 5))
    graph = make.finish(make("sigmoid", make.conv(x, 3, kernel=1)))
    one = FuseActivations(bounds_only=True)
    assert one.run(graph)
    assert ops(graph) == ["conv2d", "conv2d", "sigmoid"]
    assert not list(one.ensures(graph))
