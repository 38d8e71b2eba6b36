"""What layers cost: estimated instructions, from measurements of single layers in qemu.

The numbers in costs.json are fitted by `python -m tests.bench.micro.costs`. They serve to compare plans of one network.
"""

from __future__ import annotations

import functools
import json
from math import prod
from pathlib import Path

from buildtool.targets.micro import network as nets
from buildtool.targets.micro.network import Layer, Network
from buildtool.targets.micro.packing import vector_channels

#: These are products with matrices for the most part.
_AS_DENSE = (nets.Dense, nets.Lstm, nets.SvdfFilters, nets.SvdfTimes)


def features(layer: Layer) -> tuple[float, ...]:
    """What the instructions of a layer depend on, each with a factor of its own."""
    _, rows, columns, deep = (1, 1, 1, *layer.output.shape)[-4:]
    made = layer.output.elements
    if isinstance(layer, nets.Depthwise):
        _, height, width, channels = layer.inputs[0].shape
        return layer.macs, height * width * channels, made, rows * deep, 1.0
    if isinstance(layer, nets.Conv):
        return layer.macs, layer.macs / deep, made, rows * columns, 1.0
    if isinstance(layer, nets.MaxPool | nets.AveragePool):
        return made * prod(layer.window.kernel), made, rows * columns, 1.0
    if isinstance(layer, _AS_DENSE):
        return layer.macs, made, 1.0
    if isinstance(layer, nets.Concat):
        return made, layer.rows * len(layer.runs), 1.0
    return made, rows, 1.0


def kind(layer: Layer, kernel_set: str) -> str:
    if isinstance(layer, nets.Depthwise) and vector_channels(layer, kernel_set):
        return "depthwise by channels"
    if isinstance(layer, nets.Depthwise) and layer.window.kernel == (3, 3):
        return "depthwise 3x3"
    return "dense" if isinstance(layer, _AS_DENSE) else layer.kind


def instructions(layer: Layer, kernel_set: str) -> float:
    """Of one call. Kinds that were not measured count as copies."""
    factors = _factors()[kernel_set]
    found = factors.get(kind(layer, kernel_set), factors["pad"])
    return sum(factor * feature for factor, feature in zip(found, features(layer), strict=False))


def of_network(network: Network, kernel_set: str) -> int:
    return round(sum(instructions(layer, kernel_set) for layer in network.layers))


@functools.cache
def _factors() -> dict[str, dict[str, list[float]]]:
    found: dict[str, dict[str, list[float]]] = json.loads(Path(__file__).with_name("costs.json").read_text())
    return found
