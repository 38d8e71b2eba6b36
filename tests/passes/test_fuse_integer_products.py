"""Products of quantised numbers with a constant matrix, with what scales their sums."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from buildtool.ir.graph import Graph, Value
from buildtool.ir.operator import Array
from buildtool.ir.types import DType
from buildtool.ops.fully_connected_integer import FullyConnectedInteger
from buildtool.passes.fuse_integer_products import FuseIntegerProducts
from buildtool.passes.pipeline import LOWERING, lower
from tests.passes.harness import Maker, apply, ops


def _weights(dtype: type, shape: Sequence[int] = (8, 6)) -> Array:
    limits = np.iinfo(dtype)
    return np.random.default_rng(8).integers(limits.min, limits.max + 1, shape).astype(dtype)


def _bytes(make: Maker, array: Array) -> Value:
    return make.graph.new_constant("c", array)


def _sums(make: Maker, w: Array, w_zero: Array | None = None) -> Value:
    """x is quantised as the model runs: its zero point is an input."""
    x, x_zero = make.input(2, 5, 8, dtype=DType.U8), make.input(dtype=DType.U8)
    zero = np.zeros((), w.dtype) if w_zero is None else w_zero
    return make("matmul_integer", x, _bytes(make, w), x_zero, _bytes(make, zero))


def _scaled(make: Maker, sums: Value, scale: Value | None = None, swap: bool = False) -> Value:
    operands = [make("cast", sums, to=DType.F32), make.input() if scale is None else scale]
    return make("mul", *operands[:: -1 if swap else 1])


def _node(graph: Graph) -> FullyConnectedInteger:
    (op,) = (node.op for node in graph.nodes if isinstance(node.op, FullyConnectedInteger))
    return op


@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
@pytest.mark.parametrize("zeros", [(), (6,)])
@pytest.mark.parametrize("swap", [False, True])
def test_a_product_and_its_scale(dtype: type, zeros: tuple[int, ...], swap: bool) -> None:
    make = Maker()
    y = _scaled(make, _sums(make, _weights(dtype), _weights(dtype, zeros)), swap=swap)
    graph = make.finish(y)
    assert apply(graph, FuseIntegerProducts)
    assert ops(graph) == ["fully_connected_integer"]
    assert [value.type.dtype for value in graph.nodes[0].inputs] == [DType.U8, DType.S8, DType.U8, DType.S8, DType.F32]
    assert not apply(graph, FuseIntegerProducts)


def test_a_scale_per_column_a_bias_and_an_activation() -> None:
    make = Maker()
    y = _scaled(make, _sums(make, _weights(np.int8)), make.input(6))
    bias = make.constant(np.arange(6, dtype=np.float32).reshape(1, 1, 6))
    graph = make.finish(make("add", bias, y, activation="clip", activation_alpha=-1.0, activation_beta=2.0))
    assert apply(graph, FuseIntegerProducts)
    assert ops(graph) == ["fully_connected_integer"]
    op = _node(graph)
    assert (op.activation, op.activation_alpha, op.activation_beta) == ("clip", -1.0, 2.0)
    assert graph.nodes[0].inputs[5].type.shape == (6,)


def test_what_is_added_of_each_element_stays() -> None:
    make = Maker()
    y = _scaled(make, _sums(make, _weights(np.int8)))
    graph = make.finish(make("add", y, make.input(2, 5, 6)))
    assert apply(graph, FuseIntegerProducts)
    assert ops(graph) == ["fully_connected_integer", "add"]


def test_a_pointwise_convolution() -> None:
    make = Maker()
    x, x_zero = make.input(2, 4, 5, 8, dtype=DType.U8), make.input(dtype=DType.U8)
    filters = _bytes(make, _weights(np.uint8, (6, 1, 1, 8)))
    attributes = {"strides": (1, 1), "pads": (0, 0, 0, 0), "dilations": (1, 1), "groups": 1}
    sums = make("conv_integer", x, filters, x_zero, _bytes(make, np.array(7, np.uint8)), **attributes)
    graph = make.finish(_scaled(make, sums))
    assert apply(graph, FuseIntegerProducts)
    assert ops(graph) == ["fully_connected_integer"]


@pytest.mark.parametrize(
    ("filters", "attributes"),
    [
        ((6, 3, 3, 8), {}),
        ((6, 1, 1, 8), {"strides": (2, 2)}),
        ((6, 1, 1, 8), {"pads": (1, 1, 1, 1)}),
        ((6, 1, 1, 4), {"groups": 2}),
    ],
)
@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
def test_other_convolutions_get_signed_filters(
    filters: tuple[int, ...], attributes: dict[str, object], dtype: type
) -> None:
    make = Maker()
    x, x_zero = make.input(2, 4, 5, 8, dtype=DType.U8), make.input(dtype=DType.U8)
    whole = {"strides": (1, 1), "pads": (0, 0, 0, 0), "dilations": (1, 1), "groups": 1, **attributes}
    zero = _bytes(make, np.array(7, dtype))
    sums = make("conv_integer", x, _bytes(make, _weights(dtype, filters)), x_zero, zero, **whole)
    graph = make.finish(_scaled(make, sums))
    assert apply(graph, FuseIntegerProducts) == (dtype is np.uint8)
    assert ops(graph) == ["conv_integer", "cast", "mul"]
    assert graph.nodes[0].inputs[1].type.dtype is DType.S8


@pytest.mark.parametrize("shape", [(0, 6), (8, 0)])
def test_an_empty_matrix_stays(shape: tuple[int, int]) -> None:
    make = Maker()
    x, x_zero = make.input(5, shape[0], dtype=DType.U8), make.input(dtype=DType.U8)
    sums = make("matmul_integer", x, _bytes(make, _weights(np.int8, shape)), x_zero, _bytes(make, np.array(3, np.int8)))
    assert not apply(make.finish(_scaled(make, sums)), FuseIntegerProducts)


def test_more_than_kernels_sum_up_stays() -> None:
    make = Maker()
    x, x_zero = make.input(1, 65536, dtype=DType.U8), make.input(dtype=DType.U8)
    w, zero = _bytes(make, _weights(np.int8, (65536, 1))), _bytes(make, np.zeros((), np.int8))
    assert not apply(make.finish(_scaled(make, make("matmul_integer", x, w, x_zero, zero))), FuseIntegerProducts)


def test_sums_that_others_read_stay() -> None:
    make = Maker()
    sums = _sums(make, _weights(np.int8))
    assert not apply(make.finish(_scaled(make, sums), sums), FuseIntegerProducts)


def test_a_scale_per_row_stays() -> None:
    make = Maker()
    y = _scaled(make, _sums(make, _weights(np.int8)), make.input(2, 5, 1))
    assert not apply(make.finish(y), FuseIntegerProducts)


def test_it_runs_only_for_targets_that_want_it() -> None:
    make = Maker()
    graph = make.finish(_scaled(make, _sums(make, _weights(np.int8))))
    assert FuseIntegerProducts in LOWERING
    assert ops(lower(graph, [])) == ["matmul_integer", "cast", "mul"]
    assert ops(lower(graph, ["fuse_integer_products"])) == ["fully_connected_integer"]
