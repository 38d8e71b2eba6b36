"""Models become networks that fit, and compute what the models do, up to what bytes lose."""

from __future__ import annotations

import numpy as np
import pytest

from buildtool.errors import UnsupportedError
from buildtool.ir.evaluate import evaluate
from buildtool.ir.graph import Graph
from buildtool.passes.pipeline import optimise
from buildtool.targets.max7800x.devices import MAX78000, MAX78002, Device
from buildtool.targets.max7800x.lowering import tensors
from buildtool.targets.max7800x.lowering.lower import Lowered, Settings, lower, run
from buildtool.targets.max7800x.planning import overlap
from buildtool.targets.max7800x.simulation import simulate
from tests.targets.k210.generating import Net, pictures, prepared
from tests.targets.max7800x.graphs import GRAPHS, assert_machine_agrees, nearness

LEAST = 0.985  # of cosines; what each comes to is in the figures of the page about the target


def picture_of(graph: Graph) -> object:
    (picture,) = pictures(graph, 1, seed=78)[0].values()
    return picture


def layer_of(lowered: Lowered, name: str) -> object:
    return next(layer for layer in lowered.network.layers if layer.name == name)


@pytest.mark.parametrize("name", GRAPHS)
def test_models_fit_and_come_near(name: str) -> None:
    graph = prepared(GRAPHS[name]())
    lowered = lower(graph, MAX78000)
    assert overlap.check(lowered.network) == []
    near = nearness(graph, lowered)
    assert min(near) >= LEAST, near
    assert_machine_agrees(lowered, picture_of(graph))


@pytest.mark.parametrize("name", GRAPHS)
def test_the_larger_chip(name: str) -> None:
    graph = prepared(GRAPHS[name]())
    lowered = lower(graph, MAX78002)
    assert overlap.check(lowered.network) == []
    assert min(nearness(graph, lowered, 2)) >= LEAST
    assert_machine_agrees(lowered, picture_of(graph))


def test_depthwise_layers_stay_so_on_the_larger_chip() -> None:
    net = Net(1)
    x = net.depthwise(net.layer(net.input(1, 12, 12, 3), 16))
    graph = prepared(net.finish(net.product(net.mean(x), 4)))
    small, large = lower(graph, MAX78000), lower(graph, MAX78002)
    groups = [[layer.kernel.groups for layer in one.network.layers if layer.kernel] for one in (small, large)]
    assert groups == [[1, 1, 1], [1, 16, 1]]
    assert min(nearness(graph, small)) >= LEAST
    assert min(nearness(graph, large)) >= LEAST


def test_streams_and_planes_are_chosen_on_need() -> None:
    lowered = lower(prepared(GRAPHS["large"]()), MAX78000)
    assert [layer.streaming for layer in lowered.network.layers][:3] == [True, True, False]
    assert lowered.network.fifo


def leaky() -> Graph:
    """Slopes below zero: in layers of all kinds, of each channel, before pools, of sums, and of what several read."""
    net = Net(11)
    x = net.layer(net.input(1, 16, 16, 3), 16, act="")
    x = net.pool(net("leaky_relu", x, alpha=0.1))
    slopes = net.constant(np.linspace(0.0, 1.5, 16))
    y = net("prelu", net.layer(x, 16, act=""), slopes)
    x = net("prelu", net("add", x, y), net.constant(np.full(1, 0.25)))
    x = net("leaky_relu", net.depthwise(x, act=""), alpha=0.3)
    y = net("leaky_relu", net.layer(net.pool(x), 20, act=""), alpha=0.05)
    x = net("leaky_relu", net.product(net("reshape", y, shape=(1, 4 * 4 * 20)), 24), alpha=0.2)
    return net.finish(net.product(x, 10))


@pytest.mark.parametrize("device", [MAX78000, MAX78002], ids=lambda device: device.name)
def test_slopes_below_zero_are_differences(device: Device) -> None:
    graph = prepared(leaky())
    lowered = lower(graph, device)
    names = [layer.name for layer in lowered.network.layers if "copied for" not in layer.name]
    below = [name for name in names if name.endswith("below zero")]
    assert len(below) == 6
    assert min(nearness(graph, lowered)) >= LEAST
    assert_machine_agrees(lowered, picture_of(graph))


def test_a_leaky_layer_is_exact_but_for_its_bytes() -> None:
    """Each output is within two steps of the model's: one of the layer, one of the weights' bytes."""
    net = Net(3)
    x = net("leaky_relu", net.layer(net.input(1, 8, 8, 4), 8, 1, act=""), alpha=0.25)
    graph = prepared(net.finish(x))
    lowered = lower(graph, MAX78000)
    (picture,) = pictures(graph, 1, seed=78)[0].values()
    (port,) = lowered.outputs
    (wanted,) = evaluate(graph, {lowered.input.name: picture}).values()
    (found,) = run(lowered, simulate.run(lowered.network, lowered.input.stored(picture)).outputs)
    assert wanted.min() < -10 * port.scale
    assert np.abs(found - wanted).max() <= 2 * port.scale


