"""Weights as whole numbers with scales: what they stand for, which are chosen, and what numbers are hard."""

from __future__ import annotations

import dataclasses
import tracemalloc
from typing import Any

import numpy as np
import pytest

from buildtool.ir.graph import Graph
from buildtool.ir.types import DType
from buildtool.ops.registry import registry
from buildtool.plan import scaled
from buildtool.plan.packing import PACKINGS
from buildtool.plan.scaled import FORMS, View, Weights
from tests.plan.graphs import add_input

_Array = np.ndarray[Any, Any]
VIEWS = [
    View(7, 160, 1, 160),
    View(1, 9, 130, 9),
    View(3, 41, 16, 41),
    View(5, 100, 1, 32),  # the last block is shorter
    View(2, 67, 8, 32),
    View(1, 1, 1025, 1),
    View(1031, 1, 1, 1),
]


def _slowly(weights: Weights, stored: scaled.Scaled) -> _Array:
    """What docs/reference/format.md says, one number after the other."""
    view, found = weights.view, []
    for index in range(view.count):
        if weights.form.storage is DType.U8:
            number = stored.numbers[index // 2] >> index % 2 * 4 & 15
            number -= 16 if number > 7 else 0
        else:
            size = weights.form.storage.itemsize
            number = int.from_bytes(stored.numbers[index * size : (index + 1) * size], "little", signed=True)
        outer, rest = divmod(index, view.depth * view.width)
        depth, column = divmod(rest, view.width)
        scale = stored.scales.reshape(view.scales)[outer, depth // view.block, column]
        found.append(np.float32(number) * np.float32(scale))
    return np.array(found, np.float32)


def _drawn(view: View, seed: int = 0) -> _Array:
    generator = np.random.default_rng(seed)
    sizes = 10 ** generator.uniform(-3, 3, (view.outer, 1, view.width))
    return (generator.standard_normal((view.outer, view.depth, view.width)) * sizes).astype(np.float32)


def _there_and_back(array: _Array, weights: Weights) -> _Array:
    stored = scaled.reduced(array, weights)
    assert len(stored.numbers) == scaled.number_bytes(weights.form.storage, array.size)
    return scaled.expanded(stored.numbers, stored.scales, weights).reshape(array.shape)


@pytest.mark.parametrize("word", FORMS)
@pytest.mark.parametrize("view", VIEWS, ids=str)
def test_numbers_and_scales_stand_for_their_products(view: View, word: str) -> None:
    weights, array = Weights(view, FORMS[word]), _drawn(view)
    stored = scaled.reduced(array, weights)
    expanded = scaled.expanded(stored.numbers, stored.scales, weights)
    np.testing.assert_array_equal(expanded, _slowly(weights, stored))
    largest = np.zeros((view.outer, view.blocks * view.block, view.width))
    largest[:, : view.depth] = np.abs(array)
    largest = largest.reshape(view.outer, view.blocks, view.block, view.width).max(axis=2)
    step = np.repeat(largest / FORMS[word].high, view.block, axis=1)[:, : view.depth]
    error = np.abs(expanded.reshape(array.shape).astype(np.float64) - array)
    if word == "int4":  # the largest numbers may be cut off for the good of the others
        assert (error**2).mean() <= 0.5 * (step**2).mean()
    else:
        assert (error <= 0.5001 * step).all()


@pytest.mark.parametrize("word", FORMS)
@pytest.mark.parametrize("view", VIEWS, ids=str)
def test_pieces_of_a_constant_make_the_same_numbers(view: View, word: str, monkeypatch: pytest.MonkeyPatch) -> None:
    weights, array = Weights(view, FORMS[word]), _drawn(view)
    whole = scaled.reduced(array, weights)
    expanded = scaled.expanded(whole.numbers, whole.scales, weights)
    for numbers in (1, 100, 1000):
        monkeypatch.setattr(scaled, "_PIECE", numbers)
        pieces = scaled.reduced(array, weights)
        assert pieces.numbers == whole.numbers
        np.testing.assert_array_equal(pieces.scales, whole.scales, strict=True)
        np.testing.assert_array_equal(scaled.expanded(pieces.numbers, pieces.scales, weights), expanded)


@pytest.mark.parametrize("word", FORMS)
def test_a_layer_is_reduced_in_less_memory_than_it_takes(word: str) -> None:
    """In bytes of the layer: 8 times of it, and more, where all of it is in double precision."""
    view = View(1, 2048, 2048, 32 if word == "int4" else 2048)
    weights, array = Weights(view, FORMS[word]), np.ones((view.depth, view.width), np.float32)
    tracemalloc.start()
    stored = scaled.reduced(array, weights)
    _, reducing = tracemalloc.get_traced_memory()
    tracemalloc.reset_peak()
    scaled.expanded(stored.numbers, stored.scales, weights)
    _, expanding = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert reducing < 1.8 * array.nbytes, reducing / array.nbytes
    assert expanding < 2.2 * array.nbytes, expanding / array.nbytes  # what is stored, and the result


@pytest.mark.parametrize("word", ["int8", "int16"])
def test_quantising_expanded_weights_again_changes_nothing(word: str) -> None:
    weights = Weights(VIEWS[2], FORMS[word])
    once = _there_and_back(_drawn(VIEWS[2]), weights)
    np.testing.assert_array_equal(_there_and_back(once, weights), once)


@pytest.mark.parametrize("word", FORMS)
def test_outputs_of_zeros_stay_zeros(word: str) -> None:
    array = _drawn(VIEWS[4])
    array[:, :, [1, 5]] = 0
    array[1] = 0
    back = _there_and_back(array, Weights(VIEWS[4], FORMS[word]))
    assert not back[:, :, [1, 5]].any()
    assert not back[1].any()
    assert back[0].any()


@pytest.mark.parametrize("word", FORMS)
@pytest.mark.parametrize("size", [1e-45, 3e-44, 1e-41, 1e-38, 3.3e38, 3.4028234e38])
def test_numbers_at_the_ends_of_single_precision(size: float, word: str) -> None:
    """Nothing becomes infinite or is cut off by a scale that is rounded to a few bits."""
    view = VIEWS[0]
    array = (np.random.default_rng(1).uniform(-1, 1, (view.outer, view.depth, view.width)) * size).astype(np.float32)
    array[:, 0] = np.float32(size)
    weights = Weights(view, FORMS[word])
    back = _there_and_back(array, weights).astype(np.float64)
    step = max(float(np.float32(size)) / FORMS[word].high, 2.0**-149)
    most = 2.5 if word == "int4" else 1.01  # int4 may cut off 30 %
    assert np.isfinite(back).all()
    assert np.abs(back - array).max() <= most * step
    if word == "int4" and size < 1:
        stored = scaled.reduced(array, weights)
        assert stored.scales.dtype == np.float32, "half precision does not hold such scales"


def test_scales_of_four_bits_are_halves_where_these_do() -> None:
    weights = Weights(VIEWS[3], FORMS["int4"])
    array = np.random.default_rng(2).standard_normal((5, 100, 1)).astype(np.float32)
    assert scaled.reduced(array, weights).scales.dtype == np.float16
    array[2, 40:50] *= 1e-7
    array[2, 32:64] *= 1e-7
    assert scaled.reduced(array, weights).scales.dtype == np.float32


def _add(graph: Graph, name: str, shapes: list[tuple[int, ...]], **attributes: Any) -> None:
    operator = registry()[name]
    generator = np.random.default_rng(len(graph.nodes))
    inputs = [
        add_input(graph, f"x{len(graph.inputs)}", shape)
        if index == 0 and name != "gather"
        else graph.new_constant("w", np.float32(generator.standard_normal(shape)))
        for index, shape in enumerate(shapes)
    ]
    if name == "gather":
        inputs.append(add_input(graph, f"x{len(graph.inputs)}", (3,), DType.S32))
    node = graph.new_node(operator(**attributes), inputs)
    graph.nodes.append(node)
    graph.outputs.extend(node.outputs)


CONV = {"strides": (1, 1), "pads": (0, 0, 0, 0), "dilations": (1, 1)}
CHOSEN = [
    ("conv2d", [(1, 5, 5, 40), (7, 3, 3, 40), (7,)], CONV, {1: (7, 360, 1)}),
    ("conv2d", [(1, 5, 5, 40), (2, 3, 3, 40), (2,)], CONV, {}),  # too few
    ("conv2d", [(1, 1, 1, 1), (1100, 1, 1, 1), (1100,)], CONV, {}),  # the scales would be as much; biases never
    ("deconv2d", [(1, 5, 5, 40), (7, 3, 3, 40), (7,)], CONV, {1: (7, 360, 1)}),
    ("dwconv2d", [(1, 5, 5, 130), (3, 3, 130), (130,)], CONV, {1: (1, 9, 130)}),
    ("fully_connected", [(2, 64), (33, 64), (33,)], {}, {1: (33, 64, 1)}),
    ("matmul", [(2, 64), (64, 33)], {}, {1: (1, 64, 33)}),
    ("matmul", [(3, 2, 64), (3, 64, 33)], {}, {1: (3, 64, 33)}),
    ("matmul", [(2, 1100), (1100,)], {}, {1: (1, 1100, 1)}),
    ("gather", [(100, 32)], {"axis": 0}, {0: (100, 32, 1)}),
    ("gather", [(100, 32)], {"axis": 1}, {}),
    ("add", [(100, 32), (100, 32)], {}, {}),
]


@pytest.mark.parametrize(("name", "shapes", "attributes", "views"), CHOSEN)
def test_which_constants_are_weights(
    name: str, shapes: list[tuple[int, ...]], attributes: dict[str, Any], views: dict[int, tuple[int, int, int]]
) -> None:
    graph = Graph(name="g")
    _add(graph, name, shapes, **attributes)
    found = scaled.chosen(graph, "int8")
    (node,) = graph.nodes
    seen = {node.inputs.index(value): dataclasses.astuple(weights.view)[:3] for value, weights in found.items()}
    assert seen == views
    assert scaled.chosen(graph, "") == {}


def test_the_left_side_of_a_product_has_a_scale_for_each_row() -> None:
    graph = Graph(name="g")
    weights = graph.new_constant("w", np.float32(np.random.default_rng(3).standard_normal((33, 64))))
    node = graph.new_node(registry()["matmul"](), [weights, add_input(graph, "x", (64, 2))])
    graph.nodes, graph.outputs = [node], list(node.outputs)
    (found,) = scaled.chosen(graph, "int8").values()
    assert dataclasses.astuple(found.view)[:3] == (33, 64, 1)


def test_four_bits_are_for_outputs_of_some_depth() -> None:
    graph = Graph(name="g")
    _add(graph, "dwconv2d", [(1, 5, 5, 130), (3, 3, 130), (130,)], **CONV)
    _add(graph, "fully_connected", [(2, 64), (33, 64), (33,)])
    shallow, deep = scaled.chosen(graph, "int4").values()
    assert (shallow.form, shallow.view.block) == (FORMS["int8"], 9)
    assert (deep.form, deep.view.block) == (FORMS["int4"], 32)


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
def test_weights_that_are_not_finite_are_not_quantised(wrong: float) -> None:
    graph = Graph(name="g")
    _add(graph, "fully_connected", [(2, 64), (33, 64), (33,)])
    _add(graph, "fully_connected", [(2, 64), (34, 64), (34,)])
    spoilt = graph.nodes[0].inputs[1]
    assert spoilt.constant is not None
    spoilt.constant = spoilt.constant.copy()
    spoilt.constant[3, 5] = wrong
    assert list(scaled.chosen(graph, "int8")) == [graph.nodes[1].inputs[1]]
    assert scaled.not_finite(graph) == (spoilt.name,)


def test_weights_that_two_operators_read_are_not_quantised() -> None:
    graph = Graph(name="g")
    _add(graph, "fully_connected", [(2, 64), (64, 64), (64,)])
    _add(graph, "matmul", [(2, 64), (64, 64)])
    assert len(scaled.chosen(graph, "int8")) == 2
    graph.nodes[1].inputs[1] = graph.nodes[0].inputs[1]
    assert scaled.chosen(graph, "int8") == {}


@pytest.mark.parametrize("word", FORMS)
@pytest.mark.parametrize("groups", [1, 3])
def test_panels_hold_the_same_numbers(word: str, groups: int) -> None:
    graph = Graph(name="g")
    _add(graph, "conv2d", [(1, 5, 5, 40 * groups), (21, 3, 3, 40), (21,)], **CONV, groups=groups)
    (node,) = graph.nodes
    ((value, weights),) = scaled.chosen(graph, word).items()
    assert value.constant is not None
    plain = _there_and_back(value.constant, weights)
    for name in ("panels4", "panels8", "panels16"):
        packed = np.asarray(PACKINGS[name].pack(value.constant, node))
        moved = scaled.of_packed(weights, name, packed.shape)
        assert moved is not None
        back = PACKINGS[name].unpack(_there_and_back(packed, moved), node)
        np.testing.assert_array_equal(back, plain)
    assert scaled.of_packed(weights, "signed16", (1, 2, 3, 3, 10, 64)) is None
    transformed = scaled.of_packed(weights, "winograd4_8", (36, 3, 40, 8))
    assert transformed == Weights(View(108, 40, 8, 32 if word == "int4" else 40), FORMS[word])
    shallow = scaled.of_packed(weights, "winograd4_8", (36, 3, 16, 8))
    assert shallow == Weights(View(108, 16, 8, 16), FORMS["int8" if word == "int4" else word])
