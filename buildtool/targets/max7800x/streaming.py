"""Layers that work while their input still arrives: it goes round in a ring, of as many words as a layer looks back."""

from __future__ import annotations

from dataclasses import replace

from buildtool.targets.max7800x.hardware import layers_of
from buildtool.targets.max7800x.network import Layer, Network
from buildtool.targets.max7800x.options import Options
from buildtool.targets.max7800x.registers_streaming import streaming_of


def streamed(network: Network) -> tuple[Layer, ...]:
    """The layers at the beginning whose input streams in."""
    found: list[Layer] = []
    for layer in network.layers:
        if not layer.streaming:
            break
        found.append(layer)
    return tuple(found)


def ring_words(network: Network, layer: Layer) -> int:
    """Words of the ring that a streaming layer reads from, in each memory: what its registers say."""
    hardware = layers_of(network)
    at = next(position for position, one in enumerate(hardware) if one.layer.index == layer.index)
    rollover = streaming_of(replace(network, fifo=True), hardware, at, Options()).rollover
    assert rollover is not None
    return rollover
