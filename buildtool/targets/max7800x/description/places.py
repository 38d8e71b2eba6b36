"""Descriptions that leave places out: where some layer has no `processors`, the planner finds what nobody wrote."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from buildtool.errors import ConfigError, Where
from buildtool.targets.max7800x import rolling
from buildtool.targets.max7800x.network import BUFFER, UNPLACED, Layer, Network
from buildtool.targets.max7800x.planning import overlap, planner


def are_left_out(written: Sequence[frozenset[str]]) -> bool:
    """Whether some layer does not say which processors work on it. `written`: the keys that each layer has."""
    return any("processors" not in keys for keys in written)


def found(network: Network, written: Sequence[frozenset[str]]) -> tuple[Network, tuple[frozenset[str], ...]]:
    """The network with all places, and the keys of its layers: there may be more, which copy and have none.

    UnsupportedError where nothing fits beside what was written, ConfigError where what was written contradicts itself.
    """
    if any(BUFFER in layer.sources or rolling.writes(layer) for layer in network.layers):
        raise ConfigError(
            "places are left out in a network with a data buffer",
            where=Where(file=network.file),
            remedy="write `processors` and offsets of all layers",
        )
    layers = tuple(_free(layer, keys) for layer, keys in zip(network.layers, written, strict=True))
    placed = planner.place(replace(network, layers=layers))
    wrong = overlap.check(placed)
    if wrong:
        raise ConfigError(wrong)
    of = {layer.source: keys for layer, keys in zip(network.layers, written, strict=True)}
    return placed, tuple(frozenset() if planner.is_copy(layer) else of[layer.source] for layer in placed.layers)


def _free(layer: Layer, keys: frozenset[str]) -> Layer:
    """Without the places that the file does not give."""
    return replace(
        layer,
        processors=layer.processors if "processors" in keys else 0,
        output_processors=layer.output_processors if "output_processors" in keys else 0,
        in_offset=layer.in_offset if "in_offset" in keys else UNPLACED,
        out_offset=layer.out_offset if "out_offset" in keys else UNPLACED,
    )
