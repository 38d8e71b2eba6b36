"""Normalisations are found in their parts."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from buildtool.ir.dims import symbol
from buildtool.ir.graph import Value
from buildtool.passes.merge_transposes import MergeTransposes
from buildtool.passes.recognise_group_norms import RecogniseGroupNorms
from buildtool.passes.recognise_instance_norms import RecogniseInstanceNorms
from buildtool.passes.recognise_layer_norms import RecogniseLayerNorms
from buildtool.passes.recognise_rms_norms import RecogniseRmsNorms
from tests.passes.harness import Maker, apply, ops

Divide = Callable[[Maker, Value, Value], Value]
DIVISIONS: dict[str, Divide] = {
    "div": lambda make, x, square: make("div", x, make("sqrt", square)),
    "pow": lambda make, x, square: make("div", x, make("pow", square, make.constant(0.5))),
    "inverse_pow": lambda make, x, square: make("mul", x, make("pow", square, make.constant(-0.5))),
    "reciprocal": lambda make, x, square: make("mul", make("reciprocal", make("sqrt", square)), x),
    "one_by": lambda make, x, square: make("mul", x, make("div", make.constant(1), make("sqrt", square))),
}


def _divided(make: Maker, x: Value, axes: tuple[int, ...], how: str, squared: str = "mul") -> Value:
    """x by the root of its mean square."""
    square = make("mul", x, x) if squared == "mul" else make("pow", x, make.constant(2))
    mean = make("reduce_mean", square, axes=axes, keepdims=True)
    return DIVISIONS[how](make, x, make("add", mean, make.constant(1e-3)))


def _normed(make: Maker, x: Value, axes: tuple[int, ...], how: str = "div", squared: str = "pow") -> Value:
    return _divided(make, make("sub", x, make("reduce_mean", x, axes=axes, keepdims=True)), axes, how, squared)


def _affine(make: Maker, x: Value, *shape: int) -> Value:
    return make("add", make("mul", make.random(*shape), x), make.random(*shape))


@pytest.mark.parametrize("how", DIVISIONS)
@pytest.mark.parametrize("squared", ["mul", "pow"])
def test_layer_norm(how: str, squared: str) -> None:
    make = Maker()
    length = symbol("length", 1, 9)
    x = _normed(make, make.input(2, length, 6), (2,), how, squared)
    graph = make.finish(_affine(make, x, 6))
    assert apply(graph, RecogniseLayerNorms, sizes=[{"length": 4}])
    assert ops(graph) == ["layer_norm"]
    assert len(graph.nodes[0].inputs) == 3


def test_layer_norm_of_several_axes() -> None:
    make = Maker()
    graph = make.finish(make("add", _normed(make, make.input(2, 3, 4), (1, 2)), make.random(3, 1)))
    assert apply(graph, RecogniseLayerNorms)
    assert ops(graph) == ["layer_norm"]


@pytest.mark.parametrize("how", DIVISIONS)
@pytest.mark.parametrize("scaled", [False, True])
def test_rms_norm(how: str, scaled: bool) -> None:
    make = Maker()
    x = _divided(make, make.input(2, 3, 6), (2,), how)
    graph = make.finish(make("mul", x, make.random(6)) if scaled else x)
    assert apply(graph, RecogniseRmsNorms)
    assert ops(graph) == ["rms_norm"]


@pytest.mark.parametrize("affine", [False, True])
def test_instance_norm(affine: bool) -> None:
    make = Maker()
    x = _normed(make, make.input(2, 3, 4, 5), (1, 2))
    graph = make.finish(_affine(make, x, 5) if affine else x)
    assert apply(graph, RecogniseInstanceNorms)
    assert ops(graph) == ["group_norm"]


@pytest.mark.parametrize("affine", [False, True])
def test_group_norm(affine: bool) -> None:
    make = Maker()
    x = make("reshape", make.input(2, 6, 3, 4), shape=(2, 3, 24))
    ones, zeros = make.constant(np.ones(3)), make.constant(np.zeros(3))
    normed = make("group_norm", make("transpose", x, perm=(0, 2, 1)), ones, zeros, groups=3, epsilon=1e-4)
    x = make("reshape", make("transpose", normed, perm=(0, 2, 1)), shape=(2, 6, 3, 4))
    graph = make.finish(_affine(make, x, 6, 1, 1) if affine else x)
    assert apply(graph, RecogniseGroupNorms, MergeTransposes)
    assert ops(graph) == ["transpose", "group_norm", "transpose"]


def test_other_normalisations_are_no_layer_norm() -> None:
    make = Maker()
    x = make.input(2, 3, 4)
    other_mean = make("sub", x, make("reduce_mean", x, axes=(1,), keepdims=True))
    kept = [
        _divided(make, other_mean, (2,), "div"),
        _normed(make, x, (1,)),
        make("div", x, make("sqrt", make("reduce_mean", make("mul", x, x), axes=(2,), keepdims=True))),
    ]
    graph = make.finish(*kept)
    assert not apply(graph, RecogniseLayerNorms)
