"""Architectures that people write themselves: U-Nets, detection heads, recurrent taggers, generators."""

from __future__ import annotations

import itertools

import torch
from torch import nn
from torch.nn import functional

from tests.gallery.entries import Entry, Input, image, tokens


def _conv(inner: int, outer: int, kernel: int = 3, stride: int = 1, groups: int = 1) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(inner, outer, kernel, stride, kernel // 2, groups=groups, bias=False),
        nn.BatchNorm2d(outer),
        nn.SiLU(),
    )


class UNet(nn.Module):
    def __init__(self, transposed: bool, width: int = 16) -> None:
        super().__init__()
        sizes = [width, 2 * width, 4 * width, 8 * width]
        self.first = _conv(3, sizes[0])
        self.down = nn.ModuleList(_conv(a, b) for a, b in itertools.pairwise(sizes))
        if transposed:
            self.up = nn.ModuleList(nn.ConvTranspose2d(b, a, 2, 2) for a, b in itertools.pairwise(sizes))
        else:
            self.up = nn.ModuleList(
                nn.Sequential(nn.Upsample(scale_factor=2, mode="bilinear", align_corners=True), nn.Conv2d(b, a, 1))
                for a, b in itertools.pairwise(sizes)
            )
        self.join = nn.ModuleList(_conv(2 * a, a) for a in sizes[:-1])
        self.last = nn.Conv2d(width, 2, 1)

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        kept = [self.first(image)]
        for layer in self.down:
            kept.append(layer(functional.max_pool2d(kept[-1], 2)))
        x = kept.pop()
        for level in reversed(range(len(self.up))):
            x = self.join[level](torch.cat([self.up[level](x), kept[level]], 1))
        return self.last(x).softmax(1)