def test_negative_slopes_are_told() -> None:
    net = Net(3)
    y = net("prelu", net.layer(net.input(1, 8, 8, 4), 8, act=""), net.constant(np.linspace(-0.1, 0.1, 8)))
    graph = net.finish(net.product(net.mean(y), 4))
    optimise(graph, quantised=True)
    with pytest.raises(UnsupportedError, match="its activation is prelu"):
        lower(graph, MAX78000)


# -- bits --------------------------------------------------------------------------------------------------------------
def deep(layers: int) -> Graph:
    net = Net(9)
    x = net.input(1, 4, 4, 64)
    for _ in range(layers):
        x = net.layer(x, 64)
    return net.finish(net.product(net.mean(x), 10))


def test_layers_get_fewer_bits_until_they_fit() -> None:
    graph = prepared(deep(14))
    lowered = lower(graph, MAX78000)
    counts = sorted(lowered.bits.values())
    assert counts[0] == 4
    assert counts.count(8) > 8
    assert min(nearness(graph, lowered)) > 0.9
    assert_machine_agrees(lowered, picture_of(graph))


def uneven() -> Graph:
    """The weights of the first layer fit into 4 bits, but for small ones, which half of its input meets."""
    net = Net(11)
    x = net.input(1, 6, 6, 64)
    weights = net.rng.integers(-7, 8, (64, 3, 3, 64)) / 64 * np.where(np.arange(64) < 32, 1, 0.06)
    geometry = {"strides": (1, 1), "pads": (1, 1, 1, 1), "dilations": (1, 1)}
    x = net("relu", net("conv2d", x, net.constant(weights), net.constant(np.zeros(64)), **geometry))
    for _ in range(12):
        x = net.layer(x, 64)
    return net.finish(net.product(net.mean(x), 10))


def test_samples_tell_which_layers_bear_fewer_bits() -> None:
    """Of an input whose other half is zero, all that is left meets weights that 4 bits make zeros of."""
    graph = prepared(uneven())
    quiet = np.array(picture_of(graph))
    quiet[..., :32] = 0
    names = [node.name for node in graph.nodes if node.op.name == "conv2d"]
    by_weights = lower(graph, MAX78000)
    by_samples = lower(graph, MAX78000, Settings(samples=(quiet,)))
    fewer = [{name for name, bits in lowered.bits.items() if bits < 8} for lowered in (by_weights, by_samples)]
    assert fewer[0]
    assert fewer[0] != fewer[1]
    assert names[0] in fewer[0]
    assert names[0] not in fewer[1]


def test_bits_that_are_asked_for_are_kept() -> None:
    graph = prepared(deep(13))
    names = [node.name for node in graph.nodes if node.op.name == "conv2d"]
    lowered = lower(graph, MAX78000, Settings(bits={names[0]: 2, names[5]: 4}))
    assert lowered.bits[names[0]] == 2
    assert lowered.bits[names[5]] == 4
    assert all(bits == 8 for name, bits in lowered.bits.items() if name not in (names[0], names[5]))


def test_networks_that_never_fit_are_refused() -> None:
    with pytest.raises(UnsupportedError, match="kernel memory is full"):
        lower(
            prepared(deep(14)),
            MAX78000,
            Settings(bits={node.name: 8 for node in deep(14).nodes if "conv" in node.name}),
        )


def test_bits_of_no_layer_are_told() -> None:
    graph = prepared(deep(1))
    with pytest.raises(
        UnsupportedError, match=r"'conv9' is requested with weights of 3 bits(.|\n)*layers with weights: conv"
    ):
        lower(graph, MAX78000, Settings(bits={"conv9": 3}))


# -- rules -------------------------------------------------------------------------------------------------------------
def test_everything_that_has_no_layer_is_told_at_once() -> None:
    net = Net(1)
    x = net.layer(net.input(1, 24, 24, 3), 8, 5)
    x = net.layer(x, 8, dilations=(2, 2), pads=(2, 2, 2, 2))
    x = net.layer(x, 8, act="hard_swish")
    x = net.pool(x, 3, strides=(2, 2), pads=(1, 1, 1, 1))
    x = net.layer(x, 8, strides=(2, 2), pads=(0, 0, 2, 2), kernel=2)
    x = net("exp", x)
    graph = net.finish(net.product(net("reshape", x, shape=(1, 7 * 7 * 8)), 4))
    optimise(graph, quantised=True)
    with pytest.raises(UnsupportedError) as caught:
        lower(graph, MAX78000)
    told = [problem.what.split(": ", 1)[1] for problem in caught.value.problems]
    assert told == [
        "its kernel is 5x5",
        "its dilation is 2 x 2",
        "the accelerator does not support it",
        "its windows extend beyond the input or into padding",
        "the accelerator does not support it",
    ]
    assert all(problem.where.node and problem.rule and problem.remedy for problem in caught.value.problems)


