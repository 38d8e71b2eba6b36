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


def trained(seed: int) -> tuple[Chain, np.ndarray]:
    """A network with its samples, after a few steps with floats and one with rounded numbers."""
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    network = Chain(rng)
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
