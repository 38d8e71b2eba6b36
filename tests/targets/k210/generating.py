"""Small networks for the generator of kmodels, ranges of a few random pictures, and how near the simulator comes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from buildtool.ir.evaluate import evaluate
from buildtool.ir.graph import Graph, Value
from buildtool.ir.operator import Array
from buildtool.passes.pipeline import optimise
from buildtool.quant.ranges import stored_as
from buildtool.targets.k210.generation.generate import Generated, generate
from buildtool.targets.k210.generation.on_kpu import Settings
from buildtool.targets.k210.simulation.simulator import simulate
from tests.passes.harness import CONV, Maker

SAME = {**CONV, "pads": (1, 1, 1, 1)}
HALVING: dict[str, Any] = {**SAME, "strides": (2, 2)}


class Net(Maker):
    """Layers with weights that keep the spread of numbers, on channels last."""

    def __init__(self, seed: int = 0) -> None:
        super().__init__()
        self.rng = np.random.default_rng(seed)

    def drawn(self, *shape: int, fan: int) -> Value:
        return self.constant(self.rng.normal(0, np.sqrt(2 / fan), shape))

    def bias(self, count: int) -> Value:
        return self.constant(self.rng.uniform(-0.2, 0.2, count))

    def layer(self, x: Value, channels: int, kernel: int = 3, act: str = "relu", **attributes: Any) -> Value:
        """A convolution that keeps the size, unless the attributes say otherwise, and an activation."""
        depth = int(x.type.shape[-1])  # type: ignore[arg-type]
        pads = (kernel // 2,) * 4
        weights = self.drawn(channels, kernel, kernel, depth, fan=kernel * kernel * depth)
        made = self("conv2d", x, weights, self.bias(channels), **{**CONV, "pads": pads, **attributes})
        return self(act, made) if act else made

    def depthwise(self, x: Value, act: str = "relu", **attributes: Any) -> Value:
        channels = int(x.type.shape[-1])  # type: ignore[arg-type]
        weights = self.drawn(3, 3, channels, fan=9)
        made = self("dwconv2d", x, weights, self.bias(channels), **{**SAME, **attributes})
        return self(act, made) if act else made

    def product(self, x: Value, outputs: int) -> Value:
        return self("fully_connected", x, self.drawn(outputs, int(x.type.shape[-1]), fan=16), self.bias(outputs))  # type: ignore[arg-type]

    def mean(self, x: Value) -> Value:
        return self("reduce_mean", x, axes=(1, 2), keepdims=False)

    def pool(self, x: Value, size: int = 2, kind: str = "max_pool2d", **attributes: Any) -> Value:
        return self(kind, x, kernel=(size, size), **{"strides": (size, size), **attributes})


def pictures(graph: Graph, count: int, seed: int = 5) -> list[dict[str, Array]]:
    """Random inputs: smooth, so that layers see more than noise."""
    rng = np.random.default_rng(seed)
    (value,) = graph.inputs
    shape = tuple(int(dim) for dim in value.type.shape)  # type: ignore[arg-type]
    found = []
    for _ in range(count):
        picture = rng.uniform(-1, 1, shape)
        found.append({value.name: ((picture + rng.uniform(-1, 1)) / 2).astype(np.float32)})
    return found


def calibrate(graph: Graph, samples: Sequence[Mapping[str, Array]]) -> None:
    """The least and the largest number of each tensor become its range."""
    seen: dict[str, tuple[float, float]] = {}
    for sample in samples:
        for name, array in evaluate(graph, sample, keep=True).items():
            low, high = seen.get(name, (0.0, 0.0))
            seen[name] = min(low, float(array.min())), max(high, float(array.max()))
    graph.ranges.update({name: stored_as(low, high) for name, (low, high) in seen.items()})


def prepared(graph: Graph) -> Graph:
    """Optimised, with ranges."""
    optimise(graph, quantised=True)
    calibrate(graph, pictures(graph, 6))
    return graph


def generated(graph: Graph, settings: Settings | None = None) -> Generated:
    return generate(prepared(graph), settings)


def given(made: Generated, picture: Array) -> bytes:
    """An input as the file takes it: channels first, in bytes; or floats."""
    if made.input.stored is None:
        return picture.astype("<f4").tobytes()
    channels_last = picture.shape[-1] == made.input.shape[0] and picture.shape[1] == made.input.shape[1]
    planes = picture[0].transpose(2, 0, 1) if channels_last else picture[0]
    return made.input.stored.stored(planes).tobytes()


def results(made: Generated, data: bytes) -> list[Array]:
    """What the simulator gives, as the model has it: channels last where it is a picture."""
    found = []
    for port, raw in zip(made.outputs, simulate(made.model, data), strict=True):
        array = np.frombuffer(raw, "<f4").reshape(port.shape)
        found.append(array.transpose(1, 2, 0) if len(port.shape) == 3 else array)
    return found


def cosine(one: Array, other: Array) -> float:
    a, b = one.reshape(-1).astype(np.float64), other.reshape(-1).astype(np.float64)
    if not a.any() or not b.any():
        return float(a.any() == b.any())
    return float(a @ b / np.sqrt((a @ a) * (b @ b)))


def cosines(graph: Graph, made: Generated, count: int = 3) -> list[float]:
    """Of each output, the least of several pictures that the ranges were not found with."""
    least = [1.0] * len(made.outputs)
    for sample in pictures(graph, count, seed=77):
        wanted = evaluate(graph, sample)
        found = results(made, given(made, next(iter(sample.values()))))
        for index, (port, array) in enumerate(zip(made.outputs, found, strict=True)):
            least[index] = min(least[index], cosine(array, wanted[port.name]))
    return least


def digits() -> Graph:
    """Pictures of 8x8 in grey."""
    net = Net(1)
    x = net.pool(net.layer(net.input(1, 8, 8, 1), 16))
    x = net.layer(x, 32)
    return net.finish(net("softmax", net.product(net.mean(x), 10), axis=1))


def blocks(side: int) -> Graph:
    """Blocks around which numbers go; one of them halves the picture."""
    net = Net(3)
    x = net.layer(net.input(1, side, side, 3), 16)
    y = net.layer(net.layer(x, 16), 16, act="")
    x = net("relu", net("add", y, x))
    y = net.layer(net.layer(x, 24, **HALVING), 24, act="")
    x = net("relu", net("add", y, net.layer(x, 24, 1, act="", strides=(2, 2))))
    x = net("add", net.layer(x, 24, act=""), x)
    return net.finish(net.product(net.mean(x), 10))