def test_borders_that_are_not_alike() -> None:
    """Convolutions and pools whose pads are at one end only, and those of pools, get a border from a layer."""
    net = Net(2)
    x = net.layer(net.input(1, 24, 24, 3), 8, strides=(2, 2), pads=(0, 0, 1, 1))  # 12 x 12, as TensorFlow pads
    x = net.pool(x, 3, strides=(2, 2), pads=(0, 0, 1, 1))  # 6 x 6
    x = net.pool(net.layer(x, 12), 3, strides=(1, 1), pads=(1, 1, 1, 1))
    x = net.pool(x, 3, kind="avg_pool2d", strides=(1, 1), pads=(1, 1, 1, 1), count_include_pad=True)
    x = net.pool(net.layer(x, 12), 3, strides=(2, 2), ceil_mode=True)  # 6 to 3, the last window hangs over
    x = net.layer(x, 10, strides=(2, 2), pads=(2, 1, 0, 1))  # rows have a border, and columns pads
    graph = prepared(net.finish(net.product(net("reshape", x, shape=(1, 2 * 2 * 10)), 5)))
    lowered = lower(graph, MAX78000)
    assert sum(layer.name.endswith(" with a border") for layer in lowered.network.layers) == 6
    assert min(nearness(graph, lowered)) >= LEAST
    assert_machine_agrees(lowered, picture_of(graph))


def test_pictures_that_become_lines() -> None:
    net = Net(6)
    x = net.layer(net.input(1, 3, 14, 3), 8, pads=(0, 1, 0, 1))  # one row of 14
    x = net("max_pool2d", net.layer(x, 12, pads=(1, 1, 1, 1)), kernel=(1, 2), strides=(1, 2))
    graph = prepared(net.finish(net.product(net("reshape", x, shape=(1, 7 * 12)), 5)))
    lowered = lower(graph, MAX78000)
    assert min(nearness(graph, lowered)) >= LEAST
    assert_machine_agrees(lowered, picture_of(graph))


def test_rows_and_columns_are_padded_differently() -> None:
    """The chip can, and ai8xize has no words for it."""
    net = Net(5)
    x = net.layer(net.input(1, 10, 12, 3), 8, pads=(0, 1, 0, 1))
    graph = prepared(net.finish(net.layer(x, 6, pads=(2, 0, 2, 0))))
    lowered = lower(graph, MAX78000)
    assert [layer.kernel.pad for layer in lowered.network.layers if layer.kernel] == [(0, 1), (2, 0)]
    assert min(nearness(graph, lowered)) >= LEAST
    assert_machine_agrees(lowered, picture_of(graph))
    assert set(tensors.files(lowered)) == {"tensors.h"}


def test_means_of_large_pictures() -> None:
    """By two pools, one behind the other."""
    net = Net(4)
    graph = prepared(net.finish(net.product(net.mean(net.layer(net.input(1, 32, 48, 3), 10)), 5)))
    lowered = lower(graph, MAX78000)
    pools = [layer.pool.size for layer in lowered.network.layers if layer.pool]
    assert pools == [(16, 16), (2, 3)]
    assert min(nearness(graph, lowered)) >= LEAST
    assert_machine_agrees(lowered, picture_of(graph))


def test_lines_with_borders() -> None:
    net = Net(3)
    weights = net.drawn(8, 1, 5, 6, fan=30)
    geometry = {"strides": (1, 2), "pads": (0, 1, 0, 2), "dilations": (1, 1)}
    x = net("relu", net("conv2d", net.input(1, 1, 30, 6), weights, net.bias(8), **geometry))
    x = net("max_pool2d", x, kernel=(1, 3), strides=(1, 2), pads=(0, 1, 0, 1))
    graph = prepared(net.finish(net.product(net("reshape", x, shape=(1, 8 * 8)), 5)))
    lowered = lower(graph, MAX78000)
    assert [layer.operation for layer in lowered.network.layers][:3] == ["conv1d", "conv1d", "conv1d"]
    assert min(nearness(graph, lowered)) >= LEAST
    assert_machine_agrees(lowered, picture_of(graph))


def test_unknown_ranges_are_told() -> None:
    graph = GRAPHS["digits"]()
    optimise(graph, quantised=True)
    with pytest.raises(UnsupportedError, match=r"the value range of 'x\.\d+'"):
        lower(graph, MAX78000)


def test_several_inputs_are_told() -> None:
    net = Net(1)
    graph = net.finish(net("add", net.layer(net.input(1, 8, 8, 3), 4), net.layer(net.input(1, 8, 8, 3), 4)))
    with pytest.raises(UnsupportedError, match="the model has 2 inputs"):
        lower(graph, MAX78000)
