"""tile: a tensor repeated whole along its axes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from buildtool.ir.operator import Array, Operator, OperatorError
from buildtool.ir.types import TensorType
from buildtool.ops._shapes import permuted, require_ints, show
from buildtool.ops._types import moved


@dataclass(frozen=True)
class Tile(Operator):
    """Input x of any element type. One count per axis: y[i, ...] = x[i mod size, ...]."""

    name: ClassVar[str] = "tile"
    keeps_numbers: ClassVar[bool] = True

    repeats: tuple[int, ...]

    def check(self) -> None:
        require_ints("repeats", self.repeats, len(self.repeats), 0)

    def infer(self, inputs: Sequence[TensorType]) -> tuple[TensorType, ...]:
        (x,) = self.operands(inputs)
        if x.rank != len(self.repeats):
            raise OperatorError(f"'repeats' has {len(self.repeats)} entries for the axes of {show(x.shape)}")
        return (moved(x, tuple(dim * count for dim, count in zip(x.shape, self.repeats, strict=True))),)

    def reference(self, *inputs: Array) -> tuple[Array, ...]:
        return (np.tile(inputs[0], self.repeats),)

    def transposed(self, perm: tuple[int, ...], inputs: Sequence[TensorType]) -> Operator | None:
        return Tile(permuted(self.repeats, perm))
