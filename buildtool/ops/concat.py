"""concat: the inputs behind each other along one axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from buildtool.ir.dims import Dim
from buildtool.ir.operator import Array, Operator, OperatorError
from buildtool.ir.types import TensorType
from buildtool.ops._shapes import equal_dim, require_axis, show
from buildtool.ops._types import moved, require_same_dtype


@dataclass(frozen=True)
class Concat(Operator):
    """Inputs x..., of any one element type, equal along all other axes."""

    name: ClassVar[str] = "concat"
    keeps_numbers: ClassVar[bool] = True
    arity: ClassVar[tuple[int, int | None]] = (1, None)

    axis: int

    def infer(self, inputs: Sequence[TensorType]) -> tuple[TensorType, ...]:
        first, *others = self.operands(inputs)
        require_same_dtype(inputs)
        require_axis(self.axis, first.rank)
        shape: list[Dim] = list(first.shape)
        for other in others:
            if other.rank != first.rank:
                raise OperatorError(f"{show(first.shape)} and {show(other.shape)} have different ranks")
            if other.quant != first.quant:
                raise OperatorError("the inputs are quantised differently; their elements cannot be in one tensor")
            for axis, dim in enumerate(other.shape):
                if axis == self.axis:
                    shape[axis] = shape[axis] + dim
                else:
                    shape[axis] = equal_dim(shape[axis], dim, f"the dimensions of axis {axis}")
        return (moved(first, tuple(shape)),)

    def reference(self, *inputs: Array) -> tuple[Array, ...]:
        return (np.concatenate(inputs, axis=self.axis),)

    def transposed(self, perm: tuple[int, ...], inputs: Sequence[TensorType]) -> Operator | None:
        return replace(self, axis=perm.index(self.axis))
