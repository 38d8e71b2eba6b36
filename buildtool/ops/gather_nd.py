"""gather_nd: slices of a tensor, each picked by a row of indices into its leading axes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from buildtool.ir.operator import Array, Operator, OperatorError
from buildtool.ir.types import TensorType
from buildtool.ops._indices import from_start, require_indices
from buildtool.ops._shapes import equal_dim, number, show
from buildtool.ops._types import moved


@dataclass(frozen=True)
class GatherNd(Operator):
    """Inputs x of any element type, indices[..., K] (s32 or s64; negative ones count from the end).

    The first `batch_dims` axes of both are walked together; each row of K indices picks a place along the next K axes
    of x, and what stands there is taken whole.
    """

    name: ClassVar[str] = "gather_nd"
    keeps_numbers: ClassVar[bool] = True
    arity: ClassVar[tuple[int, int | None]] = (2, 2)

    batch_dims: int

    def check(self) -> None:
        if self.batch_dims < 0:
            raise OperatorError(f"'batch_dims' is {self.batch_dims}, which is below 0")

    def infer(self, inputs: Sequence[TensorType]) -> tuple[TensorType, ...]:
        x, indices = self.operands(inputs)
        require_indices(indices)
        if indices.rank <= self.batch_dims or x.rank < self.batch_dims:
            raise OperatorError(
                f"{show(x.shape)} and indices {show(indices.shape)} do not have {self.batch_dims} axes in common"
            )
        depth = number(indices.shape[-1], "the length of a row of indices")
        if not 1 <= depth <= x.rank - self.batch_dims:
            raise OperatorError(f"rows of {depth} indices do not index {show(x.shape)} behind {self.batch_dims} axes")
        batch = tuple(
            equal_dim(a, b, f"the dimensions of axis {axis}")
            for axis, (a, b) in enumerate(zip(x.shape[: self.batch_dims], indices.shape, strict=False))
        )
        return (moved(x, (*batch, *indices.shape[self.batch_dims : -1], *x.shape[self.batch_dims + depth :])),)

    def reference(self, *inputs: Array) -> tuple[Array, ...]:
        x, indices = inputs
        depth = indices.shape[-1]
        sizes = x.shape[self.batch_dims : self.batch_dims + depth]
        batch: list[Array] = []
        for axis in range(self.batch_dims):
            shape = [1] * (indices.ndim - 1)
            shape[axis] = x.shape[axis]
            batch.append(np.arange(x.shape[axis]).reshape(shape))
        picked = [from_start(indices[..., position], size) for position, size in enumerate(sizes)]
        return (np.array(x[tuple(batch + picked)]),)
