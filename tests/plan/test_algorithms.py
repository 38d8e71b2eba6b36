"""Which convolutions are worth Winograd's transformation, and how much larger a model may become by it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from buildtool.ir.graph import Graph, Node, Value
from buildtool.ir.types import DType, QuantType, TensorType
from buildtool.ops.conv2d import Conv2d
from buildtool.plan import algorithms
from buildtool.targets.processors import ABIS, X86_64


def add_convolution(
    graph: Graph, x: Value, outputs: int, *, kernel: int = 3, stride: int = 1, groups: int = 1, dilation: int = 1
) -> Node:
    channels = x.type.shape[3]
    assert isinstance(channels, int)
    filters = np.ones((outputs, kernel, kernel, channels // groups), np.float32)
    pad = dilation * (kernel // 2)
    op = Conv2d(strides=(stride, stride), pads=(pad,) * 4, dilations=(dilation, dilation), groups=groups)
    node = graph.new_node(op, [x, graph.new_constant("w", filters)])
    graph.nodes.append(node)
    return node


def network(size: int, channels: int, layers: int = 1) -> tuple[Graph, list[Node]]:
    graph = Graph()
    x = graph.new_value("x", TensorType(DType.F32, (1, size, size, channels)))
    graph.inputs = [x]
    nodes = []
    for _ in range(layers):
        nodes.append(add_convolution(graph, x, channels))
        x = nodes[-1].outputs[0]
    graph.outputs = [x]
    return graph, nodes


def ballast(graph: Graph, numbers: int) -> None:
    """A constant that leaves room for larger filters."""
    x = graph.new_value("y", TensorType(DType.F32, (1, 1, 1, numbers)))
    graph.inputs.append(x)
    graph.outputs.append(add_convolution(graph, x, 1, kernel=1).outputs[0])


def test_large_pictures_take_large_tiles() -> None:
    graph, (node,) = network(56, 64)
    ballast(graph, 10**6)
    assert algorithms.choose(graph)[node] == "winograd4"


def test_small_pictures_of_many_channels_do_not() -> None:
    graph, (node,) = network(4, 512)
    ballast(graph, 10**8)
    assert node not in algorithms.choose(graph)


def test_few_channels_are_not_worth_the_transformation() -> None:
    graph, (node,) = network(56, 3)
    ballast(graph, 10**6)
    assert node not in algorithms.choose(graph)


@pytest.mark.parametrize(("tiles", "expected"), [(0, None), (2, "winograd2"), (4, "winograd4"), (None, "winograd4")])
def test_the_deployment_file_has_the_last_word(tiles: int | None, expected: str | None) -> None:
    graph, (node,) = network(56, 64)
    ballast(graph, 10**6)
    assert algorithms.choose(graph, tiles).get(node) == expected


def test_the_model_grows_no_more_than_it_may() -> None:
    graph, nodes = network(28, 128, layers=8)
    chosen = algorithms.choose(graph)
    assert 0 < len(chosen) < len(nodes) or set(chosen.values()) == {"winograd2"}
    per_point = 128 * 128
    points = {"": 9, "winograd2": 16, "winograd4": 36}
    stored = sum(points[chosen.get(node, "")] * per_point for node in nodes)
    assert stored <= algorithms.Costs().growth * 9 * per_point * len(nodes)


def test_a_small_model_may_use_the_spare_room() -> None:
    """Filters of 3 x 64 x 64 x 9 numbers: what tiles of 4 add is three times that, 1.3 MB."""
    graph, nodes = network(28, 64, layers=3)
    assert algorithms.choose(graph) == dict.fromkeys(nodes, "winograd4")
    assert algorithms.choose(graph, costs=algorithms.Costs(spare=0)) != dict.fromkeys(nodes, "winograd4")


@pytest.mark.parametrize("change", [{"stride": 2}, {"kernel": 5}, {"groups": 2}, {"dilation": 2}])
def test_only_dense_3x3_convolutions_with_stride_1(change: dict[str, int]) -> None:
    graph = Graph()
    x = graph.new_value("x", TensorType(DType.F32, (1, 56, 56, 64)))
    graph.inputs = [x]
    node = add_convolution(graph, x, 64, **change)
    graph.outputs = [node.outputs[0]]
    ballast(graph, 10**6)
    assert node not in algorithms.choose(graph)


def test_measured_times_replace_estimates() -> None:
    graph, nodes = network(56, 64, layers=2)
    ballast(graph, 10**6)
    nodes[0].name = "first"
    slow = {"0 first": {"": 100, "winograd2": 300, "winograd4": 200}}
    assert algorithms.choose(graph, measured=slow) == {nodes[1]: "winograd4"}
    medium = {label: {"": 100, "winograd2": 50, "winograd4": 80} for label in ("0 first", "1")}
    assert algorithms.choose(graph, measured=medium) == dict.fromkeys(nodes, "winograd2")
    assert algorithms.choose(graph, 0, measured=medium) == {}


def test_measured_layers_compete_for_the_same_room() -> None:
    graph, nodes = network(28, 32, layers=3)
    ballast(graph, 10**4)  # room for one of them
    times = {f"{index}": {"": 100, "winograd4": 90 - 20 * index} for index in range(3)}
    chosen = algorithms.choose(graph, costs=algorithms.Costs(spare=0), measured=times)
    assert nodes[2] in chosen
    assert nodes[0] not in chosen


@pytest.mark.parametrize("algorithm", algorithms.ALGORITHMS)
def test_an_algorithm_everywhere(algorithm: str) -> None:
    graph, (node,) = network(4, 512)
    ballast(graph, 10)
    expected = {node: algorithm} if algorithm else {}
    assert algorithms.everywhere(graph, algorithm) == expected


def test_what_each_way_costs_and_stores() -> None:
    """8x8 pixels, 4 channels in and out: 16 products for each tap or point; 20 for each number of the filters."""
    _, (node,) = network(8, 4)
    ways = {way.algorithm: (way.cost, way.weights) for way in algorithms._ways(node, (2, 4), algorithms.Costs())}
    assert ways == {
        "": (64 * 9 * 16 + 20 * 9 * 16, 4 * 9 * 16),
        "winograd2": (16 * 16 * (16 + 19 * 8) + 20 * 16 * 16, 4 * 16 * 16),
        "winograd4": (4 * 36 * (16 + 19 * 8) + 20 * 36 * 16, 4 * 36 * 16),
    }


def test_first_layers_of_7x7_are_taken_as_squares() -> None:
    """8x8 outputs, 3 channels to 64: 4 tiles of 49 points of 12 channels."""
    costs = algorithms.Costs(squares=True)
    graph = Graph()
    x = graph.new_value("x", TensorType(DType.F32, (1, 16, 16, 3)))
    node = add_convolution(graph, x, 64, kernel=7, stride=2)
    ways = {way.algorithm: (way.cost, way.weights) for way in algorithms._ways(node, (2, 4), costs)}
    assert ways == {
        "": (64 * 147 * 64 + 20 * 147 * 64, 4 * 147 * 64),
        "winograd4": (4 * 49 * (12 * 64 + 19 * 76) + 20 * 49 * 12 * 64, 4 * 49 * 12 * 64),
    }
    assert [way.algorithm for way in algorithms._ways(node, (2,), costs)] == [""]
    ballast(graph, 10**6)
    for size, channels, expected in ((112, 3, "winograd4"), (8, 3, ""), (112, 5, "")):
        x = graph.new_value("z", TensorType(DType.F32, (1, 2 * size, 2 * size, channels)))
        node = add_convolution(graph, x, 64, kernel=7, stride=2)
        assert algorithms.choose(graph, costs=costs).get(node, "") == expected
        assert node not in algorithms.choose(graph, 2, costs)
        assert node not in algorithms.choose(graph)  # where there are no kernels
    of_bytes(node)
    assert list(algorithms._ways(node, (2, 4), costs)) == []


def of_bytes(node: Node) -> None:
    filters = node.inputs[1].constant
    assert filters is not None
    quant = QuantType((1.0,), (0,))
    type_ = TensorType(DType.S8, filters.shape, quant)
    node.inputs[1] = Value("w", type_, (), filters.astype(np.int8))


def test_bytes_have_small_tiles_where_there_are_kernels() -> None:
    """8x8 pixels, 4 channels in and out: a filter takes 32 bytes instead of 9."""
    _, (node,) = network(8, 4)
    of_bytes(node)
    assert list(algorithms._ways(node, (2, 4), algorithms.Costs())) == []
    costs = algorithms.Costs(bytes=algorithms.ByteCosts(product=2.0, transform=3.0, weight=5.0))
    ways = {way.algorithm: (way.cost, way.weights) for way in algorithms._ways(node, (2, 4), costs)}
    assert ways == {
        "": (64 * 9 * 16 + 5 * 9 * 16, 9 * 16),
        "winograd2": (16 * 16 * (2 * 16 + 3 * 8) + 5 * 32 * 16, 32 * 16),
    }
    assert [way.algorithm for way in algorithms._ways(node, (4,), costs)] == [""]


def test_bytes_are_transformed_where_it_pays() -> None:
    costs = ABIS["wasm32-simd"].costs
    for channels, expected in ((64, {"winograd2"}), (3, set())):
        graph, (node,) = network(56, channels)
        of_bytes(node)
        ballast(graph, 10**6)
        assert set(algorithms.choose(graph, costs=costs).values()) == expected
        assert algorithms.choose(graph, 0, costs) == {}
        assert algorithms.choose(graph) == {}  # nor where there are no kernels


def test_bytes_are_not_transformed_where_a_machine_may_have_dot_products() -> None:
    known = ABIS["aarch64-linux-gnu"]
    graph, (node,) = network(56, 64)
    of_bytes(node)
    ballast(graph, 10**6)
    for isas, expected in ((("fp16",), "winograd2"), (("dotprod",), ""), (("i8mm",), ""), (known.isas, "")):
        chosen = algorithms.choose(graph, costs=known.only(isas).convolution_costs)
        assert chosen.get(node, "") == expected
    assert known.only(["dotprod"]).convolution_costs == replace(known.costs, bytes=None)


def test_on_x86_bytes_are_transformed_for_avx2_alone() -> None:
    known = X86_64
    graph, (node,) = network(56, 64)
    of_bytes(node)
    ballast(graph, 10**6)
    for isas, expected in ((known.isas, "winograd2"), (("avx2",), "winograd2"), (("vnni", "avx512"), ""), ((), "")):
        chosen = algorithms.choose(graph, costs=known.only(isas).convolution_costs)
        assert chosen.get(node, "") == expected
