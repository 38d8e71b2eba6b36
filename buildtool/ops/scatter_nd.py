"""scatter_nd: a tensor in which slices are replaced, each at the place that a row of indices names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from buildtool.ir.operator import Array, Operator, OperatorError
from buildtool.ir.types import TensorType
from buildtool.ops._indices import REDUCTIONS, from_start, place, require_indices
from buildtool.ops._shapes import equal_dim, number, require_one_of, require_rank, show
from buildtool.ops._types import moved, require_numeric, require_same_dtype, stored, working


@dataclass(frozen=True)
class ScatterNd(Operator):
    """Inputs x of any element type, indices[..., K] (s32 or s64; negative ones count from the end), updates.

    Each row of K indices names a place along the first K axes of x; updates[..., *] takes the place of what stands
    there, or is reduced with it. Where places repeat, updates are applied in the order in which they stand.

    `reduction` is none, add, mul, min or max.
    """

    name: ClassVar[str] = "scatter_nd"
    arity: ClassVar[tuple[int, int | None]] = (3, 3)

    reduction: str

    def check(self) -> None:
        require_one_of("reduction", self.reduction, REDUCTIONS)

    def infer(self, inputs: Sequence[TensorType]) -> tuple[TensorType, ...]:
        x, indices, updates = self.operands(inputs)
        require_same_dtype((x, updates))
        require_indices(indices)
        if self.reduction != "none":
            require_numeric(x)
        if not indices.rank:
            raise OperatorError("indices are rows, but their shape is []")
        depth = number(indices.shape[-1], "the length of a row of indices")
        if not 1 <= depth <= x.rank:
            raise OperatorError(f"rows of {depth} indices do not index {show(x.shape)}")
        needed = (*indices.shape[:-1], *x.shape[depth:])
        require_rank(updates, len(needed), "the tensor of updates")
        for axis, (dim, given) in enumerate(zip(needed, updates.shape, strict=True)):
            equal_dim(dim, given, f"the dimension of axis {axis} of the updates and what is replaced")
        return (moved(x, x.shape),)

    def reference(self, *inputs: Array) -> tuple[Array, ...]:
        x, indices, updates = inputs
        y = working(x).copy()
        where = tuple(from_start(indices[..., axis], x.shape[axis]) for axis in range(indices.shape[-1]))
        place(y, where, working(updates), self.reduction)
        return (stored(y, x),)
