"""Single layers, with what CMSIS-NN executes for them (qemu 7.2, GCC 12.2 -O3): instructions on M4, M7, M55 and M3."""

from __future__ import annotations

from typing import Any

import numpy as np

from buildtool.targets.micro import network as nets
from buildtool.targets.micro.lowering import exponentials
from buildtool.targets.micro.network import Layer, Network, Tensor, Window

MACHINES = ("cortex-m4", "cortex-m7", "cortex-m55", "cortex-m3")
#: By layer, in the order of MACHINES.
CMSIS_NN: dict[str, tuple[int, int, int, int]] = {
    "conv3x3 16->32 32x32": (10_080_000, 10_090_000, 1_550_000, 14_440_000),
    "conv1x1 64->128 16x16": (4_340_000, 4_260_000, 820_000, 6_470_000),
    "depthwise3x3 64 16x16": (1_269_000, 1_250_000, 339_000, 1_433_000),
    "dense 1024->64": (126_176, 126_193, 31_678, 223_716),
    "conv1x9 9->32 128": (837_529, 839_859, 153_600, 1_124_007),
    "conv1x9 32->64 64": (2_185_000, 2_186_000, 261_000, 3_249_000),
    "maxpool2x2 64 16x16": (149_086, 148_700, 25_061, 148_043),
    "add 64 16x16": (1_326_000, 1_318_000, 225_000, 1_376_000),
    "avgpool8x8 64": (26_539, 26_535, 5_010, 49_561),
    "softmax 10": (2_894, 2_952, 3_139, 2_874),
}


def networks() -> dict[str, Network]:
    """A network of one layer for each."""
    random = np.random.default_rng(7)

    def tensor(name: str, *shape: int) -> Tensor:
        return Tensor(name, shape, 0.05, int(random.integers(-20, 20)))

    def products(made: int, *filters: int) -> dict[str, Any]:
        return {
            "weights": random.integers(-127, 128, (made, *filters)).astype(np.int8),
            "bias": random.integers(-3000, 3000, made).astype(np.int32),
            "multipliers": tuple(int(m) for m in random.integers(1 << 30, (1 << 31) - 1, made)),
            "shifts": tuple(int(s) for s in random.integers(-10, -7, made)),
        }

    def conv(size: tuple[int, int], deep: int, made: int, kernel: tuple[int, int], kind: type[nets.Conv]) -> Layer:
        x, y = tensor("x", 1, *size, deep), tensor("y", 1, *size, made)
        window = Window(kernel, (1, 1), (kernel[0] // 2, kernel[1] // 2))
        shape = (*kernel, 1 if kind is nets.Depthwise else deep)
        return kind(name="layer", inputs=(x,), output=y, window=window, **products(made, *shape))

    x, y = tensor("x", 1, 1, 1, 1024), tensor("y", 1, 1, 1, 64)
    a, b, c = (tensor(name, 1, 16, 16, 64) for name in "abc")
    half, point = tensor("y", 1, 8, 8, 64), tensor("y", 1, 1, 1, 64)
    ten = tensor("x", 1, 10)
    window = Window((2, 2), (2, 2), (0, 0))
    layers: dict[str, Layer] = {
        "conv3x3 16->32 32x32": conv((32, 32), 16, 32, (3, 3), nets.Conv),
        "conv1x1 64->128 16x16": conv((16, 16), 64, 128, (1, 1), nets.Conv),
        "depthwise3x3 64 16x16": conv((16, 16), 64, 64, (3, 3), nets.Depthwise),
        "dense 1024->64": nets.Dense(name="layer", inputs=(x,), output=y, rows=1, **products(64, 1024)),
        "conv1x9 9->32 128": conv((1, 128), 9, 32, (1, 9), nets.Conv),
        "conv1x9 32->64 64": conv((1, 64), 32, 64, (1, 9), nets.Conv),
        "maxpool2x2 64 16x16": nets.MaxPool(name="layer", inputs=(a,), output=half, window=window),
        "add 64 16x16": nets.Add(
            name="layer",
            inputs=(a, b),
            output=c,
            multipliers=(1 << 30, 1518500250, 1717986918),
            shifts=(0, -1, -18),
        ),
        "avgpool8x8 64": nets.AveragePool(
            name="layer", inputs=(half,), output=point, window=Window((8, 8), (8, 8), (0, 0))
        ),
        "softmax 10": nets.Softmax(
            name="layer",
            inputs=(ten,),
            output=Tensor("y", (1, 10), 1 / 256, -128),
            exponentials=exponentials.table(0.05, 1.0),
        ),
    }
    return {name: Network("layer", layer.inputs, (layer.output,), (layer,)) for name, layer in layers.items()}
