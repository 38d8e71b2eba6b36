"""scatter_elements: a tensor in which single elements are replaced, each at its own place along one axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from buildtool.ir.dims import bounds
from buildtool.ir.operator import Array, Operator, OperatorError
from buildtool.ir.types import TensorType
from buildtool.ops._indices import REDUCTIONS, from_start, place, require_indices
from buildtool.ops._shapes import equal_dim, require_axis, require_one_of, require_rank, show
from buildtool.ops._types import moved, require_numeric, require_same_dtype, stored, working


@dataclass(frozen=True)
class ScatterElements(Operator):
    """Inputs x of any element type, indices (s32 or s64; negative ones count from the end), updates.

    y[..., indices[..., i, ...], ...] = updates[..., i, ...], or what the reduction makes of it and what stands there.
    Indices and updates have one shape, of the rank of x, and may be shorter than x along the other axes. Where places
    repeat, updates are applied in the order in which they stand.

    `reduction` is none, add, mul, min or max.
    """

    name: ClassVar[str] = "scatter_elements"
    arity: ClassVar[tuple[int, int | None]] = (3, 3)

    axis: int
    reduction: str

    def check(self) -> None:
        require_one_of("reduction", self.reduction, REDUCTIONS)

    def infer(self, inputs: Sequence[TensorType]) -> tuple[TensorType, ...]:
        x, indices, updates = self.operands(inputs)
        require_same_dtype((x, updates))
        require_indices(indices)
        require_axis(self.axis, x.rank)
        require_rank(indices, x.rank, "the tensor of indices")
        require_rank(updates, x.rank, "the tensor of updates")
        if self.reduction != "none":
            require_numeric(x)
        for axis, (dim, given, placed) in enumerate(zip(x.shape, indices.shape, updates.shape, strict=True)):
            equal_dim(given, placed, f"the dimensions of axis {axis} of indices and updates")
            if axis != self.axis and bounds(dim - given)[1] < 0:
                raise OperatorError(f"indices {show(indices.shape)} reach outside {show(x.shape)} along axis {axis}")
        return (moved(x, x.shape),)

    def reference(self, *inputs: Array) -> tuple[Array, ...]:
        x, indices, updates = inputs
        y = working(x).copy()
        where = list(np.broadcast_arrays(*np.indices(indices.shape, sparse=True))) if indices.ndim else []
        where[self.axis] = from_start(indices, x.shape[self.axis])
        place(y, tuple(where), working(updates), self.reduction)
        return (stored(y, x),)
