"""What each layer computes, to the last bit, in NumPy: the arithmetic of LiteRT's reference kernels."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from buildtool.targets.micro import curves, short_reference
from buildtool.targets.micro import network as nets
from buildtool.targets.micro.fixed_point import clamped, high_product, scaled, scaled_once, shifted_right
from buildtool.targets.micro.network import Layer, Network, Tensor
from buildtool.targets.micro.short_reference import windows

Array = NDArray[Any]
Values = NDArray[np.int64]


def evaluate(network: Network, inputs: Mapping[str, Array]) -> dict[str, Array]:
    """The outputs of a network by name."""
    known = values(network, inputs)
    return {tensor.name: _part(known, network, tensor) for tensor in network.outputs}


def values(network: Network, inputs: Mapping[str, Array]) -> dict[Tensor, Array]:
    """Everything that the layers make, by the tensors that have memory."""
    known = {network.storage(tensor): inputs[tensor.name].copy().ravel() for tensor in network.inputs}
    for layer in network.layers:
        made = _KERNELS[type(layer)](layer, *(_part(known, network, tensor) for tensor in layer.inputs))
        owner = network.storage(layer.output)
        if owner not in known:
            known[owner] = np.zeros(owner.elements, owner.dtype)
        _part(known, network, layer.output)[...] = made.reshape(layer.output.shape)
    return known


def _part(known: Mapping[Tensor, Array], network: Network, tensor: Tensor) -> Array:
    """A tensor in the memory that holds it."""
    start = network.start(tensor) // np.dtype(tensor.dtype).itemsize
    return known[network.storage(tensor)][start : start + tensor.elements].reshape(tensor.shape)


def _stored(layer: Layer, sums: Values, multiplier: Any, shift: Any) -> Array:
    found = scaled(sums, np.asarray(multiplier, np.int64), np.asarray(shift, np.int64)) + layer.output.zero
    return clamped(found, layer.low, layer.high)


def _conv(layer: nets.Conv, x: Array) -> Array:
    zero = layer.inputs[0].zero
    seen = windows(x.astype(np.int64), layer.window, layer.output.shape, zero) - zero
    sums = seen.reshape(-1, layer.weights[0].size) @ layer.weights.reshape(len(layer.weights), -1).T.astype(np.int64)
    return _stored(layer, sums + layer.bias, layer.multipliers, layer.shifts)


def _depthwise(layer: nets.Depthwise, x: Array) -> Array:
    zero = layer.inputs[0].zero
    seen = windows(x.astype(np.int64), layer.window, layer.output.shape, zero) - zero
    seen = np.repeat(seen, layer.multiplicity, axis=-1)
    sums = np.einsum("abhwc,chw->abc", seen, layer.weights[..., 0].astype(np.int64))
    return _stored(layer, sums + layer.bias, layer.multipliers, layer.shifts)


def _dense(layer: nets.Dense, x: Array) -> Array:
    seen = x.reshape(layer.rows, -1).astype(np.int64) - layer.inputs[0].zero
    sums = seen @ layer.weights.T.astype(np.int64) + layer.bias
    shifts = np.asarray(layer.shifts, np.int64)
    found = scaled_once(sums, np.asarray(layer.multipliers, np.int64), shifts) + layer.output.zero
    return clamped(found, layer.low, layer.high)


def _max_pool(layer: nets.MaxPool, x: Array) -> Array:
    seen = windows(x.astype(np.int64), layer.window, layer.output.shape, -128)
    return clamped(seen.max(axis=(2, 3)), layer.low, layer.high)


def _average_pool(layer: nets.AveragePool, x: Array) -> Array:
    sums = windows(x.astype(np.int64), layer.window, layer.output.shape, 0).sum(axis=(2, 3))
    counts = windows(np.ones_like(x, np.int64), layer.window, layer.output.shape, 0).sum(axis=(2, 3))
    halves = np.where(sums >= 0, counts // 2, -(counts // 2))
    found = np.sign(sums + halves) * (np.abs(sums + halves) // counts)
    return clamped(found, layer.low, layer.high)


def _mean(layer: nets.Mean, x: Array) -> Array:
    sums = (x.astype(np.int64) - layer.inputs[0].zero).sum(axis=(1, 2))
    return _stored(layer, sums, layer.multiplier, layer.shift)


def _add(layer: nets.Add, x: Array, y: Array) -> Array:
    parts = [
        scaled((operand.astype(np.int64) - tensor.zero) << 20, multiplier, shift)
        for operand, tensor, multiplier, shift in zip(
            (x, y), layer.inputs, layer.multipliers[:2], layer.shifts[:2], strict=True
        )
    ]
    return _stored(layer, parts[0] + parts[1], layer.multipliers[2], layer.shifts[2])


def _mul(layer: nets.Mul, x: Array, y: Array) -> Array:
    products = (x.astype(np.int64) - layer.inputs[0].zero) * (y.astype(np.int64) - layer.inputs[1].zero)
    return _stored(layer, products, layer.multiplier, layer.shift)


def _table(layer: nets.Table, x: Array) -> Array:
    found: Array = layer.table[x.view(np.int8).astype(np.int64) + 128].view(layer.output.dtype)
    return found


def _softmax(layer: nets.Softmax, x: Array) -> Array:
    rows = x.reshape(-1, x.shape[-1]).astype(np.int64)
    exponentials = layer.exponentials.astype(np.int64)[rows.max(axis=1, keepdims=True) - rows]
    sums = shifted_right(exponentials, 12).sum(axis=1)
    headroom = 32 - np.array([int(total).bit_length() for total in sums], np.int64)
    inverse = _inverse((sums << headroom) - (1 << 31))
    found = shifted_right(high_product(exponentials, inverse[:, None]), (12 - headroom + 31 - 8)[:, None])
    return clamped(found - 128, -128, 127)


def _inverse(values: Values) -> Values:
    """1 / (1 + x) for x in [0, 1), Q0.31, by three steps of Newton's method."""
    total = values + ((1 << 31) - 1)
    half = (total + 1) // 2
    x = 1515870810 + high_product(half, -1010580540)
    for _ in range(3):
        x = x + (high_product(x, (1 << 29) - high_product(half, x)) << 2)
    found: Values = np.minimum(x << 1, (1 << 31) - 1)
    return found


