"""tensor_scatter: a cache with one stretch replaced per sample of the batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from buildtool.ir.dims import bounds
from buildtool.ir.operator import Array, Operator, OperatorError
from buildtool.ir.types import TensorType
from buildtool.ops._indices import require_indices
from buildtool.ops._shapes import equal_dim, require_axis, require_rank, show
from buildtool.ops._types import moved, require_same_dtype


@dataclass(frozen=True)
class TensorScatter(Operator):
    """Inputs cache[N, ...] and update of any element type, starts[N]? (s32 or s64; 0 where absent).

    The update differs from the cache along `axis` only, where it is shorter. Its element i along that axis replaces
    element starts[n] + i of sample n, modulo the size of the cache if `circular`; else all of them lie inside.
    """

    name: ClassVar[str] = "tensor_scatter"
    arity: ClassVar[tuple[int, int | None]] = (2, 3)

    axis: int
    circular: bool

    def infer(self, inputs: Sequence[TensorType]) -> tuple[TensorType, ...]:
        cache, update, *starts = self.operands(inputs)
        require_same_dtype((cache, update))
        require_axis(self.axis, cache.rank)
        if self.axis == 0:
            raise OperatorError("'axis' is 0, which is the batch axis")
        require_rank(update, cache.rank, "the update")
        for axis, (old, new) in enumerate(zip(cache.shape, update.shape, strict=True)):
            if axis != self.axis:
                equal_dim(old, new, f"the dimensions of axis {axis}")
            elif bounds(old - new)[1] < 0:
                raise OperatorError(f"the update {show(update.shape)} is longer than the cache {show(cache.shape)}")
        for start in starts:
            require_indices(start)
            require_rank(start, 1, "the list of starts")
            equal_dim(start.shape[0], cache.shape[0], "the number of starts and of samples")
        return (moved(cache, cache.shape),)

    def reference(self, *inputs: Array) -> tuple[Array, ...]:
        cache, update = inputs[:2]
        y = cache.copy()
        size, count = cache.shape[self.axis], update.shape[self.axis]
        starts = inputs[2] if len(inputs) > 2 else np.zeros(cache.shape[0], np.int64)
        for sample, start in enumerate(starts.astype(np.int64)):
            places = start + np.arange(count)
            if self.circular and size:
                places %= size
            elif count and not 0 <= start <= size - count:
                raise OperatorError(f"{count} elements from {start} exceed 0..{size - 1}")
            target, source = np.moveaxis(y[sample], self.axis - 1, 0), np.moveaxis(update[sample], self.axis - 1, 0)
            target[places] = source
        return (y,)
