"""Elementwise operators of several frameworks that are made of others."""

from __future__ import annotations

import numpy as np

from buildtool.importers.builder import Tensor
from buildtool.importers.spatial import NO_ACTIVATION
from buildtool.importers.step import Step


def angle_of(step: Step, y: Tensor, x: Tensor) -> Tensor:
    """The angle of the point (x, y): that of y / x, turned by half a circle where x is below 0."""
    zero, half, quarter = (step.constant(np.array(value, x.dtype.numpy)) for value in (0, np.pi, np.pi / 2))
    below = step.emit("less", y, zero)
    turn = step.emit("where", below, step.emit("neg", half), half)
    slope = step.emit("atan", step.emit("div", y, x))
    left = step.emit("where", step.emit("less", x, zero), step.emit("add", slope, turn, **NO_ACTIVATION), slope)
    upright = step.emit("where", below, step.emit("neg", quarter), quarter)
    upright = step.emit("where", step.emit("equal", y, zero), zero, upright)
    return step.emit("where", step.emit("equal", x, zero), upright, left)


def floor_quotient(step: Step, a: Tensor, b: Tensor) -> Tensor:
    """Of integers: what is left when the remainder, which has the sign of the divisor, is taken off."""
    if a.dtype.is_float:
        return step.emit("floor", step.emit("div", a, b))
    rest = step.emit("mod", a, b, fmod=False)
    return step.emit("div", step.emit("sub", a, rest), b)


def selected(step: Step, condition: Tensor, a: Tensor, b: Tensor, rows: bool) -> Tensor:
    """a where the condition is true. `rows`: a list of conditions has one for each part along the first axis."""
    if rows and condition.rank == 1 and a.rank > 1:
        condition = step.reshape(condition, (condition.shape[0], *(1 for _ in range(a.rank - 1))))
    return step.emit("where", condition, a, b)
