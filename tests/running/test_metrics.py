"""Distances: known values, and the odd cases in which a formula alone would lie."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from buildtool.running.metrics import Metrics, compare


def test_equal_arrays_are_equal() -> None:
    array = np.arange(12, dtype=np.float32).reshape(3, 4)
    assert compare(array, array) == Metrics(cosine=1.0, sqnr=math.inf, max_abs=0.0, max_rel=0.0)


def test_known_distance() -> None:
    found = compare(np.array([3.0, 4.0]), np.array([4.0, 3.0]))
    assert found.cosine == pytest.approx(24 / 25)
    assert found.sqnr == pytest.approx(10 * math.log10(25 / 2))
    assert found.max_abs == 1.0
    assert found.max_rel == 0.25


@pytest.mark.parametrize(
    ("left", "right", "cosine"),
    [
        ([0.0, 0.0], [0.0, 0.0], 1.0),
        ([0.0, 0.0], [1.0, 0.0], 0.0),
        ([1.0, 0.0], [0.0, 0.0], 0.0),
        ([math.nan, 1.0], [math.nan, 1.0], 1.0),
        ([math.nan, 1.0], [0.0, 1.0], 0.0),
        ([math.inf, 1.0], [math.inf, 1.0], 1.0),
        ([math.inf, 1.0], [-math.inf, 1.0], 0.0),
        ([1e300, 1e300], [1e300, 1e300], 1.0),
        ([1e-300, 1e-300], [1e-300, 1e-300], 1.0),
        ([], [], 1.0),
    ],
)
def test_odd_cases(left: list[float], right: list[float], cosine: float) -> None:
    assert compare(np.array(left), np.array(right)).cosine == pytest.approx(cosine)


def test_opposite_is_minus_one_and_integers_do_not_wrap() -> None:
    found = compare(np.array([-128, 1], np.int8), np.array([127, -1], np.int8))
    assert found.cosine < -0.99
    assert found.max_abs == 255


def test_shapes_must_agree() -> None:
    with pytest.raises(ValueError, match=r"\[2\] and \[3\]"):
        compare(np.zeros(2), np.zeros(3))


def test_json_holds_no_infinity() -> None:
    assert compare(np.ones(2), np.ones(2)).as_json()["sqnr"] is None


@given(st.lists(st.floats(-1e6, 1e6, allow_subnormal=False), min_size=1, max_size=20), st.floats(0.5, 2))
def test_cosine_ignores_scale(values: list[float], factor: float) -> None:
    array = np.array(values)
    array[np.abs(array) < 1e-300] = 0  # half of the smallest number is none
    assert compare(array * factor, array).cosine == pytest.approx(1.0)
