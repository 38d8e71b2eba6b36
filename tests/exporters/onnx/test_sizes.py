"""Sizes that are expressions, and sizes that the data decides."""

from __future__ import annotations

import math

import numpy as np
import onnx
import pytest

from buildtool.ir.dims import DimExpr, ceil_div, maximum, minimum, symbol
from buildtool.ir.evaluate import evaluate
from buildtool.ir.types import DType
from tests.exporters.onnx.harness import checked, differences, run_fast
from tests.passes.harness import Maker

N = symbol("n", 1, 40)
M = symbol("m", 1, 40)

EXPRESSIONS = [
    N + 3,
    N * 2 - 1,
    (N + 1) // 2,
    ceil_div(N, 3),
    (N - 5) // 3 + 6,
    ceil_div(N - 5, 3) + 6,
    N % 4 + 1,
    minimum(N, M),
    maximum(N * 2, M + 1),
    (N + M) // 2,
]


@pytest.mark.parametrize("size", EXPRESSIONS, ids=str)
def test_expressions(size: DimExpr) -> None:
    """Broadcast to a computed size: the arithmetic is that of the graph, whatever the signs."""
    maker = Maker()
    maker.input(N, M)
    one = maker.input(1)
    maker.graph.outputs = [maker("broadcast_to", one, shape=(size,))]
    content = checked(maker.graph).content
    for n, m in ((1, 1), (2, 9), (7, 3), (40, 40)):
        feeds = dict(
            zip(
                (value.name for value in maker.graph.inputs),
                (np.ones((n, m), np.float32), np.ones(1, np.float32)),
                strict=True,
            )
        )
        wanted = list(evaluate(maker.graph, feeds).values())
        assert differences(wanted, run_fast(content, feeds)) == "", (n, m)


def test_slices_of_run_time() -> None:
    maker = Maker()
    x = maker.input(N, M)
    maker.graph.outputs = [
        maker("slice", x, starts=(N - 1, 0), steps=(-1, 1), sizes=(N, M)),
        maker("slice", x, starts=(0, M // 2), steps=(1, 1), sizes=(N, M - M // 2)),
        maker("slice", x, starts=(0, 0), steps=(1, 2), sizes=(N, ceil_div(M, 2))),
        maker("slice", x, starts=(N - 1, M - 1), steps=(-2, -1), sizes=(ceil_div(N, 2), ceil_div(M, 2))),
    ]
    content = checked(maker.graph).content
    for n, m in ((1, 1), (5, 4), (8, 7)):
        feeds = {maker.graph.inputs[0].name: np.arange(n * m, dtype=np.float32).reshape(n, m)}
        assert differences(list(evaluate(maker.graph, feeds).values()), run_fast(content, feeds)) == ""


def test_reshapes_need_no_arithmetic_where_one_size_is_open() -> None:
    maker = Maker()
    x = maker.input(N, 6, M)
    maker.graph.outputs = [
        maker("reshape", x, shape=(N, 2, 3, M)),
        maker("reshape", x, shape=(N * 6, M)),
        maker("reshape", x, shape=(M, N, 6)),
    ]
    exported = checked(maker.graph)
    assert exported.operators["Shape"] == 2  # the last one only
    feeds = {maker.graph.inputs[0].name: np.arange(5 * 6 * 4, dtype=np.float32).reshape(5, 6, 4)}
    assert differences(list(evaluate(maker.graph, feeds).values()), run_fast(exported.content, feeds)) == ""


@pytest.mark.parametrize("ones", [0, 1, 5])
def test_sizes_that_data_decides(ones: int) -> None:
    """How many there are goes into shapes and arithmetic behind the node that found out."""
    found = symbol("found", 0, 12)
    maker = Maker()
    maker.graph.symbols["found"] = found.symbol  # type: ignore[assignment]
    x = maker.input(12, dtype=DType.F32)
    places = maker("non_zero", x, size=(found,))
    turned = maker("reshape", places, shape=(found, 1))
    taken = maker("gather", x, maker("reshape", places, shape=(found,)), axis=0)
    wide = maker("broadcast_to", maker("reshape", taken, shape=(found, 1)), shape=(found, 3))
    maker.graph.outputs = [turned, maker("reshape", wide, shape=(3, found))]
    content = checked(maker.graph).content
    feeds = {x.name: np.array([1.5] * ones + [0] * (12 - ones), np.float32)}
    assert differences(list(evaluate(maker.graph, feeds).values()), run_fast(content, feeds)) == ""


def test_sizes_carry_their_names_and_bounds() -> None:
    maker = Maker()
    x = maker.input(N, 6)
    maker.graph.outputs = [maker("relu", x), maker("concat", x, x, axis=0)]
    model = onnx.load_from_string(checked(maker.graph).content)
    shapes = [
        [dim.dim_param or dim.dim_value for dim in value.type.tensor_type.shape.dim]
        for value in (*model.graph.input, *model.graph.output)
    ]
    assert shapes == [["n", 6], ["n", 6], ["(n * 2)", 6]] or shapes[2][0] == str(N + N)
    assert {item.key: item.value for item in model.metadata_props} == {"lathe.bounds.n": "1..40"}
    assert math.prod(shapes[0][1:]) == 6
