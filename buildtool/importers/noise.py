"""Random numbers: a hash of the place of each element, the same in every run, as a generator with a fixed seed gives.

All steps are exact in 64-bit integers. The fractions are multiples of 1 / (2^31 - 1), up to the rounding of floats.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from buildtool.importers.builder import Tensor
from buildtool.importers.ranges import range_of
from buildtool.importers.spatial import NO_ACTIVATION
from buildtool.importers.step import Step
from buildtool.ir.dims import Dim, bounds, product
from buildtool.ir.types import DType

_PRIME = 2**31 - 1
_SPREAD = 48271
_ROUNDS = (1664525, 22695477, 69069)  # of the first fraction
_ROUND = 1103515245  # from that to the second


def uniform(step: Step, shape: Sequence[Dim], seed: int) -> Tensor:
    """From 0 to 1, in single precision."""
    return step.reshape(_fraction(step, _hashed(step, _places(step, shape), seed)), tuple(shape))


def normal(step: Step, shape: Sequence[Dim], seed: int) -> Tensor:
    """With the mean 0 and the variance 1, in single precision: the method of Box and Muller."""
    places = _places(step, shape)
    first = _hashed(step, places, seed)
    second = _mixed(step, first, _ROUND, places)
    size = step.emit("mul", step.emit("log", _fraction(step, first)), _real(step, -2.0))
    turn = step.emit("cos", step.emit("mul", _fraction(step, second), _real(step, 2 * math.pi)))
    return step.reshape(step.emit("mul", step.emit("sqrt", size), turn), tuple(shape))


def _places(step: Step, shape: Sequence[Dim]) -> Tensor:
    count = product(shape)
    if bounds(count)[1] > _PRIME:
        step.unsupported(f"{count} random numbers", "state smaller bounds of the input shapes")
    content = np.empty((), object)
    content[()] = count
    return range_of(step, (_whole(step, 0), Tensor.of(content), _whole(step, 1)))


def _hashed(step: Step, places: Tensor, seed: int) -> Tensor:
    spread = step.emit("mul", places, _whole(step, _SPREAD))
    found = _remainder(step, step.emit("add", spread, _whole(step, seed % _PRIME), **NO_ACTIVATION))
    for factor in _ROUNDS:
        found = _mixed(step, found, factor, places)
    return found


def _mixed(step: Step, h: Tensor, factor: int, places: Tensor) -> Tensor:
    """(h * h + factor * h + place) mod prime, which stays below 2^63 on the way."""
    raised = step.emit("mul", h, step.emit("add", h, _whole(step, factor), **NO_ACTIVATION))
    return _remainder(step, step.emit("add", raised, places, **NO_ACTIVATION))


def _remainder(step: Step, h: Tensor) -> Tensor:
    return step.emit("mod", h, _whole(step, _PRIME), fmod=False)


def _fraction(step: Step, h: Tensor) -> Tensor:
    """Never 0, whose logarithm is infinite, and never above 1."""
    shifted = step.emit("add", step.emit("cast", h, to=DType.F32), _real(step, 0.5), **NO_ACTIVATION)
    return step.emit("minimum", step.emit("mul", shifted, _real(step, 1 / _PRIME)), _real(step, 1.0))


def _whole(step: Step, number: int) -> Tensor:
    return step.constant(np.array(number, np.int64))


def _real(step: Step, number: float) -> Tensor:
    return step.constant(np.array(number, np.float32))
