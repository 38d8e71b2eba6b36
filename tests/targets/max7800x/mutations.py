"""Networks with a few numbers changed: most of them cannot be computed, and whoever computes the rest is not harmed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from buildtool.targets.max7800x.network import Layer, Network

_SIZES = ("in_size", "out_size")
_NUMBERS = ("in_channels", "out_channels", "in_channel_skip", "operands", "output_shift", "output_width")
_WORDS: dict[str, tuple[Any, ...]] = {
    "activation": (None, "relu", "abs"),
    "eltwise": (None, "add", "sub", "or", "xor"),
    "flatten": (True, False),
    "pool_first": (True, False),
    "operation": ("none", "conv1d", "conv2d", "convtranspose2d", "linear"),
    "pool": (None,),
}
_PARTS = {"kernel": ("size", "stride", "pad", "dilation", "output_pad"), "pool": ("size", "stride", "dilation")}


def mutated(network: Network, seed: int) -> Network:
    """One to three changes in its layers."""
    rng = np.random.default_rng(seed)
    layers = list(network.layers)
    for _ in range(rng.integers(1, 4)):
        at = int(rng.integers(len(layers)))
        layers[at] = _changed(layers[at], rng)
    return replace(network, layers=tuple(layers))


def _changed(layer: Layer, rng: np.random.Generator) -> Layer:
    def near(number: int) -> int:
        return int(rng.choice([number + 1, number - 1, 0, -1, 1, 2, 3, 7, 2 * number, 1 << 16]))

    def size(old: tuple[int, int]) -> tuple[int, int]:
        return (near(old[0]), old[1]) if rng.integers(2) else (old[0], near(old[1]))

    kind = int(rng.integers(6))
    if kind == 0:
        name = str(rng.choice(_SIZES))
        return replace(layer, **{name: size(getattr(layer, name))})  # type: ignore[arg-type]
    if kind == 1:
        name = str(rng.choice(_NUMBERS))
        return replace(layer, **{name: near(getattr(layer, name))})  # type: ignore[arg-type]
    if kind == 2:
        name = str(rng.choice(list(_WORDS)))
        return replace(layer, **{name: _WORDS[name][int(rng.integers(len(_WORDS[name])))]})
    if kind == 3:
        count = int(rng.integers(1, 4))
        return replace(layer, sources=tuple(int(rng.integers(-3, layer.index + 2)) for _ in range(count)))
    if kind == 4:
        return replace(layer, in_crop=(int(rng.integers(-1, 4)), int(rng.integers(-1, 4))))
    part = str(rng.choice(list(_PARTS)))
    old = getattr(layer, part)
    if old is None:
        return layer
    name = str(rng.choice(_PARTS[part]))
    return replace(layer, **{part: replace(old, **{name: size(getattr(old, name))})})
