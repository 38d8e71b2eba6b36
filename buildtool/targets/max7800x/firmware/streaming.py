"""Layers that work while their input still arrives: it goes round in a ring, of as many words as a layer looks back."""

from __future__ import annotations

from buildtool.targets.max7800x.firmware import registers_streaming
from buildtool.targets.max7800x.firmware.hardware import layers_of
from buildtool.targets.max7800x.network import Layer, Network


def streamed(network: Network) -> tuple[Layer, ...]:
    """The layers at the beginning whose input streams in."""
    found: list[Layer] = []
    for layer in network.layers:
        if not layer.streaming:
            break
        found.append(layer)
    return tuple(found)


def ring_words(network: Network, layer: Layer) -> int:
    """Words of the ring that a streaming layer reads from, in each memory: those of its register."""
    layers = layers_of(network)
    at = next(at for at, hardware in enumerate(layers) if hardware.layer.index == layer.index)
    return registers_streaming.ring_words(network, layers, at)
