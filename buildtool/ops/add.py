"""add: y = act(a + b)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from buildtool.ir.operator import Array, OperatorError
from buildtool.ir.types import TensorType
from buildtool.ops._activation import ActivatedOperator
from buildtool.ops._elementwise import BinaryOperator


@dataclass(frozen=True, kw_only=True)
class Add(ActivatedOperator, BinaryOperator):
    """Inputs a, b (broadcast), any numbers; integers wrap around and have no activation."""

    name: ClassVar[str] = "add"

    def infer(self, inputs: Sequence[TensorType]) -> tuple[TensorType, ...]:
        types = super().infer(inputs)
        if self.activation != "none" and not types[0].dtype.is_float:
            raise OperatorError(f"an activation needs floating-point numbers, not {types[0].dtype.value}")
        return types

    def compute(self, a: Array, b: Array) -> Array:
        return self.activated(a + b)
