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

from buildtool.targets.k210.format.tables import FIRST_START, SEGMENTS, Activation, Segment
from buildtool.targets.k210.simulation import kpu

Reals = npt.NDArray[np.float64]
#: What the activation makes of the real numbers of a batch norm: the numbers that the next layer reads.
Function = Callable[[npt.NDArray[Any]], npt.NDArray[Any]]

_SAMPLES = 4096
_LARGEST_MUL = (1 << 15) - 1
_MOST_SHIFT = 40
_FINEST, _COARSEST = 2.0**-9, 64.0  # errors that are tried, in steps
_FLAT = 0.005  # steps: what lies as near to the end's value belongs to the end
_TRIES = 16
_FEW = 4  # places that tell how steep a function begins
_NEARLY_STRAIGHT = 0.1  # steps that a line may be off where it has made a step


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
    if pieces and abs(pieces[0].bias - wanted[0]) <= 0.5:
        low = pieces[0].bias
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
    places = np.unique(np.rint(np.linspace(begin, max(end, begin + 1), _SAMPLES)))
    bends = [0.0] if begin < 0 < end else []
    return np.unique(np.concatenate([places, bends, _at_whole_steps(places, steps(places))]))


def _at_whole_steps(places: Reals, values: Reals) -> Reals:
    """Where the function has whole numbers of steps, as far as lines between the places tell."""
    low, high = np.minimum(values[:-1], values[1:]), np.maximum(values[:-1], values[1:])
    between = np.flatnonzero((np.floor(high) > np.floor(low)) & (high - low > 0))
    part = (np.floor(high[between]) - values[between]) / (values[between + 1] - values[between])
    return np.asarray(np.rint(places[between] + part * (places[between + 1] - places[between])), np.float64)


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
    end = len(places) - 1
    start, first = _beginning(places, wanted)
    while start < end:
        if len(pieces) == room:
            return None
        bias = float(np.rint(wanted[start]))
        begin = places[start] if pieces else first
        x, y = places[start + 1 :] - begin, wanted[start + 1 :] - bias
        off = np.where(x > 0, error, np.inf)  # what lies in front of it is not its own
        steepest = np.minimum.accumulate((y + off) / np.maximum(x, 1.0))
        flattest = np.maximum.accumulate((y - off) / np.maximum(x, 1.0))
        reach = int(np.searchsorted(steepest < flattest, True)) if (steepest < flattest).any() else len(x)
        reach = _with_a_start(wanted, start, reach, end, error)
        if reach == 0:
            return None
        known = np.isfinite(steepest[reach - 1])
        slope = (steepest[reach - 1] + flattest[reach - 1]) / 2 if known else 0.0
        pieces.append(_segment(int(begin), slope, int(bias)))
        start += reach
    return pieces


def _beginning(places: Reals, wanted: Reals) -> tuple[int, float]:
    """The first place of the first piece, and where that has a whole number of steps: there, or near it on its line."""
    few = min(_FEW, len(places) - 1)
    slope = (wanted[few] - wanted[0]) / (places[few] - places[0])
    missing = np.rint(wanted[0]) - wanted[0]
    if abs(missing) < 2 * _FLAT:
        return 0, float(places[0])
    if slope != 0:
        step = int(np.searchsorted(places, places[0] + 1 / abs(slope)).clip(1, len(places) - 1))
        bend = wanted[step] - wanted[0] - slope * (places[step] - places[0])
        if abs(bend) < _NEARLY_STRAIGHT:
            return 0, float(np.rint(places[0] + missing / slope))
    whole = np.flatnonzero(np.abs(wanted - np.rint(wanted)) < 2 * _FLAT)
    start = int(whole[0]) if len(whole) else 0
    return start, float(places[start])


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
