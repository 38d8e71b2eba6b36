"""Networks for the K210: boxes of objects, as YOLO v2 gives them, and embeddings of digits."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from buildtool.training import kpu

ANCHORS = [1.4, 1.4, 2.1, 2.1]  # width and height of each, in cells of 8 x 8 pixels


class Detector(nn.Module):
    """3x48x48 -> 6x6 cells: for each anchor x, y, width, height, objectness and a plane per class."""

    def __init__(self, num_classes: int, num_channels: int) -> None:
        super().__init__()
        self.conv1 = kpu.Conv2d(num_channels, 12, activation="leaky_relu", pool="max")
        self.conv2 = kpu.Conv2d(12, 24, activation="leaky_relu", pool="max")
        self.conv3 = kpu.Conv2d(24, 48, activation="leaky_relu", pool="max")
        self.conv4 = kpu.Conv2d(48, 48, activation="leaky_relu")
        self.head = kpu.Conv2d(48, len(ANCHORS) // 2 * (5 + num_classes), 1, activation="", batchnorm=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.conv4(self.conv3(self.conv2(self.conv1(x)))))


class Embedder(nn.Module):
    """1x8x8 -> 16 numbers, near each other for digits that are the same."""

    def __init__(self, num_channels: int) -> None:
        super().__init__()
        self.conv1 = kpu.Conv2d(num_channels, 16)
        self.conv2 = kpu.Conv2d(16, 32, pool="max")
        self.conv3 = kpu.Conv2d(32, 32)
        self.mean = kpu.GlobalAverage()
        self.fc = kpu.Linear(32, 16)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.fc(self.mean(self.conv3(self.conv2(self.conv1(x)))))


def objects(num_classes: int = 4, num_channels: int = 3, **_: Any) -> Detector:
    return Detector(num_classes, num_channels)


def digits(num_channels: int = 1, **_: Any) -> Embedder:
    return Embedder(num_channels)


models = [
    {"name": "objects", "min_input": 1, "dim": 2, "task": "boxes", "anchors": ANCHORS},
    {"name": "digits", "min_input": 1, "dim": 2, "task": "embeddings"},
]
