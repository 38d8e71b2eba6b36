"""Small networks that Paddle 3 saves as it does by default, with what they give: run by `refresh`."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import paddle
from paddle import nn

from tests.oracles.paddle import control_flow
from tests.oracles.paddle.archive import EXPECTED, Archive
from tests.oracles.paddle.programs import random


class Classifier(nn.Layer):
    """Convolutions, a squeeze and excitation, and sizes that are computed from the picture's."""

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.norm = nn.Conv2D(3, 8, 3, stride=2, padding=1), nn.BatchNorm2D(8)
        self.depthwise = nn.Conv2D(8, 8, 3, padding=1, groups=8, bias_attr=False)
        self.pool, self.squeeze, self.excite = nn.AdaptiveAvgPool2D(1), nn.Conv2D(8, 4, 1), nn.Conv2D(4, 8, 1)
        self.last = nn.Linear(8 * 16, 5)

    def forward(self, picture: paddle.Tensor) -> tuple[paddle.Tensor, paddle.Tensor]:
        x = nn.functional.hardswish(self.norm(self.conv(picture)))
        x = nn.functional.relu(self.depthwise(x))
        gate = nn.functional.hardsigmoid(self.excite(nn.functional.relu(self.squeeze(self.pool(x)))))
        x = nn.functional.max_pool2d(x * gate, 2)
        first, second = paddle.split(x, 2, axis=1)
        x = paddle.concat([second * 2.0 - 1.0, first], axis=1)
        scores = self.last(x.reshape([paddle.shape(x)[0], -1]))
        return nn.functional.softmax(scores), paddle.topk(scores, 2)[1]


class Detector(nn.Layer):
    """A pyramid of two levels: resizes, sums, slices, a transposed convolution."""

    def __init__(self) -> None:
        super().__init__()
        self.one, self.two = nn.Conv2D(3, 6, 3, stride=2, padding="SAME"), nn.Conv2D(6, 6, 3, stride=2, padding=1)
        self.up, self.act = nn.Conv2DTranspose(6, 4, 2, stride=2), nn.PReLU(6)

    def forward(self, picture: paddle.Tensor) -> paddle.Tensor:
        fine = self.act(self.one(picture))
        coarse = nn.functional.leaky_relu(self.two(fine), 0.1)
        merged = fine + nn.functional.interpolate(coarse, scale_factor=2, mode="nearest")
        merged = merged + nn.functional.interpolate(coarse, size=fine.shape[2:], mode="bilinear", align_corners=False)
        y = paddle.clip(self.up(merged), -1, 1)
        return paddle.transpose(y[:, 1:, ::2], [0, 2, 3, 1]).flatten(1, 2)


class Encoder(nn.Layer):
    """Attention and a recurrent layer over words."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.block = nn.Embedding(20, 8), nn.TransformerEncoderLayer(8, 2, 16, activation="gelu")
        self.rows = nn.LSTM(8, 6, direction="bidirect")

    def forward(self, words: paddle.Tensor) -> paddle.Tensor:
        return self.rows(self.block(self.words(words)))[0].max(axis=1)


def main() -> None:
    paddle.seed(1)
    picture = random(1, 3, 16, 16)
    words = np.arange(7).reshape(1, 7) * 5 % 20
    with Archive(EXPECTED / "layers.zip") as archive:
        _save(archive, "classifier", Classifier(), picture, [None, 3, 16, 16])
        _save(archive, "detector", Detector(), picture, [1, 3, 16, 16])
        _save(archive, "encoder", Encoder(), words, [1, 7])
    with Archive(EXPECTED / "control_flow.zip") as archive:
        control_flow.save_programs(archive)


def _save(archive: Archive, name: str, layer: nn.Layer, example: np.ndarray, shape: list[int | None]) -> None:
    layer.eval()
    for parameter in layer.parameters():
        parameter.set_value(np.round(parameter.numpy(), 2))
    results = layer(paddle.to_tensor(example))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        paddle.jit.save(layer, str(path), input_spec=[paddle.static.InputSpec(shape, str(example.dtype), "x")])
        for ending in (".json", ".pdiparams"):
            archive.put(f"{name}{ending}", path.with_suffix(ending).read_bytes())
    archive.put_array(f"{name}.x.npy", example)
    for number, result in enumerate(results if isinstance(results, tuple) else (results,)):
        archive.put_array(f"{name}.{number}.npy", result.numpy())


if __name__ == "__main__":
    main()
