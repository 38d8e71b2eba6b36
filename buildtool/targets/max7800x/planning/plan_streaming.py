"""Which layers at the beginning are streamed, where data does not fit."""

from __future__ import annotations

from dataclasses import replace

from buildtool.targets.max7800x.network import INPUT, Network
from buildtool.targets.max7800x.processors import passes

MOST_LAYERS = 8
MOST_FIFO_CHANNELS = 16


def can_stream(network: Network, count: int) -> bool:
    """Whether the first so many layers may be streamed: a chain of convolutions that nobody else reads from."""
    if count > min(MOST_LAYERS, len(network.layers)) or network.input_channels > MOST_FIFO_CHANNELS:
        return False
    chain = network.layers[:count]
    for position, layer in enumerate(chain):
        expected = INPUT if position == 0 else chain[position - 1].index
        if layer.sources != (expected,) or layer.operation != "conv2d" or layer.flatten or layer.operands > 1:
            return False
        if layer.is_output or layer.kernel is None or layer.kernel.size != (3, 3) or layer.write_gap:
            return False
    kernel = chain[-1].kernel
    if kernel is None or 0 in kernel.pad or sum(passes(layer.in_channels) for layer in chain[:-1]) >= 16:
        return False
    made = {INPUT, *(layer.index for layer in chain[:-1])}
    return not any(made & set(layer.sources) for layer in network.layers[count:])


def with_streaming(network: Network, count: int) -> Network:
    """The network with its first so many layers streamed, fed through the FIFO."""
    layers = tuple(
        replace(layer, streaming=position < count, big_data=layer.big_data and position >= count)
        for position, layer in enumerate(network.layers)
    )
    return replace(network, layers=layers, fifo=network.fifo or count > 0)
