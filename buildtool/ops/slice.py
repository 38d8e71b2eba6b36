"""slice: y[i, ...] = x[start + i * step, ...]."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from buildtool.ir.dims import Dim, Shape, bounds, static
from buildtool.ir.operator import Array, Operator, OperatorError
from buildtool.ir.types import TensorType
from buildtool.ops._shapes import show
from buildtool.ops._types import moved


@dataclass(frozen=True)
class Slice(Operator):
    """Input x of any element type. One start, step and size per axis; steps may be negative, all reads lie inside x.

    `starts` and `sizes` are dimensions, `steps` are integers other than 0.
    """

    name: ClassVar[str] = "slice"
    keeps_numbers: ClassVar[bool] = True

    starts: Shape
    steps: tuple[int, ...]
    sizes: Shape

    def check(self) -> None:
        if not len(self.starts) == len(self.steps) == len(self.sizes):
            counts = f"{len(self.starts)}, {len(self.steps)} and {len(self.sizes)}"
            raise OperatorError(f"'starts', 'steps' and 'sizes' have one entry per axis, but hold {counts}")
        if 0 in self.steps:
            raise OperatorError("'steps' holds 0, which must not be 0")
        for name, values in (("starts", self.starts), ("sizes", self.sizes)):
            for value in values:
                if bounds(value)[1] < 0:
                    raise OperatorError(f"'{name}' holds {value}, which is below 0")

    def infer(self, inputs: Sequence[TensorType]) -> tuple[TensorType, ...]:
        (x,) = self.operands(inputs)
        if x.rank != len(self.starts):
            raise OperatorError(f"'starts' has {len(self.starts)} entries for the axes of {show(x.shape)}")
        for axis, dim in enumerate(x.shape):
            self._check_axis(axis, dim)
        return (moved(x, self.sizes),)

    def _check_axis(self, axis: int, dim: Dim) -> None:
        """The first and the last element that are read lie inside, as far as the symbols allow to tell."""
        start, step, size = self.starts[axis], self.steps[axis], self.sizes[axis]
        if size == 0:
            return
        last = start + (size - 1) * step
        for position in (start, last):
            if bounds(position)[1] < 0 or bounds(dim - position)[1] < 1:
                raise OperatorError(
                    f"along axis {axis}, {size} elements from {start} by steps of {step} exceed 0..{dim - 1}"
                )

    def reference(self, *inputs: Array) -> tuple[Array, ...]:
        y = inputs[0]
        for axis, (start, size) in enumerate(zip(static(self.starts), static(self.sizes), strict=True)):
            y = np.take(y, start + np.arange(size) * self.steps[axis], axis=axis)
        return (y,)

    def transposed(self, perm: tuple[int, ...], inputs: Sequence[TensorType]) -> Operator | None:
        return Slice(
            tuple(self.starts[axis] for axis in perm),
            tuple(self.steps[axis] for axis in perm),
            tuple(self.sizes[axis] for axis in perm),
        )
