"""A program in the making: its steps, and in which forms the tensors of the model are there.

A tensor may lie in the KPU's RAM as planes, in main memory as bytes, and there as floats. What a layer asks for and is
not there yet is made of what is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from buildtool.ir.graph import Value
from buildtool.targets.k210.format import cpu_layers as cpu
from buildtool.targets.k210.format import layout
from buildtool.targets.k210.format.arguments import ConvShape, layer_argument
from buildtool.targets.k210.format.kpu_layers import AddPadding, RemovePadding, Upload, conv
from buildtool.targets.k210.format.layer import MAIN_MEMORY_OUTPUT as TO_MAIN
from buildtool.targets.k210.format.layer import Layer
from buildtool.targets.k210.format.tables import FIRST_START, SEGMENTS, Activation, BatchNorm, Segment
from buildtool.targets.k210.generation.memory import Buffer, Places, Step
from buildtool.targets.k210.generation.quantise import Bytes

LEAST_SIDE = 4


@dataclass(frozen=True)
class Pick:
    """Which pixels of larger planes are wanted: the first, and how far apart. Rows, columns."""

    first: tuple[int, int] = (0, 0)
    strides: tuple[int, int] = (1, 1)


ALL = Pick()


@dataclass(frozen=True)
class Border:
    """Rows and columns around a picture."""

    top: int = 0
    left: int = 0
    bottom: int = 0
    right: int = 0

    def around(self, height: int, width: int) -> tuple[int, int]:
        return height + self.top + self.bottom, width + self.left + self.right


NO_BORDER = Border()


@dataclass(frozen=True)
class Planes:
    """Planes in the KPU's RAM, or in main memory, that may be larger than what is wanted of them."""

    buffer: Buffer
    height: int
    width: int
    pick: Pick = ALL
    zeros_around: bool = False  # what is not wanted stands for 0


@dataclass(eq=False)
class Tensor:
    """One tensor of the model, channels first in memory."""

    name: str
    channels: int
    height: int
    width: int
    stored: Bytes | None = None
    ram: Planes | None = None
    late: bool = False  # the next layer leaves out what is not wanted of `ram`
    send: Callable[[], Buffer] | None = None  # lets the layer that makes it write main memory, too
    sent: Planes | None = None  # what that gave
    bytes: Buffer | None = None
    floats: Buffer | None = None

    @property
    def count(self) -> int:
        return self.channels * self.height * self.width


