"""hard_sigmoid, hard_swish, swish, softplus, mish and gelu are found in their parts, however these are written."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

from buildtool.ir.graph import Value
from buildtool.passes.recognise_gelus import RecogniseGelus
from buildtool.passes.recognise_hard_sigmoids import RecogniseHardSigmoids
from buildtool.passes.recognise_hard_swishes import RecogniseHardSwishes
from buildtool.passes.recognise_mishes import RecogniseMishes
from buildtool.passes.recognise_softplus import RecogniseSoftplus
from buildtool.passes.recognise_swishes import RecogniseSwishes
from tests.passes.harness import Maker, apply, ops

Function = Callable[[Maker, Value], Value]


def _times(make: Maker, x: Value, factor: float) -> Value:
    return make("mul", x, make.constant(factor))


def _plus(make: Maker, x: Value, addend: float) -> Value:
    return make("add", make.constant(addend), x)


def _gate(make: Maker, x: Value) -> Value:
    return make("clip", _plus(make, x, 3), low=0.0, high=6.0)


def _softplus(make: Maker, x: Value) -> Value:
    return make("log", _plus(make, make("exp", x), 1))


def _cubic(make: Maker, x: Value) -> Value:
    cube = make("pow", x, make.constant(3))
    return make("add", x, _times(make, cube, 0.044715))


def _factored(make: Maker, x: Value) -> Value:
    return make("mul", x, _plus(make, _times(make, make("mul", x, x), 0.044715), 1))


def _tanh_gelu(make: Maker, x: Value, inner: Value) -> Value:
    gate = _plus(make, make("tanh", _times(make, inner, math.sqrt(2 / math.pi))), 1)
    return make("mul", _times(make, x, 0.5), gate)


HARD_SIGMOIDS: dict[str, Function] = {
    "divided": lambda make, x: make("div", _gate(make, x), make.constant(6)),
    "multiplied": lambda make, x: _times(make, _gate(make, x), 1 / 6),
    "sloped": lambda make, x: make("clip", _plus(make, _times(make, x, 0.2), 0.5), low=0.0, high=1.0),
}
HARD_SWISHES: dict[str, Function] = {
    "divided_last": lambda make, x: make("div", make("mul", x, _gate(make, x)), make.constant(6)),
    "divided_first": lambda make, x: make("mul", make("div", _gate(make, x), make.constant(6)), x),
    "of_a_sixth": lambda make, x: make("mul", _times(make, x, 1 / 6), _gate(make, x)),
    "by_operator": lambda make, x: make("mul", x, make("hard_sigmoid", x, alpha=0.1666667, beta=0.5)),
}
SWISHES: dict[str, Function] = {
    "plain": lambda make, x: make("mul", x, make("sigmoid", x)),
    "turned": lambda make, x: make("mul", make("sigmoid", x), x),
    "beta": lambda make, x: make("mul", x, make("sigmoid", _times(make, x, 1))),
}
GELUS: dict[str, Function] = {
    "torch": lambda make, x: _times(
        make, make("mul", x, _plus(make, make("erf", make("div", x, make.constant(math.sqrt(2)))), 1)), 0.5
    ),
    "half_first": lambda make, x: make(
        "mul", _times(make, x, 0.5), _plus(make, make("erf", _times(make, x, math.sqrt(0.5))), 1)
    ),
    "half_gate": lambda make, x: make(
        "mul", _times(make, _plus(make, make("erf", _times(make, x, math.sqrt(0.5))), 1), 0.5), x
    ),
    "tanh_of_pow": lambda make, x: _tanh_gelu(make, x, _cubic(make, x)),
    "tanh_of_product": lambda make, x: _tanh_gelu(make, x, _factored(make, x)),
    "tanh_of_factor_inside": lambda make, x: _tanh_gelu(
        make, x, make("add", x, make("mul", x, make("mul", x, _times(make, x, 0.044715))))
    ),
    "tanh_of_quotient": lambda make, x: _tanh_gelu(
        make, x, make("add", x, make("mul", make("div", make("mul", x, x), make.constant(1 / 0.044715)), x))
    ),
}


def _check(function: Function, expected: str, *passes: type, shape: tuple[int, ...] = (2, 3, 4)) -> None:
    make = Maker()
    graph = make.finish(function(make, make.input(*shape)))
    assert apply(graph, *passes)
    assert ops(graph) == [expected]


@pytest.mark.parametrize("name", HARD_SIGMOIDS)
def test_hard_sigmoid(name: str) -> None:
    _check(HARD_SIGMOIDS[name], "hard_sigmoid", RecogniseHardSigmoids)


@pytest.mark.parametrize("name", HARD_SWISHES)
def test_hard_swish(name: str) -> None:
    _check(HARD_SWISHES[name], "hard_swish", RecogniseHardSwishes)
    _check(HARD_SWISHES[name], "hard_swish", RecogniseHardSigmoids, RecogniseHardSwishes)


@pytest.mark.parametrize("name", SWISHES)
def test_swish(name: str) -> None:
    _check(SWISHES[name], "swish", RecogniseSwishes)


def test_softplus() -> None:
    _check(_softplus, "softplus", RecogniseSoftplus)


def test_mish() -> None:
    function: Function = lambda make, x: make("mul", x, make("tanh", _softplus(make, x)))  # noqa: E731
    _check(function, "mish", RecogniseSoftplus, RecogniseMishes)


@pytest.mark.parametrize("name", GELUS)
def test_gelu(name: str) -> None:
    _check(GELUS[name], "gelu", RecogniseGelus)


@pytest.mark.parametrize("inside", ["factor", "power"])
def test_another_polynomial_is_no_gelu(inside: str) -> None:
    make = Maker()
    x = make.input(2, 3)
    square = make("mul", x, _times(make, x, 0.05 if inside == "factor" else 0.044715))
    power = make("mul", x, square if inside == "factor" else make("mul", x, square))
    graph = make.finish(_tanh_gelu(make, x, make("add", x, power)))
    apply(graph, RecogniseGelus)
    assert "gelu" not in ops(graph)


def test_another_factor_is_left_over() -> None:
    make = Maker()
    x = make.input(2, 3)
    graph = make.finish(_times(make, make("mul", x, _gate(make, x)), 0.5))
    assert apply(graph, RecogniseHardSwishes)
    assert ops(graph) == ["hard_swish", "mul"]


def test_patterns_that_are_read_elsewhere_or_differ_stay() -> None:
    make = Maker()
    x, y = make.input(2, 3), make.input(2, 3)
    gate = make("sigmoid", x)
    graph = make.finish(make("mul", x, gate), gate, make("mul", y, make("sigmoid", make("neg", y))))
    assert not apply(graph, RecogniseSwishes)
    make = Maker()
    x = make.input(2, 3)
    four = make("clip", _plus(make, x, 4), low=0.0, high=6.0)
    graph = make.finish(make("div", make("mul", x, four), make.constant(6)))
    assert not apply(graph, RecogniseHardSwishes)
