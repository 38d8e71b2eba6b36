"""Rows of a tensor as sequences, one behind the other: which row is in which, sums, and a row for each step."""

from __future__ import annotations

import numpy as np

from buildtool.importers.builder import Tensor
from buildtool.importers.paddle.values import as_type, part, plus
from buildtool.importers.step import Step
from buildtool.ir.dims import Dim, bounds
from buildtool.ir.types import DType


class Segments:
    """`offsets`: the first row of each sequence, and the number of rows behind them."""

    def __init__(self, step: Step, x: Tensor, offsets: Tensor) -> None:
        self._step = step
        self._x = x
        self.offsets = as_type(step, offsets, DType.S64)
        self.count = offsets.shape[0] - 1
        self.starts = part(step, self.offsets, 0, 0, self.count)
        self.ends = part(step, self.offsets, 0, 1, self.count)
        self.lengths = step.emit("sub", self.ends, self.starts)
        self.places = self.numbers(step, x.shape[0])
        self._owners: Tensor | None = None

    @staticmethod
    def numbers(step: Step, size: Dim) -> Tensor:
        """The numbers from 0 on."""
        most = bounds(size)[1]
        step.check_table(most)
        numbers = step.constant(np.arange(most))
        return numbers if isinstance(size, int) else part(step, numbers, 0, 0, size)

    @property
    def owners(self) -> Tensor:
        """The sequence of each row: how many have ended before it."""
        if self._owners is None:
            step, rows = self._step, self._x.shape[0]
            ended = step.emit(
                "less_equal", step.reshape(self.ends, (1, self.count)), step.reshape(self.places, (rows, 1))
            )
            counted = step.emit("cast", ended, to=DType.S64)
            owners = step.emit("reduce_sum", counted, axes=(1,), keepdims=False)
            last = step.constant(np.array(0)) if self.count == 1 else self._last()
            self._owners = step.emit("minimum", owners, last)
        return self._owners

    def _last(self) -> Tensor:
        """The number of the last sequence: rows that the offsets do not reach belong to it."""
        numbers = self.numbers(self._step, self.count)
        return self._step.emit("reduce_max", numbers, axes=(0,), keepdims=False)

    def spread(self, of_sequences: Tensor) -> Tensor:
        """For each row what there is of its sequence."""
        return self._step.emit("gather", of_sequences, self.owners, axis=0)

    def reduced(self, x: Tensor, reduction: str) -> Tensor:
        """Sums or largest elements of each sequence."""
        step = self._step
        start = 0.0 if reduction == "add" else float(np.finfo(np.float32).min)
        shape = (self.count, *x.shape[1:])
        begin = step.emit("broadcast_to", step.constant(np.array(start, x.dtype.numpy)), shape=shape)
        index = step.reshape(self.owners, (x.shape[0], 1))
        return step.emit("scatter_nd", begin, index, x, reduction=reduction)

    def along(self, of_sequences: Tensor, rank: int) -> Tensor:
        """With as many axes as a tensor with a row for each sequence."""
        return self._step.reshape(of_sequences, (self.count, *(1 for _ in range(rank - 1))))

    def within(self, places: Tensor) -> Tensor:
        """Places of rows, moved to where rows are."""
        step = self._step
        top = step.emit("reduce_max", self.places, axes=(0,), keepdims=False)
        return step.emit("minimum", step.emit("maximum", places, step.constant(np.array(0))), top)

    def padded(self, length: Dim) -> tuple[Tensor, Tensor]:
        """[sequences, length, ...] with any row where a sequence has ended, and where it has not."""
        step = self._step
        steps = step.reshape(self.numbers(step, length), (1, length))
        places = self.within(plus(step, step.reshape(self.starts, (self.count, 1)), steps))
        is_there = step.emit("less", steps, step.reshape(self.lengths, (self.count, 1)))
        return step.emit("gather", self._x, places, axis=0), is_there

    def packed(self, padded: Tensor) -> Tensor:
        """Back from [sequences, length, ...]."""
        step, rows = self._step, self._x.shape[0]
        within = step.emit("sub", self.places, self.spread(self.starts))
        columns = [step.reshape(item, (rows, 1)) for item in (self.owners, within)]
        return step.emit("gather_nd", padded, step.emit("concat", *columns, axis=1), batch_dims=0)
