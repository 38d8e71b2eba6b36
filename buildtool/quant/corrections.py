"""Weights and biases that lose less in 8 bits: corrected biases, and roundings that fit together."""

from __future__ import annotations

import numpy as np

from buildtool.ir.operator import Array
from buildtool.ir.quantised import dequantised, limits, quantised
from buildtool.ir.types import DType, TensorType
from buildtool.quant.patches import Moments, rows_of_weights, weights_of_rows

_SWEEPS = 8  # over all weights: nearly always nothing changes any more after three or four


def rounded_together(moments: Moments, *, centred: bool) -> Array:
    """The weights on their grid, each rounded up or down so that the layer's result is nearest to the exact one.

    The squared error of the results is a quadratic form of the errors of the weights. One weight of every row after
    the other is rounded the other way where that makes it less, until none does. `centred`: the bias takes the mean of
    the error, so that only what differs from it counts.
    """
    weights, type_ = _weights(moments)
    scales = np.broadcast_to(_scales(type_), weights.shape)
    nearest = quantised(weights, type_).astype(np.float64)
    stored, goal, step = (
        rows_of_weights(moments.node, array) for array in (nearest, weights.astype(np.float64) / scales, scales)
    )
    most = limits(type_.dtype, 8)[1]
    found = _descended(np.array(stored), goal, moments.second(centred), most)
    return weights_of_rows(moments.node, (found * step).astype(np.float32), weights.shape)


def _descended(stored: Array, goal: Array, products: Array, most: int) -> Array:
    """`stored`: [groups, outputs, numbers], changed in place; in steps of the grid of each output, as `goal`."""
    floor = np.floor(goal)
    # The largest numbers stay: they define the grid.
    open_ = (goal != floor) & (np.abs(goal) < most - 0.5)
    gradient = (stored - goal) @ products
    order = np.argsort(-np.einsum("gkk->k", products), kind="stable")
    for _ in range(_SWEEPS):
        changed = False
        for place in order:
            other = 2 * floor[:, :, place] + 1 - stored[:, :, place]
            delta = other - stored[:, :, place]
            own = products[:, place, place][:, None]
            gain = 2 * delta * gradient[:, :, place] + np.square(delta) * own
            better = open_[:, :, place] & (np.abs(delta) == 1) & (gain < -1e-9 * own)
            if not better.any():
                continue
            changed = True
            groups, outputs = np.nonzero(better)
            stored[groups, outputs, place] = other[groups, outputs]
            gradient[groups, outputs] += delta[groups, outputs, None] * products[groups, place]
        if not changed:
            break
    return stored


def corrected_bias(moments: Moments, weights: Array) -> Array:
    """The bias with what the mean of the layer's sums loses, where these weights and the input are stored."""
    exact, _ = _weights(moments)
    type_ = _stored_type(weights, moments)
    real = rows_of_weights(moments.node, exact.astype(np.float64))
    stored = rows_of_weights(moments.node, dequantised(quantised(weights, type_), type_))
    lost = real @ (np.asarray(moments.exact) / moments.count)[:, :, None]
    lost = lost - stored @ (np.asarray(moments.rounded) / moments.count)[:, :, None]
    bias = moments.node.input(2)
    before = np.zeros(lost.size) if bias is None else np.asarray(bias.constant, np.float64)
    return np.asarray(before + lost.reshape(-1), np.float32)


def _weights(moments: Moments) -> tuple[Array, TensorType]:
    weights = moments.node.inputs[1].constant
    assert weights is not None
    return weights, _stored_type(weights, moments)


def _stored_type(weights: Array, moments: Moments) -> TensorType:
    return TensorType(DType.S8, tuple(weights.shape), moments.grid(weights))


def _scales(type_: TensorType) -> Array:
    """Over the weights, as they are broadcast."""
    assert type_.quant is not None and type_.quant.axis is not None
    shape = [1] * type_.rank
    shape[type_.quant.axis] = -1
    return np.asarray(type_.quant.scales, np.float32).astype(np.float64).reshape(shape)
