"""What each step of a layer computes, in whole numbers and to the last bit.

Values are [channels, rows, columns] of int64; one-dimensional data has one column. Sums are taken by matrix products in
double precision, which is exact: no sum comes near 2**53.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from buildtool.targets.max7800x.network import Activation, Eltwise, Kernel, Operation, Pool, Size

Values = NDArray[np.int64]

LOWEST, HIGHEST = -128, 127
BIAS_FACTOR = 128  # a stored bias counts as one times this
_FRACTION = 7  # bits behind the point of a product of two values

_ELTWISE: dict[Eltwise, Callable[[Values, Values], Values]] = {
    "add": np.add,
    "sub": np.subtract,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}


def joined(sources: Sequence[Values], size: Size) -> Values:
    """Sources side by side along the channels; where their sizes differ, behind each other along the pixels.

    `size` is that of the result in the second case.
    """
    if len({source.shape[1:] for source in sources}) == 1:
        return np.concatenate(sources, axis=0)
    pixels = np.concatenate([source.reshape(len(source), -1) for source in sources], axis=1)
    return pixels.reshape(len(pixels), *size)


def operands(values: Values, count: int, skip: int, channels: int) -> tuple[Values, ...]:
    """The operands behind each other, each without its first `skip` channels and with `channels` of the rest."""
    return tuple(part[skip : skip + channels] for part in np.split(values, count, axis=0))


def reshaped(values: Values, crop: Size | None, size: Size) -> Values:
    """Without the rows cut off above and below, then read as another size."""
    if crop is not None:
        values = values[:, crop[0] : values.shape[1] - crop[1]]
    return values.reshape(len(values), *size)


def pooled_size(size: Size, pool: Pool | None) -> Size:
    """What pooling leaves; parts of windows do not count."""
    if pool is None:
        return size
    rows, columns = (
        (side - (window - 1) * dilation - 1) // stride + 1
        for side, window, stride, dilation in zip(size, pool.size, pool.stride, pool.dilation, strict=True)
    )
    return rows, columns


def pooled(values: Values, pool: Pool | None, *, rounds: bool) -> Values:
    """One operand after pooling. Averages are cut off towards zero, or rounded to the nearest (halves away from it)."""
    if pool is None:
        return values
    extent = [(window - 1) * dilation + 1 for window, dilation in zip(pool.size, pool.dilation, strict=True)]
    windows = sliding_window_view(values, extent, axis=(1, 2))
    windows = windows[:, :: pool.stride[0], :: pool.stride[1], :: pool.dilation[0], :: pool.dilation[1]]
    if pool.kind == "max":
        highest: Values = windows.max(axis=(3, 4))
        return highest
    sums = windows.sum(axis=(3, 4))
    count = pool.size[0] * pool.size[1]
    sizes = np.abs(sums)
    means = (2 * sizes + count) // (2 * count) if rounds else sizes // count
    signed: Values = np.sign(sums) * means
    return signed


def averages_round(operation: Operation, network_rounds: bool) -> bool:
    """One-dimensional convolutions pool without rounding, whatever the network says."""
    return network_rounds and operation != "conv1d"


def eltwise(operator: Eltwise, parts: Sequence[Values], *, saturates: bool) -> Values:
    """The operands combined from left to right; bits of negative numbers are those of two's complement."""
    result = reduce(_ELTWISE[operator], parts)
    return saturated(result) if saturates else result


def saturated(values: Values) -> Values:
    return np.clip(values, LOWEST, HIGHEST)


def flattened(values: Values) -> Values:
    """Every value a channel of one pixel: by channel, row, column."""
    return values.reshape(-1, 1, 1)


def convolved_size(operation: Operation, size: Size, kernel: Kernel) -> Size:
    """What a convolution makes of a picture; `size` as it comes out of pooling, or (1, 1) after flattening."""
    if operation == "linear":
        return size
    rows, columns = (
        (side - 1) * stride - 2 * pad + dilation * (window - 1) + output_pad + 1
        if operation == "convtranspose2d"
        else (side + 2 * pad - dilation * (window - 1) - 1) // stride + 1
        for side, window, stride, pad, dilation, output_pad in zip(
            size, kernel.size, kernel.stride, kernel.pad, kernel.dilation, kernel.output_pad, strict=True
        )
    )
    return (rows, 1) if operation == "conv1d" else (rows, columns)


def sums(operation: Operation, values: Values, kernel: Kernel) -> Values:
    """The sums of products and the bias, at full width."""
    stride, pad, dilation = kernel.stride, kernel.pad, kernel.dilation
    ends = (0, 0)
    if operation == "linear":
        stride, pad, dilation = (1, 1), (0, 0), (1, 1)
    elif operation == "conv1d":
        stride, pad, dilation = (stride[0], 1), (pad[0], 0), (dilation[0], 1)
    elif operation == "convtranspose2d":
        values = stuffed(values, stride)
        rows, columns = (
            step * (window - 1) - side for step, window, side in zip(dilation, kernel.size, pad, strict=True)
        )
        stride, pad, ends = (1, 1), (rows, columns), kernel.output_pad
    around = ((0, 0), (pad[0], pad[0] + ends[0]), (pad[1], pad[1] + ends[1]))
    result = _correlated(np.pad(values, around), kernel.weights, stride, dilation, kernel.groups)
    if kernel.bias is not None:
        result += BIAS_FACTOR * kernel.bias.astype(np.int64)[:, None, None]
    return result


def stuffed(values: Values, factor: Size) -> Values:
    """Zeros between the pixels."""
    channels, rows, columns = values.shape
    result = np.zeros((channels, (rows - 1) * factor[0] + 1, (columns - 1) * factor[1] + 1), np.int64)
    result[:, :: factor[0], :: factor[1]] = values
    return result


def _correlated(values: Values, weights: NDArray[np.int8], stride: Size, dilation: Size, groups: int) -> Values:
    """The plain correlation of a picture that is padded already."""
    out_channels, per_group, kernel_rows, kernel_columns = weights.shape
    rows, columns = (
        (side - (window - 1) * step - 1) // by + 1
        for side, window, step, by in zip(values.shape[1:], weights.shape[2:], dilation, stride, strict=True)
    )
    picture = values.astype(np.float64)
    factors = weights.astype(np.float64).reshape(groups, out_channels // groups, *weights.shape[1:])
    result = np.zeros((groups, out_channels // groups, rows * columns))
    for row in range(kernel_rows):
        for column in range(kernel_columns):
            down = slice(row * dilation[0], row * dilation[0] + (rows - 1) * stride[0] + 1, stride[0])
            right = slice(column * dilation[1], column * dilation[1] + (columns - 1) * stride[1] + 1, stride[1])
            result += factors[:, :, :, row, column] @ picture[:, down, right].reshape(groups, per_group, -1)
    return result.astype(np.int64).reshape(out_channels, rows, columns)


def total_shift(output_shift: int, bits: int) -> int:
    """Small weights count as if they stood in the upper bits of a byte."""
    return output_shift + 8 - abs(bits)


def narrowed(values: Values, shift: int) -> Values:
    """Sums as 8-bit values: multiplied by 2**shift, the fraction rounded to the nearest and halves up, saturated."""
    down = _FRACTION - shift
    if down > 0:
        values = (values + (1 << (down - 1))) >> down
    else:
        values = values << -down
    return saturated(values)


def activated(values: Values, activation: Activation | None) -> Values:
    """8-bit values after activation: none of them is negative, and none is above 127."""
    if activation == "relu":
        return np.maximum(values, 0)
    if activation == "abs":
        return np.minimum(np.abs(values), HIGHEST)
    return values
