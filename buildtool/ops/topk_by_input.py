"""topk_by_input: topk, where the number of elements is data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from buildtool.ir.dims import bounds
from buildtool.ir.operator import Array, OperatorError
from buildtool.ir.types import DType, TensorType
from buildtool.ops._data_sizes import DataSizedOperator
from buildtool.ops._shapes import require_axis
from buildtool.ops._types import plain, require_numeric
from buildtool.ops.topk import Topk


@dataclass(frozen=True, kw_only=True)
class TopkByInput(DataSizedOperator):
    """Inputs x, k[1] (s64, not negative; at most all elements are taken); outputs as those of topk.

    `size` is the one dimension that only the data decides.
    """

    name: ClassVar[str] = "topk_by_input"
    arity: ClassVar[tuple[int, int | None]] = (2, 2)
    outputs: ClassVar[int | None] = 2

    axis: int
    largest: bool

    def infer(self, inputs: Sequence[TensorType]) -> tuple[TensorType, ...]:
        x, k = self.operands(inputs)
        require_numeric(x)
        require_axis(self.axis, x.rank)
        if k.dtype is not DType.S64 or k.shape != (1,):
            raise OperatorError(f"k is one s64, but its type is {k}")
        shape = (*x.shape[: self.axis], self.sized(bounds(x.shape[self.axis])[1]), *x.shape[self.axis + 1 :])
        return plain(x, shape), TensorType(DType.S64, shape)

    def reference(self, *inputs: Array) -> tuple[Array, ...]:
        x, k = inputs
        count = int(k[0])
        if count < 0:
            raise OperatorError(f"k is {count}, which is below 0")
        return Topk(self.axis, (min(count, x.shape[self.axis]),), self.largest).reference(x)