class C2f(nn.Module):
    def __init__(self, inner: int, outer: int) -> None:
        super().__init__()
        self.first, self.half = _conv(inner, outer, 1), outer // 2
        self.inner = nn.Sequential(_conv(self.half, self.half), _conv(self.half, self.half))
        self.last = _conv(outer + self.half, outer, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        a, b = self.first(x).chunk(2, 1)
        return self.last(torch.cat([a, b, b + self.inner(b)], 1))


class Yolo(nn.Module):
    """Three scales, a distribution for each side of a box, anchors computed from the size of the picture."""

    def __init__(self, width: int = 16, classes: int = 8, bins: int = 8) -> None:
        super().__init__()
        self.classes, self.bins = classes, bins
        self.stem = nn.Sequential(_conv(3, width, 3, 2), _conv(width, 2 * width, 3, 2), C2f(2 * width, 2 * width))
        self.stages = nn.ModuleList(
            nn.Sequential(_conv(width * s, 2 * width * s, 3, 2), C2f(2 * width * s, 2 * width * s)) for s in (2, 4, 8)
        )
        self.pool = _conv(64 * width, 16 * width, 1)
        self.lateral = nn.ModuleList([C2f(24 * width, 8 * width), C2f(12 * width, 4 * width)])
        self.heads = nn.ModuleList(nn.Conv2d(s * width, 4 * bins + classes, 1) for s in (4, 8, 16))
        self.register_buffer("projection", torch.arange(bins, dtype=torch.float32))

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        found = []
        x = self.stem(image)
        for stage in self.stages:
            x = stage(x)
            found.append(x)
        pools = [found[2]]
        for _ in range(3):
            pools.append(functional.max_pool2d(pools[-1], 5, 1, 2))
        large = self.pool(torch.cat(pools, 1))
        middle = self.lateral[0](torch.cat([functional.interpolate(large, scale_factor=2.0), found[1]], 1))
        small = self.lateral[1](torch.cat([functional.interpolate(middle, scale_factor=2.0), found[0]], 1))
        return torch.cat(
            [
                self.decode(head(y), stride)
                for head, y, stride in zip(self.heads, (small, middle, large), (8, 16, 32), strict=True)
            ],
            2,
        )

    def decode(self, x: torch.Tensor, stride: int) -> torch.Tensor:
        height, width = x.shape[2], x.shape[3]
        boxes, classes = x.flatten(2).split([4 * self.bins, self.classes], 1)
        sides = boxes.view(boxes.shape[0], 4, self.bins, height * width).softmax(2)
        sides = (sides * self.projection.view(1, 1, -1, 1)).sum(2)
        rows, columns = torch.meshgrid(torch.arange(height), torch.arange(width), indexing="ij")
        centres = torch.stack([columns.flatten(), rows.flatten()]).to(x.dtype) + 0.5
        low, high = centres - sides[:, :2], centres + sides[:, 2:]
        return torch.cat([torch.cat([(low + high) / 2, high - low], 1) * stride, classes.sigmoid()], 1)


class Tagger(nn.Module):
    def __init__(self, kind: type[nn.Module], bidirectional: bool = True) -> None:
        super().__init__()
        self.embedding = nn.Embedding(100, 32)
        self.layers = kind(32, 24, num_layers=2, bidirectional=bidirectional, batch_first=True)
        self.last = nn.Linear(24 * (1 + bidirectional), 7)

    def forward(self, input_ids: torch.Tensor) -> torch.Tensor:
        return self.last(self.layers(self.embedding(input_ids))[0])


class Crnn(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            _conv(1, 16), nn.MaxPool2d(2), _conv(16, 32), nn.MaxPool2d(2), _conv(32, 64), nn.MaxPool2d((2, 1))
        )
        self.recurrent = nn.LSTM(64 * 4, 32, bidirectional=True)
        self.last = nn.Linear(64, 40)

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        x = self.layers(image).flatten(1, 2).permute(2, 0, 1)
        return self.last(self.recurrent(x)[0]).log_softmax(2)


class Vad(nn.Module):
    """Voice activity: frames by a convolution that computes a Fourier transform, a recurrent state handed through."""

    def __init__(self) -> None:
        super().__init__()
        self.transform = nn.Conv1d(1, 258, 256, 128, bias=False)
        self.layers = nn.Sequential(nn.Conv1d(129, 32, 3, 1, 1), nn.ReLU(), nn.Conv1d(32, 32, 3, 2, 1), nn.ReLU())
        self.cell = nn.LSTM(32, 32)
        self.last = nn.Conv1d(32, 1, 1)

    def forward(self, wave: torch.Tensor, hidden: torch.Tensor, cell: torch.Tensor) -> tuple[torch.Tensor, ...]:
        x = self.transform(functional.pad(wave.unsqueeze(1), (64, 64), "reflect"))
        real, imaginary = x.chunk(2, 1)
        x = self.layers((real * real + imaginary * imaginary).sqrt())
        x, (hidden, cell) = self.cell(x.permute(2, 0, 1), (hidden, cell))
        return self.last(x.permute(1, 2, 0).relu()).sigmoid().mean(2), hidden, cell


class WaveNet(nn.Module):
    def __init__(self, width: int = 16) -> None:
        super().__init__()
        self.first = nn.Conv1d(1, width, 1)
        self.layers = nn.ModuleList(nn.Conv1d(width, 2 * width, 2, dilation=2**level) for level in range(5))
        self.mix = nn.ModuleList(nn.Conv1d(width, width, 1) for _ in range(5))
        self.last = nn.Conv1d(width, 32, 1)

    def forward(self, wave: torch.Tensor) -> torch.Tensor:
        x, total = self.first(wave), 0
        for level, (layer, mix) in enumerate(zip(self.layers, self.mix, strict=True)):
            a, b = layer(functional.pad(x, (2**level, 0))).chunk(2, 1)
            y = mix(a.tanh() * b.sigmoid())
            x, total = x + y, total + y
        return self.last(functional.relu(total))


class Tcn(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Conv1d(16, 16, 3, padding=2**level, dilation=2**level) for level in range(4))
        self.first, self.last = nn.Conv1d(40, 16, 1), nn.Linear(16, 10)

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        x = self.first(features)
        for layer in self.layers:
            x = x + functional.relu(layer(x))
        return self.last(x.mean(2))


def _ds_cnn() -> nn.Module:
    layers: list[nn.Module] = [nn.Conv2d(1, 32, (10, 4), (2, 2), (5, 1)), nn.BatchNorm2d(32), nn.ReLU()]
    for _ in range(4):
        layers += [nn.Conv2d(32, 32, 3, padding=1, groups=32), nn.BatchNorm2d(32), nn.ReLU()]
        layers += [nn.Conv2d(32, 32, 1), nn.BatchNorm2d(32), nn.ReLU()]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 12), nn.Softmax(1))


