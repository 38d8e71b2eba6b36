"""Operators that do nothing go; their neighbours that do something stay."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from buildtool.ir.types import DType
from buildtool.passes.remove_noops import RemoveNoops
from tests.passes.harness import Maker, apply, ops

NOTHING: list[tuple[str, dict[str, Any]]] = [
    ("reshape", {"shape": (2, 3, 1)}),
    ("transpose", {"perm": (0, 1, 2)}),
    ("pad", {"before": (0, 0, 0), "after": (0, 0, 0), "mode": "constant", "value": 1.0}),
    ("slice", {"starts": (0, 0, 0), "steps": (1, 1, 1), "sizes": (2, 3, 1)}),
    ("cast", {"to": DType.F32}),
    ("concat", {"axis": 1}),
    ("split", {"axis": 1, "sizes": (3,)}),
    ("clip", {"low": -math.inf, "high": math.inf}),
    ("reduce_mean", {"axes": (2,), "keepdims": True}),
]
SOMETHING: list[tuple[str, dict[str, Any]]] = [
    ("reshape", {"shape": (3, 2, 1)}),
    ("transpose", {"perm": (1, 0, 2)}),
    ("pad", {"before": (0, 1, 0), "after": (0, 0, 0), "mode": "edge", "value": 0.0}),
    ("slice", {"starts": (1, 0, 0), "steps": (-1, 1, 1), "sizes": (2, 3, 1)}),
    ("cast", {"to": DType.S32}),
    ("clip", {"low": 0.0, "high": math.inf}),
    ("reduce_mean", {"axes": (1,), "keepdims": True}),
    ("reduce_mean", {"axes": (2,), "keepdims": False}),
]


@pytest.mark.parametrize(("op", "attributes"), NOTHING, ids=[op for op, _ in NOTHING])
def test_operators_without_effect_are_removed(op: str, attributes: dict[str, Any]) -> None:
    make = Maker()
    graph = make.finish(make("relu", make(op, make("neg", make.input(2, 3, 1)), **attributes)))
    assert apply(graph, RemoveNoops)
    assert ops(graph) == ["neg", "relu"]


@pytest.mark.parametrize(("op", "attributes"), SOMETHING, ids=[op for op, _ in SOMETHING])
def test_operators_with_an_effect_stay(op: str, attributes: dict[str, Any]) -> None:
    make = Maker()
    graph = make.finish(make(op, make("neg", make.input(2, 3, 1)), **attributes))
    assert not apply(graph, RemoveNoops)


@pytest.mark.parametrize(("op", "neutral"), [("add", 0), ("sub", 0), ("mul", 1), ("div", 1), ("pow", 1)])
def test_neutral_numbers(op: str, neutral: float) -> None:
    make = Maker()
    x = make("relu", make.input(2, 3))
    graph = make.finish(make("abs", make(op, x, make.constant(np.full(3, neutral)))))
    assert apply(graph, RemoveNoops)
    assert ops(graph) == ["relu", "abs"]


def test_neutral_numbers_that_do_something() -> None:
    make = Maker()
    x = make("relu", make.input(2, 3))
    kept = [
        make("sub", make.constant(0), x),
        make("div", make.constant(1), x),
        make("add", x, make.constant(np.zeros((1, 1, 1)))),  # adds an axis
        make("add", x, make.constant(0), activation="tanh"),
    ]
    assert not apply(make.finish(*kept), RemoveNoops)
