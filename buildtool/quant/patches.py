"""What the weights of a layer are multiplied by: the moments of its input, one group of channels beside the other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from buildtool.ir.graph import Node
from buildtool.ir.operator import Array
from buildtool.ir.quantised import dequantised, quantised
from buildtool.ir.types import QuantType, TensorType
from buildtool.ops._conv import padded, taps
from buildtool.ops._shapes import extent
from buildtool.ops.conv2d import Conv2d
from buildtool.ops.dwconv2d import DwConv2d
from buildtool.ops.fully_connected import FullyConnected

_ROWS = 1024  # of a sample: positions of a picture that are looked at, evenly spread


def groups_of(node: Node) -> int:
    """How many groups of outputs read inputs of their own; 0 where the operator has no weights that are known here."""
    if isinstance(node.op, Conv2d):
        return node.op.groups
    if isinstance(node.op, DwConv2d):
        return int(_filters(node).shape[2]) // node.op.multiplier
    return 1 if isinstance(node.op, FullyConnected) else 0


def _filters(node: Node) -> Array:
    constant = node.inputs[1].constant
    assert constant is not None
    return constant


def rows_of_weights(node: Node, weights: Array) -> Array:
    """[groups, outputs, numbers that are summed up] of a layer's weights."""
    groups = groups_of(node)
    if isinstance(node.op, DwConv2d):
        return np.moveaxis(weights.reshape(-1, groups, node.op.multiplier), 0, 2)
    return weights.reshape(groups, weights.shape[0] // groups, -1)


def weights_of_rows(node: Node, rows: Array, shape: tuple[int, ...]) -> Array:
    """The other way round."""
    if isinstance(node.op, DwConv2d):
        return np.ascontiguousarray(np.moveaxis(rows, 2, 0)).reshape(shape)
    return rows.reshape(shape)


def patches(node: Node, x: Array) -> Array:
    """[groups, positions, numbers that are summed up] of an input: what each row of weights is multiplied by."""
    groups = groups_of(node)
    if isinstance(node.op, FullyConnected):
        rows = x.reshape(-1, x.shape[-1])
        return rows[None, _spread(len(rows))]
    assert isinstance(node.op, Conv2d | DwConv2d)
    shape = _filters(node).shape
    kernel = shape[1:3] if isinstance(node.op, Conv2d) else shape[:2]
    wide = padded(x, node.op.pads)
    sides = [
        (wide.shape[1 + axis] - extent(kernel[axis], node.op.dilations[axis])) // node.op.strides[axis] + 1
        for axis in (0, 1)
    ]
    chosen = _spread(wide.shape[0] * sides[0] * sides[1])
    found = [
        part.reshape(-1, part.shape[-1])[chosen]
        for _, _, part in taps(wide, (kernel[0], kernel[1]), (sides[0], sides[1]), node.op.strides, node.op.dilations)
    ]
    by_tap = np.stack(found, axis=1).reshape(chosen.size, len(found), groups, -1)  # position, tap, group, channel
    return np.ascontiguousarray(np.moveaxis(by_tap, 2, 0)).reshape(groups, chosen.size, -1)


def _spread(count: int) -> Array:
    return np.unique(np.linspace(0, count - 1, min(count, _ROWS)).astype(np.int64))


@dataclass
class Moments:
    """Of the patches of a layer over all samples: as they are, and as they are stored."""

    node: Node
    type_: TensorType  # how the input is stored
    grid: Callable[[Array], QuantType]  # how weights are
    joint: bool = True  # whether products of two numbers are of interest: that takes a square of memory
    count: int = 0
    products: Array | float = 0.0  # [groups, numbers, numbers]: sums of products of two of them
    exact: Array | float = 0.0  # [groups, numbers]: sums
    rounded: Array | float = 0.0

    def see(self, x: Array) -> None:
        real = patches(self.node, x.astype(np.float64))
        stored = patches(self.node, dequantised(quantised(x, self.type_), self.type_))
        if self.joint:
            self.products = self.products + np.swapaxes(stored, 1, 2) @ stored
        self.exact = self.exact + real.sum(axis=1)
        self.rounded = self.rounded + stored.sum(axis=1)
        self.count += real.shape[1]

    def second(self, centred: bool) -> Array:
        """The mean of the products; `centred`: of what differs from the mean."""
        mean = np.asarray(self.rounded) / self.count
        found = np.asarray(self.products) / self.count
        return found - mean[:, :, None] * mean[:, None, :] if centred else found