def _dcgan() -> nn.Module:
    layers: list[nn.Module] = [nn.ConvTranspose2d(32, 64, 4), nn.BatchNorm2d(64), nn.ReLU()]
    for inner, outer in ((64, 32), (32, 16), (16, 8)):
        layers += [nn.ConvTranspose2d(inner, outer, 4, 2, 1), nn.BatchNorm2d(outer), nn.ReLU()]
    return nn.Sequential(*layers, nn.Conv2d(8, 3, 3, padding=1), nn.Tanh())


class StyleGenerator(nn.Module):
    """Weights of convolutions scaled by a style, instance normalisation, nearest enlargement."""

    def __init__(self) -> None:
        super().__init__()
        self.mapping = nn.Sequential(nn.Linear(16, 32), nn.LeakyReLU(0.2), nn.Linear(32, 32))
        self.start = nn.Parameter(torch.randn(1, 16, 4, 4))
        self.weights = nn.ParameterList(nn.Parameter(torch.randn(16, 16, 3, 3) / 12) for _ in range(3))
        self.styles = nn.ModuleList(nn.Linear(32, 16) for _ in range(3))
        self.last = nn.Conv2d(16, 3, 1)

    def forward(self, latent: torch.Tensor) -> torch.Tensor:
        style = self.mapping(functional.normalize(latent, dim=1))
        x = self.start
        for weight, affine in zip(self.weights, self.styles, strict=True):
            scaled = weight * (affine(style)[0] + 1).view(1, -1, 1, 1)
            scaled = scaled * torch.rsqrt((scaled * scaled).sum((1, 2, 3), keepdim=True) + 1e-8)
            x = functional.interpolate(x, scale_factor=2.0, mode="nearest")
            x = functional.leaky_relu(functional.instance_norm(functional.conv2d(x, scaled, padding=1)), 0.2)
        return self.last(x)


class DenseBlocks(nn.Module):
    """As ESRGAN has them, with pixel shuffle."""

    def __init__(self, width: int = 16) -> None:
        super().__init__()
        self.first = nn.Conv2d(3, width, 3, padding=1)
        self.layers = nn.ModuleList(nn.Conv2d(width + 8 * level, 8, 3, padding=1) for level in range(4))
        self.join, self.last = nn.Conv2d(width + 32, width, 1), nn.Conv2d(width, 12, 3, padding=1)

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        x = self.first(image)
        kept = [x]
        for layer in self.layers:
            kept.append(functional.leaky_relu(layer(torch.cat(kept, 1)), 0.2))
        return functional.pixel_shuffle(self.last(x + 0.2 * self.join(torch.cat(kept, 1))), 2)


class PointNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.turn = nn.Sequential(
            nn.Conv1d(3, 32, 1), nn.ReLU(), nn.AdaptiveMaxPool1d(1), nn.Flatten(), nn.Linear(32, 9)
        )
        self.layers = nn.Sequential(nn.Conv1d(3, 64, 1), nn.BatchNorm1d(64), nn.ReLU(), nn.Conv1d(64, 128, 1))
        self.last = nn.Linear(128, 10)

    def forward(self, points: torch.Tensor) -> torch.Tensor:
        turned = torch.bmm(self.turn(points).view(-1, 3, 3) + torch.eye(3), points)
        return self.last(self.layers(turned).amax(2))


