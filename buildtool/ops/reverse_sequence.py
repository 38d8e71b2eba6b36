"""reverse_sequence: the beginning of every sequence of a batch the other way round."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from buildtool.ir.operator import Array, Operator, OperatorError
from buildtool.ir.types import TensorType
from buildtool.ops._indices import require_indices
from buildtool.ops._shapes import equal_dim, require_axis, require_rank
from buildtool.ops._types import moved


@dataclass(frozen=True)
class ReverseSequence(Operator):
    """Inputs x of any element type, lengths (s32 or s64), one per element of `batch_axis`.

    The first lengths[n] elements of sample n along `time_axis` are reversed; the others stay.
    """

    name: ClassVar[str] = "reverse_sequence"
    keeps_numbers: ClassVar[bool] = True
    arity: ClassVar[tuple[int, int | None]] = (2, 2)

    batch_axis: int
    time_axis: int

    def check(self) -> None:
        if self.batch_axis == self.time_axis:
            raise OperatorError(f"'batch_axis' and 'time_axis' are both {self.batch_axis}")

    def infer(self, inputs: Sequence[TensorType]) -> tuple[TensorType, ...]:
        x, lengths = self.operands(inputs)
        require_axis(self.batch_axis, x.rank)
        require_axis(self.time_axis, x.rank)
        require_indices(lengths)
        require_rank(lengths, 1, "the list of lengths")
        equal_dim(lengths.shape[0], x.shape[self.batch_axis], "the number of lengths and of samples")
        return (moved(x, x.shape),)

    def reference(self, *inputs: Array) -> tuple[Array, ...]:
        x, lengths = inputs
        y = x.copy()
        source, target = (np.moveaxis(array, (self.batch_axis, self.time_axis), (0, 1)) for array in (x, y))
        for sample, length in enumerate(lengths):
            if not 0 <= length <= source.shape[1]:
                raise OperatorError(f"the length {length} is outside 0..{source.shape[1]}")
            target[sample, :length] = source[sample, :length][::-1]
        return (y,)
