"""Where slices begin and how many elements they take, by NumPy's rules, of sizes that may be run-time dimensions."""

from __future__ import annotations

from buildtool.ir.dims import Dim, bounds, ceil_div, maximum, minimum


def interval(size: Dim, start: Dim, end: Dim, stride: int, start_inside: bool = False) -> tuple[Dim, Dim]:
    """Where a slice begins and how many elements it takes, by NumPy's rules.

    `start_inside` is ONNX's rule instead: a start before the axis is its first element also where the step is negative.
    """
    if stride > 0:
        if isinstance(size, int) and isinstance(start, int) and isinstance(end, int):
            taken = range(size)[start:end:stride]
            return (taken.start if len(taken) else 0), len(taken)
        begin, stop = _clamped(start, size, 0, size), _clamped(end, size, 0, size)
        return begin, _not_negative(ceil_div(stop - begin, stride))
    begin = _clamped(start, size, 0 if start_inside else -1, size - 1)
    stop = _clamped(end, size, -1, size - 1)
    count = _not_negative(ceil_div(begin - stop, -stride))
    return (0 if count == 0 else _not_negative(begin)), count


def _clamped(position: Dim, size: Dim, least: Dim, most: Dim) -> Dim:
    """A position counted from the end where it is negative, and moved into the bounds; simplified where it can be."""
    low, high = bounds(size)
    if isinstance(position, int):
        if position < 0:
            position = size + position if position >= -high else least
        elif position > high:
            return most
        if isinstance(position, int) and position <= low - (0 if most == size else 1):
            return position
    if position == size:
        return most
    return _not_less(minimum(position, most), least)


def _not_less(value: Dim, least: Dim) -> Dim:
    return value if isinstance(least, int) and bounds(value)[0] >= least else maximum(value, least)


def _not_negative(value: Dim) -> Dim:
    return _not_less(value, 0)