class UnknownRangeError(Exception):
    """A tensor has to become bytes, and nothing says between which numbers it lies."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


@dataclass
class Program:
    """Steps in order. `node` is the name of the source node whose layers are being made."""

    node: str = ""
    wide: bool = False  # whether weights have 16 bits
    brief: bool = False  # planes stay in the KPU's RAM for the next step only, and come back from main memory
    steps: list[Step] = field(default_factory=list)
    tensors: dict[Value, Tensor] = field(default_factory=dict)

    def step(self, reads: Sequence[Buffer], writes: Sequence[Buffer], make: Callable[[Places], Layer]) -> Step:
        made = Step(self.node, tuple(reads), tuple(writes), lambda at: (make(at),))
        self.steps.append(made)
        return made

    def buffer(self, tensor: Tensor, element: int = 1) -> Buffer:
        return Buffer(tensor.name, False, tensor.count * element)

    # -- from one form to another --------------------------------------------------------------------------------------
    def bytes_of(self, tensor: Tensor) -> Buffer:
        """Bytes in main memory, channels, rows, columns, without anything between."""
        if tensor.bytes is None:
            if tensor.sent is not None:
                tensor.bytes = self._picked(tensor, tensor.sent)
            elif tensor.ram is not None and tensor.floats is None:
                tensor.bytes = self._picked(tensor, self._sent(tensor, tensor.ram))
            else:
                tensor.bytes = self._quantized(tensor)
        return tensor.bytes

    def floats_of(self, tensor: Tensor) -> Buffer:
        """Floats in main memory in the same order."""
        if tensor.floats is None:
            source, target = self.bytes_of(tensor), self.buffer(tensor, 4)
            stored, count = known(tensor), tensor.count
            self.step(
                [source],
                [target],
                lambda at: cpu.Dequantize(TO_MAIN, at[source], at[target], count, stored.scale, stored.bias),
            )
            tensor.floats = target
        return tensor.floats

    def planes_of(self, tensor: Tensor, *, zeros_around: bool) -> Planes:
        """Planes in the KPU's RAM, of four rows and columns at least."""
        there = None if self._is_gone(tensor) else tensor.ram
        if there is not None and min(there.height, there.width) >= LEAST_SIDE and there.pick == ALL:
            exact = (there.height, there.width) == (tensor.height, tensor.width)
            if exact or tensor.late or there.zeros_around or not zeros_around:
                return there
        if (tensor.height, tensor.width) == (1, 1) and not zeros_around:
            return self._padded(tensor)
        border = Border(0, 0, max(LEAST_SIDE - tensor.height, 0), max(LEAST_SIDE - tensor.width, 0))
        height, width = border.around(tensor.height, tensor.width)
        if border == NO_BORDER:
            source = self.bytes_of(tensor)
        else:
            source = self.bordered(tensor, border, known(tensor).zero_point)
        channels = tensor.channels
        target = Buffer(tensor.name, True, layout.units(width, height, channels))
        self.step([source], [target], lambda at: Upload(0, at[source], at[target], width, height, channels))
        tensor.ram = Planes(target, height, width, ALL, zeros_around=True)
        return tensor.ram

    def _padded(self, tensor: Tensor) -> Planes:
        """A list as the first pixels of planes, for layers that look at single pixels."""
        source, channels = self.bytes_of(tensor), tensor.channels
        target = Buffer(tensor.name, True, layout.units(LEAST_SIDE, LEAST_SIDE, channels))
        self.step([source], [target], lambda at: AddPadding(0, at[source], at[target], channels))
        tensor.ram = Planes(target, LEAST_SIDE, LEAST_SIDE)
        return tensor.ram

    def _is_gone(self, tensor: Tensor) -> bool:
        """Whether planes are not kept for as long as until now."""
        if not self.brief or tensor.late or tensor.ram is None or tensor.send is None or not self.steps:
            return False
        return tensor.ram.buffer not in self.steps[-1].writes

    def _sent(self, tensor: Tensor, planes: Planes) -> Planes:
        """Planes in main memory."""
        send = tensor.send or (lambda: self._download(tensor, planes))
        tensor.sent = Planes(send(), planes.height, planes.width, planes.pick)
        return tensor.sent

    def _download(self, tensor: Tensor, planes: Planes) -> Buffer:
        """A layer that changes nothing: what the caller put into the KPU's RAM comes out of it no other way."""
        shape = ConvShape((tensor.channels, planes.height, planes.width), tensor.channels, 3, depthwise=True)
        source, spare = planes.buffer, Buffer(tensor.name, True, planes.buffer.size)
        target = Buffer(tensor.name, False, tensor.channels * planes.height * planes.width)
        kernel = np.zeros((tensor.channels, 9), "<u2" if self.wide else "u1")
        kernel[:, 4] = 1
        pieces = [Segment(FIRST_START, 0, 0, 0), *[Segment(0, 1, 0, 0)] * (SEGMENTS - 1)]
        self.step(
            [source],
            [spare, target],
            lambda at: conv(
                layer_argument(shape, src=at[source], dst=at[spare], wide=self.wide),
                kernel.tobytes(),
                (BatchNorm(),) * tensor.channels,
                Activation(tuple(pieces)),
                at[target],
            ),
        )
        return target

    def _picked(self, tensor: Tensor, planes: Planes) -> Buffer:
        """Without what is not wanted: a pool of single pixels, which begins at the first that is."""
        if planes.pick == ALL and (planes.height, planes.width) == (tensor.height, tensor.width):
            return planes.buffer
        source, target, pick = planes.buffer, self.buffer(tensor), planes.pick
        if tensor.count == tensor.channels and (planes.height, planes.width, pick) == (LEAST_SIDE, LEAST_SIDE, ALL):
            self.step([source], [target], lambda at: RemovePadding(TO_MAIN, at[source], at[target], tensor.channels))
            return target
        begin = pick.first[0] * planes.width + pick.first[1]
        # The last planes are read from behind their beginning: up to so many bytes that nobody looks at.
        source.size = max(source.size, tensor.channels * planes.height * planes.width + begin)
        self.step(
            [source],
            [target],
            lambda at: cpu.QMaxPool(
                TO_MAIN, at[source] + begin, at[target], planes.width, planes.height, tensor.channels,
                tensor.width, tensor.height, tensor.channels, 1, 1, pick.strides[1], pick.strides[0], 0, 0,
            ),
        )  # fmt: skip
        return target

    def _quantized(self, tensor: Tensor) -> Buffer:
        assert tensor.floats is not None
        source, target, stored = tensor.floats, self.buffer(tensor), known(tensor)
        count = tensor.count
        self.step(
            [source],
            [target],
            lambda at: cpu.Quantize(TO_MAIN, at[source], at[target], count, stored.scale, stored.bias),
        )
        return target

    def bordered(self, tensor: Tensor, border: Border, byte: int) -> Buffer:
        """Its bytes with others around them: rows, put together with parts of a row of nothing but these."""
        source = self.bytes_of(tensor)
        height, width = border.around(tensor.height, tensor.width)
        above, beside = border.top * width + border.left, border.left + border.right
        below = border.right + border.bottom * width
        filling = Buffer(f"what is around {tensor.name}", False, max(above, beside, below, 1))
        self.table(source, filling, bytes([byte]) * 256, filling.size)
        target = Buffer(tensor.name, False, tensor.channels * height * width)

        def parts(at: Places) -> list[tuple[int, int]]:
            found = []
            start = at[source]
            for _ in range(tensor.channels):
                found.append((at[filling], above))
                for row in range(tensor.height):
                    found.append((start, tensor.width))
                    found.append((at[filling], beside if row < tensor.height - 1 else below))
                    start += tensor.width
            return [part for part in found if part[1]]

        def layer(at: Places) -> Layer:
            made = parts(at)
            return cpu.QConcat(TO_MAIN, at[target], len(made), tuple(made))

        self.step([source, filling], [target], layer)
        return target

    def table(self, source: Buffer, target: Buffer, table: bytes, count: int) -> None:
        """Bytes through a table. As many are read as are written: the source may have to be longer."""
        source.size = max(source.size, count)
        self.step([source], [target], lambda at: cpu.Requantize(TO_MAIN, at[source], at[target], count, table))


def known(tensor: Tensor) -> Bytes:
    """How it is stored. UnknownRangeError where nothing says so."""
    if tensor.stored is None:
        raise UnknownRangeError(tensor.name)
    return tensor.stored
