"""What the KPU computes, to the last bit: convolution, batch norm, activation and pool of one layer."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from buildtool.targets.k210.format.kpu_layers import Conv
from buildtool.targets.k210.format.layout import Bytes
from buildtool.targets.k210.format.registers import LayerArgument
from buildtool.targets.k210.format.tables import Activation
from buildtool.targets.k210.simulation import arithmetic
from buildtool.targets.k210.simulation.arithmetic import Library

Wide = npt.NDArray[np.int64]


def run(layer: Conv, planes: Bytes, *, wide_weights: bool) -> Bytes:
    """The planes that a layer makes of its input planes, channels first."""
    argument = layer.argument
    weights = kernels(layer, wide_weights=wide_weights)
    values = accumulate(argument, planes, weights)
    values = arithmetic.normalised(NUMPY, values, layer.batch_norm)
    planes = activate(layer.activation, values)
    pooled: Bytes = arithmetic.pooled(NUMPY, planes, argument.pool, argument.out_h, argument.out_w).astype(np.uint8)
    return pooled


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
    """The bytes that an activation makes of numbers."""
    found: Bytes = arithmetic.activated(NUMPY, values, activation).astype(np.uint8)
    return found


NUMPY = Library(
    integers=lambda values: np.array(values, np.int64),
    sections=lambda starts, values: np.searchsorted(starts, values, side="right"),
    maximum=np.maximum,
    edges=lambda planes, count: np.pad(planes, ((0, 0), (0, count), (0, count)), mode="edge"),
    zeros=lambda planes: np.pad(planes, ((0, 0), (0, 0), (0, 1))),
    wide=lambda planes: planes.astype(np.uint16),
)
