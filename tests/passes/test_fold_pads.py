"""Borders of zeros go into convolutions and averages, borders of the lowest number into the largest of a window."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from buildtool.ir.graph import Value
from buildtool.passes.fold_pads import FoldPads
from tests.passes.harness import CONV, Maker, apply, ops

BORDER: dict[str, Any] = {"before": (0, 1, 0, 0), "after": (0, 1, 2, 0), "mode": "constant", "value": 0.0}
POOL: dict[str, Any] = {
    "kernel": (4, 4),
    "strides": (2, 2),
    "pads": (0, 0, 0, 0),
    "dilations": (1, 1),
    "ceil_mode": False,
}


def _padded(make: Maker, **changes: Any) -> Value:
    return make("pad", make.input(1, 6, 7, 3), **{**BORDER, **changes})


def test_convolutions() -> None:
    make = Maker()
    x = _padded(make)
    depthwise = make("dwconv2d", x, make.random(3, 3, 3), multiplier=1, **{**CONV, "pads": (1, 0, 2, 1)})
    graph = make.finish(make.conv(x, 4), depthwise)
    assert apply(graph, FoldPads)
    assert sorted(ops(graph)) == ["conv2d", "dwconv2d"]


@pytest.mark.parametrize("lowest", [-math.inf, float(np.finfo(np.float32).min)])
def test_the_largest(lowest: float) -> None:
    make = Maker()
    graph = make.finish(make("max_pool2d", _padded(make, value=lowest), **POOL))
    assert apply(graph, FoldPads)
    assert ops(graph) == ["max_pool2d"]


@pytest.mark.parametrize("counted", [False, True])
def test_averages(counted: bool) -> None:
    make = Maker()
    graph = make.finish(make("avg_pool2d", _padded(make), count_include_pad=counted, **POOL))
    assert apply(graph, FoldPads)
    assert ops(graph) == ["avg_pool2d"]


def test_pads_that_the_reader_cannot_express_stay() -> None:
    make = Maker()
    kept = [
        make.conv(_padded(make, value=1.0), 4),
        make.conv(_padded(make, mode="edge"), 4),
        make.conv(_padded(make, before=(1, 0, 0, 0), after=(0, 0, 0, 0)), 4),
        make("max_pool2d", _padded(make), **POOL),
        make("max_pool2d", _padded(make, value=-math.inf), **{**POOL, "kernel": (2, 2)}),
        make("avg_pool2d", _padded(make), count_include_pad=False, **{**POOL, "pads": (1, 0, 1, 0)}),
        make("avg_pool2d", _padded(make), count_include_pad=False, **{**POOL, "ceil_mode": True}),
    ]
    assert not apply(make.finish(*kept), FoldPads)
