"""What the KPU computes, to the last bit: convolution, batch norm, activation and pool of one layer."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from buildtool.targets.k210.format.kpu_layers import Conv
from buildtool.targets.k210.format.layout import Bytes
from buildtool.targets.k210.format.registers import LayerArgument
from buildtool.targets.k210.format.tables import Activation

Wide = npt.NDArray[np.int64]


def run(layer: Conv, planes: Bytes, *, wide_weights: bool) -> Bytes:
    """The planes that a layer makes of its input planes, channels first."""
    argument = layer.argument
    weights = kernels(layer, wide_weights=wide_weights)
    values = accumulate(argument, planes, weights)
    norms = np.array([(norm.mul, norm.add, norm.shift) for norm in layer.batch_norm], np.int64)
    mul, add, shift = norms.T[:, :, None, None]
    values = (values * mul >> shift) + add
    return pool(argument, activate(layer.activation, values))


def kernels(layer: Conv, *, wide_weights: bool) -> Wide:
    """The weights `[oc][ic][k][k]`, with one `ic` where the layer is depthwise. Loads may lie apart."""
    argument, data = layer.argument, layer.weights
    element = np.dtype("<u2") if wide_weights else np.dtype("u1")
    if argument.load_times > 1:
        size = argument.channels_per_load * argument.kernel_elements * element.itemsize
        data = b"".join(data[start : start + size] for start in range(0, len(data), argument.para_size))
    edge = 3 if argument.kernel else 1
    values = np.frombuffer(data, element).reshape(argument.out_channels, -1, edge, edge)
    return values.astype(np.int64)


def accumulate(argument: LayerArgument, planes: Bytes, weights: Wide) -> Wide:
    """Sums of products, and the terms that stand for the zero points. Shifts are floors, per input channel."""
    channels, height, width = planes.shape
    edge = weights.shape[-1]
    border = edge // 2
    padded = np.pad(planes, ((0, 0), (border, border), (border, border)), constant_values=argument.pad_value)
    windows = [(y, x, padded[:, y : y + height, x : x + width]) for y in range(edge) for x in range(edge)]
    if argument.depthwise:
        products: Wide = np.zeros(planes.shape, np.int64)
        for y, x, window in windows:
            products += window * weights[:, 0, y, x, None, None]
    else:
        # Exact in double precision: 1024 channels of 9 products of 8 and 16 bits stay below 2^53.
        sums = np.zeros((len(weights), height * width))
        for y, x, window in windows:
            sums += weights[:, :, y, x].astype(np.float64) @ window.reshape(channels, -1).astype(np.float64)
        products = sums.astype(np.int64).reshape(-1, height, width)
    if argument.arg_x:
        sum_x = np.add.reduce([window.astype(np.int64) for _, _, window in windows])
        of_x = argument.arg_x * sum_x >> argument.shr_x
        products += of_x if argument.depthwise else of_x.sum(axis=0)
    of_w = (argument.arg_w * weights.sum(axis=(2, 3)) >> argument.shr_w).sum(axis=1)
    constant: Wide = products + of_w[:, None, None] + argument.arg_add * (1 if argument.depthwise else channels)
    return constant


def activate(activation: Activation, values: Wide) -> Bytes:
    """The last segment whose start is not above the value, whatever the order of the starts."""
    table = np.array([(item.start, item.mul, item.shift, item.bias) for item in activation.segments], np.int64)
    reachable = np.minimum.accumulate(table[::-1, 0])[::-1]
    segment = np.maximum(np.searchsorted(reachable, values, side="right") - 1, 0)
    start, mul, shift, bias = (table[:, column][segment] for column in range(4))
    scaled = nearest((values - start) * mul, shift) + bias
    clamped: Bytes = np.clip(scaled, 0, 255).astype(np.uint8)
    return clamped


def nearest(values: Wide, shift: Wide) -> Wide:
    """`values / 2^shift`, rounded to the nearest whole number; a half goes up."""
    rounded: Wide = ((values >> np.clip(shift - 1, 0, 63)) + 1) >> 1
    return np.where(shift > 0, rounded, values)


def pool(argument: LayerArgument, planes: Bytes) -> Bytes:
    """One of the ten pools. Behind the right and lower edge, a mean takes the edge again, a maximum takes nothing."""
    kind, height, width = argument.pool, argument.out_h, argument.out_w
    if kind == 0:
        return planes
    if kind in (5, 7):  # left top
        stride = 2 if kind == 5 else 4
        return planes[:, ::stride, ::stride][:, :height, :width]
    if kind == 6:  # right top; behind the edge lies 0
        return np.pad(planes, ((0, 0), (0, 0), (0, 1)))[:, ::2, 1::2][:, :height, :width]
    edge = 4 if kind in (3, 4) else 2
    stride = 1 if kind in (8, 9) else edge
    padded = np.pad(planes, ((0, 0), (0, edge), (0, edge)), mode="edge")
    windows = [
        padded[:, y:, x:][:, : height * stride : stride, : width * stride : stride]
        for y in range(edge)
        for x in range(edge)
    ]
    if kind in (1, 3, 9):  # the edge again is what the maximum has seen already
        largest: Bytes = np.maximum.reduce(windows)
        return largest
    total = np.add.reduce([window.astype(np.uint16) for window in windows])
    mean: Bytes = (total // (edge * edge)).astype(np.uint8)
    return mean
