"""gather_elements: single elements, each from its own place along one axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from buildtool.ir.dims import bounds
from buildtool.ir.operator import Array, Operator, OperatorError
from buildtool.ir.types import TensorType
from buildtool.ops._indices import from_start, require_indices
from buildtool.ops._shapes import require_axis, require_rank, show
from buildtool.ops._types import moved


@dataclass(frozen=True)
class GatherElements(Operator):
    """Inputs x of any element type, indices (s32 or s64; negative ones count from the end) of the same rank.

    y[..., i, ...] = x[..., indices[..., i, ...], ...]. Along the other axes the indices may be shorter than x.
    """

    name: ClassVar[str] = "gather_elements"
    keeps_numbers: ClassVar[bool] = True
    arity: ClassVar[tuple[int, int | None]] = (2, 2)

    axis: int

    def infer(self, inputs: Sequence[TensorType]) -> tuple[TensorType, ...]:
        x, indices = self.operands(inputs)
        require_axis(self.axis, x.rank)
        require_indices(indices)
        require_rank(indices, x.rank, "the tensor of indices")
        for axis, (dim, taken) in enumerate(zip(x.shape, indices.shape, strict=True)):
            if axis != self.axis and bounds(dim - taken)[1] < 0:
                raise OperatorError(f"indices {show(indices.shape)} reach outside {show(x.shape)} along axis {axis}")
        return (moved(x, indices.shape),)

    def reference(self, *inputs: Array) -> tuple[Array, ...]:
        x, indices = inputs
        taken = tuple(slice(None) if axis == self.axis else slice(size) for axis, size in enumerate(indices.shape))
        return (np.take_along_axis(x[taken], from_start(indices, x.shape[self.axis]), axis=self.axis),)
