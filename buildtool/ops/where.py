"""where: y = a where the condition is true, else b."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from buildtool.ir.operator import Array, Operator
from buildtool.ir.types import TensorType
from buildtool.ops._shapes import broadcast
from buildtool.ops._types import plain, require_bool, require_same_dtype


@dataclass(frozen=True)
class Where(Operator):
    """Inputs condition (bool), a, b of one element type; all three broadcast."""

    name: ClassVar[str] = "where"
    arity: ClassVar[tuple[int, int | None]] = (3, 3)
    is_elementwise: ClassVar[bool] = True

    def infer(self, inputs: Sequence[TensorType]) -> tuple[TensorType, ...]:
        condition, a, b = self.operands(inputs)
        require_bool(condition)
        require_same_dtype((a, b))
        return (plain(a, broadcast(condition.shape, a.shape, b.shape)),)

    def reference(self, *inputs: Array) -> tuple[Array, ...]:
        condition, a, b = inputs
        return (np.where(condition, a, b),)

    def transposed(self, perm: tuple[int, ...], inputs: Sequence[TensorType]) -> Operator | None:
        return self
