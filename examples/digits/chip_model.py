"""The digits network for `lathe train`: a model file as those of ai8x-training, with another import."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from buildtool.training import ai8x


class Digits(nn.Module):
    """1x8x8 -> 8x8x8 -> 16x4x4 -> 16x2x2 -> 10 sums of 32 bits; other widths and kernels on request."""

    def __init__(self, num_classes: int, num_channels: int, bias: bool, width: int, channels: int, kernel: int) -> None:
        super().__init__()
        self.conv1 = ai8x.FusedConv2dBNReLU(num_channels, width, 3, padding=1, bias=bias)
        self.conv2 = ai8x.FusedMaxPoolConv2dBNReLU(width, channels, kernel, padding=kernel // 2, bias=bias)
        self.pool = ai8x.MaxPool2d(2)
        self.fc = ai8x.Linear(channels * 2 * 2, num_classes, bias=bias, wide=True)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.pool(self.conv2(self.conv1(x)))
        return self.fc(x.view(x.size(0), -1))


def digits(
    num_classes: int = 10,
    num_channels: int = 1,
    bias: bool = True,
    width: int = 8,
    channels: int = 16,
    kernel: int = 3,
    **_: Any,
) -> Digits:
    return Digits(num_classes, num_channels, bias, width, channels, kernel)


# `lathe train search` chooses among these arguments.
SPACE = {"width": [4, 8, 16], "channels": [8, 16, 32], "kernel": [1, 3]}
models = [{"name": "digits", "min_input": 1, "dim": 2, "search": SPACE}]
