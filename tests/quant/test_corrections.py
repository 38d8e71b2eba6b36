"""Weights and biases that lose less in 8 bits: what is found for one layer, and the file that holds them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from buildtool.errors import ModelFileError
from buildtool.ir.graph import Graph, Node
from buildtool.ir.operator import Array
from buildtool.ir.quantised import dequantised, quantised
from buildtool.ir.types import DType, QuantType, TensorType
from buildtool.passes.grids import column_grid
from buildtool.passes.store_quantised import WEIGHTED
from buildtool.quant import weight_files
from buildtool.quant.corrections import corrected_bias, rounded_together
from buildtool.quant.patches import Moments, groups_of, patches, rows_of_weights, weights_of_rows
from buildtool.quant.weight_files import Change, source_of
from tests.passes.harness import CONV, Maker, random

INPUT = TensorType(DType.S8, (1,), QuantType((1 / 128,), (-128,)))  # numbers from 0 to 2


def _conv(make: Maker, **more: Any) -> Node:
    x = make.input(1, 7, 6, 4)
    make("conv2d", x, make.random(6, 3, 2, 4 // more.get("groups", 1)), make.random(6), **(CONV | more))
    return make.graph.nodes[-1]


def _depthwise(make: Maker) -> Node:
    x = make.input(1, 7, 6, 4)
    make("dwconv2d", x, make.random(3, 3, 8), make.random(8), multiplier=2, **(CONV | {"strides": (2, 1)}))
    return make.graph.nodes[-1]


def _product(make: Maker) -> Node:
    x = make.input(3, 11)
    make("fully_connected", x, make.random(5, 11))
    return make.graph.nodes[-1]


LAYERS: dict[str, Callable[[Maker], Node]] = {
    "conv2d": _conv,
    "padded": lambda make: _conv(make, pads=(1, 0, 2, 1), strides=(2, 2)),
    "dilated": lambda make: _conv(make, dilations=(2, 3)),
    "grouped": lambda make: _conv(make, groups=2),
    "dwconv2d": _depthwise,
    "fully_connected": _product,
}


def _samples(node: Node) -> list[Array]:
    """Numbers like those behind a ReLU, whose mean is far from zero, and which go together."""
    shape = tuple(map(int, node.inputs[0].type.shape))  # type: ignore[arg-type]
    base = random(*shape, low=0.0)
    return [np.abs(base + 0.3 * random(*shape, low=-1.0)) + np.float32(0.001 * number) for number in range(5)]


def _moments(node: Node) -> Moments:
    moments = Moments(node, INPUT, functools.partial(column_grid, axis=WEIGHTED[node.op.name]))
    for x in _samples(node):
        moments.see(x)
    return moments


def _stored(node: Node, weights: Array) -> Array:
    type_ = TensorType(DType.S8, weights.shape, column_grid(weights, WEIGHTED[node.op.name]))
    return dequantised(quantised(weights, type_), type_)


def _results(node: Node, weights: Array, bias: Array | None, *, rounds: bool) -> Array:
    """In double precision; `rounds`: of stored inputs."""
    made = []
    for x in _samples(node):
        given = dequantised(quantised(x, INPUT), INPUT) if rounds else x.astype(np.float64)
        rest = [] if bias is None else [bias.astype(np.float64)]
        made.append(node.op.reference(given, weights.astype(np.float64), *rest)[0])
    return np.stack(made)


def _constants(node: Node) -> tuple[Array, Array | None]:
    weights = node.inputs[1].constant
    assert weights is not None
    return weights, node.inputs[2].constant if len(node.inputs) > 2 else None


@pytest.mark.parametrize("kind", LAYERS)
def test_patches_times_rows_are_the_sums_of_a_layer(kind: str) -> None:
    node = LAYERS[kind](Maker())
    weights, _ = _constants(node)
    x = _samples(node)[0].astype(np.float64)
    rows = rows_of_weights(node, weights.astype(np.float64))
    assert rows.shape[0] == groups_of(node)
    assert np.array_equal(weights_of_rows(node, rows, weights.shape), weights)
    sums = patches(node, x) @ np.swapaxes(rows, 1, 2)  # group, position, output of the group
    (wanted,) = node.op.reference(x, weights.astype(np.float64))
    flat = np.moveaxis(sums, 0, 1).reshape(sums.shape[1], -1)
    np.testing.assert_allclose(flat, wanted.reshape(flat.shape), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("kind", LAYERS)
def test_rounding_together_beats_rounding_to_the_nearest(kind: str) -> None:
    node = LAYERS[kind](Maker())
    weights, bias = _constants(node)
    moments = _moments(node)
    found = rounded_together(moments, centred=False)
    assert found.dtype == np.float32 and found.shape == weights.shape
    axis = WEIGHTED[node.op.name]
    grid = column_grid(weights, axis)
    assert np.allclose(column_grid(found, axis).scales, grid.scales, rtol=1e-6), "they are on the grid of the old ones"
    steps = np.moveaxis(np.abs(found - weights), axis, -1) / np.asarray(grid.scales)
    assert steps.max() < 1.0001, "a weight is rounded up or down, and not further"

    exact = _results(node, weights, bias, rounds=True)
    error = np.square(_results(node, _stored(node, found), bias, rounds=True) - exact).sum()
    nearest = np.square(_results(node, _stored(node, weights), bias, rounds=True) - exact).sum()
    assert error < 0.7 * nearest, error / nearest


@pytest.mark.parametrize("kind", LAYERS)
@pytest.mark.parametrize("rounding", [False, True])
def test_corrected_biases_shift_nothing_on_average(kind: str, rounding: bool) -> None:
    node = LAYERS[kind](Maker())
    weights, bias = _constants(node)
    moments = _moments(node)
    used = rounded_together(moments, centred=True) if rounding else weights
    corrected = corrected_bias(moments, used)
    error = _results(node, _stored(node, used), corrected, rounds=True) - _results(node, weights, bias, rounds=False)
    plain = _results(node, _stored(node, weights), bias, rounds=True) - _results(node, weights, bias, rounds=False)
    axes = tuple(range(error.ndim - 1))
    assert np.abs(error.mean(axes)).max() < 1e-6 < 1e-4 < np.abs(plain.mean(axes)).max()


def test_columns_of_zeros_and_whole_weights_stay() -> None:
    make = Maker()
    weights = random(3, 8)
    weights[1] = 0
    weights[2] = np.arange(8) - 4
    x = make.input(4, 8)
    make("fully_connected", x, make.constant(weights))
    found = rounded_together(_moments(make.graph.nodes[0]), centred=False)
    assert np.array_equal(found[1], weights[1])
    assert np.allclose(found[2], weights[2], rtol=1e-6)


def _graph() -> tuple[Graph, Node]:
    make = Maker()
    x = make.input(2, 4)
    y = make("fully_connected", x, make.random(3, 4))
    y.source_names = ("scope/layer:0",)
    return make.finish(y), make.graph.nodes[0]


def test_a_file_gives_its_weights_to_the_layers(tmp_path: Path) -> None:
    graph, node = _graph()
    changes = {"scope/layer:0": Change(source_of(node), random(3, 4, seed=1), random(3, seed=2))}
    contents = weight_files.contents(changes)
    assert contents == weight_files.contents(changes)
    file = tmp_path / "w.npz"
    file.write_bytes(contents)
    before = node.inputs[1].constant
    other = graph.clone()
    weight_files.apply(other, weight_files.read(file), file)
    assert np.array_equal(other.nodes[0].inputs[1].constant, random(3, 4, seed=1))  # type: ignore[arg-type]
    assert np.array_equal(other.nodes[0].inputs[2].constant, random(3, seed=2))  # type: ignore[arg-type]
    assert graph.nodes[0].inputs[1].constant is before and len(graph.nodes[0].inputs) == 2
    kept = graph.clone()
    weight_files.apply(kept, weight_files.read(file), file, kept.nodes[0].outputs)
    assert kept.nodes[0].inputs[1].constant is before, "a layer that stays in single precision keeps its weights"
    with pytest.raises(ModelFileError, match="differ from the original ones"):
        weight_files.apply(other, weight_files.read(file), file)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda own: {"nobody": Change(own, random(3, 4), None)}, "there is no such layer"),
        (lambda own: {"scope/layer:0": Change("0", random(3, 4), None)}, "differ from the original"),
        (lambda own: {"scope/layer:0": Change(own, random(4, 3), None)}, r"float32\[4, 3\]"),
        (lambda own: {"scope/layer:0": Change(own, random(3, 4).astype(np.float64), None)}, "float64"),
        (lambda own: {"scope/layer:0": Change(own, random(3, 4), random(4))}, r"bias is float32\[4\]"),
        (lambda own: {"scope/layer:0": Change(own, random(3, 4) * np.float32(np.nan), None)}, "NaN or infinity"),
    ],
)
def test_weights_of_another_model_are_refused(
    change: Callable[[str], dict[str, Change]], message: str, tmp_path: Path
) -> None:
    graph, node = _graph()
    file = tmp_path / "w.npz"
    file.write_bytes(weight_files.contents(change(source_of(node))))
    with pytest.raises(ModelFileError, match=message):
        weight_files.apply(graph, weight_files.read(file), file)


@pytest.mark.parametrize("damage", [b"", b"PK\x03\x04", None])
def test_damaged_files_are_refused(damage: bytes | None, tmp_path: Path) -> None:
    file = tmp_path / "w.npz"
    if damage is None:
        np.savez(file, layers=np.array(["a"]), sources=np.array(["b", "c"]))
    else:
        file.write_bytes(damage)
    with pytest.raises(ModelFileError, match="not a file of adjusted weights"):
        weight_files.apply(_graph()[0], weight_files.read(file), file)
