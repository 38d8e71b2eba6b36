"""How constants are stored for the kernels of each instruction set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from buildtool.targets.micro.network import (
    Bytes,
    Conv,
    ConvNibbles,
    Defined,
    Dense,
    DenseNibbles,
    Depthwise,
    DepthwiseNibbles,
    Layer,
    Lstm,
)

_WIDE = 64  # kLmWide of native/micro/ops/fixed_point.h


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
    if isinstance(layer, DepthwiseNibbles):
        found = _packed(layer, kernel_set)
        return replace(found, weights=_nibbles(found.weights.reshape(1, -1)).ravel())
    return _packed(layer, kernel_set)


def _packed(layer: Conv | Dense, kernel_set: str) -> Packed:
    if isinstance(layer, Depthwise) and vector_channels(layer, kernel_set):
        return _depthwise_mve(layer, bias_of(layer))
    if isinstance(layer, Depthwise):
        weights = layer.weights
    elif isinstance(layer, ConvNibbles):
        weights = _CONV_NIBBLES[kernel_set](layer.weights)
    elif isinstance(layer, DenseNibbles):
        weights = _DENSE_NIBBLES[kernel_set](layer.weights)
    elif isinstance(layer, Dense):
        weights = _DENSE[kernel_set](layer.weights)
    else:
        weights = _CONV[kernel_set](layer.weights)
    pairs = np.stack([bias_of(layer), np.asarray(layer.multipliers, np.int64)], axis=1)
    return Packed(
        np.ascontiguousarray(weights).reshape(-1).astype(np.int8),
        pairs.reshape(-1).astype(np.int32),
        _shifts(layer, kernel_set),
    )


def _shifts(layer: Conv | Dense, kernel_set: str) -> NDArray[np.int8]:
    """Kernels of the DSP extension double sums before they multiply. Where one could overflow, the shift says so."""
    shifts = np.asarray(layer.shifts, np.int64)
    if kernel_set == "dsp" and isinstance(layer, Conv):
        weights = np.abs(layer.weights.reshape(len(layer.weights), -1).astype(np.int64)).sum(axis=1)
        most = np.abs(layer.bias.astype(np.int64)) + 255 * weights
        shifts = shifts + np.where(most << np.maximum(shifts, 0) >= 1 << 30, _WIDE, 0)
    return shifts.astype(np.int8)


def bias_of(layer: Conv | Dense) -> NDArray[np.int64]:
    """With what the zero point of the input contributes."""
    sums = layer.weights.reshape(len(layer.weights), -1).astype(np.int64).sum(axis=1)
    found: NDArray[np.int64] = layer.bias.astype(np.int64) - layer.inputs[0].zero * sums
    return found


def interleaved(layer: Lstm, kernel_set: str) -> tuple[Bytes, NDArray[np.int32]]:
    """By unit: weights of its gates for the input, then for the last outputs. Biases, with zero points, likewise."""
    by_four = _DENSE[kernel_set]
    rows = [
        np.ascontiguousarray(by_four(weights[:, unit])).ravel()
        for unit in range(layer.weights.shape[1])
        for weights in (layer.weights, layer.recurrent)
    ]
    given, kept = (part.astype(np.int64).sum(axis=2).T for part in (layer.weights, layer.recurrent))
    biases = np.stack([layer.bias.T - layer.inputs[0].zero * given, -layer.output.zero * kept], axis=1)
    return np.concatenate(rows), biases.ravel().astype(np.int32)


def vector_channels(layer: Depthwise, kernel_set: str) -> bool:
    """Whether the kernel of a layer computes several channels of a place at a time."""
    return kernel_set == "mve" and layer.multiplicity == 1 and (len(layer.weights) - 1) % 16 > 8


def scratch(layer: Layer, kernel_set: str) -> int:
    """Bytes of memory that the kernel of a layer works in."""
    if isinstance(layer, Defined):
        return layer.function.work
    if isinstance(layer, Lstm):
        return 3 * layer.output.shape[2]
    if isinstance(layer, DepthwiseNibbles):
        return rounded(_packed(layer, kernel_set).weights.size, 8) + _plain_scratch(layer, kernel_set)
    return _plain_scratch(layer, kernel_set)


def _plain_scratch(layer: Layer, kernel_set: str) -> int:
    if isinstance(layer, Depthwise) and vector_channels(layer, kernel_set):
        taps = layer.window.kernel[0] * layer.window.kernel[1]
        return 8 * rounded(taps, 2) + rounded(layer.inputs[0].shape[3], 16)
    if isinstance(layer, Depthwise):
        return _plane(layer, 2 if kernel_set == "dsp" else 1)
    if isinstance(layer, ConvNibbles) and kernel_set == "portable":
        return 2 * int(layer.weights[0].size) + 16
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
    sums = max(rounded(columns, 4), 128 if size == 2 else 0) + 4
    return rounded(height * width * size, 4) + 4 * sums


def rounded(value: int, step: int) -> int:
    """Up to a multiple of a step."""
    return -(-value // step) * step


def _padded(array: NDArray[Any], sizes: Sequence[int]) -> NDArray[Any]:
    return np.pad(array, [(0, size - now) for size, now in zip(sizes, array.shape, strict=True)])


def _plain(weights: Bytes) -> Bytes:
    return weights


def _nibbles(weights: Bytes) -> Bytes:
    """Rows of two weights a byte, the first in the lower half: [O, (K + 1) / 2]."""
    rows = weights.reshape(len(weights), -1)
    pairs = _padded(rows, (len(rows), rounded(rows.shape[1], 2))).reshape(len(rows), -1, 2)
    found: Bytes = ((pairs[..., 0] & 15) | (pairs[..., 1] << 4)).astype(np.int8)
    return found


def _joined(first: NDArray[Any], second: NDArray[Any]) -> Bytes:
    """The first in the lower halves of bytes."""
    found: Bytes = ((first & 15) | (second << 4)).astype(np.int8)
    return found


def _conv_nibbles_dsp(weights: Bytes) -> Bytes:
    """Words of the kernel for bytes, two in one: [O/2, K/4, 4]."""
    words = _conv_dsp(weights).reshape(-1, 2, 4)
    return _joined(words[:, 0], words[:, 1])


def _dense_nibbles_dsp(weights: Bytes) -> Bytes:
    """Of four outputs a word each in turns, of eight weights: [O/4, K/8, output, 4]."""
    made, deep = rounded(weights.shape[0], 4), rounded(weights.shape[1], 8)
    words = _padded(weights, (made, deep)).reshape(made // 4, 4, -1, 2, 4).transpose(0, 2, 1, 3, 4)
    return _joined(words[..., 0, :], words[..., 1, :])


def _nibbles_mve(weights: Bytes) -> Bytes:
    """Of two channels sixteen weights each in sixteen bytes: [O/2, K/16, 16]."""
    words = _conv_mve(weights)
    return _joined(words[:, :, 0], words[:, :, 1])


def _dense_nibbles_mve(weights: Bytes) -> Bytes:
    """The same, of four outputs in turns: [O/4, K/16, 2, 16]."""
    words = _dense_mve(weights)
    return _joined(words[:, :, 0::2], words[:, :, 1::2])


def _conv_dsp(weights: Bytes) -> Bytes:
    """Of two channels the bytes (k, k + 2), then (k + 1, k + 3): [O/2, K/4, 2, k pair, channel]."""
    made, height, *_ = weights.shape
    rows: NDArray[Any] = weights.reshape(made, height, -1)
    even = rounded(made, 2)
    rows = _padded(rows, (even, height, rounded(rows.shape[2], 4))).reshape(even, -1)
    rows = _padded(rows, (even, rounded(rows.shape[1], 8)))
    found: Bytes = rows.reshape(even // 2, 2, -1, 2, 2).transpose(0, 2, 4, 3, 1)
    return found


def _dense_dsp(weights: Bytes) -> Bytes:
    """Of four outputs four bytes each in turns: [O/4, K/4, output, k]."""
    made, deep = rounded(weights.shape[0], 4), rounded(weights.shape[1], 8)
    found: Bytes = _padded(weights, (made, deep)).reshape(made // 4, 4, -1, 4).transpose(0, 2, 1, 3)
    return found


def _conv_mve(weights: Bytes) -> Bytes:
    """Of two channels sixteen bytes each in turns: [O/2, K/16, channel, k]."""
    rows = weights.reshape(len(weights), -1)
    made, deep = rounded(rows.shape[0], 2), rounded(rows.shape[1], 16)
    found: Bytes = _padded(rows, (made, deep)).reshape(made // 2, 2, -1, 16).transpose(0, 2, 1, 3)
    return found


def _dense_mve(weights: Bytes) -> Bytes:
    """Of four outputs sixteen bytes each in turns: [O/4, K/16, output, k]."""
    made, deep = rounded(weights.shape[0], 4), rounded(weights.shape[1], 16)
    found: Bytes = _padded(weights, (made, deep)).reshape(made // 4, 4, -1, 16).transpose(0, 2, 1, 3)
    return found


#: The order in which the kernel's instructions leave sixteen channels.
_LANES = (0, 4, 8, 12, 2, 6, 10, 14, 1, 5, 9, 13, 3, 7, 11, 15)


def _depthwise_mve(layer: Depthwise, bias: NDArray[np.int64]) -> Packed:
    """Sixteen channels at a time: [C/16, tap, channel], an even number of taps; biases, then multipliers."""
    made = rounded(len(layer.weights), 16)
    taps = layer.weights.reshape(len(layer.weights), -1)
    weights = _padded(taps, (made, rounded(taps.shape[1], 2))).reshape(made // 16, 16, -1).transpose(0, 2, 1)

    def by_lanes(numbers: Any) -> NDArray[np.int64]:
        padded = np.zeros(made, np.int64)
        padded[: len(numbers)] = numbers
        return padded.reshape(-1, 16)[:, _LANES]

    pairs = np.stack([by_lanes(bias), by_lanes(layer.multipliers)], axis=1)
    return Packed(
        np.ascontiguousarray(weights).reshape(-1).astype(np.int8),
        pairs.reshape(-1).astype(np.int32),
        by_lanes(layer.shifts).reshape(-1).astype(np.int8),
    )


_CONV = {"portable": _plain, "dsp": _conv_dsp, "mve": _conv_mve}
_DENSE = {"portable": _plain, "dsp": _dense_dsp, "mve": _dense_mve}
_CONV_NIBBLES = {"portable": _nibbles, "dsp": _conv_nibbles_dsp, "mve": _nibbles_mve}
_DENSE_NIBBLES = {"portable": _nibbles, "dsp": _dense_nibbles_dsp, "mve": _dense_nibbles_mve}
