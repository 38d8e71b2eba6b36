"""Layouts of constants: what stands where, the way back, and which nodes they are for."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from buildtool.ir.dims import static
from buildtool.ir.graph import Graph, Node, Value
from buildtool.ir.types import DType, QuantType, TensorType
from buildtool.ops.conv2d import Conv2d
from buildtool.plan.packing import MOST_SUMMED, PACKINGS, by_code, packable
from tests.plan.graphs import add_input, make


def convolution(outputs: int, channels: int, groups: int = 1, window: int = 3, stride: int = 1) -> Node:
    graph = Graph()
    random = np.random.default_rng(outputs * channels)
    filters = random.standard_normal((outputs, window, window, channels)).astype(np.float32)
    op = Conv2d(strides=(stride, stride), pads=(1, 1, 1, 1), dilations=(1, 1), groups=groups)
    return graph.new_node(op, [add_input(graph, "x", (1, 8, 8, channels * groups)), graph.new_constant("w", filters)])


def product(outputs: int, depth: int) -> Node:
    graph = Graph()
    weights = np.arange(outputs * depth, dtype=np.float32).reshape(outputs, depth)
    linear = make("fully_connected", activation="none", activation_alpha=0.0, activation_beta=0.0)
    return graph.new_node(linear, [add_input(graph, "x", (2, depth)), graph.new_constant("w", weights)])


def constant_of(node: Node) -> np.ndarray:
    assert node.inputs[1].constant is not None
    return node.inputs[1].constant


@pytest.mark.parametrize("width", [4, 8, 16])
@pytest.mark.parametrize(("outputs", "groups"), [(1, 1), (16, 1), (17, 1), (6, 2), (34, 2), (5, 5)])
def test_panels_hold_every_filter_where_it_is_looked_for(width: int, outputs: int, groups: int) -> None:
    node = convolution(outputs, 3, groups)
    plain, packing = constant_of(node), PACKINGS[f"panels{width}"]
    packed = packing.pack(plain, node)
    per_group = outputs // groups
    assert packed.shape == (groups, -(-per_group // width), 3, 3, 3, width)
    for output in range(outputs):
        group, place = divmod(output, per_group)
        assert np.array_equal(packed[group, place // width, ..., place % width], plain[output])
    assert np.count_nonzero(packed) == np.count_nonzero(plain)
    assert np.array_equal(packing.unpack(packed, node), plain)


def test_weights_of_a_product_are_filters_of_one_tap() -> None:
    node = product(10, 7)
    packing = PACKINGS["panels8"]
    packed = packing.pack(constant_of(node), node)
    assert packed.shape == (1, 2, 1, 1, 7, 8)
    assert np.array_equal(packed[0, 1, 0, 0, :, 1], constant_of(node)[9])
    assert np.array_equal(packing.unpack(packed, node), constant_of(node))


def test_weights_of_a_recurrent_layer_have_rows_for_every_gate() -> None:
    graph = Graph()
    weights = np.arange(15 * 5, dtype=np.float32).reshape(15, 5)
    state, bias = np.zeros((1, 5), np.float32), np.zeros(5, np.float32)
    constants = [graph.new_constant(name, array) for name, array in (("r", weights), ("h", state), ("b", bias))]
    node = graph.new_node(make("gru", function_f="sigmoid"), [add_input(graph, "x", (4, 2, 15)), *constants])
    packing = PACKINGS["panels8"]
    assert packable(node, "panels8")
    packed = packing.pack(weights, node)
    assert packed.shape == (1, 2, 1, 1, 5, 8)
    assert np.array_equal(packed[0, 1, 0, 0, :, 6], weights[14])
    assert np.array_equal(packing.unpack(packed, node), weights)


# B^T and A^T of the same points as the G that filters are transformed with.
INPUTS = {
    2: np.array([[1, 0, -1, 0], [0, 1, 1, 0], [0, -1, 1, 0], [0, 1, 0, -1]]),
    4: np.array(
        [
            [4, 0, -5, 0, 1, 0],
            [0, -4, -4, 1, 1, 0],
            [0, 4, -4, -1, 1, 0],
            [0, -2, -1, 2, 1, 0],
            [0, 2, -1, -2, 1, 0],
            [0, 4, 0, -5, 0, 1],
        ]
    ),
}
OUTPUTS = {
    2: np.array([[1, 1, 1, 0], [0, 1, -1, -1]]),
    4: np.array([[1, 1, 1, 1, 1, 0], [0, 1, -1, 2, -2, 0], [0, 1, 1, 4, 4, 0], [0, 1, -1, 8, -8, 1]]),
}


@pytest.mark.parametrize("tile", [2, 4])
@pytest.mark.parametrize("width", [4, 8, 16])
def test_transformed_filters_convolve(tile: int, width: int) -> None:
    node = convolution(18, 2)
    plain, packing = constant_of(node).astype(np.float64), PACKINGS[f"winograd{tile}_{width}"]
    packed = packing.pack(constant_of(node), node)
    size = tile + 2
    assert packed.shape == (size * size, -(-18 // width), 2, width)
    patch = np.random.default_rng(3).standard_normal((size, size))
    for output in (0, 17):
        points = packed[:, output // width, 1, output % width].reshape(size, size)
        product = points * (INPUTS[tile] @ patch @ INPUTS[tile].T)
        result = OUTPUTS[tile] @ product @ OUTPUTS[tile].T
        expected = [
            [np.sum(patch[i : i + 3, j : j + 3] * plain[output, :, :, 1]) for j in range(tile)] for i in range(tile)
        ]
        assert np.allclose(result, expected, atol=1e-5)
    assert np.allclose(packing.unpack(packed, node), plain, atol=1e-5)


@pytest.mark.parametrize("width", [8, 16])
@pytest.mark.parametrize("channels", [1, 3])
def test_filters_over_squares_convolve(channels: int, width: int) -> None:
    """7x7 that move by 2, as 4x4 over squares of 2x2 pixels: by the polynomials of Toom and Cook themselves."""
    node = convolution(18, channels, window=7, stride=2)
    plain, packing = constant_of(node).astype(np.float64), PACKINGS[f"winograd4_7x7_{width}"]
    packed = packing.pack(constant_of(node), node)
    assert packed.shape == (49, -(-18 // width), 4 * channels, width)
    roots = [0, 1, -1, 2, -2, -0.5]
    rows = [np.polynomial.Polynomial.fromroots([other for other in roots if other != root]).coef for root in roots]
    inputs = np.array([*([*row, 0] for row in rows), np.polynomial.Polynomial.fromroots(roots).coef])
    outputs = np.array([[root**power for root in roots] + [power == 3] for power in range(4)])
    image = np.random.default_rng(3).standard_normal((14, 14, channels))
    squares = image.reshape(7, 2, 7, 2, channels).transpose(0, 2, 1, 3, 4).reshape(7, 7, 4 * channels)
    patch = np.einsum("ai,bj,ijc->abc", inputs, inputs, squares)
    for output in (0, 17):
        points = packed[:, output // width, :, output % width].reshape(7, 7, 4 * channels)
        result = np.einsum("ia,jb,abc,abc->ij", outputs, outputs, points, patch)
        expected = [
            [np.sum(image[2 * i : 2 * i + 7, 2 * j : 2 * j + 7] * plain[output]) for j in range(4)] for i in range(4)
        ]
        assert np.allclose(result, expected, atol=1e-4)
    assert np.allclose(packing.unpack(packed, node), plain, atol=1e-5)
    assert packable(node, packing.name)
    for other in (
        convolution(18, 5, window=7, stride=2),
        convolution(18, channels, window=7),
        convolution(18, channels, window=5, stride=2),
    ):
        assert not packable(other, packing.name)


@pytest.mark.parametrize("node_of", [lambda: convolution(20, 3), lambda: convolution(34, 6, 2), lambda: product(16, 9)])
def test_bytes(node_of: Callable[[], Node]) -> None:
    """Zeros stand where outputs and channels end."""
    node, packing = node_of(), PACKINGS["signed16"]
    value = node.inputs[1]
    plain = np.random.default_rng(5).integers(-128, 128, value.type.shape).astype(np.int8)  # type: ignore[arg-type]
    node.inputs[1] = Value("w", TensorType(DType.S8, value.type.shape, QuantType((1.0,), (0,))), (), plain)
    assert packable(node, "signed16")
    assert not packable(node, "panels16")
    packed = packing.pack(plain, node)
    assert np.array_equal(packing.unpack(packed, node), plain)
    groups = int(getattr(node.op, "groups", 1))
    window = plain.shape[1:3] if plain.ndim == 4 else (1, 1)
    assert packed.shape == (groups, -(-plain.shape[0] // groups // 16), *window, -(-plain.shape[-1] // 4), 64)
    assert int(packed.astype(int).sum()) == int(plain.astype(int).sum())
    first = packed.reshape(-1)[:64].reshape(16, 4)
    depth = min(4, plain.shape[-1])
    assert np.array_equal(first[:8, :depth], plain.reshape(plain.shape[0], -1, plain.shape[-1])[:8, 0, :depth])


def stored_convolution(outputs: int, channels: int, **change: int) -> Node:
    """One whose filters are bytes, the first of them as small as can be."""
    node = convolution(outputs, channels, **change)
    shape = static(node.inputs[1].type.shape)
    plain = np.random.default_rng(7).integers(-128, 128, shape).astype(np.int8)
    plain[0] = -128
    node.inputs[1] = Value("w", TensorType(DType.S8, shape, QuantType((1.0,), (0,))), (), plain)
    return node


@pytest.mark.parametrize(("outputs", "channels"), [(1, 1), (8, 4), (17, 9), (33, 64)])
def test_bytes_transformed_to_integers(outputs: int, channels: int) -> None:
    """Four times what floats become, nothing of it rounded."""
    node, packing = stored_convolution(outputs, channels), PACKINGS["winograd2_signed8"]
    plain = constant_of(node)
    assert packable(node, packing.name)
    packed = packing.pack(plain, node)
    panels, depth = -(-outputs // 8), -(-channels // 4) * 4
    assert packed.dtype == np.int8
    assert packed.shape == (panels, 16, depth, 16)
    assert np.array_equal(packing.unpack(packed, node), plain)
    words = packed.view("<i2").reshape(panels, 16, depth // 2, 8, 2).astype(int)
    assert abs(words).max() == 9 * 128
    patch = np.random.default_rng(3).integers(-128, 128, (4, 4))
    for output, channel in ((0, 0), (outputs - 1, channels - 1)):
        points = words[output // 8, :, channel // 2, output % 8, channel % 2].reshape(4, 4)
        result = OUTPUTS[2] @ (points * (INPUTS[2] @ patch @ INPUTS[2].T)) @ OUTPUTS[2].T
        filters = plain[output, :, :, channel].astype(int)
        expected = [[np.sum(patch[i : i + 3, j : j + 3] * filters) for j in (0, 1)] for i in (0, 1)]
        assert np.array_equal(result, 4 * np.array(expected))


def test_bytes_are_transformed_where_sums_hold_them() -> None:
    assert packable(stored_convolution(1, MOST_SUMMED), "winograd2_signed8")
    assert 4 * 9 * 128 * 128 * MOST_SUMMED < 2**31
    assert not packable(stored_convolution(1, MOST_SUMMED + 1), "winograd2_signed8")
    assert not packable(stored_convolution(8, 3, stride=2), "winograd2_signed8")
    assert not packable(convolution(8, 3), "winograd2_signed8")


def test_only_constants_that_the_packing_fits_are_packable() -> None:
    assert packable(convolution(8, 3), "panels8")
    assert packable(product(8, 3), "panels8")
    assert packable(convolution(8, 3), "winograd4_8")
    for other in (convolution(8, 3, groups=2), convolution(8, 3, stride=2), convolution(8, 3, window=1), product(8, 3)):
        assert not packable(other, "winograd4_8")
    variable = convolution(8, 3)
    variable.inputs[1] = variable.inputs[0]
    assert not packable(variable, "panels8")
    graph = Graph()
    assert not packable(graph.new_node(make("relu"), [add_input(graph, "x", (1,))]), "panels8")


def test_codes_are_those_of_the_format() -> None:
    assert {packing.name: packing.code for packing in PACKINGS.values()} == {
        "panels4": 1,
        "panels8": 2,
        "panels16": 3,
        "winograd2_4": 4,
        "winograd2_8": 5,
        "winograd2_16": 6,
        "winograd4_4": 7,
        "winograd4_8": 8,
        "winograd4_16": 9,
        "signed16": 11,
        "winograd2_signed8": 12,
        "winograd4_7x7_8": 13,
        "winograd4_7x7_16": 14,
    }
    assert by_code(3) is PACKINGS["panels16"]
    assert by_code(15) is None


@pytest.mark.parametrize("name", PACKINGS)
@pytest.mark.parametrize("shape", [(1, 1, 3, 3, 2, 16), (16, 2, 2, 16), (16, 1, 2, 5), (2, 3, 3, 3, 2, 8), (4,), ()])
def test_a_shape_that_does_not_fit_is_refused(name: str, shape: tuple[int, ...]) -> None:
    with pytest.raises((ValueError, IndexError)):
        PACKINGS[name].unpack(np.zeros(shape, np.float32), convolution(70, 2))
