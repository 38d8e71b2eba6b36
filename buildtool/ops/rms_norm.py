"""rms_norm: y = x / sqrt(mean of x^2 + epsilon) * scale, over all axes from one on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from buildtool.ir.operator import Array
from buildtool.ops._row_norm import RowNormOperator


@dataclass(frozen=True)
class RmsNorm(RowNormOperator):
    """Inputs x, scale? of the shape x.shape[axis:]."""

    name: ClassVar[str] = "rms_norm"
    arity: ClassVar[tuple[int, int | None]] = (1, 2)
    operand_names: ClassVar[tuple[str, ...]] = ("scale",)

    def normalised(self, rows: Array) -> Array:
        square = (rows * rows).mean(axis=-1, keepdims=True)
        return np.asarray(rows / np.sqrt(square + self.epsilon))

    def combined(self, rows: Array, *operands: Array) -> Array:
        return rows * operands[0] if operands else rows
