"""Networks become kmodels that read back, run, and give what the float network gives."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from buildtool.errors import UnsupportedError
from buildtool.importers.frameworks import import_model
from buildtool.importers.request import ImportRequest
from buildtool.ir.graph import Graph
from buildtool.targets.k210.format.kmodel import read
from buildtool.targets.k210.format.layer import LayerType
from buildtool.targets.k210.generation.generate import generate
from buildtool.targets.k210.generation.on_kpu import Settings
from tests.targets.k210.generating import (
    HALVING,
    Net,
    blocks,
    cosines,
    digits,
    generated,
    given,
    pictures,
    prepared,
    results,
)
from tests.zoo.networks import cached

CACHE = Path(__file__).resolve().parents[3] / "build" / "test-zoo"


def cifar() -> Graph:
    """Two blocks with pools, flattened."""
    net = Net(2)
    x = net.pool(net.layer(net.layer(net.input(1, 32, 32, 3), 16), 16))
    x = net.pool(net.layer(net.layer(x, 32), 32), kind="avg_pool2d")
    x = net.pool(net.layer(x, 48), 4)
    return net.finish(net.product(net("reshape", x, shape=(1, 2 * 2 * 48)), 10))


def residual() -> Graph:
    return blocks(16)


def branches() -> Graph:
    """Parts side by side, put behind each other, and two outputs: a picture and a list."""
    net = Net(4)
    x = net.layer(net.input(1, 20, 20, 3), 12, act="hard_swish", **HALVING)
    x = net("concat", net.layer(x, 8, 1), net.layer(x, 16), net.pool(x, 3, strides=(1, 1), pads=(1, 1, 1, 1)), axis=3)
    up = net(
        "resize2d", x, size=(20, 20), scales=(2.0, 2.0), mode="nearest", coordinates="asymmetric", rounding="floor"
    )
    return net.finish(net.layer(up, 6, act="sigmoid"), net.product(net.mean(x), 7))


def strides() -> Graph:
    """All ways to leave pixels out: by the KPU, by the next layer, by the CPU; odd sizes, and pads at one end only."""
    net = Net(5)
    x = net.layer(net.input(1, 36, 40, 3), 8, **HALVING)  # 18 x 20
    x = net.layer(net.depthwise(x, strides=(2, 2)), 12, 1)  # 9 x 10, by the 1x1 layer
    x = net.depthwise(x, strides=(2, 2))  # 5 x 5, odd
    x = net.layer(x, 16, pads=(0, 0, 1, 1))
    x = net.layer(x, 16, 3, pads=(0, 0, 1, 1), strides=(2, 2))
    return net.finish(net.product(net("reshape", x, shape=(1, 2 * 2 * 16)), 9))


def small_planes() -> Graph:
    """Pictures of less than four rows and columns, down to a single pixel."""
    net = Net(6)
    x = net.layer(net.layer(net.input(1, 8, 8, 3), 16, **HALVING), 16, **HALVING)  # 2 x 2
    x = net.layer(net.depthwise(net.layer(x, 24)), 20, 1)
    x = net.depthwise(net.depthwise(x, strides=(2, 2)))  # 1 x 1
    x = net.layer(net.layer(x, 20, 1), 12, 1, act="")
    return net.finish(net("reshape", x, shape=(1, 12)))


def kernels() -> Graph:
    """Kernels that are parts of 3x3, groups, and depthwise layers with a multiplier."""
    net = Net(7)
    x = net.layer(net.input(1, 12, 14, 4), 8, groups=1)
    x = net(
        "relu", net("conv2d", x, net.drawn(8, 1, 3, 8, fan=24), **{**HALVING, "strides": (1, 1), "pads": (0, 1, 0, 1)})
    )
    x = net(
        "relu", net("conv2d", x, net.drawn(8, 2, 2, 8, fan=32), strides=(1, 1), pads=(0, 0, 1, 1), dilations=(1, 1))
    )
    x = net("relu", net("conv2d", x, net.drawn(8, 3, 3, 2, fan=18), net.bias(8), groups=4, **HALVING))
    x = net("relu", net("dwconv2d", x, net.drawn(3, 3, 16, fan=9), multiplier=2, **{**HALVING, "strides": (1, 1)}))
    return net.finish(net.product(net.mean(x), 6))


def activations() -> Graph:
    net = Net(8)
    x = net.input(1, 10, 10, 3)
    for kind in ("leaky_relu", "elu", "hard_swish", "tanh", "swish"):
        attributes = {"alpha": 0.1} if kind == "leaky_relu" else {"alpha": 1.0} if kind == "elu" else {}
        x = net(kind, net.layer(x, 10, act=""), **attributes)
    return net.finish(net.product(net.mean(x), 6), net("sigmoid", net.product(net.mean(x), 3)))


def large_product() -> Graph:
    """A fully connected layer that goes to the KPU."""
    net = Net(17)
    x = net("relu", net.product(net.mean(net.layer(net.input(1, 8, 8, 3), 80)), 900))
    return net.finish(net.product(x, 1100))


def folded_product() -> Graph:
    """Fully connected layers of more numbers than the KPU has channels."""
    net = Net(19)
    x = net("reshape", net.layer(net.input(1, 8, 8, 3), 18), shape=(1, 8 * 8 * 18))
    return net.finish(net.product(net("relu", net.product(x, 1030)), 100))


def tiny_yolo(height: int = 64, width: int = 96, share: float = 0.125) -> Graph:
    """The second version: pools behind leaky convolutions, the last one of stride 1, and a picture as the result."""
    net = Net(18)
    x = net.input(1, height, width, 3)
    for channels in (16, 32, 64, 128, 256):
        x = net.pool(net("leaky_relu", net.layer(x, int(channels * share), act=""), alpha=0.1))
    x = net("leaky_relu", net.layer(x, int(512 * share), act=""), alpha=0.1)
    x = net.pool(x, 2, strides=(1, 1), pads=(0, 0, 1, 1))
    for _ in range(2):
        x = net("leaky_relu", net.layer(x, int(1024 * share), act=""), alpha=0.1)
    return net.finish(net.layer(x, 125, 1, act=""))


def borders() -> Graph:
    """Pads that are wider than the KPU's own, and a border of another number than zero."""
    net = Net(15)
    x = net.layer(net.input(1, 11, 12, 3), 12, pads=(2, 2, 2, 2), strides=(2, 2))
    x = net.depthwise(x, pads=(0, 2, 3, 1))
    x = net("pad", x, before=(0, 1, 0, 0), after=(0, 0, 2, 0), mode="constant", value=0.5)
    return net.finish(net.layer(x, 8, 1, pads=(1, 1, 1, 1)))


