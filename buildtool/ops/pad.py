"""pad: a border around a tensor: a constant, its mirror image, its outermost elements, or the tensor once more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from buildtool.ir.dims import bounds
from buildtool.ir.operator import Array, Operator, OperatorError
from buildtool.ir.types import DType, TensorType
from buildtool.ops._shapes import permuted, require_ints, require_one_of, show
from buildtool.ops._types import moved

MODES = ("constant", "reflect", "edge", "wrap")


@dataclass(frozen=True)
class Pad(Operator):
    """Input x of any element type. `reflect` does not repeat the outermost element, `wrap` goes on at the other end;
    `value` is for `constant`.

    `before` and `after` have one number per axis; `mode` is constant, reflect, edge or wrap.
    """

    name: ClassVar[str] = "pad"
    keeps_numbers: ClassVar[bool] = True

    before: tuple[int, ...]
    after: tuple[int, ...]
    mode: str
    value: float

    def check(self) -> None:
        require_one_of("mode", self.mode, MODES)
        require_ints("before", self.before, len(self.before), 0)
        require_ints("after", self.after, len(self.before), 0)

    def infer(self, inputs: Sequence[TensorType]) -> tuple[TensorType, ...]:
        (x,) = self.operands(inputs)
        if x.rank != len(self.before):
            raise OperatorError(f"'before' has {len(self.before)} entries for the axes of {show(x.shape)}")
        if self.mode == "constant":
            self._check_value(x.dtype)
        else:
            for axis, dim in enumerate(x.shape):
                border = max(self.before[axis], self.after[axis])
                needed = border + 1 if self.mode == "reflect" else 1
                if border and bounds(dim)[1] < needed:
                    raise OperatorError(
                        f"a border of {border} in mode {self.mode} needs {needed} elements, but axis {axis} has {dim}"
                    )
        shape = tuple(
            dim + (before + after) for dim, before, after in zip(x.shape, self.before, self.after, strict=True)
        )
        return (moved(x, shape),)

    def _check_value(self, dtype: DType) -> None:
        if dtype.is_float:
            return
        limits: Any = None if dtype is DType.BOOL else np.iinfo(str(dtype.numpy))
        low, high = (limits.min, limits.max) if limits else (0, 1)
        if not low <= self.value <= high or not self.value.is_integer():
            raise OperatorError(f"'value' is {self.value}, which an element of type {dtype.value} cannot represent")

    def reference(self, *inputs: Array) -> tuple[Array, ...]:
        (x,) = inputs
        widths = list(zip(self.before, self.after, strict=True))
        if not widths:
            return (x.copy(),)
        if self.mode == "constant":
            with np.errstate(over="ignore"):
                value: Any = np.asarray(self.value).astype(x.dtype)
            return (np.pad(x, widths, constant_values=value),)
        mode: Any = self.mode
        return (np.pad(x, widths, mode=mode),)

    def transposed(self, perm: tuple[int, ...], inputs: Sequence[TensorType]) -> Operator | None:
        return Pad(permuted(self.before, perm), permuted(self.after, perm), self.mode, self.value)
