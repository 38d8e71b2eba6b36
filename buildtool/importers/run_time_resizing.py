"""Resizes along one axis of a run-time size: positions and weights are computed by nodes, in single precision."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from buildtool.importers.builder import Tensor
from buildtool.importers.ranges import range_of
from buildtool.importers.spatial import NO_ACTIVATION
from buildtool.importers.step import Step
from buildtool.ir.dims import Dim, bounds
from buildtool.ir.types import DType

COORDINATES = ("half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "asymmetric", "align_corners")
_HALF = 0.5 + 15 * 2.0**-24  # positions that are off by less than 1e-6 are halfway, as in `interpolation.nearest`


@dataclass(frozen=True)
class RunTimeAxis:
    """From `old` to `new` elements. `scale`: that of the model, 0 for the quotient of the sizes."""

    step: Step
    old: Dim
    new: Dim
    scale: float
    coordinates: str

    def resized(self, x: Tensor, axis: int, mode: str, rounding: str, a: float) -> Tensor:
        """`mode`: nearest, linear, or cubic with the coefficient `a`."""
        positions = self._positions()
        if mode == "nearest":
            return self._taken(x, axis, self._rounded(positions, rounding))
        below = self.step.emit("floor", positions)
        t = self._sub(positions, below)
        if mode == "linear":
            weights = {0: self._sub(self._number(1), t), 1: t}
        else:
            weights = {-1: self._far(t, 1, 1, a), 0: self._near(t, 0, 1, a)}
            weights |= {1: self._near(t, 1, -1, a), 2: self._far(t, 2, -1, a)}
        parts = []
        for offset, weight in weights.items():
            taken = self._taken(x, axis, below if offset == 0 else self._add(below, self._number(offset)))
            shaped = self.step.reshape(weight, (self.new, *(1,) * (x.rank - axis - 1)))
            shaped = shaped if x.dtype is DType.F32 else self.step.emit("cast", shaped, to=x.dtype)
            parts.append(self.step.emit("mul", taken, shaped))
        result = parts[0]
        for part in parts[1:]:
            result = self._add(result, part)
        return result

    def _positions(self) -> Tensor:
        """As `interpolation.AxisResize.positions`."""
        one, half = self._number(1), self._number(0.5)
        old, new = self._size(self.old), self._size(self.new)
        index = range_of(self.step, (self._number(0), new, one))
        scale = self._number(self.scale) if self.scale else self._div(new, old)
        width = self._mul(scale, old) if self.scale else new
        if self.coordinates == "asymmetric":
            return self._div(index, scale)
        if self.coordinates == "align_corners":
            corners = self._div(self._mul(index, self._sub(old, one)), self._sub(width, one))
            return self._unless(width, one, corners)
        centred = self._sub(self._div(self._add(index, half), scale), half)
        if self.coordinates == "pytorch_half_pixel" and bounds(self.new)[0] <= 1:
            return self._unless(new, one, centred)
        if self.coordinates == "half_pixel_symmetric" and self.scale:
            middle = self._mul(self._div(old, self._number(2)), self._sub(one, self._div(new, width)))
            return self._add(middle, centred)
        return centred

    def _unless(self, number: Tensor, excluded: Tensor, positions: Tensor) -> Tensor:
        """0 where a number is this one."""
        return self.step.emit("where", self.step.emit("equal", number, excluded), self._number(0), positions)

    def _rounded(self, positions: Tensor, rounding: str) -> Tensor:
        half = self._number(_HALF)
        match rounding:
            case "round_prefer_floor":
                return self.step.emit("ceil", self._sub(positions, half))
            case "round_prefer_ceil":
                return self.step.emit("floor", self._add(positions, half))
        return self.step.emit("floor" if rounding == "floor" else "ceil", positions)

    def _taken(self, x: Tensor, axis: int, places: Tensor) -> Tensor:
        """The elements at places, those outside of the input being the outermost."""
        last = self._size(self.old - 1)
        inside = self.step.emit("minimum", self.step.emit("maximum", places, self._number(0)), last)
        return self.step.emit("gather", x, self.step.emit("cast", inside, to=DType.S32), axis=axis)

    def _near(self, t: Tensor, start: float, sign: int, a: float) -> Tensor:
        """Keys' kernel up to a distance of 1, at `start + sign * t`."""
        d = self._distance(t, start, sign)
        inner = self._sub(self._mul(d, self._number(a + 2)), self._number(a + 3))
        return self._add(self._mul(self._mul(inner, d), d), self._number(1))

    def _far(self, t: Tensor, start: float, sign: int, a: float) -> Tensor:
        """The same between 1 and 2."""
        d = self._distance(t, start, sign)
        inner = self._sub(self._mul(d, self._number(a)), self._number(5 * a))
        inner = self._add(self._mul(inner, d), self._number(8 * a))
        return self._sub(self._mul(inner, d), self._number(4 * a))

    def _distance(self, t: Tensor, start: float, sign: int) -> Tensor:
        if sign < 0:
            return self._sub(self._number(start), t)
        return self._add(t, self._number(start)) if start else t

    def _number(self, number: float) -> Tensor:
        return self.step.constant(np.array(number, np.float32))

    def _size(self, dim: Dim) -> Tensor:
        content = np.empty((), object)
        content[()] = dim
        return Tensor.of(content, DType.F32)

    def _add(self, a: Tensor, b: Tensor) -> Tensor:
        return self.step.emit("add", a, b, **NO_ACTIVATION)

    def _sub(self, a: Tensor, b: Tensor) -> Tensor:
        return self.step.emit("sub", a, b)

    def _mul(self, a: Tensor, b: Tensor) -> Tensor:
        return self.step.emit("mul", a, b)

    def _div(self, a: Tensor, b: Tensor) -> Tensor:
        return self.step.emit("div", a, b)
