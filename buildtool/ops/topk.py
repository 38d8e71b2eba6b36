"""topk: the largest (or smallest) elements along an axis and their places."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from buildtool.ir.dims import Shape, bounds, static
from buildtool.ir.operator import Array, Operator, OperatorError
from buildtool.ir.types import DType, TensorType
from buildtool.ops._shapes import require_axis
from buildtool.ops._types import plain, require_numeric


@dataclass(frozen=True)
class Topk(Operator):
    """Input x; outputs values and places (s64), best first. Of equal elements the one at the lower place comes first.

    NaN counts as the largest number. `k` is one dimension.
    """

    name: ClassVar[str] = "topk"
    outputs: ClassVar[int | None] = 2

    axis: int
    k: Shape
    largest: bool

    def check(self) -> None:
        if len(self.k) != 1 or bounds(self.k[0])[1] < 0:
            raise OperatorError(f"'k' is one dimension, not {list(self.k)}")

    def infer(self, inputs: Sequence[TensorType]) -> tuple[TensorType, ...]:
        (x,) = self.operands(inputs)
        require_numeric(x)
        require_axis(self.axis, x.rank)
        if bounds(x.shape[self.axis] - self.k[0])[1] < 0:
            raise OperatorError(f"there are no {self.k[0]} elements along an axis of {x.shape[self.axis]}")
        shape = (*x.shape[: self.axis], self.k[0], *x.shape[self.axis + 1 :])
        return plain(x, shape), TensorType(DType.S64, shape)

    def reference(self, *inputs: Array) -> tuple[Array, ...]:
        (x,) = inputs
        order = _places(np.moveaxis(x, self.axis, -1), static(self.k)[0], self.largest)
        places = np.moveaxis(order, -1, self.axis).astype(np.int64)
        return np.take_along_axis(x, places, axis=self.axis), places

    def transposed(self, perm: tuple[int, ...], inputs: Sequence[TensorType]) -> Operator | None:
        return replace(self, axis=perm.index(self.axis))


def _places(x: Array, k: int, largest: bool) -> Array:
    """The places of the best along the last axis. NumPy sorts NaN behind all numbers, as if it were the largest."""
    if not largest:
        return np.asarray(np.argsort(x, axis=-1, kind="stable")[..., :k])
    # Sorted backwards, a stable order keeps equal elements in the order of falling places: turned round, rising.
    backwards = np.argsort(x[..., ::-1], axis=-1, kind="stable")[..., ::-1]
    return np.asarray((x.shape[-1] - 1 - backwards)[..., :k])
