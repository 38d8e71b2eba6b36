"""Slices of sizes that are known only at run time are those of NumPy, also with bounds far outside of the axis."""

from __future__ import annotations

import itertools

import pytest

from buildtool.importers.slices import interval
from buildtool.ir.dims import evaluate, symbol

_FAR = (-(2**63), -(2**31), 2**31 - 1, 2**63 - 1)
_BOUNDS = (*range(-6, 7), *_FAR)


@pytest.mark.parametrize("step", [-(2**63), -3, -1, 1, 2, 2**63 - 1])
def test_of_numpy(step: int) -> None:
    run_time = symbol("N", 1, 4)
    for start, end in itertools.product(_BOUNDS, repeat=2):
        begin, count = interval(run_time, start, end, step)
        for size in range(1, 5):
            taken = range(size)[start:end:step]
            values = {"N": size}
            for first, number in (interval(size, start, end, step), (evaluate(begin, values), evaluate(count, values))):
                assert number == len(taken), (size, start, end)
                assert first == taken.start or not taken, (size, start, end)
                assert evaluate(first, values) >= 0


def test_a_start_before_the_axis_that_is_its_first_element() -> None:
    assert interval(4, -9, -(2**63), -1, start_inside=True) == (0, 1)
    assert interval(4, -9, -(2**63), -1) == (0, 0)