def pool_first() -> Graph:
    """What comes in has to come out of the KPU's RAM again, before anything else."""
    net = Net(13)
    x = net.pool(net.input(1, 15, 15, 3), 3, strides=(2, 2))
    x = net("relu", net.layer(net("hard_swish", x), 8, act=""))
    return net.finish(net.pool(x, 3, kind="avg_pool2d", strides=(2, 2), pads=(1, 1, 1, 1)))


def moved_channels() -> Graph:
    """Channels shuffled, cut off, cut apart and added: layers of 1x1."""
    net = Net(21)
    x = net.layer(net.input(1, 12, 10, 3), 12)
    order = np.arange(12).reshape(3, 4).T.reshape(-1)
    shuffled = net("gather", x, net.graph.new_constant("order", order), axis=3)
    later = net("slice", net.layer(shuffled, 16), starts=(0, 0, 0, 3), steps=(1, 1, 1, 2), sizes=(1, 12, 10, 6))
    first, second = net.all("split", net.layer(later, 10), axis=3, sizes=(4, 6))
    wider = net("pad", net.layer(first, 4), before=(0, 0, 0, 0), after=(0, 0, 0, 2), mode="constant", value=0.0)
    return net.finish(net.layer(net("add", wider, second), 5, 1))


def large_depthwise() -> Graph:
    """A depthwise layer of 5x5 with more channels than one layer of the KPU sums up taps of."""
    net = Net(22)
    x = net.layer(net.input(1, 12, 12, 3), 60, 1)
    pads = {"pads": (2, 2, 2, 2), "strides": (2, 2), "dilations": (1, 1)}
    x = net("relu", net("dwconv2d", x, net.drawn(5, 5, 60, fan=25), net.bias(60), **pads))
    return net.finish(net.layer(x, 8, 1))


def lists() -> Graph:
    """No picture anywhere."""
    net = Net(14)
    x = net("relu", net.product(net.input(1, 20), 30))
    return net.finish(net("sigmoid", net.product(x, 6)), net("concat", net.product(x, 5), x, axis=1))


_MADE = (
    digits, cifar, residual, branches, strides, small_planes, kernels, activations, large_product, folded_product,
    tiny_yolo, borders, pool_first, lists, moved_channels, large_depthwise,
)  # fmt: skip
NETS: dict[str, Callable[[], Graph]] = {made.__name__: made for made in _MADE}


@pytest.mark.parametrize("name", NETS)
def test_it_comes_near_to_the_float_network(name: str) -> None:
    graph = NETS[name]()
    made = generated(graph)
    assert read(made.data) == made.model
    found = cosines(graph, made)
    assert min(found) > 0.98, found


