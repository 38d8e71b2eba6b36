"""split: a tensor cut along one axis into consecutive parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from buildtool.ir.operator import Array, Operator, OperatorError
from buildtool.ir.types import TensorType
from buildtool.ops._shapes import equal_dim, require_axis, require_ints
from buildtool.ops._types import moved


@dataclass(frozen=True)
class Split(Operator):
    """Input x of any element type. One output per size; the sizes add up to the dimension."""

    name: ClassVar[str] = "split"
    keeps_numbers: ClassVar[bool] = True
    outputs: ClassVar[int | None] = None

    axis: int
    sizes: tuple[int, ...]

    def check(self) -> None:
        if not self.sizes:
            raise OperatorError("'sizes' is empty, and there would be no output")
        require_ints("sizes", self.sizes, len(self.sizes), 0)

    def infer(self, inputs: Sequence[TensorType]) -> tuple[TensorType, ...]:
        (x,) = self.operands(inputs)
        require_axis(self.axis, x.rank)
        equal_dim(x.shape[self.axis], sum(self.sizes), f"the dimension of axis {self.axis} and the sum of 'sizes'")
        before, behind = x.shape[: self.axis], x.shape[self.axis + 1 :]
        return tuple(moved(x, (*before, size, *behind)) for size in self.sizes)

    def reference(self, *inputs: Array) -> tuple[Array, ...]:
        ends = np.cumsum(self.sizes)[:-1]
        return tuple(part.copy() for part in np.split(inputs[0], [int(end) for end in ends], axis=self.axis))

    def transposed(self, perm: tuple[int, ...], inputs: Sequence[TensorType]) -> Operator | None:
        return replace(self, axis=perm.index(self.axis))
