"""Inputs and outputs that were stored numbers: the same network on real ones, and what is on both sides of it."""

from __future__ import annotations

import numpy as np
import pytest

from buildtool.ir.evaluate import evaluate
from buildtool.ir.graph import Graph
from buildtool.ir.operator import Array
from buildtool.ir.types import DType, QuantType
from buildtool.passes.pipeline import optimise
from buildtool.passes.real_borders import take
from tests.passes.harness import CONV, Maker, ops

ZERO = {DType.S8: -3, DType.U8: 120}


def _stored(make: Maker, dtype: DType, number: float) -> tuple[Array, Array]:
    return np.array(number, np.float32), np.array(ZERO[dtype], dtype.numpy)


def _network(dtype: DType, padded: bool) -> Graph:
    """All in 8 bits from end to end, as TFLite's converter writes it."""
    make = Maker()
    graph = make.graph
    x = make.input(1, 6, 7, 3, dtype=dtype)
    border = {"before": (0, 0, 0, 0), "after": (0, 1, 1, 0), "mode": "constant", "value": float(ZERO[dtype])}
    inner = make("pad", x, **border) if padded else x
    scale, zero = (graph.new_constant("q", array) for array in _stored(make, dtype, 0.05))
    y = make("conv2d", make("dequantize_linear", inner, scale, zero, axis=0, block=0), make.random(4, 3, 3, 3), **CONV)
    scale, zero = (graph.new_constant("q", array) for array in _stored(make, dtype, 0.125))
    y = make("quantize_linear", y, scale, zero, axis=0, block=0, to=dtype)
    return make.finish(y)


@pytest.mark.parametrize("padded", [False, True])
@pytest.mark.parametrize("dtype", [DType.S8, DType.U8])
def test_the_same_numbers_on_both_sides(dtype: DType, padded: bool) -> None:
    graph = _network(dtype, padded)
    limits = np.iinfo(dtype.numpy)  # type: ignore[type-var]
    x = np.random.default_rng(1).integers(limits.min, limits.max, (1, 6, 7, 3), dtype.numpy, endpoint=True)
    name, result = graph.inputs[0].name, graph.outputs[0].name
    (before,) = evaluate(graph, {name: x}).values()
    optimise(graph, quantised=True)
    borders = take(graph)
    optimise(graph, quantised=True)
    assert (graph.inputs[0].name, graph.outputs[0].name) == (name, result), "users know these names"
    assert graph.inputs[0].type.dtype is graph.outputs[0].type.dtype is DType.F32
    assert ops(graph) == ["conv2d"], "a border of the stored zero is part of the convolution"
    assert graph.range_of(graph.inputs[0]) is not None and graph.range_of(graph.outputs[0]) is not None
    found = borders.stored(evaluate(graph, borders.real({name: x})))
    assert found[result].dtype == before.dtype
    assert np.abs(found[result].astype(int) - before.astype(int)).max() <= 1


def test_real_numbers_stay_as_they_are() -> None:
    make = Maker()
    x = make.input(1, 6, 6, 3)
    graph = make.finish(make("conv2d", x, make.random(4, 3, 3, 3), **CONV))
    borders = take(graph)
    assert not borders.inputs and not borders.outputs
    array = np.ones((1, 6, 6, 3), np.float32)
    assert borders.real({"x": array})["x"] is array


def test_values_that_are_read_as_stored_stay_stored() -> None:
    make = Maker()
    x = make.input(1, 4, dtype=DType.S8)
    scale, zero = (make.graph.new_constant("q", array) for array in _stored(make, DType.S8, 0.1))
    real = make("dequantize_linear", x, scale, zero, axis=0, block=0)
    graph = make.finish(make("relu", real), make("reshape", x, shape=(4,)))
    assert not take(graph).inputs
    assert graph.inputs[0].type.dtype is DType.S8


@pytest.mark.parametrize("known", [False, True])
def test_what_is_known_of_the_real_number_is_known_of_the_border(known: bool) -> None:
    make = Maker()
    x = make.input(1, 4, dtype=DType.S8)
    scale, zero = (make.graph.new_constant("q", array) for array in _stored(make, DType.S8, 0.1))
    real = make("dequantize_linear", x, scale, zero, axis=0, block=0)
    graph = make.finish(make("relu", real))
    wide = QuantType((0.25,), (7,))
    graph.ranges = {real.name: wide} if known else {}
    assert take(graph).inputs
    assert graph.inputs[0].name == x.name
    assert graph.ranges.get(x.name) == (wide if known else None)
    assert set(graph.ranges.values()) <= {wide}