def test_channels_that_are_moved_keep_their_numbers() -> None:
    net, order = Net(23), [7, 0, 3, 3, 5]
    x = net.layer(net.input(1, 6, 8, 3), 8)
    picked = net("gather", x, net.graph.new_constant("order", np.array(order)), axis=3)
    graph = net.finish(picked, x)
    made = generated(graph)
    (sample,) = pictures(graph, 1, seed=77)
    found, whole = results(made, given(made, next(iter(sample.values()))))
    assert whole.max() > 1
    assert np.abs(found - whole[..., order]).max() <= whole.max() / 255


@pytest.mark.parametrize("settings", [Settings(16), Settings(per_channel=True), Settings(per_channel=False)], ids=str)
@pytest.mark.parametrize("net", [residual, pool_first], ids=["residual", "pool_first"])
def test_weights_are_stored_in_other_ways(net: Callable[[], Graph], settings: Settings) -> None:
    graph = net()
    made = generated(graph, settings)
    assert made.model.wide_weights == (settings.weight_bits == 16)
    assert min(cosines(graph, made)) > 0.98


def test_mobilenet() -> None:
    file = cached("mobilenet_v1", CACHE, size=64, width=0.25)
    graph = import_model("onnx", ImportRequest("mobilenet_v1", file)).graph
    made = generated(graph)
    assert min(cosines(graph, made, 1)) > 0.98
    assert len(made.report.layers) == 28
    assert made.report.kpu_share == 1


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("name", "width", "most_bytes"),
    [("mobilenet_v1", 0.25, 5e5), ("mobilenet_v1", 0.5, 1.4e6), ("mobilenet_v1", 0.75, 2.7e6),
     ("mobilenet_v1", 1.0, 4.4e6), ("mobilenet_v2", 1.0, 3.8e6)],
)  # fmt: skip
def test_networks_for_pictures_of_224(name: str, width: float, most_bytes: float) -> None:
    graph = import_model("onnx", ImportRequest(name, cached(name, CACHE, size=224, width=width))).graph
    made = generated(graph)
    assert min(cosines(graph, made, 1)) > 0.98
    assert made.report.kpu_share > 0.99
    assert made.report.file_bytes < most_bytes * 1.02


@pytest.mark.sweep
@pytest.mark.parametrize("height", [224, 240])
def test_whole_tiny_yolo(height: int) -> None:
    graph = tiny_yolo(height, 320, 1.0)
    made = generated(graph)
    assert made.report.kpu_share == 1
    assert min(cosines(graph, made, 1)) > 0.98


def test_a_grey_picture_that_comes_as_planes() -> None:
    """With one channel, what turns planes into a picture is a reshape."""
    net = Net(20)
    x = net("reshape", net.input(1, 1, 8, 9), shape=(1, 8, 9, 1))
    graph = net.finish(net.product(net.mean(net.layer(net.layer(x, 6), 4)), 5))
    made = generated(graph)
    assert made.input.shape == (1, 8, 9)
    assert min(cosines(graph, made)) > 0.98


def test_a_decimated_depthwise_layer_stays_in_the_memory_of_the_kpu() -> None:
    net = Net()
    x = net.layer(net.depthwise(net.layer(net.input(1, 16, 16, 3), 8), strides=(2, 2)), 8, 1)
    made = generated(net.finish(x))
    kinds = [layer.TYPE for layer in made.model.layers]
    assert kinds == [LayerType.K210_CONV] * 3 + [LayerType.DEQUANTIZE]
    assert [layer.shape.pool for layer in made.report.layers] == [0, 0, 5]


def test_a_layer_of_many_loads_is_split() -> None:
    net = Net(9)
    x = net.layer(net.layer(net.input(1, 4, 4, 3), 1024, 1), 200)
    graph = net.finish(net.mean(x))
    made = generated(graph)
    assert [layer.parts for layer in made.report.layers] == [1, 2]
    assert min(cosines(graph, made, 1)) > 0.98


def test_the_report_adds_up() -> None:
    made = generated(residual())
    assert made.report.file_bytes == len(made.data)
    assert 0.9 < made.report.kpu_share < 1
    assert made.report.main_bytes <= made.model.main_memory
    assert all(layer.error < 0.51 for layer in made.report.layers)


# -- what has no layer -------------------------------------------------------------------------------------------------
def refused() -> Graph:
    net = Net()
    x = net.layer(net.input(1, 16, 16, 114), 8, dilations=(2, 2), pads=(2, 2, 2, 2))
    x = net.layer(net.layer(x, 22), 8, 7)
    return net.finish(net("sin", net("gather", x, net.graph.new_constant("i", np.array([1, 0])), axis=1)))


