"""What operators on single elements share: one input, or two that broadcast."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from buildtool.ir.operator import Array, Operator
from buildtool.ir.types import DType, TensorType
from buildtool.ops._shapes import broadcast
from buildtool.ops._types import (
    plain,
    require_bool,
    require_float,
    require_integer,
    require_numeric,
    require_same_dtype,
    stored,
    working,
)


@dataclass(frozen=True)
class UnaryOperator(Operator):
    """y[i] = f(x[i])."""

    is_elementwise: ClassVar[bool] = True
    floats_only: ClassVar[bool] = True

    def compute(self, x: Array) -> Array:
        """f; halves come as single, the result is rounded to the element type of the input."""
        raise NotImplementedError

    def infer(self, inputs: Sequence[TensorType]) -> tuple[TensorType, ...]:
        (x,) = self.operands(inputs)
        (require_float if self.floats_only else require_numeric)(x)
        return (plain(x, x.shape),)

    def reference(self, *inputs: Array) -> tuple[Array, ...]:
        (x,) = inputs
        with np.errstate(all="ignore"):
            return (stored(self.compute(working(x)), x),)

    def transposed(self, perm: tuple[int, ...], inputs: Sequence[TensorType]) -> Operator | None:
        return self


@dataclass(frozen=True)
class BinaryOperator(Operator):
    """y[i] = f(a[i], b[i]), both inputs broadcast by NumPy's rule. Integers wrap around."""

    arity: ClassVar[tuple[int, int | None]] = (2, 2)
    is_elementwise: ClassVar[bool] = True

    def compute(self, a: Array, b: Array) -> Array:
        """f; halves come as single, the result is rounded to the element type of the inputs."""
        raise NotImplementedError

    def infer(self, inputs: Sequence[TensorType]) -> tuple[TensorType, ...]:
        a, b = self.operands(inputs)
        require_same_dtype(inputs)
        require_numeric(a)
        return (plain(a, broadcast(a.shape, b.shape)),)

    def reference(self, *inputs: Array) -> tuple[Array, ...]:
        a, b = inputs
        with np.errstate(all="ignore"):
            return (stored(self.compute(working(a), working(b)), a),)

    def transposed(self, perm: tuple[int, ...], inputs: Sequence[TensorType]) -> Operator | None:
        return self


@dataclass(frozen=True)
class Predicate(UnaryOperator):
    """Whether something is true of a floating-point number: the result is bool."""

    def infer(self, inputs: Sequence[TensorType]) -> tuple[TensorType, ...]:
        (x,) = super().infer(inputs)
        return (x.with_dtype(DType.BOOL),)

    def reference(self, *inputs: Array) -> tuple[Array, ...]:
        (x,) = inputs
        return (np.asarray(self.compute(x), np.bool_),)


@dataclass(frozen=True)
class Comparison(BinaryOperator):
    """Whether something is true of two numbers: the result is bool."""

    takes_bool: ClassVar[bool] = False

    def infer(self, inputs: Sequence[TensorType]) -> tuple[TensorType, ...]:
        a, b = self.operands(inputs)
        require_same_dtype(inputs)
        if not self.takes_bool:
            require_numeric(a)
        return (TensorType(DType.BOOL, broadcast(a.shape, b.shape)),)

    def reference(self, *inputs: Array) -> tuple[Array, ...]:
        a, b = inputs
        return (np.asarray(self.compute(a, b), np.bool_),)


@dataclass(frozen=True)
class LogicalOperator(BinaryOperator):
    """Two truth values to one."""

    def infer(self, inputs: Sequence[TensorType]) -> tuple[TensorType, ...]:
        a, b = self.operands(inputs)
        require_bool(a, b)
        return (plain(a, broadcast(a.shape, b.shape)),)


@dataclass(frozen=True)
class BitwiseOperator(BinaryOperator):
    """Two integers of one type to one, bit by bit."""

    def infer(self, inputs: Sequence[TensorType]) -> tuple[TensorType, ...]:
        require_integer(*self.operands(inputs))
        return super().infer(inputs)
