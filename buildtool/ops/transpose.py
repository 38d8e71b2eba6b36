"""transpose: the axes in another order; axis i of the result is axis perm[i] of the input."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from buildtool.ir.operator import Array, Operator, OperatorError
from buildtool.ir.types import TensorType
from buildtool.ops._shapes import show


@dataclass(frozen=True)
class Transpose(Operator):
    """Input x of any element type; quantisation along an axis moves with the axis."""

    name: ClassVar[str] = "transpose"
    keeps_numbers: ClassVar[bool] = True

    perm: tuple[int, ...]

    def check(self) -> None:
        if sorted(self.perm) != list(range(len(self.perm))):
            raise OperatorError(f"'perm' is {list(self.perm)}, which is not a permutation of {len(self.perm)} axes")

    def infer(self, inputs: Sequence[TensorType]) -> tuple[TensorType, ...]:
        (x,) = self.operands(inputs)
        if x.rank != len(self.perm):
            raise OperatorError(f"'perm' orders {len(self.perm)} axes, but the input is {show(x.shape)}")
        shape = tuple(x.shape[axis] for axis in self.perm)
        quant = x.quant
        if quant is not None and quant.axis is not None:
            quant = replace(quant, axis=self.perm.index(quant.axis))
        return (TensorType(x.dtype, shape, quant),)

    def reference(self, *inputs: Array) -> tuple[Array, ...]:
        return (np.transpose(inputs[0], self.perm).copy(order="C"),)
