"""What layers with activations of 16 bits compute, to the last bit: the arithmetic of LiteRT's reference kernels."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from buildtool.targets.micro import network as nets
from buildtool.targets.micro.fixed_point import scaled
from buildtool.targets.micro.network import Layer, Window
from buildtool.targets.micro.short_packing import exponentials, inverses, reduced, sigmoids

Array = NDArray[Any]
Values = NDArray[np.int64]


def windows(x: Values, window: Window, shape: tuple[int, ...], fill: int) -> Values:
    """The elements of x[1, H, W, C] under each output place: [OH, OW, KH, KW, C]."""
    (kh, kw), (sh, sw), (top, left), (dh, dw) = window.kernel, window.strides, window.pads, window.dilations
    rows, columns = shape[1], shape[2]
    bottom = max((rows - 1) * sh + (kh - 1) * dh + 1 - top - x.shape[1], 0)
    right = max((columns - 1) * sw + (kw - 1) * dw + 1 - left - x.shape[2], 0)
    around = np.pad(x[0], ((top, bottom), (left, right), (0, 0)), constant_values=fill)
    at = np.arange(rows)[:, None] * sh + np.arange(kh) * dh
    across = np.arange(columns)[:, None] * sw + np.arange(kw) * dw
    found: Values = around[at[:, None, :, None], across[None, :, None, :]]
    return found


def _clamped(values: Values, layer: Layer) -> Array:
    return np.clip(values, layer.low, layer.high).astype(np.int16)


def _stored(layer: nets.ConvShort, sums: Values) -> Array:
    shifts = np.asarray(layer.shifts, np.int64)
    if layer.exact:
        return _clamped(_scaled_exactly(sums, np.asarray(layer.multipliers, np.int64), shifts), layer)
    products = sums * reduced(layer.multipliers).astype(np.int64)
    return _clamped((products + (np.int64(1) << (14 - shifts))) >> (15 - shifts), layer)


def _scaled_exactly(sums: Values, multipliers: Values, shifts: Values) -> Values:
    """Rounded once; the product has more than 64 bits, of which the last 16 do not matter."""
    products = (sums >> 16) * multipliers + (((sums & 0xFFFF) * multipliers) >> 16)
    found: Values = (products + (np.int64(1) << (14 - shifts))) >> (15 - shifts)
    return found


def _conv(layer: nets.ConvShort, x: Array) -> Array:
    deep = layer.weights[0].size
    if layer.rows:
        seen = x.astype(np.int64).reshape(layer.rows, deep)
    else:
        seen = windows(x.astype(np.int64), layer.window, layer.output.shape, 0).reshape(-1, deep)
    return _stored(layer, seen @ layer.weights.reshape(-1, deep).T.astype(np.int64) + layer.bias)


def _depthwise(layer: nets.DepthwiseShort, x: Array) -> Array:
    seen = windows(x.astype(np.int64), layer.window, layer.output.shape, 0)
    seen = np.repeat(seen, len(layer.weights) // x.shape[3], axis=-1)
    return _stored(layer, np.einsum("abhwc,chw->abc", seen, layer.weights[..., 0].astype(np.int64)) + layer.bias)


def _add(layer: nets.AddShort, x: Array, y: Array) -> Array:
    parts = [
        scaled(operand.astype(np.int64) << 15, multiplier, shift)
        for operand, multiplier, shift in zip((x, y), layer.multipliers, layer.shifts, strict=False)
    ]
    return _clamped(scaled(parts[0] + parts[1], layer.multipliers[2], layer.shifts[2]), layer)


def _mul(layer: nets.MulShort, x: Array, y: Array) -> Array:
    return _clamped(scaled(x.astype(np.int64) * y.astype(np.int64), layer.multiplier, layer.shift), layer)


def _rescale(layer: nets.RescaleShort, x: Array) -> Array:
    return _clamped(scaled(x.astype(np.int64), layer.multiplier, layer.shift), layer)


def _max_pool(layer: nets.MaxPoolShort, x: Array) -> Array:
    return _clamped(windows(x.astype(np.int64), layer.window, layer.output.shape, -32768).max(axis=(2, 3)), layer)


def _average_pool(layer: nets.AveragePoolShort, x: Array) -> Array:
    sums = windows(x.astype(np.int64), layer.window, layer.output.shape, 0).sum(axis=(2, 3))
    counts = windows(np.ones_like(x, np.int64), layer.window, layer.output.shape, 0).sum(axis=(2, 3))
    halves = np.where(sums >= 0, counts // 2, -(counts // 2))
    return _clamped(np.sign(sums + halves) * (np.abs(sums + halves) // counts), layer)


def _curve(layer: nets.CurveShort, x: Array) -> Array:
    """The sigmoid between entries of its table; tanh(x) = 2 sigmoid(2 x) - 1."""
    half = 1 << (layer.shift - 1) if layer.shift else 0
    at = (x.astype(np.int64) * layer.multiplier + half) >> layer.shift
    bits, table = (9 if layer.curve == "sigmoid" else 8), sigmoids().astype(np.int64)
    place = np.minimum(np.abs(at) >> bits, 255)
    inside = np.minimum(place, 254)
    found = (table[inside] << bits) + (np.abs(at) & ((1 << bits) - 1)) * (table[inside + 1] - table[inside])
    if layer.curve == "sigmoid":
        found = np.where(place == 255, 0x7FFF << 10, found)
        return (np.where(at >= 0, found + 512, (1 << 25) - found + 511) >> 10).astype(np.int16)
    found = np.where(place == 255, 0xFFFF << 8, found) - (1 << 23)
    return (np.where(at >= 0, found + 128, 127 - found) >> 8).astype(np.int16)


def _softmax(layer: nets.SoftmaxShort, x: Array) -> Array:
    rows = x.reshape(-1, x.shape[-1]).astype(np.int64)
    steps = scaled(rows - rows.max(axis=1, keepdims=True), layer.multiplier, layer.shift)
    powers = looked_up(steps + 32767, exponentials())
    sums = powers.sum(axis=1)
    headroom = 32 - np.array([int(total).bit_length() for total in sums], np.int64)
    shares = ((sums << (headroom - 1)) + (1 << 13)) >> 14
    inverse = looked_up(shares - (1 << 15) - (1 << 16), inverses())
    right = (31 - headroom)[:, None]
    return _clamped(np.maximum((powers * inverse[:, None] + (np.int64(1) << (right - 1))) >> right, 0), layer)


def looked_up(values: Values, table: NDArray[np.int16]) -> Values:
    """Between two entries, which are 128 numbers apart."""
    limited = np.clip(values, -32768, 32767)
    place, wide = 256 + (limited >> 7), table.astype(np.int64)
    found: Values = wide[place] + (((wide[place + 1] - wide[place]) * (limited & 127) + 64) >> 7)
    return found


KERNELS: Mapping[type[Layer], Callable[..., Array]] = {
    nets.ConvShort: _conv,
    nets.DepthwiseShort: _depthwise,
    nets.AddShort: _add,
    nets.MulShort: _mul,
    nets.RescaleShort: _rescale,
    nets.MaxPoolShort: _max_pool,
    nets.AveragePoolShort: _average_pool,
    nets.CurveShort: _curve,
    nets.SoftmaxShort: _softmax,
}
