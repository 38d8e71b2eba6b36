"""How elements are spread: figures, bars, what is left out."""

from __future__ import annotations

import math

import numpy as np
import pytest

from buildtool.tensors import spread as module
from buildtool.tensors.spread import BARS, spread


def test_figures_and_bars() -> None:
    found = spread(np.array([[0.0, 1.0], [3.0, 4.0]], np.float32))
    assert found is not None
    assert (found["low"], found["high"], found["mean"], found["zeros"], found["odd"]) == (0, 4, 2, 0.25, 0)
    assert len(found["counts"]) == BARS
    assert (found["counts"][0], found["counts"][-1], sum(found["counts"])) == (1, 1, 4)


@pytest.mark.parametrize(
    "array", [np.array([True]), np.zeros(0, np.float32), np.array([math.nan, math.inf], np.float32)]
)
def test_nothing_is_known_of_some(array: np.ndarray) -> None:
    assert spread(array) is None


def test_what_is_not_finite_is_counted_apart() -> None:
    found = spread(np.array([math.nan, -math.inf, 2, 5], np.float16))
    assert found is not None
    assert (found["low"], found["high"], found["odd"], sum(found["counts"])) == (2, 5, 2, 2)


def test_equal_elements_are_one_bar() -> None:
    found = spread(np.full(7, 3, np.int8))
    assert found is not None
    assert found["counts"] == [7]


def test_of_many_elements_some_are_counted_and_the_ends_are_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MOST", 10)
    array = np.zeros(100, np.float32)
    array[[1, 2]] = -8, 8
    found = spread(array)
    assert found is not None
    assert (found["every"], found["low"], found["high"], sum(found["counts"])) == (10, -8, 8, 10)
