"""Fills in the argument of a KPU layer from what the layer is: everything that follows from shapes is worked out."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from buildtool.errors import UnsupportedError
from buildtool.targets.k210.format import layout
from buildtool.targets.k210.format.registers import LayerArgument
from buildtool.targets.k210.generation.checks import POOL_STRIDES

LOAD_BYTES = {False: 30 * 1024, True: 60 * 1024}  # weights that one load may have; with weights of 16 bits


@dataclass(frozen=True)
class ZeroPoints:
    """The terms of the accumulator that stand for zero points. `x` carries the weights', `w` the input's."""

    arg_x: int = 0
    shr_x: int = 0
    arg_w: int = 0
    shr_w: int = 0
    arg_add: int = 0


@dataclass(frozen=True)
class ConvShape:
    """What a convolution is made of. Shapes are channels, height, width."""

    in_shape: tuple[int, int, int]
    out_channels: int
    kernel: int = 1  # 1 or 3
    depthwise: bool = False
    pool: int = 0

    @property
    def out_shape(self) -> tuple[int, int, int]:
        stride = POOL_STRIDES[self.pool]
        _, height, width = self.in_shape
        return self.out_channels, height // stride, width // stride


def layer_argument(
    shape: ConvShape,
    *,
    src: int = 0,
    dst: int = 0,
    wide: bool = False,
    pad_value: int = 0,
    zero_points: ZeroPoints | None = None,
    channels_per_load: int = 0,
) -> LayerArgument:
    """The argument of a layer between two places in the KPU's RAM. `channels_per_load` 0: as many as fit a load."""
    if shape.kernel not in (1, 3):
        raise UnsupportedError(
            f"a kernel of {shape.kernel}x{shape.kernel}",
            rule="the KPU has kernels of 1x1 and 3x3",
            remedy="rewrite the convolution with kernels of 3x3",
        )
    (in_channels, in_h, in_w), (out_channels, out_h, out_w) = shape.in_shape, shape.out_shape
    channel = shape.kernel**2 * (1 if shape.depthwise else in_channels) * (2 if wide else 1)
    per_load = channels_per_load or max(1, min(out_channels, LOAD_BYTES[wide] // channel))
    read, written = layout.row_layout(in_w), layout.row_layout(out_w)
    return LayerArgument(
        depthwise=int(shape.depthwise), src=src, dst=dst,
        in_channels=in_channels, out_channels=out_channels, channels_per_load=per_load,
        in_w=in_w, in_h=in_h, out_w=out_w, out_h=out_h,
        kernel=int(shape.kernel == 3), pool=shape.pool, pad_value=pad_value,
        load_times=-(-out_channels // per_load), para_size=per_load * channel,
        channel_switch=read.row_units * in_h, row_switch=read.row_units, coef_group=read.group,
        wb_channel_switch=written.row_units * out_h, wb_row_switch=written.row_units, wb_group=written.group,
        channel_bytes=out_w * out_h, total_bytes=out_w * out_h * out_channels,
        **dataclasses.asdict(zero_points or ZeroPoints()),
    )  # fmt: skip
