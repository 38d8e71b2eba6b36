"""Networks of the tasks for the MAX78000: model files as those of ai8x-training, with another import."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from buildtool.training import ai8x

ANCHORS = [1.4, 1.4, 2.1, 2.1]  # width and height of each, in cells of 8 x 8 pixels
PRIORS = {12: (0.22, 0.28), 6: (0.33, 0.38)}  # cells along a side of each map, and the sides of its boxes


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


class Segments(nn.Module):
    """A small U-Net: 3x32x32, a class for each pixel."""

    def __init__(self, num_classes: int, num_channels: int, width: int, bias: bool) -> None:
        super().__init__()
        self.enc1 = ai8x.FusedConv2dBNReLU(num_channels, width, 3, padding=1, bias=bias)
        self.enc2 = ai8x.FusedMaxPoolConv2dBNReLU(width, width * 2, 3, padding=1, bias=bias)
        self.middle = ai8x.FusedMaxPoolConv2dBNReLU(width * 2, width * 4, 3, padding=1, bias=bias)
        self.up2 = ai8x.ConvTranspose2d(width * 4, width * 2, 3, bias=bias)
        self.dec2 = ai8x.FusedConv2dBNReLU(width * 4, width * 2, 3, padding=1, bias=bias)
        self.up1 = ai8x.ConvTranspose2d(width * 2, width, 3, bias=bias)
        self.dec1 = ai8x.FusedConv2dBNReLU(width * 2, width, 3, padding=1, bias=bias)
        self.classes = ai8x.Conv2d(width, num_classes, 1, bias=bias)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        one = self.enc1(x)
        two = self.enc2(one)
        x = self.up2(self.middle(two))
        x = self.up1(self.dec2(torch.cat((x, two), 1)))
        return self.classes(self.dec1(torch.cat((x, one), 1)))


class Vibrations(nn.Module):
    """3 axes x 64 values through a narrow place, and back: what was not learned comes back worse."""

    def __init__(self, num_channels: int, dimensions: tuple[int, ...], width: int, narrow: int) -> None:
        super().__init__()
        length = dimensions[0]
        self.conv1 = ai8x.FusedConv1dBNReLU(num_channels, width, 5, padding=2)
        self.conv2 = ai8x.FusedMaxPoolConv1dBNReLU(width, width, 5, padding=2)
        self.conv3 = ai8x.FusedMaxPoolConv1dBNReLU(width, width, 5, padding=2)
        self.narrow = ai8x.Linear(width * (length // 4), narrow)
        self.wider = ai8x.FusedLinearReLU(narrow, width * 4)
        self.values = ai8x.Linear(width * 4, num_channels * length)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.conv3(self.conv2(self.conv1(x)))
        y = self.values(self.wider(self.narrow(y.view(y.size(0), -1))))
        return y.view(x.shape)


class Faces(nn.Module):
    """3x32x32 -> 32 numbers, near each other for pictures of one person."""

    def __init__(self, num_channels: int, width: int, bias: bool) -> None:
        super().__init__()
        self.conv1 = ai8x.FusedConv2dBNReLU(num_channels, width, 3, padding=1, bias=bias)
        self.conv2 = ai8x.FusedMaxPoolConv2dBNReLU(width, width * 2, 3, padding=1, bias=bias)
        self.conv3 = ai8x.FusedMaxPoolConv2dBNReLU(width * 2, width * 2, 3, padding=1, bias=bias)
        self.conv4 = ai8x.FusedMaxPoolConv2dBNReLU(width * 2, width * 2, 3, padding=1, bias=bias)
        self.fc = ai8x.Linear(width * 2 * 4 * 4, 32, bias=bias)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.conv4(self.conv3(self.conv2(self.conv1(x))))
        return self.fc(x.view(x.size(0), -1))


class Objects(nn.Module):
    """A single-shot detector: 3x48x48 -> 6x6 cells, for each anchor x, y, width, height, objectness and classes."""

    def __init__(self, num_classes: int, num_channels: int, width: int, bias: bool) -> None:
        super().__init__()
        self.conv1 = ai8x.FusedConv2dBNReLU(num_channels, width, 3, padding=1, bias=bias)
        self.conv2 = ai8x.FusedMaxPoolConv2dBNReLU(width, width * 2, 3, padding=1, bias=bias)
        self.conv3 = ai8x.FusedMaxPoolConv2dBNReLU(width * 2, width * 4, 3, padding=1, bias=bias)
        self.conv4 = ai8x.FusedMaxPoolConv2dBNReLU(width * 4, width * 4, 3, padding=1, bias=bias)
        self.conv5 = ai8x.FusedConv2dBNReLU(width * 4, width * 4, 3, padding=1, bias=bias)
        self.head = ai8x.Conv2d(width * 4, len(ANCHORS) // 2 * (5 + num_classes), 1, bias=bias, wide=True)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.conv5(self.conv4(self.conv3(self.conv2(self.conv1(x))))))


class Detector(nn.Module):
    """A single-shot detector with two maps of 3x48x48: places and scores of 12x12 and of 6x6 cells, two boxes each."""

    def __init__(self, num_classes: int, num_channels: int, width: int, bias: bool) -> None:
        super().__init__()
        self.conv1 = ai8x.FusedConv2dBNReLU(num_channels, width, 3, padding=1, bias=bias)
        self.conv2 = ai8x.FusedMaxPoolConv2dBNReLU(width, width * 2, 3, padding=1, bias=bias)
        self.conv3 = ai8x.FusedMaxPoolConv2dBNReLU(width * 2, width * 4, 3, padding=1, bias=bias)
        self.fine = ai8x.FusedConv2dBNReLU(width * 4, width * 4, 3, padding=1, bias=bias)
        self.coarse = ai8x.FusedMaxPoolConv2dBNReLU(width * 4, width * 4, 3, padding=1, bias=bias)
        self.fine_places = ai8x.Conv2d(width * 4, 2 * 4, 3, padding=1, bias=bias)
        self.fine_scores = ai8x.Conv2d(width * 4, 2 * num_classes, 3, padding=1, bias=bias)
        self.coarse_places = ai8x.Conv2d(width * 4, 2 * 4, 3, padding=1, bias=bias)
        self.coarse_scores = ai8x.Conv2d(width * 4, 2 * num_classes, 3, padding=1, bias=bias)
        boxes = [
            [(column + 0.5) / cells, (row + 0.5) / cells, side, side]
            for cells, sides in PRIORS.items()
            for row in range(cells)
            for column in range(cells)
            for side in sides
        ]
        self.priors_cxcy = torch.tensor(boxes)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        fine = self.fine(self.conv3(self.conv2(self.conv1(x))))
        coarse = self.coarse(fine)
        places = [self.fine_places(fine), self.coarse_places(coarse)]
        scores = [self.fine_scores(fine), self.coarse_scores(coarse)]
        return self._boxes(places, 4), self._boxes(scores, scores[0].shape[1] // 2)

    @staticmethod
    def _boxes(maps: list[torch.Tensor], numbers: int) -> torch.Tensor:
        """One row for each box, in the order of the boxes."""
        rows = [one.permute(0, 2, 3, 1).contiguous().view(one.size(0), -1, numbers) for one in maps]
        return torch.cat(rows, dim=1)


class Textures(nn.Module):
    """3x32x32, a class: `depth` convolutions between pools, as the networks for CIFAR that a search finds."""

    def __init__(self, num_classes: int, num_channels: int, width: int, depth: int, kernel: int, bias: bool) -> None:
        super().__init__()
        self.first = ai8x.FusedConv2dBNReLU(num_channels, width, 3, padding=1, bias=bias)
        layers: list[nn.Module] = []
        for number in range(depth):
            layers.append(ai8x.FusedMaxPoolConv2dBNReLU(width, width, kernel, padding=kernel // 2, bias=bias))
            if number == 0:
                layers.append(ai8x.FusedConv2dBNReLU(width, width, kernel, padding=kernel // 2, bias=bias))
        self.body = nn.Sequential(*layers)
        self.mean = ai8x.AvgPool2d(32 >> depth)
        self.fc = ai8x.Linear(width, num_classes, bias=bias, wide=True)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.mean(self.body(self.first(x)))
        return self.fc(x.view(x.size(0), -1))


def words(num_classes: int = 5, num_channels: int = 24, width: int = 8, bias: bool = True, **_: Any) -> Words:
    return Words(num_classes, num_channels, width, bias)


def scenes(num_classes: int = 8, num_channels: int = 3, width: int = 12, bias: bool = True, **_: Any) -> Scenes:
    return Scenes(num_classes, num_channels, width, bias)


def segments(num_classes: int = 5, num_channels: int = 3, width: int = 8, bias: bool = True, **_: Any) -> Segments:
    return Segments(num_classes, num_channels, width, bias)


def vibrations(
    num_channels: int = 3, dimensions: tuple[int, ...] = (64,), width: int = 16, narrow: int = 8, **_: Any
) -> Vibrations:
    return Vibrations(num_channels, dimensions, width, narrow)


def faces(num_channels: int = 3, width: int = 16, bias: bool = True, **_: Any) -> Faces:
    return Faces(num_channels, width, bias)


def objects(num_classes: int = 4, num_channels: int = 3, width: int = 12, bias: bool = True, **_: Any) -> Objects:
    return Objects(num_classes, num_channels, width, bias)


def detector(num_classes: int = 5, num_channels: int = 3, width: int = 12, bias: bool = True, **_: Any) -> Detector:
    return Detector(num_classes, num_channels, width, bias)


def textures(
    num_classes: int = 10,
    num_channels: int = 3,
    width: int = 16,
    depth: int = 3,
    kernel: int = 3,
    bias: bool = True,
    **_: Any,
) -> Textures:
    return Textures(num_classes, num_channels, width, depth, kernel, bias)


models = [
    {"name": "words", "min_input": 1, "dim": 1, "search": {"width": [4, 8, 16]}},
    {"name": "scenes", "min_input": 1, "dim": 2, "search": {"width": [6, 12, 16]}},
    {"name": "segments", "min_input": 1, "dim": 2, "task": "pixels"},
    {"name": "vibrations", "min_input": 1, "dim": 1, "task": "rebuild"},
    {"name": "faces", "min_input": 1, "dim": 2, "task": "embeddings"},
    {"name": "objects", "min_input": 1, "dim": 2, "task": "boxes", "anchors": ANCHORS},
    {"name": "detector", "min_input": 1, "dim": 2, "task": "priors"},
    {
        "name": "textures",
        "min_input": 1,
        "dim": 2,
        "search": {"width": [8, 12, 16, 24], "depth": [2, 3, 4], "kernel": [1, 3]},
    },
]
