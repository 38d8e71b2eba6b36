"""What the reductions share: which axes go away, and the shape that stays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from buildtool.ir.dims import Dim
from buildtool.ir.operator import Array, Operator, OperatorError
from buildtool.ir.types import TensorType
from buildtool.ops._shapes import require_axis
from buildtool.ops._types import plain, require_numeric, stored, working


def accumulator(x: Array) -> np.dtype[Any]:
    """The type in which many elements are summed or multiplied up: double for floats; integers wrap around."""
    return np.dtype(np.float64) if np.issubdtype(x.dtype, np.floating) else x.dtype


@dataclass(frozen=True)
class ReduceOperator(Operator):
    """Folds the elements along `axes` into one each; `keepdims` leaves those axes with size 1."""

    axes: tuple[int, ...]
    keepdims: bool
    #: Whether the fold of no elements at all has a value.
    empty_allowed: ClassVar[bool] = False

    def compute(self, x: Array) -> Array:
        raise NotImplementedError

    def check(self) -> None:
        if list(self.axes) != sorted(set(self.axes)):
            raise OperatorError(f"'axes' are sorted and different, but they are {list(self.axes)}")
        if self.axes and self.axes[0] < 0:
            raise OperatorError(f"'axes' holds {self.axes[0]}, which is below 0")

    def infer(self, inputs: Sequence[TensorType]) -> tuple[TensorType, ...]:
        (x,) = self.operands(inputs)
        require_numeric(x)
        shape: list[Dim] = list(x.shape)
        for axis in self.axes:
            require_axis(axis, x.rank)
            if shape[axis] == 0 and not self.empty_allowed:
                raise OperatorError(f"axis {axis} is empty, and {self.name} of no elements is undefined")
            shape[axis] = 1
        if not self.keepdims:
            shape = [dim for axis, dim in enumerate(shape) if axis not in self.axes]
        return (plain(x, tuple(shape)),)

    def reference(self, *inputs: Array) -> tuple[Array, ...]:
        (x,) = inputs
        with np.errstate(all="ignore"):
            return (stored(self.compute(working(x)), x),)

    def transposed(self, perm: tuple[int, ...], inputs: Sequence[TensorType]) -> Operator | None:
        if not self.keepdims:
            return None  # the result has another rank than `perm`
        return type(self)(tuple(sorted(perm.index(axis) for axis in self.axes)), True)
