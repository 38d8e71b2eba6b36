"""reshape: the same elements in the same order under another shape."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from buildtool.ir.dims import Shape, bounds, static
from buildtool.ir.operator import Array, Operator, OperatorError
from buildtool.ir.types import TensorType
from buildtool.ops._shapes import require_equal_counts
from buildtool.ops._types import moved


@dataclass(frozen=True)
class Reshape(Operator):
    """Input x of any element type. All dimensions of `shape` are given; 0 is one without elements."""

    name: ClassVar[str] = "reshape"
    keeps_numbers: ClassVar[bool] = True
    is_view: ClassVar[bool] = True

    shape: Shape

    def check(self) -> None:
        for dim in self.shape:
            if bounds(dim)[1] < 0:
                raise OperatorError(f"'shape' holds {dim}, which is below 0")

    def infer(self, inputs: Sequence[TensorType]) -> tuple[TensorType, ...]:
        (x,) = self.operands(inputs)
        require_equal_counts(x.shape, self.shape)
        return (moved(x, self.shape),)

    def reference(self, *inputs: Array) -> tuple[Array, ...]:
        return (inputs[0].reshape(static(self.shape)).copy(),)
