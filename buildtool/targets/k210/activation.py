"""Any function of one number as the sixteen straight pieces of the KPU.

A piece begins with a whole number of steps and goes on in a straight line. Where the function is straight, so is what
is found; else pieces are as long as the error that all of them keep below allows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from buildtool.targets.k210 import kpu
from buildtool.targets.k210.tables import FIRST_START, SEGMENTS, Activation, Segment

Reals = npt.NDArray[np.float64]
#: What the activation makes of the real numbers of a batch norm: the numbers that the next layer reads.
Function = Callable[[npt.NDArray[Any]], npt.NDArray[Any]]

_SAMPLES = 4096
_LARGEST_MUL = (1 << 15) - 1
_MOST_SHIFT = 40
_FINEST, _COARSEST = 2.0**-9, 64.0  # errors that are tried, in steps
_FLAT = 0.005  # steps: what lies as near to the end's value belongs to the end
_TRIES = 16


@dataclass(frozen=True)
class Domain:
    """The whole numbers that the batch norm gives, and what they stand for: `number * scale`."""

    low: int
    high: int
    scale: float


@dataclass(frozen=True)
class Fit:
    """The pieces, and by how many steps the bytes differ at most from the function's values, rounding included."""

    activation: Activation
    error: float


def fit(function: Function, domain: Domain, scale: float, zero_point: int) -> Fit:
    """The pieces of a function whose results are stored as `real / scale + zero_point`, in 0 to 255."""

    def steps(places: Reals) -> Reals:
        with np.errstate(all="ignore"):
            values = np.asarray(function(places * domain.scale), np.float64)
        return np.asarray(np.clip(values / scale + zero_point, 0, 255), np.float64)

    places = _where_it_changes(steps, domain)
    wanted = steps(places)
    low, high = int(np.rint(wanted[0])), int(np.rint(wanted[-1]))
    pieces = _pieces(places, wanted)
    flat = Segment(FIRST_START, 0, 0, low)
    last = int(np.ceil(places[-1]))
    found = [flat, *(one for one in pieces if one.start <= last), Segment(last + 1, 0, 0, high)]
    found += [found[-1]] * (SEGMENTS - len(found))
    activation = Activation(tuple(found))
    seen = np.unique(np.clip(np.rint(places), domain.low, domain.high)).astype(np.int64)
    error = np.abs(kpu.activate(activation, seen).astype(np.float64) - steps(seen.astype(np.float64))).max()
    return Fit(activation, float(error))


def _where_it_changes(steps: Callable[[Reals], Reals], domain: Domain) -> Reals:
    """Numbers close to each other between those from which on the function keeps its value."""
    low, high = float(domain.low), float(max(domain.high, domain.low + 1))
    # Functions change around 0, however far the numbers may reach.
    near = np.geomspace(1.0, max(abs(low), abs(high), 2.0), _SAMPLES // 4)
    coarse = np.unique(np.concatenate([np.linspace(low, high, _SAMPLES), -near, near, [0.0]]))
    coarse = np.rint(coarse[(coarse >= low) & (coarse <= high)])
    values = steps(coarse)
    first = np.flatnonzero(np.abs(values - values[0]) > _FLAT)
    last = np.flatnonzero(np.abs(values - values[-1]) > _FLAT)
    begin = coarse[max(int(first[0]) - 1, 0)] if len(first) else low
    end = coarse[min(int(last[-1]) + 1, len(coarse) - 1)] if len(last) else low + 1
    begin = _edge(steps, begin, coarse[int(first[0])]) if len(first) else begin
    end = _edge(steps, end, coarse[int(last[-1])]) if len(last) else end
    return np.unique(np.rint(np.linspace(begin, max(end, begin + 1), _SAMPLES)))


def _edge(steps: Callable[[Reals], Reals], flat: float, changed: float) -> float:
    """The last number on the flat side, as far as it is known."""
    value = float(steps(np.array([flat]))[0])
    while abs(changed - flat) > 1:
        middle = float(np.rint((flat + changed) / 2))
        if middle in (flat, changed):
            break
        if abs(float(steps(np.array([middle]))[0]) - value) > _FLAT:
            changed = middle
        else:
            flat = middle
    return flat


def _pieces(places: Reals, wanted: Reals) -> list[Segment]:
    """As many as there are words for, with the least error that so many allow."""
    fine, coarse = np.log2(_FINEST), np.log2(_COARSEST)
    best = _greedy(places, wanted, _FINEST)
    if best is not None:
        return best
    best = _greedy(places, wanted, _COARSEST)
    for _ in range(_TRIES):
        middle = (fine + coarse) / 2
        tried = _greedy(places, wanted, 2.0**middle)
        if tried is None:
            fine = middle
        else:
            best, coarse = tried, middle
    return best or []


def _greedy(places: Reals, wanted: Reals, error: float) -> list[Segment] | None:
    """Pieces that are each as long as the error allows; None where that takes too many."""
    room = SEGMENTS - 2  # behind and in front of them lies what is flat
    pieces: list[Segment] = []
    start, end = 0, len(places) - 1
    while start < end:
        if len(pieces) == room:
            return None
        bias = float(np.rint(wanted[start]))
        x, y = places[start + 1 :] - places[start], wanted[start + 1 :] - bias
        steepest = np.minimum.accumulate((y + error) / x)
        flattest = np.maximum.accumulate((y - error) / x)
        reach = int(np.searchsorted(steepest < flattest, True)) if (steepest < flattest).any() else len(x)
        reach = _with_a_start(wanted, start, reach, end, error)
        if reach == 0:
            return None
        slope = (steepest[reach - 1] + flattest[reach - 1]) / 2
        pieces.append(_segment(int(places[start]), slope, int(bias)))
        start += reach
    return pieces


def _with_a_start(wanted: Reals, start: int, reach: int, end: int, error: float) -> int:
    """The longest piece behind which the next one can begin at a whole number of steps."""
    if start + reach >= end:
        return reach
    off = np.abs(wanted[start + 1 : start + reach + 1] - np.rint(wanted[start + 1 : start + reach + 1]))
    usable = np.flatnonzero(off <= error / 2)
    return int(usable[-1]) + 1 if len(usable) else 0


def _segment(start: int, slope: float, bias: int) -> Segment:
    if slope == 0:
        return Segment(start, 0, 0, bias)
    shift = int(np.clip(14 - np.floor(np.log2(abs(slope))), 0, _MOST_SHIFT))
    mul = int(np.rint(slope * 2.0**shift))
    while abs(mul) > _LARGEST_MUL and shift:
        shift -= 1
        mul = int(np.rint(slope * 2.0**shift))
    return Segment(start, int(np.clip(mul, -_LARGEST_MUL, _LARGEST_MUL)), shift, bias)
