"""What operators that work along one axis share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from buildtool.ir.operator import Array, Operator, OperatorError
from buildtool.ir.types import DType, TensorType
from buildtool.ops._shapes import require_axis
from buildtool.ops._types import plain, require_float, require_numeric, stored, working


@dataclass(frozen=True)
class AxisOperator(Operator):
    """The result has the shape of the input; its elements depend on those along `axis`."""

    floats_only: ClassVar[bool] = True

    axis: int

    def compute(self, x: Array) -> Array:
        """The result, of elements that are there; halves come as single."""
        raise NotImplementedError

    def infer(self, inputs: Sequence[TensorType]) -> tuple[TensorType, ...]:
        (x,) = self.operands(inputs)
        (require_float if self.floats_only else require_numeric)(x)
        require_axis(self.axis, x.rank)
        return (plain(x, x.shape),)

    def reference(self, *inputs: Array) -> tuple[Array, ...]:
        (x,) = inputs
        if not x.size:
            return (x.copy(),)
        with np.errstate(all="ignore"):
            return (stored(self.compute(working(x)), x),)

    def transposed(self, perm: tuple[int, ...], inputs: Sequence[TensorType]) -> Operator | None:
        return replace(self, axis=perm.index(self.axis))


@dataclass(frozen=True)
class CumulativeOperator(AxisOperator):
    """Each element is folded with those before it; with `reverse` with those behind it.

    With `exclusive` the element itself is left out, and the first one is the neutral element.
    """

    floats_only: ClassVar[bool] = False
    neutral: ClassVar[int] = 0

    exclusive: bool
    reverse: bool

    def cumulated(self, x: Array) -> Array:
        """The plain running fold along the axis, in the type of x."""
        raise NotImplementedError

    def compute(self, x: Array) -> Array:
        wide = x.astype(np.float64) if np.issubdtype(x.dtype, np.floating) else x
        if self.reverse:
            wide = np.flip(wide, self.axis)
        folded = self.cumulated(wide)
        if self.exclusive:
            first = np.full_like(folded.take([0], self.axis), self.neutral)
            folded = np.concatenate([first, folded.take(range(folded.shape[self.axis] - 1), self.axis)], self.axis)
        return np.flip(folded, self.axis) if self.reverse else folded


@dataclass(frozen=True)
class PlaceOperator(Operator):
    """The place of one element along `axis`: the first of equal ones, or the last with `select_last_index`."""

    axis: int
    keepdims: bool
    select_last_index: bool

    def places(self, x: Array) -> Array:
        """The first places; the axis stays with size 1."""
        raise NotImplementedError

    def infer(self, inputs: Sequence[TensorType]) -> tuple[TensorType, ...]:
        (x,) = self.operands(inputs)
        require_numeric(x)
        require_axis(self.axis, x.rank)
        if x.shape[self.axis] == 0:
            raise OperatorError(f"axis {self.axis} is empty, and {self.name} of no elements is undefined")
        kept = (1,) if self.keepdims else ()
        return (TensorType(DType.S64, (*x.shape[: self.axis], *kept, *x.shape[self.axis + 1 :])),)

    def reference(self, *inputs: Array) -> tuple[Array, ...]:
        (x,) = inputs
        if self.select_last_index:
            found = x.shape[self.axis] - 1 - self.places(np.flip(x, self.axis))
        else:
            found = self.places(x)
        return (np.asarray(found if self.keepdims else found.squeeze(self.axis), np.int64),)

    def transposed(self, perm: tuple[int, ...], inputs: Sequence[TensorType]) -> Operator | None:
        if not self.keepdims:
            return None  # the result has another rank than `perm`
        return replace(self, axis=perm.index(self.axis))
