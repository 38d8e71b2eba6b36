"""Random networks for torch, quantised, with every kind of layer that the chips have."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import nn

from buildtool.training import ai8x, models

BITS = (8, 4, 2, 1)
_WORDS = ("", "ReLU", "Abs")


class Chain(nn.Module):
    """A chain of layers with two branches that meet again, as a sum or side by side, and a class at the end."""

    def __init__(self, rng: np.random.Generator, *, flat: bool, depthwise: bool) -> None:
        super().__init__()
        self.flat, self.channels, self.size = flat, int(rng.integers(1, 5)), int(rng.integers(8, 12))
        self.shape = (self.channels, self.size) if flat else (self.channels, self.size, self.size)
        self.first = self._layer(rng, self.channels, 8)
        width = 8
        self.left, self.right = self._layer(rng, width, width), self._layer(rng, width, width)
        self.meeting = str(rng.choice(("Add", "Sub", "Or", "Xor", "cat")))
        self.meet = getattr(ai8x, self.meeting)() if self.meeting != "cat" else None
        width *= 1 if self.meet is not None else 2
        self.pool = getattr(ai8x, f"{rng.choice(('Max', 'Avg'))}Pool{1 if flat else 2}d")(2)
        self.alone = ai8x.LAYERS["DepthwiseConv2d"](width, width, 3, padding=1) if depthwise and not flat else None
        up = not flat and rng.random() < 0.3
        self.up = ai8x.LAYERS["FusedConvTranspose2dReLU"](width, 4, 3) if up else None
        size = (self.size // 2 * (2 if up else 1)) ** (1 if flat else 2)
        self.fc = ai8x.LAYERS["Linear"]((4 if up else width) * size, 5, bias=True, wide=bool(rng.random() < 0.5))

    def _layer(self, rng: np.random.Generator, channels: int, out: int) -> nn.Module:
        word = rng.choice(_WORDS)
        kernel = int(rng.choice((1, 3)))
        name = f"Conv{1 if self.flat else 2}d{rng.choice(('', 'BN'))}{word}"
        layer = ai8x.LAYERS.get(f"Fused{name}") or ai8x.LAYERS[name]
        return layer(channels, out, kernel, padding=kernel // 2, bias=bool(rng.random() < 0.5))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.first(x)
        left, right = self.left(x), self.right(x)
        x = torch.cat((left, right), 1) if self.meet is None else self.meet(left, right)
        x = self.pool(x)
        if self.alone is not None:
            x = self.alone(x)
        if self.up is not None:
            x = self.up(x)
        return self.fc(x.view(x.size(0), -1))


def random_network(seed: int, *, depthwise: bool) -> Chain:
    """Quantised, with statistics of normalisations that it never saw."""
    rng = np.random.default_rng(seed)
    torch.manual_seed(seed)
    rounds: Callable[..., None] = ai8x.set_device
    rounds(85, False, bool(rng.random() < 0.5))
    network = Chain(rng, flat=bool(rng.random() < 0.3), depthwise=depthwise)
    rounds(85, False, False)
    for layer in models.layers_of(network).values():
        if layer.bn is not None:
            layer.bn.running_mean.normal_(0, 0.1)
            layer.bn.running_var.uniform_(0.05, 0.5)
    bits = {name: int(rng.choice(BITS)) for name in models.layers_of(network)}
    models.quantise(network, bits, float(rng.choice((1.0, 0.95))))
    return network