class Recommender(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.tables = nn.ModuleList(nn.Embedding(50, 16) for _ in range(4))
        self.bottom = nn.Sequential(nn.Linear(13, 32), nn.ReLU(), nn.Linear(32, 16))
        self.top = nn.Sequential(nn.Linear(16 + 10, 32), nn.ReLU(), nn.Linear(32, 1), nn.Sigmoid())

    def forward(self, dense: torch.Tensor, categories: torch.Tensor) -> torch.Tensor:
        x = self.bottom(dense)
        found = torch.stack([x, *(table(categories[:, i]) for i, table in enumerate(self.tables))], 1)
        products = torch.bmm(found, found.transpose(1, 2))
        rows, columns = torch.tril_indices(5, 5, -1)
        return self.top(torch.cat([x, products[:, rows, columns]], 1))


class Radiance(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(3 * 13, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 4))

    def forward(self, positions: torch.Tensor) -> torch.Tensor:
        scaled = positions.unsqueeze(-1) * (2.0 ** torch.arange(6)).view(1, 1, -1)
        x = torch.cat([positions.unsqueeze(-1), scaled.sin(), scaled.cos()], -1).flatten(1)
        colour, density = self.layers(x).split([3, 1], 1)
        return torch.cat([colour.sigmoid(), functional.softplus(density)], 1)


class Face(nn.Module):
    """Strides in depthwise layers, PReLU, a dense vector of length one."""

    def __init__(self) -> None:
        super().__init__()
        layers: list[nn.Module] = [nn.Conv2d(3, 16, 3, 2, 1), nn.PReLU(16)]
        for inner, outer in ((16, 32), (32, 64)):
            layers += [nn.Conv2d(inner, inner, 3, 2, 1, groups=inner), nn.BatchNorm2d(inner), nn.PReLU(inner)]
            layers += [nn.Conv2d(inner, outer, 1), nn.BatchNorm2d(outer), nn.PReLU(outer)]
        self.layers = nn.Sequential(*layers)
        self.pool, self.last = nn.Conv2d(64, 64, 8, groups=64), nn.Linear(64, 32)

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        return functional.normalize(self.last(self.pool(self.layers(image)).flatten(1)), dim=1)


class Keypoints(nn.Module):
    """Heat maps and their maxima."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            _conv(3, 16, 3, 2), _conv(16, 32, 3, 2), nn.ConvTranspose2d(32, 16, 4, 2, 1), nn.Conv2d(16, 5, 1)
        )

    def forward(self, image: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        maps = self.layers(image)
        score, place = maps.flatten(2).max(2)
        width = maps.shape[3]
        return torch.stack([place % width, place // width], 2), score


class Rotary(nn.Module):
    """Interleaved rotary positions, as GPT-J has them."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        length, size = x.shape[1], x.shape[2]
        angles = torch.arange(length).unsqueeze(1) / 100.0 ** (torch.arange(0, size, 2) / size)
        a, b = x[..., ::2], x[..., 1::2]
        turned = torch.stack([a * angles.cos() - b * angles.sin(), a * angles.sin() + b * angles.cos()], -1)
        return turned.flatten(2) @ x.flip(1).transpose(1, 2)


ENTRIES = {
    "U-Net, transposed convolutions": Entry("segmentation", lambda: UNet(True), image(64, 96)),
    "U-Net, bilinear": Entry("segmentation", lambda: UNet(False), image(64, 96)),
    "YOLO-like": Entry("detection", Yolo, image(96, 160)),
    "YOLO-like (dynamo)": Entry("detection", Yolo, image(96, 160), "dynamo", 20),
    "GRU tagger": Entry("language", lambda: Tagger(nn.GRU), tokens(12, 20)),
    "LSTM tagger": Entry("language", lambda: Tagger(nn.LSTM), tokens(12, 20)),
    "RNN tagger": Entry("language", lambda: Tagger(nn.RNN, False), tokens(12, 20)),
    "CRNN": Entry("text recognition", Crnn, {"image": Input((1, 1, 32, 64), (1, 1, 32, 100))}),
    "Voice activity": Entry(
        "speech", Vad, {"wave": Input((1, 512)), "hidden": Input((1, 1, 32)), "cell": Input((1, 1, 32))}
    ),
    "WaveNet": Entry("speech", WaveNet, {"wave": Input((1, 1, 100), (1, 1, 160))}),
    "TCN": Entry("speech", Tcn, {"features": Input((1, 40, 50), (1, 40, 77))}),
    "DS-CNN": Entry("speech", _ds_cnn, {"features": Input((1, 1, 49, 10), (3, 1, 49, 10))}),
    "DCGAN generator": Entry("generation", _dcgan, {"latent": Input((1, 32, 1, 1), (2, 32, 1, 1))}),
    "Style generator": Entry("generation", StyleGenerator, {"latent": Input((1, 16))}),
    "ESRGAN-like": Entry("super resolution", DenseBlocks, image(32, 45)),
    "PointNet": Entry("points", PointNet, {"points": Input((1, 3, 64), (1, 3, 100))}),
    "DLRM-like": Entry(
        "recommendation", Recommender, {"dense": Input((2, 13)), "categories": Input((2, 4), (), torch.int64, 50)}
    ),
    "NeRF": Entry("graphics", Radiance, {"positions": Input((64, 3), (100, 3))}),
    "Face embedding": Entry("faces", Face, image(64)),
    "Keypoints": Entry("faces", Keypoints, image(64, 96)),
    "Rotary positions, flipped": Entry("language", Rotary, {"x": Input((1, 8, 16), (1, 12, 16))}),
    "Rotary positions, flipped (dynamo)": Entry(
        "language", Rotary, {"x": Input((1, 8, 16), (1, 12, 16))}, "dynamo", 20
    ),
}