def _lstm(layer: nets.Lstm, x: Array) -> Array:
    """Sums of inputs and of last outputs are scaled to 3 integer bits, each on its own."""
    units, zeros = layer.output.shape[2], (layer.inputs[0].zero, layer.output.zero)
    steps = (x if layer.time_major else x.transpose(1, 0, 2)).astype(np.int64) - zeros[0]
    hidden = np.zeros((layer.batches, units), np.int64)
    cell, made = hidden, []
    for seen in steps:
        sums: list[Values] = []
        for gate in range(4):
            given = seen @ layer.weights[gate].T.astype(np.int64) + layer.bias[gate]
            kept = hidden @ layer.recurrent[gate].T.astype(np.int64)
            sums.append(_short(_short(scaled(given, *layer.given[gate])) + scaled(kept, *layer.kept[gate])))
        opened, forget, out = (curves.sigmoid(sums[gate]) for gate in (0, 1, 3))
        fresh = curves.halved(opened * curves.tanh(sums[2], 3), 30 - layer.cell_shift)
        cell = np.clip(_short(curves.halved(forget * cell, 15) + fresh), -layer.clip, layer.clip)
        given = scaled(out * curves.tanh(cell, 15 - layer.cell_shift), *layer.hidden)
        made.append(clamped(given + zeros[1], -128, 127))
        hidden = made[-1].astype(np.int64) - zeros[1]
    return np.stack(made, axis=0 if layer.time_major else 1)


