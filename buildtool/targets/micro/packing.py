"""How constants are stored for the kernels of each instruction set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from buildtool.targets.micro.network import Bytes, Conv, Dense, Depthwise, Layer


@dataclass(frozen=True)
class Packed:
    """The constants of a convolution or product."""

    weights: Bytes
    pairs: NDArray[np.int32]  # biases and multipliers in turns
    shifts: NDArray[np.int8]

    @property
    def bytes(self) -> int:
        return self.weights.nbytes + self.pairs.nbytes + self.shifts.nbytes


def packed(layer: Conv | Dense, kernel_set: str) -> Packed:
    """With the zero point of the input in the biases."""
    if isinstance(layer, Depthwise):
        weights = layer.weights
    elif isinstance(layer, Dense):
        weights = _DENSE[kernel_set](layer.weights)
    else:
        weights = _CONV[kernel_set](layer.weights)
    sums = layer.weights.reshape(len(layer.weights), -1).astype(np.int64).sum(axis=1)
    bias = layer.bias.astype(np.int64) - layer.inputs[0].zero * sums
    pairs = np.stack([bias, np.asarray(layer.multipliers, np.int64)], axis=1)
    return Packed(
        np.ascontiguousarray(weights).reshape(-1).astype(np.int8),
        pairs.reshape(-1).astype(np.int32),
        np.asarray(layer.shifts, np.int8),
    )


def scratch(layer: Layer, kernel_set: str) -> int:
    """Bytes of memory that the kernel of a layer works in."""
    if isinstance(layer, Depthwise):
        return _plane(layer, 2 if kernel_set == "dsp" else 1)
    if isinstance(layer, Conv):
        depth = int(layer.weights[0].size)
        row = depth // layer.window.kernel[0]
        return {
            "portable": 2 * depth,
            "dsp": 8 * rounded(rounded(row, 4) * layer.window.kernel[0], 8) + rounded(row, 4),
            "mve": 4 * (rounded(depth, 16) + 16),
        }[kernel_set]
    return 0


def _plane(layer: Depthwise, size: int) -> int:
    """A copy of one channel with its border, and the sums of one row."""
    (kh, kw), (sh, sw), (dh, dw) = layer.window.kernel, layer.window.strides, layer.window.dilations
    _, rows, columns, _ = layer.output.shape
    height, width = (rows - 1) * sh + (kh - 1) * dh + 1, (columns - 1) * sw + (kw - 1) * dw + 1
    if size == 2:
        width = rounded(width + 2, 2)
    return rounded(height * width * size, 4) + 4 * rounded(columns, 4) + 16


def rounded(value: int, step: int) -> int:
    """Up to a multiple of a step."""
    return -(-value // step) * step


def _padded(array: NDArray[Any], sizes: Sequence[int]) -> NDArray[Any]:
    return np.pad(array, [(0, size - now) for size, now in zip(sizes, array.shape, strict=True)])


def _plain(weights: Bytes) -> Bytes:
    return weights


def _conv_dsp(weights: Bytes) -> Bytes:
    """Of two channels the bytes (k, k + 2), then (k + 1, k + 3): [O/2, K/4, 2, k pair, channel]."""
    made, height, *_ = weights.shape
    rows = weights.reshape(made, height, -1)
    even = rounded(made, 2)
    rows = _padded(rows, (even, height, rounded(rows.shape[2], 4))).reshape(even, -1)
    rows = _padded(rows, (even, rounded(rows.shape[1], 8)))
    return rows.reshape(even // 2, 2, -1, 2, 2).transpose(0, 2, 4, 3, 1)


def _dense_dsp(weights: Bytes) -> Bytes:
    """Of four outputs four bytes each in turns: [O/4, K/4, output, k]."""
    made, deep = (rounded(size, 4) for size in weights.shape)
    return _padded(weights, (made, deep)).reshape(made // 4, 4, -1, 4).transpose(0, 2, 1, 3)


_CONV = {"portable": _plain, "dsp": _conv_dsp}
_DENSE = {"portable": _plain, "dsp": _dense_dsp}
