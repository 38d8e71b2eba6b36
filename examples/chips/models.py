"""Networks of the tasks for the MAX78000: model files as those of ai8x-training, with another import."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from buildtool.training import ai8x


class Words(nn.Module):
    """24 bands x 60 frames, convolutions of one dimension, a class."""

    def __init__(self, num_classes: int, num_channels: int, width: int, bias: bool) -> None:
        super().__init__()
        self.conv1 = ai8x.FusedConv1dBNReLU(num_channels, width, 5, padding=2, bias=bias)
        self.conv2 = ai8x.FusedMaxPoolConv1dBNReLU(width, width, 5, padding=2, bias=bias)
        self.conv3 = ai8x.FusedMaxPoolConv1dBNReLU(width, width, 5, padding=2, bias=bias)
        self.pool = ai8x.MaxPool1d(5)
        self.fc = ai8x.Linear(width * 3, num_classes, bias=bias, wide=True)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.pool(self.conv3(self.conv2(self.conv1(x))))
        return self.fc(x.view(x.size(0), -1))


class Scenes(nn.Module):
    """3x16x16, a residual block, a class."""

    def __init__(self, num_classes: int, num_channels: int, width: int, bias: bool) -> None:
        super().__init__()
        self.conv1 = ai8x.FusedConv2dBNReLU(num_channels, width, 3, padding=1, bias=bias)
        self.conv2 = ai8x.FusedMaxPoolConv2dBNReLU(width, width * 2, 3, padding=1, bias=bias)
        self.conv3 = ai8x.FusedConv2dBNReLU(width * 2, width * 2, 3, padding=1, bias=bias)
        self.add = ai8x.Add()
        self.conv4 = ai8x.FusedMaxPoolConv2dBNReLU(width * 2, width * 2, 3, padding=1, bias=bias)
        self.fc = ai8x.Linear(width * 2 * 4 * 4, num_classes, bias=bias, wide=True)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.conv2(self.conv1(x))
        x = self.conv4(self.add(x, self.conv3(x)))
        return self.fc(x.view(x.size(0), -1))


def words(num_classes: int = 5, num_channels: int = 24, width: int = 8, bias: bool = True, **_: Any) -> Words:
    return Words(num_classes, num_channels, width, bias)


def scenes(num_classes: int = 8, num_channels: int = 3, width: int = 12, bias: bool = True, **_: Any) -> Scenes:
    return Scenes(num_classes, num_channels, width, bias)


models = [
    {"name": "words", "min_input": 1, "dim": 1, "search": {"width": [4, 8, 16]}},
    {"name": "scenes", "min_input": 1, "dim": 2, "search": {"width": [6, 12, 16]}},
]
