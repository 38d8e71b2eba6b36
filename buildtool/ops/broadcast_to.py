"""broadcast_to: a tensor repeated along its dimensions of 1 (and new ones in front) until it has a shape."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from buildtool.ir.dims import Shape, bounds, static
from buildtool.ir.operator import Array, Operator, OperatorError
from buildtool.ir.types import TensorType
from buildtool.ops._shapes import can_be_equal, show
from buildtool.ops._types import moved


@dataclass(frozen=True)
class BroadcastTo(Operator):
    """Input x of any element type. Each of its dimensions is 1 or that of `shape`, counted from the last one."""

    name: ClassVar[str] = "broadcast_to"
    keeps_numbers: ClassVar[bool] = True

    shape: Shape

    def check(self) -> None:
        for dim in self.shape:
            if bounds(dim)[1] < 0:
                raise OperatorError(f"'shape' holds {dim}, which is below 0")

    def infer(self, inputs: Sequence[TensorType]) -> tuple[TensorType, ...]:
        (x,) = self.operands(inputs)
        missing = len(self.shape) - x.rank
        fits = missing >= 0 and all(
            bounds(dim)[0] <= 1 <= bounds(dim)[1] or can_be_equal(dim, goal)
            for dim, goal in zip(x.shape, self.shape[missing:], strict=True)
        )
        if not fits:
            raise OperatorError(f"{show(x.shape)} does not broadcast to {show(self.shape)}")
        return (moved(x, self.shape),)

    def reference(self, *inputs: Array) -> tuple[Array, ...]:
        return (np.array(np.broadcast_to(inputs[0], static(self.shape))),)

    def transposed(self, perm: tuple[int, ...], inputs: Sequence[TensorType]) -> Operator | None:
        return BroadcastTo(tuple(self.shape[axis] for axis in perm))
