"""Loops and lists that copy elements in another order, found from where each element comes from."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

#: LM_MOVE_LOOPS of native/micro/lathe_micro.h.
MOST_LOOPS = 6


def loops_of(sources: NDArray[Any]) -> tuple[tuple[int, int], ...] | None:
    """Counts and steps, from the innermost loop on. None: no loops, or too many, visit the sources in their order."""
    left = sources.ravel().astype(np.int64)
    found: list[tuple[int, int]] = []
    while left.size > 1:
        step = int(left[1] - left[0])
        count = _run(left, step)
        if count == 1 or len(found) == MOST_LOOPS:
            return None
        found.append((count, step))
        left = left.reshape(-1, count)[:, 0]
    return tuple(found) or ((1, 0),)


def runs_of(sources: NDArray[Any]) -> tuple[int, NDArray[np.int32]]:
    """The length of runs of neighbours, and where each begins: any order is made of these."""
    run = _run(sources.ravel(), 1) if sources.size > 1 else 1
    return run, sources.ravel()[::run].astype(np.int32)


def _run(sources: NDArray[Any], step: int) -> int:
    """The largest number of sources in a row that are `step` apart, so that such rows make up the whole."""
    breaks = np.flatnonzero(np.diff(sources) != step) + 1
    longest = int(breaks[0]) if breaks.size else sources.size
    for count in range(longest, 1, -1):
        if sources.size % count == 0 and not (breaks % count).any():
            return count
    return 1
