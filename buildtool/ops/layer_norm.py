"""layer_norm: y = (x - mean) / sqrt(variance + epsilon) * scale + bias, over all axes from one on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from buildtool.ir.operator import Array
from buildtool.ops._row_norm import RowNormOperator


@dataclass(frozen=True)
class LayerNorm(RowNormOperator):
    """Inputs x, scale?, bias?, both of the shape x.shape[axis:]."""

    name: ClassVar[str] = "layer_norm"
    arity: ClassVar[tuple[int, int | None]] = (1, 3)
    operand_names: ClassVar[tuple[str, ...]] = ("scale", "bias")

    def normalised(self, rows: Array) -> Array:
        apart = rows - rows.mean(axis=-1, keepdims=True)
        variance = (apart * apart).mean(axis=-1, keepdims=True)
        return np.asarray(apart / np.sqrt(variance + self.epsilon))

    def combined(self, rows: Array, *operands: Array) -> Array:
        scaled = rows * operands[0] if operands else rows
        return scaled + operands[1] if len(operands) > 1 else scaled