def _short(values: Values) -> Values:
    found: Values = np.clip(values, -(1 << 15), (1 << 15) - 1)
    return found


def _svdf_filters(layer: nets.SvdfFilters, x: Array, past: Array) -> Array:
    sums = (x.astype(np.int64) - layer.inputs[0].zero) @ layer.weights.T.astype(np.int64)
    held = past.reshape(*sums.shape, layer.memory)
    newest = _short(scaled(sums, *layer.factor)).astype(np.int16)
    return np.concatenate([held[..., 1:], newest[..., None]], axis=2)


def _svdf_times(layer: nets.SvdfTimes, past: Array) -> Array:
    weighed = (past.reshape(-1, *layer.times.shape).astype(np.int64) * layer.times).sum(axis=2)
    sums = weighed.reshape(len(weighed), -1, layer.rank).sum(axis=2) + layer.bias
    return _stored(layer, sums, *layer.factor)


def _concat(layer: nets.Concat, *parts: Array) -> Array:
    return np.concatenate([part.reshape(layer.rows, -1) for part in parts], axis=1)


def _pad(layer: nets.Pad, x: Array) -> Array:
    _, rows, columns, _ = layer.output.shape
    (top, left), (_, height, width, _) = layer.before, x.shape
    sides = ((0, 0), (top, rows - height - top), (left, columns - width - left), (0, 0))
    return np.pad(x, sides, constant_values=layer.value)


def _move(layer: nets.Move, x: Array) -> Array:
    at = np.full(1, layer.start, np.int64)
    for count, step in reversed(layer.loops):
        at = (at[:, None] + np.arange(count) * step).ravel()
    return x.ravel().view(np.int8)[at].view(layer.output.dtype)


def _gather(layer: nets.Gather, x: Array) -> Array:
    found: Array = x.ravel().view(np.int8)[layer.places[:, None] + np.arange(layer.run)]
    return found.view(layer.output.dtype)


def _keep(_: nets.Keep, x: Array) -> Array:
    return np.array(x)


def _quantize(layer: nets.Quantize, x: Array) -> Array:
    scaled_ = x.astype(np.float32) / np.float32(layer.output.scale)
    rounded = np.trunc(scaled_ + np.copysign(np.float32(0.5), scaled_)).astype(np.float64)
    return np.asarray(np.clip(rounded + layer.output.zero, -128, 127), np.int8)


def _dequantize(layer: nets.Dequantize, x: Array) -> Array:
    (tensor,) = layer.inputs
    return np.asarray((x.astype(np.int32) - tensor.zero).astype(np.float32) * np.float32(tensor.scale), np.float32)


def _defined(layer: nets.Defined, *arrays: Array) -> Array:
    operands = (arrays[each] if isinstance(each, int) else each for each in layer.operands)
    with np.errstate(all="ignore"):
        return np.asarray(layer.operator.reference(*operands)[layer.which], layer.output.dtype)


_KERNELS: Mapping[type[Layer], Callable[..., Array]] = {
    nets.Conv: _conv,
    nets.ConvNibbles: _conv,
    nets.DepthwiseNibbles: _depthwise,
    nets.Depthwise: _depthwise,
    nets.Dense: _dense,
    nets.DenseNibbles: _dense,
    nets.MaxPool: _max_pool,
    nets.AveragePool: _average_pool,
    nets.Mean: _mean,
    nets.Add: _add,
    nets.Mul: _mul,
    nets.Table: _table,
    nets.Softmax: _softmax,
    nets.Lstm: _lstm,
    nets.SvdfFilters: _svdf_filters,
    nets.SvdfTimes: _svdf_times,
    nets.Concat: _concat,
    nets.Pad: _pad,
    nets.Move: _move,
    nets.Gather: _gather,
    nets.Keep: _keep,
    nets.Quantize: _quantize,
    nets.Dequantize: _dequantize,
    nets.Defined: _defined,
    **short_reference.KERNELS,
}
