"""The accelerator's arithmetic once more: one number at a time, from its rules, with nothing of the package's own."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product

import numpy as np
from numpy.typing import NDArray

from buildtool.targets.max7800x.network import INPUT, STOP, Layer, Network, Pool

Planes = list[list[list[int]]]  # of each channel the rows


def run(network: Network, sample: NDArray[np.int64]) -> dict[int, NDArray[np.int64]]:
    """The output of every layer that runs, by its number."""
    known: dict[int, Planes] = {INPUT: sample.tolist()}
    by_index = {layer.index: at for at, layer in enumerate(network.layers)}
    at: int | None = 0
    while at is not None and at < len(network.layers):
        layer = network.layers[at]
        known[layer.index] = _layer(network, layer, [known[source] for source in layer.sources])
        following = layer.next_layer
        at = at + 1 if following is None else None if following == STOP else by_index[following]
    return {index: np.array(planes) for index, planes in known.items() if index != INPUT}


def _layer(network: Network, layer: Layer, sources: Sequence[Planes]) -> Planes:
    rounds = network.average_rounds and layer.operation != "conv1d"
    channels = _operands(layer, sources)
    wide = layer.operation == "none" and layer.output_width == 32
    planes = []
    for parts in channels:
        if layer.pool_first:
            parts = [_pooled(part, layer.pool, rounds) for part in parts]
        plane = [
            [
                _combined(layer.eltwise, [part[row][column] for part in parts], wide)
                for column in range(len(parts[0][0]))
            ]
            for row in range(len(parts[0]))
        ]
        planes.append(plane if layer.pool_first else _pooled(plane, layer.pool, rounds))
    return planes if layer.kernel is None else _convolved(layer, planes)


def _operands(layer: Layer, sources: Sequence[Planes]) -> Iterator[list[list[list[int]]]]:
    """For each channel the planes of all operands."""
    sizes = {(len(source[0]), len(source[0][0])) for source in sources}
    if len(sizes) == 1:
        everything = [plane for source in sources for plane in source]
    else:
        everything = []
        for channel in range(len(sources[0])):
            line = [value for source in sources for row in source[channel] for value in row]
            everything.append(_rows(line, layer.in_size[1]))
    each = len(everything) // layer.operands
    for channel in range(layer.in_channels):
        planes = [everything[operand * each + layer.in_channel_skip + channel] for operand in range(layer.operands)]
        if layer.in_crop:
            planes = [plane[layer.in_crop[0] : len(plane) - layer.in_crop[1]] for plane in planes]
        yield [_rows([value for row in plane for value in row], layer.in_size[1]) for plane in planes]


def _rows(values: list[int], columns: int) -> list[list[int]]:
    return [values[start : start + columns] for start in range(0, len(values), columns)]


def _combined(operator: str | None, values: list[int], wide: bool) -> int:
    result = values[0]
    for value in values[1:]:
        if operator == "add":
            result += value
        elif operator == "sub":
            result -= value
        elif operator == "or":
            result |= value
        else:
            result ^= value
    return result if wide or len(values) == 1 else max(-128, min(127, result))


def _pooled(plane: list[list[int]], pool: Pool | None, rounds: bool) -> list[list[int]]:
    if pool is None:
        return plane
    reach = [(pool.size[axis] - 1) * pool.dilation[axis] for axis in (0, 1)]
    result = []
    for row in range(0, len(plane) - reach[0], pool.stride[0]):
        line = []
        for column in range(0, len(plane[0]) - reach[1], pool.stride[1]):
            window = [
                plane[row + y * pool.dilation[0]][column + x * pool.dilation[1]]
                for y, x in product(range(pool.size[0]), range(pool.size[1]))
            ]
            mean = Fraction(sum(window), len(window))
            nearest = math.floor(abs(mean) + Fraction(1, 2)) * (1 if mean >= 0 else -1)
            line.append(max(window) if pool.kind == "max" else nearest if rounds else int(mean))
        result.append(line)
    return result


def _convolved(layer: Layer, planes: Planes) -> Planes:
    """Every product of a value and a weight goes to the output that it belongs to."""
    kernel = layer.kernel
    assert kernel is not None
    if layer.flatten:
        planes = [[[value]] for plane in planes for row in plane for value in row]
    count, per_group, rows, columns = kernel.weights.shape
    sums = np.zeros((count, *layer.out_size), object)
    stride, pad, dilation = kernel.stride, kernel.pad, kernel.dilation
    if layer.operation == "linear":
        stride, pad, dilation = (1, 1), (0, 0), (1, 1)
    height, width = len(planes[0]), len(planes[0][0])
    for out, within, y, x in product(range(count), range(per_group), range(rows), range(columns)):
        plane = planes[out // (count // kernel.groups) * per_group + within]
        weight = 1 if layer.hints.get("bypass") else int(kernel.weights[out, within, y, x])
        for row, column in product(range(height), range(width)):
            if layer.operation == "convtranspose2d":
                # the stored weights are turned: what lies first in them belongs to the last step
                down = row * stride[0] - pad[0] + (rows - 1 - y) * dilation[0]
                right = column * stride[1] - pad[1] + (columns - 1 - x) * dilation[1]
            else:
                down, off_row = divmod(row + pad[0] - y * dilation[0], stride[0])
                right, off_column = divmod(column + pad[1] - x * dilation[1], stride[1])
                if off_row or off_column:
                    continue
            if 0 <= down < layer.out_size[0] and 0 <= right < layer.out_size[1]:
                sums[out, down, right] += weight * plane[row][column]
    return [[[_finished(layer, out, total) for total in row] for row in plane] for out, plane in enumerate(sums)]


def _finished(layer: Layer, channel: int, total: int) -> int:
    kernel = layer.kernel
    assert kernel is not None
    if kernel.bias is not None:
        total += 128 * int(kernel.bias[channel])
    if layer.output_width == 32:
        return total
    bits = 8 if layer.hints.get("bypass") else abs(kernel.bits)
    exact = Fraction(total) * Fraction(2) ** (layer.output_shift + 8 - bits - 7)
    value = max(-128, min(127, math.floor(exact + Fraction(1, 2))))
    if layer.activation == "relu":
        return max(value, 0)
    return min(abs(value), 127) if layer.activation == "abs" else value
