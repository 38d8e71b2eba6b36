"""Small models with ranges, as `lower` takes them, and how near a network comes to what they compute."""

from __future__ import annotations

from typing import Any

import numpy as np

from buildtool.ir.evaluate import evaluate
from buildtool.ir.graph import Graph, Value
from buildtool.targets.max7800x.firmware import program
from buildtool.targets.max7800x.lowering import lower
from buildtool.targets.max7800x.lowering.lower import Lowered
from buildtool.targets.max7800x.simulation import simulate
from tests.targets.k210.generating import Net, blocks, cosine, digits, pictures
from tests.targets.max7800x import machine

DOUBLING = {"strides": (2, 2), "pads": (1, 1, 1, 1), "dilations": (1, 1), "output_padding": (1, 1)}


def mnist() -> Graph:
    """Larger digits, flattened."""
    net = Net(2)
    x = net.layer(net.input(1, 28, 28, 1), 60)
    x = net.layer(net.pool(x), 60, pads=(2, 2, 2, 2))
    x = net.layer(net.pool(x), 56)
    x = net.layer(net.pool(x, kind="avg_pool2d"), 12)
    return net.finish(net.product(net("reshape", x, shape=(1, 4 * 4 * 12)), 10))


def residual() -> Graph:
    return blocks(32)


def upwards() -> Graph:
    """Down and up again."""
    net = Net(4)
    a = net.layer(net.input(1, 32, 32, 3), 8)
    b = net.layer(net.pool(a), 16)
    c = net.layer(net.pool(b), 24)
    x = net("concat", _up(net, c, 16), b, axis=3)
    x = net("concat", _up(net, net.layer(x, 16), 8), a, axis=3)
    return net.finish(net.layer(net.layer(x, 8), 4, 1, act=""))


def _up(net: Net, x: Value, channels: int, size: int = 3) -> Value:
    depth = int(x.type.shape[-1])  # type: ignore[arg-type]
    geometry = DOUBLING if size == 3 else {**DOUBLING, "pads": (0, 0, 0, 0), "output_padding": (0, 0)}
    weights = net.drawn(channels, size, size, depth, fan=depth * size)
    return net("relu", net("deconv2d", x, weights, net.bias(channels), **geometry))


def words() -> Graph:
    """One dimension: sounds."""
    net = Net(5)

    def line(x: Value, channels: int, length: int) -> Value:
        depth = int(x.type.shape[-1])  # type: ignore[arg-type]
        weights = net.drawn(channels, 1, length, depth, fan=length * depth)
        pads = (0, min(length // 2, 2)) * 2
        geometry = {"strides": (1, 1), "pads": pads, "dilations": (1, 1)}
        return net("relu", net("conv2d", x, weights, net.bias(channels), **geometry))

    x = line(line(net.input(1, 1, 128, 64), 100, 1), 96, 3)
    x = line(net("max_pool2d", x, kernel=(1, 2), strides=(1, 2)), 64, 5)
    x = line(net("avg_pool2d", x, kernel=(1, 2), strides=(1, 2)), 48, 9)
    x = net("max_pool2d", x, kernel=(1, 7), strides=(1, 7))
    return net.finish(net.product(net("reshape", x, shape=(1, 4 * 48)), 21))


def large() -> Graph:
    """A picture that only fits as a stream."""
    net = Net(6)
    x = net.layer(net.input(1, 128, 128, 3), 16)
    x = net.layer(net.pool(x), 24)
    x = net.layer(net.pool(x), 32)
    x = net.pool(net.layer(net.pool(x), 32), 4)
    return net.finish(net.product(net("reshape", x, shape=(1, 4 * 4 * 32)), 10))


def mixture() -> Graph:
    """Steps that are not made for it: limits, differences, small kernels, activations of their own, two outputs."""
    net = Net(7)
    x = net.layer(net.input(1, 20, 20, 4), 12, act="")
    x = net("clip", x, low=0.0, high=1.5)
    weights = net.drawn(12, 2, 2, 12, fan=48)
    y = net("conv2d", x, weights, net.bias(12), strides=(1, 1), pads=(0, 0, 1, 1), dilations=(1, 1))
    y = net("sub", net("abs", y), x)
    z = net("relu", net("avg_pool2d", y, kernel=(2, 2), strides=(2, 2)))
    z = net.depthwise(z)
    side = net.layer(z, 10, 1, strides=(2, 2))
    up = _up(net, z, 6, size=2)
    return net.finish(net.product(net.mean(side), 7), net.layer(up, 3, act=""))


def wide() -> Graph:
    """More channels than processors, joined and added in passes."""
    net = Net(8)
    x = net.pool(net.layer(net.input(1, 16, 16, 3), 96))
    x = net("concat", net.layer(x, 48, 1), net.layer(x, 48, 1), axis=3)
    x = net("add", net.layer(x, 96, 1), x)
    x = net("reshape", net.pool(net.layer(x, 80, 1), 4), shape=(1, 2 * 2 * 80))
    return net.finish(net("sigmoid", net.product(x, 90)))


GRAPHS = {one.__name__: one for one in (digits, mnist, residual, upwards, words, large, mixture, wide)}


def assert_machine_agrees(lowered: Lowered, picture: Any) -> None:
    """That the model of the chip computes what the simulator does."""
    found, outcome = machine.differences(program.make(lowered.network, lowered.input.stored(picture)))
    assert not found
    assert not outcome.complaints


def nearness(graph: Graph, lowered: Lowered, count: int = 3) -> list[float]:
    """Of each output, the least cosine with the model's own over pictures that the ranges were not found with."""
    least = [1.0] * len(lowered.outputs)
    for sample in pictures(graph, count, seed=77):
        wanted = evaluate(graph, sample)
        (picture,) = sample.values()
        trace = simulate.run(lowered.network, lowered.input.stored(picture))
        for index, (port, found) in enumerate(zip(lowered.outputs, lower.run(lowered, trace.outputs), strict=True)):
            assert found.shape == wanted[port.name].shape
            least[index] = min(least[index], cosine(np.asarray(found), wanted[port.name]))
    return least
