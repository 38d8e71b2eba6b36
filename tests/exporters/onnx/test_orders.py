"""Transposes appear where something moves, and nowhere else."""

from __future__ import annotations

import numpy as np
import pytest

from buildtool.ir.dims import symbol
from buildtool.ir.evaluate import evaluate
from buildtool.ir.graph import Value
from tests.exporters.onnx.harness import checked, counts, differences, run_fast
from tests.passes.harness import NCHW, NHWC, Maker, random

NEAREST = {"scales": (2.0, 2.0), "mode": "nearest", "coordinates": "asymmetric", "rounding": "floor"}


def _exported(maker: Maker, *outputs: Value, sizes: dict[str, int] | None = None) -> dict[str, int]:
    """The counts of the nodes of the exported graph, after a comparison of what it computes."""
    graph = maker.graph
    graph.outputs = list(outputs)
    exported = checked(graph)
    shapes = [[sizes[str(dim)] if sizes and str(dim) in sizes else dim for dim in x.type.shape] for x in graph.inputs]
    feeds = {value.name: random(*shape) for value, shape in zip(graph.inputs, shapes, strict=True)}  # type: ignore[arg-type]
    wanted = list(evaluate(graph, feeds).values())
    assert differences(wanted, run_fast(exported.content, feeds), 1e-4) == ""
    assert counts(exported, *exported.operators) == exported.nodes
    return dict(exported.operators)


def test_layers_in_a_row_need_none_between_them() -> None:
    maker = Maker()
    x = maker.input(1, 9, 8, 3)
    y = maker("relu", maker.conv(x, 8))
    z = maker("mul", maker.conv(y, 8), maker.random(8))
    assert _exported(maker, maker("relu", maker.conv(z, 4, bias=True)))["Transpose"] == 2


def test_transposes_of_the_graph_cancel_those_of_the_layers() -> None:
    maker = Maker()
    x = maker.input(1, 3, 9, 8)
    y = maker.conv(maker("transpose", x, perm=NHWC), 8)
    assert "Transpose" not in _exported(maker, maker("transpose", y, perm=NCHW))


def test_residuals_and_branches() -> None:
    maker = Maker()
    x = maker("transpose", maker.input(2, 4, 6, 6), perm=NHWC)
    a = maker.conv(x, 8)
    b = maker.conv(x, 8)
    joined = maker("concat", maker("add", a, b), a, axis=3)
    pooled = maker("reduce_mean", joined, axes=(1, 2), keepdims=False)
    gate = maker("sigmoid", maker("reshape", pooled, shape=(2, 1, 1, 16)))
    y = maker("mul", joined, gate)
    found = _exported(maker, maker("transpose", y, perm=NCHW))
    assert "Transpose" not in found
    assert found["Reshape"] == 1


def test_operators_that_know_no_order_get_the_plain_one() -> None:
    maker = Maker()
    x = maker("transpose", maker.input(1, 4, 5, 6), perm=NHWC)
    y = maker("fully_connected", maker.conv(x, 8), maker.random(7, 8))
    assert _exported(maker, y)["Transpose"] == 1


def test_shuffled_channels() -> None:
    maker = Maker()
    x = maker("transpose", maker.input(1, 4, 5, 6), perm=NHWC)
    y = maker("reshape", maker.conv(x, 8), shape=(1, 3, 4, 2, 4))
    y = maker("transpose", y, perm=(0, 1, 2, 4, 3))
    y = maker("reshape", y, shape=(1, 3, 4, 8))
    assert _exported(maker, maker("transpose", maker.conv(y, 8), perm=NCHW))["Transpose"] == 1


def test_gathered_channels_and_softmax_in_the_order_that_is_there() -> None:
    maker = Maker()
    x = maker("transpose", maker.input(1, 4, 5, 6), perm=NHWC)
    indices = maker.graph.new_constant("i", np.array([2, 0, 1], np.int64))
    y = maker("softmax", maker("gather", maker.conv(x, 8), indices, axis=3), axis=3)
    assert "Transpose" not in _exported(maker, maker("transpose", y, perm=NCHW))


def test_slopes_of_fewer_axes_move_with_the_channels() -> None:
    maker = Maker()
    x = maker("transpose", maker.input(1, 4, 5, 6), perm=NHWC)
    y = maker("prelu", maker.conv(x, 8), maker.random(8))
    y = maker("add", y, maker.random(4, 1))
    row = maker("relu", maker.input(4, 8))
    assert "Transpose" in _exported(maker, maker("transpose", maker("mul", y, row), perm=NCHW))


@pytest.mark.parametrize("height", [4, 7])
def test_sizes_of_run_time(height: int) -> None:
    """A network of pictures whose height is known at run time only; what can do without arithmetic does."""
    h = symbol("h", 2, 64)
    maker = Maker()
    x = maker("transpose", maker.input(1, 3, h, 6), perm=NHWC)
    y = maker(
        "resize2d",
        maker.conv(maker("pad", x, before=(0, 1, 1, 0), after=(0, 1, 1, 0), mode="edge", value=0.0), 8),
        size=(h * 2, 12),
        **NEAREST,
    )
    rows = maker("reshape", y, shape=(1, h * 2, 96))
    flat = maker("reshape", y, shape=(h * 24, 8))
    found = _exported(maker, maker("transpose", y, perm=NCHW), rows, flat, sizes={"h": height})
    assert "Shape" not in found
