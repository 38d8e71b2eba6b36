"""Networks of random layers, one after the other or side by side: what becomes of them runs, and is near."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from buildtool.ir.evaluate import evaluate
from buildtool.ir.graph import Graph, Value
from buildtool.targets.k210.generation.generate import Generated
from buildtool.targets.k210.simulation.simulator import simulate
from tests.native_builds import build, command
from tests.targets.k210.generating import Net, generated, given, pictures, results
from tests.targets.kpu.builds import ROOM

_LARGEST = 1500  # pixels of what is resized


class RandomNet(Net):
    """`grow` adds a layer behind one of the pictures that are there."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.there = [self.input(1, self.number(4, 40), self.number(4, 70), self.number(1, 4))]

    def number(self, low: int, high: int) -> int:
        return int(self.rng.integers(low, high + 1))

    def one_of(self, things: Sequence[Any]) -> Any:
        return things[self.number(0, len(things) - 1)]

    def pads(self, most: int) -> tuple[int, ...]:
        return tuple(self.number(0, most) * self.number(0, 1) for _ in range(4))

    def grow(self) -> None:
        x = self.there[-1] if self.number(0, 4) else self.one_of(self.there)
        kinds = [self.pointwise, self.summed, self.joined, self.applied]
        if min(int(side) for side in x.type.shape[1:3]) >= 4:  # type: ignore[arg-type]
            kinds += [self.spatial, self.depthwise_layer, self.pooled, self.resized]
        made = self.one_of(kinds)(x)
        if made is not x:
            self.there.append(made)

    def spatial(self, x: Value) -> Value:
        act = self.one_of(("relu", "", "hard_swish", "tanh"))
        strides = self.one_of(((1, 1), (1, 1), (2, 2), (1, 2)))
        return self.layer(x, self.number(1, 40), 3, act, strides=strides, pads=self.pads(3))

    def pointwise(self, x: Value) -> Value:
        stride = self.one_of((1, 1, 2))
        return self.layer(x, self.number(1, 60), 1, self.one_of(("relu", "")), strides=(stride, stride))

    def depthwise_layer(self, x: Value) -> Value:
        stride = self.one_of((1, 2))
        return self.depthwise(x, self.one_of(("relu", "")), strides=(stride, stride), pads=self.pads(2))

    def pooled(self, x: Value) -> Value:
        size, kind = self.number(2, 4), self.one_of(("max_pool2d", "avg_pool2d"))
        stride, behind = self.one_of((1, 2, size)), (self.number(0, 1), self.number(0, 1))
        ceil = bool(self.number(0, 1))
        return self.pool(x, size, kind, strides=(stride, stride), pads=(0, 0, *behind), ceil_mode=ceil)

    def summed(self, x: Value) -> Value:
        other = self.one_of([value for value in self.there if value.type.shape == x.type.shape])
        made = self("add", x, other)
        return self("relu", made) if self.number(0, 1) else made

    def joined(self, x: Value) -> Value:
        alike = [value for value in self.there if value.type.shape[1:3] == x.type.shape[1:3]]
        return self("concat", x, self.one_of(alike), axis=3)

    def resized(self, x: Value) -> Value:
        height, width = (int(side) for side in x.type.shape[1:3])  # type: ignore[arg-type]
        if height * width > _LARGEST:
            return x
        rule = {"mode": "nearest", "coordinates": "asymmetric", "rounding": "floor"}
        return self("resize2d", x, size=(2 * height, 2 * width), scales=(2.0, 2.0), **rule)

    def applied(self, x: Value) -> Value:
        return self(self.one_of(("sigmoid", "hard_swish", "relu")), x)

    def done(self) -> Graph:
        """The last picture, or what a layer makes of its mean; sometimes the one before as well."""
        last, *others = reversed(self.there[1:])
        result = self.product(self.mean(last), 5) if self.number(0, 1) else last
        return self.finish(result, *(others[:1] if self.number(0, 1) else ()))


def drawn(seed: int) -> Graph:
    net = RandomNet(seed)
    while len(net.there) < 3:
        net.grow()
    for _ in range(net.number(0, 5)):
        net.grow()
    return net.done()


@pytest.fixture(scope="module")
def runner() -> Path:
    """Runs kmodels under sanitizers."""
    return build("lathe_kpu_run", variant="asan", source=ROOM) / "lathe_kpu_run"


def errors_of(graph: Graph, made: Generated) -> list[float]:
    """Of each output, the deviation as a part of the range that it has on all pictures together.

    There are networks whose results lie close to zero on some pictures, and are nothing but zero in steps.
    """
    samples = pictures(graph, 6)
    wanted = [evaluate(graph, sample) for sample in samples]
    found = [results(made, given(made, next(iter(sample.values())))) for sample in samples]
    errors = []
    for index, port in enumerate(made.outputs):
        real = np.array([one[port.name].reshape(-1) for one in wanted])
        got = np.array([one[index].reshape(-1) for one in found])
        spread = max(float(np.ptp(real)), float(np.abs(real).max()))
        errors.append(float(np.sqrt(np.square(real - got).mean())) / (spread or 1.0))
    return errors


def check(seed: int, runner: Path, folder: Path) -> None:
    graph = drawn(seed)
    made = generated(graph)
    errors = errors_of(graph, made)
    assert max(errors) < 0.02, (seed, errors)
    data = given(made, next(iter(pictures(graph, 1)[0].values())))
    (folder / "net.kmodel").write_bytes(made.data)
    (folder / "in").write_bytes(data)
    command([runner, folder / "net.kmodel", folder / "in", folder / "out"])
    for index, wanted in enumerate(simulate(made.model, data)):
        assert (folder / f"out{index}").read_bytes() == wanted, seed


@pytest.mark.parametrize("seed", range(12))
def test_random_networks(seed: int, runner: Path, tmp_path: Path) -> None:
    check(seed, runner, tmp_path)


@pytest.mark.sweep
def test_many_random_networks(runner: Path, tmp_path: Path) -> None:
    for seed in range(100, 500):
        check(seed, runner, tmp_path)


def test_they_have_layers_of_all_kinds() -> None:
    seen = {node.op.name for seed in range(40) for node in drawn(seed).nodes}
    assert seen >= {"conv2d", "dwconv2d", "max_pool2d", "avg_pool2d", "add", "concat", "resize2d", "sigmoid"}
