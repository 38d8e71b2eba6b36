"""What layers are made of before they have numbers: data, how a layer reads it, and layers with real weights."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from buildtool.ir.graph import Node, Value
from buildtool.ir.operator import Array
from buildtool.targets.max7800x.network import Activation, Eltwise, Operation, Pool, Size
from buildtool.targets.max7800x.simulation.arithmetic import pooled_size

BORDER = 2  # rows and columns of zeros that a layer may put around a picture, in front and behind together
Border = tuple[int | None, int | None]  # rows and columns of them in front; None: no border along this axis
Order = NDArray[np.int64]


class NotHereError(Exception):
    """Why a node cannot become a layer: what is wrong, the rule, and what would make it fit."""

    def __init__(self, what: str, rule: str, remedy: str) -> None:
        super().__init__(what)
        self.what, self.rule, self.remedy = what, rule, remedy


@dataclass(eq=False)
class Data:
    """What a layer puts out, or the input: channels of rows and columns."""

    name: str
    channels: int
    size: Size
    values: list[Value] = field(default_factory=list)  # whose numbers these are, for their ranges
    limit: float | None = None  # above which nothing counts: a clip


@dataclass(frozen=True)
class Read:
    """A value of the graph as a layer would read it: data, and what happens on the way."""

    sources: tuple[Data, ...]
    size: Size  # as it is read, before pooling
    order: Order  # for each number of the value its place in channel, row, column, after pooling
    pool: Pool | None = None
    pool_first: bool = True
    eltwise: Eltwise | None = None
    sums: tuple[Value, ...] = ()  # what comes of the operands, for its range

    @property
    def operands(self) -> int:
        return len(self.sources) if self.eltwise else 1

    @property
    def channels(self) -> int:
        return self.sources[0].channels if self.eltwise else sum(data.channels for data in self.sources)

    @property
    def result(self) -> Size:
        """Rows and columns behind the pool."""
        return pooled_size(self.size, self.pool)

    @property
    def is_data(self) -> bool:
        """Whether it is what one layer puts out, and nothing else."""
        return len(self.sources) == 1 and self.pool is None and self.size == self.sources[0].size

    @property
    def is_plain(self) -> bool:
        """Whether data is read as it lies, perhaps several side by side."""
        return self.pool is None and self.eltwise is None

    def pooled(self, pool: Pool) -> Read:
        """With a pool behind everything else; only where there is none yet."""
        assert self.pool is None
        made = replace(self, pool=pool, pool_first=self.eltwise is None)
        return replace(made, order=canonical(self.channels, made.result))


@dataclass(eq=False)
class Step:
    """A layer with real weights."""

    node: Node
    operation: Operation
    read: Read
    out: Data
    weights: Array | None = None  # as in `network.Kernel`
    bias: Array | None = None
    kernel: Size = (1, 1)
    pad: Size = (0, 0)
    groups: int = 1
    flatten: bool = False
    activation: Activation | None = None
    keeps_scale: bool = False  # its numbers stand for the same after it as before it
    is_output: bool = False
    wide: bool = False
    softmax: bool = False  # the program takes it of what goes out


def canonical(channels: int, size: Size) -> Order:
    """The order of a picture with its channels last; of one dimension, with one row."""
    places = np.arange(channels * math.prod(size), dtype=np.int64).reshape(channels, *size)
    return np.asarray(places.transpose(1, 2, 0)[None])


def of_data(data: Data) -> Read:
    return Read((data,), data.size, canonical(data.channels, data.size))
