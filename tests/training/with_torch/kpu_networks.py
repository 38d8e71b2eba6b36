"""Random networks of the KPU's layers for torch, quantised after a few steps."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import nn

from buildtool.training import kpu, models
from buildtool.training.kpu import exporting
from buildtool.training.kpu.layers import ACTIVATIONS


class Chain(nn.Module):
    """Layers one after the other, with every kernel, pool and activation, and what the CPU does at the end."""

    def __init__(self, rng: np.random.Generator) -> None:
        super().__init__()
        sides = (int(rng.integers(2, 5)) * 8, int(rng.integers(2, 5)) * 8)
        self.shape = (int(rng.integers(1, 4)), *sides)
        channels, least, layers = self.shape[0], min(sides), []
        for _ in range(int(rng.integers(2, 6))):
            layer, by = _drawn(rng, channels, least)
            layers.append(layer)
            channels, least = int(layer.op.out_channels), least // by
        self.layers = nn.Sequential(*layers)
        end = rng.choice(("mean", "flat", "none"))
        if end == "mean":
            self.layers.extend([kpu.GlobalAverage(), kpu.Linear(channels, 5)])
        elif end == "flat":
            with torch.no_grad():
                count = self.layers(torch.zeros(1, *self.shape)).numel()
            self.layers.extend([nn.Flatten(), kpu.Linear(count, 5)])

    def forward(self, values: torch.Tensor) -> Any:
        return self.layers(values)


class Branches(nn.Module):
    """Layers that read any earlier ones of their size, sums and concatenations of them, nested in every way."""

    def __init__(self, rng: np.random.Generator) -> None:
        super().__init__()
        side, width = int(rng.integers(1, 4)) * 8, int(rng.integers(1, 9))
        self.shape = (int(rng.integers(1, 4)), side, side)
        self.first = kpu.Conv2d(self.shape[0], width, pool=str(rng.choice(("", "max"))))
        self.layers, self.sources = nn.ModuleList(), list[tuple[int, ...]]()
        channels = [width]
        joined = set[tuple[int, ...]]()
        for _ in range(int(rng.integers(3, 9))):
            layer, sources, made = (
                _joined(rng, channels, width) if rng.random() < 0.5 else _branch(rng, channels, width)
            )
            if len(sources) > 1:
                if tuple(sorted(sources)) in joined:  # equal ones would be one layer
                    continue
                joined.add(tuple(sorted(sources)))
            self.layers.append(layer)
            self.sources.append(sources)
            channels.append(made)
        unread = [place for place in range(len(channels)) if all(place not in sources for sources in self.sources)]
        if len(unread) > 1:
            for number, place in enumerate(unread):
                if place and isinstance(self.layers[place - 1], kpu.Concat):  # which no other one reads
                    self.layers.append(kpu.Conv2d(channels[place], width, 1, activation=""))
                    self.sources.append((place,))
                    channels.append(width)
                    unread[number] = len(channels) - 1
            self.layers.append(kpu.Concat())
            self.sources.append(tuple(unread))
            channels.append(sum(channels[place] for place in unread))
        self.mean, self.fc = kpu.GlobalAverage(), kpu.Linear(channels[-1], 5)

    def forward(self, values: torch.Tensor) -> Any:
        made = [self.first(values)]
        for layer, sources in zip(self.layers, self.sources, strict=True):
            made.append(layer(*(made[place] for place in sources)))
        return self.fc(self.mean(made[-1]))


def _joined(rng: np.random.Generator, channels: list[int], width: int) -> tuple[nn.Module, tuple[int, ...], int]:
    """A sum of two of one size, or a concatenation of two or three, where there are as many."""
    plain = [place for place, count in enumerate(channels) if count == width]
    if len(plain) < 2:
        return _branch(rng, channels, width)
    if rng.random() < 0.7:
        one, other = (int(place) for place in rng.permutation(plain)[:2])
        return kpu.Add(str(rng.choice(("", "relu")))), (one, other), width
    parts = tuple(int(place) for place in rng.permutation(plain)[: int(rng.integers(2, 4))])
    return kpu.Concat(), parts, width * len(parts)


def _branch(rng: np.random.Generator, channels: list[int], width: int) -> tuple[nn.Module, tuple[int, ...], int]:
    source = int(rng.integers(len(channels)))
    layer = kpu.Conv2d(
        channels[source], width, int(rng.choice((1, 3))), bias=bool(rng.random() < 0.7),
        batchnorm=bool(rng.random() < 0.5), activation=str(rng.choice(("", "", *ACTIVATIONS))),
    )  # fmt: skip
    return layer, (source,), width


def _drawn(rng: np.random.Generator, channels: int, side: int) -> tuple[kpu.Conv2d, int]:
    depthwise = bool(rng.random() < 0.25)
    pools = ["", *(("max", "average") if side >= 8 else ()), *(("max4", "average4") if side >= 16 else ())]
    pool = str(rng.choice(pools))
    stride = 2 if not depthwise and not pool and side >= 8 and rng.random() < 0.4 else 1
    layer = kpu.Conv2d(
        channels, channels if depthwise else int(rng.integers(1, 24)), 3 if depthwise else int(rng.choice((1, 3))),
        stride=stride, depthwise=depthwise, bias=bool(rng.random() < 0.7), batchnorm=bool(rng.random() < 0.5),
        activation=str(rng.choice(list(ACTIVATIONS))), pool=pool,
    )  # fmt: skip
    return layer, 4 if pool.endswith("4") else 2 if pool or stride == 2 else 1


def trained(seed: int, kind: type[Chain] | type[Branches] = Chain) -> tuple[Any, np.ndarray]:
    """A network with its samples, after a few steps with floats and one with rounded numbers."""
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    network = kind(rng)
    exporting.link(network)
    network.train()
    optimiser = torch.optim.SGD(network.parameters(), 1e-3)
    channels, rows, columns = network.shape
    coarse = rng.integers(-110, 110, (8, channels, rows // 8, columns // 8)).repeat(8, 2).repeat(8, 3)
    samples = np.clip(coarse + rng.integers(-40, 40, coarse.shape), -128, 127)
    values = torch.from_numpy(samples.astype(np.float32)) / 128
    for _ in range(3):
        network(values)
    bits = 16 if seed % 4 == 3 else 8
    models.quantise(network, dict.fromkeys(models.layers_of(network), bits))
    loss = network(values).square().mean()
    optimiser.zero_grad()
    loss.backward()
    optimiser.step()
    return network.eval(), samples
