"""A network for the digits on a Kendryte K210: `lathe train fit kpu_model.py`."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from buildtool.training import kpu


class Digits(nn.Module):
    """1x8x8, two convolutions and a pair of a depthwise and a 1x1 one, the mean, a class."""

    def __init__(self, num_classes: int, num_channels: int) -> None:
        super().__init__()
        self.conv1 = kpu.Conv2d(num_channels, 12, activation="relu")
        self.conv2 = kpu.Conv2d(12, 24, activation="leaky_relu", pool="max")
        self.each = kpu.Conv2d(24, 24, depthwise=True, activation="relu6")
        self.mixed = kpu.Conv2d(24, 32, 1, activation="hard_swish")
        self.mean = kpu.GlobalAverage()
        self.fc = kpu.Linear(32, num_classes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.fc(self.mean(self.mixed(self.each(self.conv2(self.conv1(x))))))


def digits(num_classes: int = 10, num_channels: int = 1, **_: Any) -> Digits:
    return Digits(num_classes, num_channels)


models = [{"name": "digits", "min_input": 1, "dim": 2}]
