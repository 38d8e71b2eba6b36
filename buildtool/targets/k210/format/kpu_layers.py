"""The layers of a kmodel that run on the KPU, or carry planes to and from its RAM."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from buildtool.targets.k210.format.layer import MAIN_MEMORY_OUTPUT, Layer, LayerType, Region
from buildtool.targets.k210.format.registers import LayerArgument
from buildtool.targets.k210.format.tables import Activation, BatchNorm


@dataclass(frozen=True)
class Conv(Layer):
    """A convolution, batch norm, activation and pool on the KPU. The offsets are those of the file it was read from;
    the writer chooses its own."""

    TYPE = LayerType.K210_CONV
    FORMAT = "<6I"
    main_out: int
    layer_off: int = field(compare=False)
    weights_off: int = field(compare=False)
    bn_off: int = field(compare=False)
    act_off: int = field(compare=False)
    argument: LayerArgument
    weights: bytes  # OIHW, or [C][k*k] of a depthwise one; little-endian where they have 16 bits
    batch_norm: tuple[BatchNorm, ...]
    activation: Activation

    @property
    def to_main(self) -> bool:
        return bool(self.flags & MAIN_MEMORY_OUTPUT)

    @property
    def in_shape(self) -> tuple[int, int, int]:
        """Channels, height, width."""
        return self.argument.in_channels, self.argument.in_h, self.argument.in_w

    @property
    def out_shape(self) -> tuple[int, int, int]:
        return self.argument.out_channels, self.argument.out_h, self.argument.out_w

    @property
    def out_bytes(self) -> int:
        channels, height, width = self.out_shape
        return channels * height * width

    def writes(self) -> Iterator[Region]:
        if self.to_main:
            yield Region(self.main_out, self.out_bytes)


def conv(argument: LayerArgument, weights: bytes, batch_norm: tuple[BatchNorm, ...], activation: Activation,
         main_out: int | None = None) -> Conv:  # fmt: skip
    """A convolution that no file holds yet. With `main_out` its result also goes to main memory."""
    flags = 0 if main_out is None else MAIN_MEMORY_OUTPUT
    return Conv(flags, main_out or 0, 0, 0, 0, 0, argument, weights, batch_norm, activation)


@dataclass(frozen=True)
class AddPadding(Layer):
    """Bytes of main memory become pixel (0, 0) of planes of 4x4 in the KPU's RAM."""

    TYPE = LayerType.ADD_PADDING
    FORMAT = "<4I"
    in_: int
    kpu_out: int
    channels: int

    def reads(self) -> Iterator[Region]:
        yield Region(self.in_, self.channels)


@dataclass(frozen=True)
class RemovePadding(Layer):
    """Byte 0 of each 16: pixel (0, 0) of planes of 4x4."""

    TYPE = LayerType.REMOVE_PADDING
    FORMAT = "<4I"
    in_: int
    out: int
    channels: int

    def reads(self) -> Iterator[Region]:
        yield Region(self.in_, max(0, self.channels * 16 - 15))

    def writes(self) -> Iterator[Region]:
        yield Region(self.out, self.channels)


@dataclass(frozen=True)
class Upload(Layer):
    """Planes of main memory go to the KPU's RAM."""

    TYPE = LayerType.UPLOAD
    FORMAT = "<6I"
    in_: int
    kpu_out: int
    w: int
    h: int
    c: int

    def reads(self) -> Iterator[Region]:
        yield Region(self.in_, self.w * self.h * self.c)