def test_all_that_has_no_layer_is_told_at_once() -> None:
    with pytest.raises(UnsupportedError) as caught:
        generate(prepared(refused()))
    first, second, third = caught.value.problems
    assert first.render() == (
        "model 'test', node 'conv2d_0': error: layer 0, conv2d: its dilation is 2 x 2\n"
        "  rule: the KPU has no dilated kernels; of others, channels times pixels are at most 1024\n"
        "  fix:  use a dilation of 1, or several layers of 3x3"
    )
    assert second.render() == (
        "model 'test', node 'conv2d_4': error: layer 2, conv2d: its kernel is 7x7\n"
        "  rule: the KPU has kernels of 1x1 and 3x3; of others, channels times pixels are at most 1024\n"
        "  fix:  use 3 layers of 3x3 in sequence"
    )
    assert "layer 3, gather: there is no layer for 'gather'" in third.render()


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda net: net.layer(net.input(1, 8, 8, 1025), 4, 1), "has 1025 channels"),
        (lambda net: net.layer(net.input(1, 300, 8, 3), 4), "its input has 300 x 8 pixels"),
        (
            lambda net: net.layer(net("transpose", net.input(1, 8, 6, 3), perm=(0, 2, 1, 3)), 4),
            "layer 0, transpose: it moves axes: 0, 2, 1, 3",
        ),
        (
            lambda net: net.layer(net("reshape", net.product(net.input(1, 9), 32), shape=(1, 4, 4, 2)), 4),
            "layer 2, conv2d: 'reshape.* is not stored as an image",
        ),
        (lambda net: net.layer(net.input(2, 8, 8, 3), 4), "several images at once"),
        (
            lambda net: net("softmax", net.input(1, 8), axis=1),
            "is used by another operator than a fully connected layer",
        ),
        (lambda net: net.layer(net.input(1, 2, 8, 3), 4), "the input has 2 x 8 pixels"),
        (lambda net: net.layer(net.layer(net.input(1, 256, 256, 1), 32), 9), "the planes around layer 2 take"),
    ],
)
def test_a_rule_is_told(build: Callable[[Net], object], words: str) -> None:
    net = Net()
    graph = net.finish(build(net))  # type: ignore[arg-type]
    with pytest.raises(UnsupportedError, match=words):
        generate(prepared(graph))


def test_a_missing_range_is_told() -> None:
    graph = prepared(digits())
    graph.ranges.clear()
    with pytest.raises(UnsupportedError, match="the value range of"):
        generate(graph)


def test_outputs_that_do_not_fit_beside_their_input_go_to_main_memory_in_parts() -> None:
    net = Net(12)
    x = net.depthwise(net.layer(net.input(1, 112, 112, 3), 88, 1), strides=(2, 2))
    graph = net.finish(net.layer(x, 8, 1))
    made = generated(graph)
    assert made.report.layers[1].parts > 1
    assert LayerType.UPLOAD in [layer.TYPE for layer in made.model.layers]
    assert made.report.ram_bytes <= 2 << 20
    assert min(cosines(graph, made, 1)) > 0.98


def test_many_weights_of_a_fully_connected_layer_are_bytes() -> None:
    graph = prepared(large_product())
    made = generate(graph)
    kinds = [layer.TYPE for layer in made.model.layers]
    assert kinds.count(LayerType.ADD_PADDING) == kinds.count(LayerType.REMOVE_PADDING) == 1
    assert LayerType.FC not in kinds
    assert made.report.kpu_share == 1
    floats = generate(graph, Settings(product_bytes=1 << 30))
    assert [layer.TYPE for layer in floats.model.layers].count(LayerType.FC) == 2
    assert len(floats.data) > 3 * len(made.data)


def test_planes_of_two_branches_come_back_from_main_memory() -> None:
    """They are read twice, and what is made of them first leaves no room for them."""
    net = Net(16)
    x = net.layer(net.input(1, 64, 65, 3), 100, 1)
    left = net.mean(net.layer(net.layer(x, 80, 1), 80, 1))
    graph = net.finish(net("concat", left, net.mean(net.layer(x, 20, 1)), axis=1))
    made = generated(graph)
    assert LayerType.UPLOAD in [layer.TYPE for layer in made.model.layers]
    assert min(cosines(graph, made, 1)) > 0.98


def test_more_channels_than_a_layer_has_become_several_layers() -> None:
    net = Net(10)
    x = net.depthwise(net.layer(net.input(1, 5, 6, 3), 1100, 1))
    graph = net.finish(net.mean(x))
    made = generated(graph)
    assert [layer.parts for layer in made.report.layers] == [2, 2]
    assert min(cosines(graph, made, 1)) > 0.98
