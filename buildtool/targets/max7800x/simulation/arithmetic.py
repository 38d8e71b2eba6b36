"""What each step of a layer computes, in whole numbers and to the last bit.

Values are [channels, rows, columns] of int64; one-dimensional data has one column. Sums are taken by matrix products in
double precision, which is exact: no sum comes near 2**53.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from buildtool.targets.max7800x.network import Activation, Eltwise, Kernel, Operation, Pool, Size

Values = NDArray[np.int64]

LOWEST, HIGHEST = -128, 127
BIAS_FACTOR = 128  # a stored bias counts as one times this
FRACTION = 7  # bits behind the point of a product of two values

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


@dataclass(frozen=True)
class Geometry:
    """How a kernel goes over a picture: zeros come between and around the pixels, and the rest is a plain walk."""

    stuffing: Size  # from one value to the next
    pad: Size  # before the first value
    padded_size: Size
    stride: Size
    dilation: Size
    out_size: Size


def geometry(operation: Operation, size: Size, kernel: Kernel) -> Geometry:
    """Of a convolution; `size` as it comes out of pooling, or (1, 1) after flattening."""
    window = kernel.weights.shape[2:]
    stride, pad, dilation = kernel.stride, kernel.pad, kernel.dilation
    stuffing, ends = (1, 1), (0, 0)
    if operation == "linear":
        stride, pad, dilation = (1, 1), (0, 0), (1, 1)
    elif operation == "conv1d":
        stride, pad, dilation = (stride[0], 1), (pad[0], 0), (dilation[0], 1)
    elif operation == "convtranspose2d":
        pad = (dilation[0] * (window[0] - 1) - pad[0], dilation[1] * (window[1] - 1) - pad[1])
        stuffing, stride, ends = stride, (1, 1), kernel.output_pad
    rows, columns = ((size[i] - 1) * stuffing[i] + 1 + 2 * pad[i] + ends[i] for i in (0, 1))
    out_rows, out_columns = (
        (side - (window[i] - 1) * dilation[i] - 1) // stride[i] + 1 for i, side in enumerate((rows, columns))
    )
    return Geometry(stuffing, pad, (rows, columns), stride, dilation, (out_rows, out_columns))


def sums(operation: Operation, values: Values, kernel: Kernel) -> Values:
    """The sums of products and the bias, at full width."""
    _, rows, columns = values.shape
    walk = geometry(operation, (rows, columns), kernel)
    picture = np.zeros((len(values), *walk.padded_size))
    bottom, right = (walk.pad[i] + (side - 1) * walk.stuffing[i] + 1 for i, side in enumerate((rows, columns)))
    picture[:, walk.pad[0] : bottom : walk.stuffing[0], walk.pad[1] : right : walk.stuffing[1]] = values
    result = _correlated(picture, kernel.weights, walk, kernel.groups)
    if kernel.bias is not None:
        result += BIAS_FACTOR * kernel.bias.astype(np.int64)[:, None, None]
    return result


def _correlated(picture: NDArray[np.float64], weights: NDArray[np.int8], walk: Geometry, groups: int) -> Values:
    """The sums of products over a picture that is stuffed and padded."""
    out_channels, per_group, kernel_rows, kernel_columns = weights.shape
    factors = weights.astype(np.float64).reshape(groups, out_channels // groups, *weights.shape[1:])
    result = np.zeros((groups, out_channels // groups, walk.out_size[0] * walk.out_size[1]))
    for row in range(kernel_rows):
        for column in range(kernel_columns):
            down, across = _positions(walk, 0, row), _positions(walk, 1, column)
            result += factors[:, :, :, row, column] @ picture[:, down, across].reshape(groups, per_group, -1)
    return result.astype(np.int64).reshape(out_channels, *walk.out_size)


def _positions(walk: Geometry, axis: int, tap: int) -> slice:
    """Where a tap of the kernel reads, for all outputs along an axis."""
    first = tap * walk.dilation[axis]
    return slice(first, first + (walk.out_size[axis] - 1) * walk.stride[axis] + 1, walk.stride[axis])


def total_shift(output_shift: int, bits: int) -> int:
    """Small weights count as if they stood in the upper bits of a byte."""
    return output_shift + 8 - abs(bits)


def narrowed(values: Values, shift: int) -> Values:
    """Sums as 8-bit values: multiplied by 2**shift, the fraction rounded to the nearest and halves up, saturated."""
    down = FRACTION - shift
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
