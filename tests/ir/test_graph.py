"""Graphs: independent copies, names, uses and removal."""

from __future__ import annotations

import numpy as np
import pytest

from buildtool.ir import text
from buildtool.ir.graph import Graph, StoredLayer
from buildtool.ir.operator import OperatorError
from buildtool.ir.types import DType, QuantType, TensorType, dtype_from_code, dtype_of, round_to_bf16
from buildtool.ops.relu import Relu
from tests.ir.graphs import branches, convolution, f32


@pytest.mark.parametrize("make", [convolution, branches])
def test_clone_is_independent(make: type[Graph]) -> None:
    graph = make()
    before = text.write(graph)[0]
    copy = graph.clone()
    assert text.write(copy)[0] == before
    assert not {id(value) for value in graph.values()} & {id(value) for value in copy.values()}
    for value in copy.values():
        value.name += "_changed"
        value.source_names = ("changed",)
    for node in copy.walk():
        node.inputs.clear()
        node.name = "changed"
    copy.symbols.clear()
    copy.outputs.clear()
    assert text.write(graph)[0] == before


def test_clone_has_the_stored_layers_on_its_own_values() -> None:
    graph = Graph()
    x, y = (graph.new_value(name, TensorType(DType.S8, (1,))) for name in "xy")
    graph.stored_layers.append(StoredLayer("lstm", (x,), (y,), {}, {"clip": 1.0}))
    (layer,) = graph.clone().stored_layers
    assert [value.name for value in (*layer.inputs, *layer.outputs)] == [x.name, y.name]
    assert layer.inputs[0] is not x and layer.numbers == {"clip": 1.0}


def test_clone_shares_constant_arrays_that_nobody_can_write() -> None:
    graph = convolution()
    arrays = [value.constant for value in graph.values() if value.constant is not None]
    copies = [value.constant for value in graph.clone().values() if value.constant is not None]
    assert all(old is new for old, new in zip(arrays, copies, strict=True))
    with pytest.raises(ValueError, match="read-only"):
        arrays[0][...] = 0


def test_new_constant_copies_views() -> None:
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    constant = Graph().new_constant("c", array.T)
    array[0, 0] = 9
    assert constant.constant is not None and constant.constant[0, 0] == 0


def test_users_and_producers() -> None:
    graph = convolution()
    conv, split, reshape, mul = graph.nodes
    assert graph.producers()[split.outputs[1]] is split
    assert graph.users()[split.outputs[1]] == [mul]
    assert graph.users()[conv.outputs[0]] == [split]
    assert reshape.outputs[0] not in graph.users()


def test_replace_uses_reaches_regions_and_hands_source_names_on() -> None:
    graph = branches()
    x = graph.inputs[1]
    x.source_names = ("source",)
    new = graph.new_value("new", f32(3), ("own",))
    graph.replace_uses(x, new)
    assert new.source_names == ("own", "source")
    assert graph.nodes[0].inputs[1] is new
    assert graph.nodes[0].regions[1].nodes[0].inputs[0] is new


def test_replace_uses_reaches_what_regions_and_the_graph_give() -> None:
    graph = branches()
    made = graph.nodes[0].regions[1].outputs[0]
    kept = [value for body in graph.bodies() for value in body.outputs if value is not made]
    new = graph.new_value("new", f32(3))
    graph.replace_uses(made, new)
    assert graph.nodes[0].regions[1].outputs == [new]
    assert [value for body in graph.bodies() for value in body.outputs if value is not new] == kept


def test_captured_is_what_regions_read_from_around_them() -> None:
    graph = branches()
    x, offset = graph.inputs[1], graph.outputs[1]
    assert list(graph.nodes[0].captured()) == [offset, x]


def test_remove_nodes_reaches_regions() -> None:
    graph = branches()
    assert graph.remove_nodes(lambda node: isinstance(node.op, Relu)) == 1
    assert [node.op.name for node in graph.walk()] == ["branch", "add"]


def test_new_node_refuses_what_its_operator_refuses() -> None:
    graph = Graph()
    with pytest.raises(OperatorError, match="relu takes 1 inputs, not 0"):
        graph.new_node(Relu(), [])


def test_element_types() -> None:
    for dtype in DType:
        assert dtype_from_code(dtype.code) is dtype
        if dtype is not DType.BF16:
            assert dtype_of(np.zeros(1, dtype.numpy)) is dtype
            assert dtype.itemsize == dtype.numpy.itemsize
    assert DType.BF16.itemsize == 2
    with pytest.raises(ValueError):
        dtype_from_code(99)
    with pytest.raises(ValueError):
        dtype_of(np.zeros(1, np.complex64))


def test_bf16_values_stay_what_they_are() -> None:
    rng = np.random.default_rng(0)
    rounded = round_to_bf16(rng.standard_normal(1000).astype(np.float32))
    np.testing.assert_array_equal(round_to_bf16(rounded), rounded)
    assert not (rounded.view(np.uint32) & 0xFFFF).any()


@pytest.mark.parametrize(
    "make",
    [
        lambda: QuantType((), ()),
        lambda: QuantType((1.0, 2.0), (0,)),
        lambda: QuantType((1.0, 2.0), (0, 0)),
        lambda: QuantType((0.0,), (0,)),
        lambda: QuantType((float("nan"),), (0,)),
        lambda: QuantType((1.0,), (0,), bits=17),
    ],
)
def test_refused_quantisation(make: type[QuantType]) -> None:
    with pytest.raises(ValueError):
        make()  # type: ignore[call-arg]


def test_type_text() -> None:
    assert str(TensorType(DType.S8, (1, 2))) == "s8[1, 2]"
    assert TensorType(DType.S8, (1, 2)).with_dtype(DType.F32).with_shape(()) == TensorType(DType.F32, ())


def test_constants_are_arrays() -> None:
    """Arithmetic on arrays without axes gives numbers, which lack what arrays have, such as weak references."""
    value = Graph("net").new_constant("sum", np.ones((), np.float32) + np.ones((), np.float32))  # type: ignore[arg-type]
    assert isinstance(value.constant, np.ndarray)
    assert value.constant.shape == ()
    assert not value.constant.flags.writeable
