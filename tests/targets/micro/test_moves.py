"""Loops found for orders of elements: they visit exactly the sources."""

from __future__ import annotations

import numpy as np
import pytest

from buildtool.ir.operator import Array
from buildtool.targets.micro.moves import MOST_LOOPS, loops_of, runs_of

_X = np.arange(2 * 3 * 4 * 5).reshape(2, 3, 4, 5)


def _visited(start: int, loops: tuple[tuple[int, int], ...]) -> list[int]:
    """By plain counting, the innermost loop first."""
    if not loops:
        return [start]
    count, step = loops[-1]
    return [place for index in range(count) for place in _visited(start + index * step, loops[:-1])]


@pytest.mark.parametrize(
    ("sources", "most"),
    [
        (_X, 1),
        (_X.transpose(0, 2, 3, 1), 3),
        (_X.transpose(3, 2, 1, 0), 4),
        (_X[:, ::-1, 1:3, ::-2], 4),
        (_X[1:, 2:, 3:, 4:], 1),
        (np.tile(_X, (1, 2, 1, 3)), 5),
        (np.broadcast_to(_X[:, :1, :, :1], (2, 3, 4, 7)), 4),
        (_X.reshape(2, 3, 2, 2, 5).transpose(0, 2, 4, 1, 3), 5),
    ],
)
def test_loops_visit_the_sources(sources: Array, most: int) -> None:
    loops = loops_of(sources)
    assert loops is not None and len(loops) <= min(most, MOST_LOOPS)
    assert _visited(int(sources.flat[0]), loops) == sources.ravel().tolist()


def test_an_order_without_loops_has_none() -> None:
    assert loops_of(np.array([0, 1, 3, 7, 2])) is None


def test_runs_make_any_order() -> None:
    sources = np.array([4, 5, 0, 1, 9, 10, 2, 3])
    run, places = runs_of(sources)
    assert run == 2 and places.tolist() == [4, 0, 9, 2]


def test_more_loops_than_the_kernel_has_are_none() -> None:
    assert loops_of(np.arange(2**7).reshape((2,) * 7).transpose()) is None
