"""The steps of the KPU behind its sums, for arrays of NumPy and tensors of torch alike: the simulator and training use
the same ones.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from buildtool.targets.k210.format.tables import Activation, BatchNorm

_HIGHEST = 255
_LEFT_TOPS, _RIGHT_TOP = {5: 2, 7: 4}, 6
_OF_FOUR, _IN_PLACE, _MAXIMA = (3, 4), (8, 9), (1, 3, 9)


@dataclass(frozen=True)
class Library:
    """What NumPy and torch do in ways of their own. Planes have rows and columns as their last axes."""

    integers: Callable[[Any], Any]  # 64 bits, of nested sequences
    sections: Callable[[Any, Any], Any]  # of ascending starts and values: how many starts are not above each value
    maximum: Callable[[Any, Any], Any]
    edges: Callable[[Any, int], Any]  # planes with so many copies of the last row and column behind them
    zeros: Callable[[Any], Any]  # planes with a column of zeros behind them
    wide: Callable[[Any], Any]  # bytes as numbers that sums of 16 fit into


def normalised(library: Library, values: Any, norms: Sequence[BatchNorm]) -> Any:
    """Batch norm of sums, whose channels are in front of rows and columns; the shift is a floor."""
    table = library.integers([(norm.mul, norm.add, norm.shift) for norm in norms])
    mul, add, shift = (table[:, column][:, None, None] for column in range(3))
    return (values * mul >> shift) + add


def activated(library: Library, values: Any, activation: Activation) -> Any:
    """The last segment whose start is not above the value, whatever the order of the starts: numbers from 0 to 255."""
    segments = activation.segments
    reachable = [min(item.start for item in segments[place:]) for place in range(len(segments))]
    table = library.integers([(item.start, item.mul, item.shift, item.bias) for item in segments])
    segment = (library.sections(library.integers(reachable), values) - 1).clip(0, None)
    start, mul, shift, bias = (table[:, column][segment] for column in range(4))
    return (nearest((values - start) * mul, shift) + bias).clip(0, _HIGHEST)


def nearest(values: Any, shift: Any) -> Any:
    """`values / 2^shift`, rounded to the nearest whole number; a half goes up."""
    rounded = ((values >> (shift - 1).clip(0, 63)) + 1) >> 1
    return rounded * (shift > 0) + values * (shift <= 0)


def pooled(library: Library, planes: Any, kind: int, height: int, width: int) -> Any:
    """One of the ten pools. Behind the right and lower edge, a mean takes the edge again, a maximum takes nothing."""
    if kind == 0:
        return planes
    if kind in _LEFT_TOPS:
        stride = _LEFT_TOPS[kind]
        return planes[..., ::stride, ::stride][..., :height, :width]
    if kind == _RIGHT_TOP:  # behind the edge lies 0
        return library.zeros(planes)[..., ::2, 1::2][..., :height, :width]
    edge = 4 if kind in _OF_FOUR else 2
    stride = 1 if kind in _IN_PLACE else edge
    padded = library.edges(planes, edge)
    windows = [
        padded[..., y:, x:][..., : height * stride : stride, : width * stride : stride]
        for y in range(edge)
        for x in range(edge)
    ]
    if kind in _MAXIMA:  # the edge again is what the maximum has seen already
        return functools.reduce(library.maximum, windows)
    total = functools.reduce(lambda one, other: one + other, [library.wide(window) for window in windows])
    return total // (edge * edge)
