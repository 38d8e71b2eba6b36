"""What if_else, loop and device_region mean and refuse. Whole models: tests/importers/onnx/test_control_flow.py."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from buildtool.errors import GraphError
from buildtool.ir.dims import symbol
from buildtool.ir.evaluate import evaluate
from buildtool.ir.graph import Graph, Region, Value
from buildtool.ir.operator import Array, Body, OperatorError, RegionType
from buildtool.ir.text import read, write
from buildtool.ir.types import DType, TensorType
from buildtool.ir.verify import verify
from buildtool.ops.device_region import DeviceRegion
from buildtool.ops.identity import Identity
from buildtool.ops.if_else import IfElse
from buildtool.ops.loop import Loop
from buildtool.ops.non_zero import NonZero
from buildtool.ops.registry import builtin

_BOOL, _S64, _ROW = TensorType(DType.BOOL, ()), TensorType(DType.S64, ()), TensorType(DType.F32, (2,))
_FOUND = symbol("found", 0, 9)


def _loop(
    most: tuple[int, ...], trips: int, first: bool, step: Callable[[int, Array], tuple[bool, Array]]
) -> list[Array]:
    """Carries and scans what `step` makes of the iteration's number and of what is carried."""

    def run(inputs: Sequence[Array]) -> tuple[Array, ...]:
        goes_on, carried = step(int(inputs[0]), inputs[1])
        return np.array(goes_on), carried, carried

    body = Body(RegionType((_S64, _ROW), (_BOOL, _ROW, _ROW)), run)
    operands = np.array(trips), np.array(first), np.zeros(2, np.float32)
    return list(Loop(most=most, size=()).reference_node(operands, [body]))


@pytest.mark.parametrize(
    ("most", "trips", "first", "limit", "done"),
    [
        ((9,), 3, True, 100, 3),
        ((9,), 100, True, 100, 9),
        ((9,), 0, True, 100, 0),
        ((9,), -4, True, 100, 0),
        ((9,), 5, False, 100, 0),
        ((9,), 5, True, 2, 2),
        ((), 50, True, 100, 50),
    ],
)
def test_a_loop_stops_at_its_condition_its_trips_or_its_bound(
    most: tuple[int, ...], trips: int, first: bool, limit: int, done: int
) -> None:
    last, scanned = _loop(most, trips, first, lambda number, row: (number + 1 < limit, row + np.float32(number)))
    assert last.tolist() == [sum(range(done))] * 2
    assert scanned.shape == (done, 2)
    assert scanned.dtype == np.float32
    assert scanned[:, 0].tolist() == [sum(range(count + 1)) for count in range(done)]


def _body(*outputs: TensorType, inputs: tuple[TensorType, ...] = (_S64, _ROW)) -> RegionType:
    return RegionType(inputs, outputs)


@pytest.mark.parametrize(
    ("inputs", "body", "message"),
    [
        ((_ROW, _BOOL, _ROW), _body(_BOOL, _ROW), "the number of iterations is f32"),
        ((_S64, _S64, _ROW), _body(_BOOL, _ROW), "the condition is s64"),
        ((_S64, TensorType(DType.BOOL, (2,)), _ROW), _body(_BOOL, _ROW), r"the condition is bool\[2\]"),
        ((_S64, _BOOL, _ROW), _body(_S64, _ROW), "the condition that the region returns is s64"),
        ((_S64, _BOOL, _ROW), _body(_BOOL, _ROW, inputs=(_ROW, _ROW)), "the number of the iteration is f32"),
        ((_S64, _BOOL, _ROW), _body(_BOOL, _ROW, inputs=(_S64,)), "1 values are carried, but the region takes 1"),
        ((_S64, _BOOL, _ROW), _body(_BOOL), "1 values are carried, but the region takes 2 and gives 1"),
        ((_S64, _BOOL, _ROW), _body(_BOOL, _S64), r"carried value 0 starts as f32\[2\], but the region gives s64"),
        ((_S64, _BOOL, _S64), _body(_BOOL, _S64), r"carried value 0 starts as s64\[\], but the region takes f32\[2\]"),
        ((_S64, _BOOL, _ROW), _body(_BOOL, _ROW, _ROW), "values are scanned, but 'most' does not bound their number"),
    ],
)
def test_loops_that_do_not_fit(inputs: tuple[TensorType, ...], body: RegionType, message: str) -> None:
    with pytest.raises(OperatorError, match=message):
        Loop(most=(), size=()).infer_node(inputs, [body])


def test_the_type_of_what_is_scanned() -> None:
    inputs, body = (_S64, _BOOL, _ROW), _body(_BOOL, _ROW, _ROW)
    assert Loop(most=(5,), size=()).infer_node(inputs, [body]) == (_ROW, TensorType(DType.F32, (5, 2)))
    assert Loop(most=(9,), size=(_FOUND,)).infer_node(inputs, [body])[1].shape == (_FOUND, 2)
    for most, size, message in (
        ((10,), (_FOUND,), "the bound of 'found' is 9"),
        ((), (_FOUND,), "needs 'most'"),
        ((1, 1), (), "one"),
    ):
        with pytest.raises(OperatorError, match=message):
            Loop(most=most, size=size)


def _branches(then: tuple[TensorType, ...], other: tuple[TensorType, ...]) -> list[RegionType]:
    return [RegionType((), then), RegionType((), other)]


def test_the_type_of_either_branch() -> None:
    wide = TensorType(DType.F32, (7,))
    assert IfElse(sizes=()).infer_node([_BOOL], _branches((_ROW, _S64), (_ROW, _S64))) == (_ROW, _S64)
    (sized,) = IfElse(sizes=(_FOUND,)).infer_node([_BOOL], _branches((_ROW,), (wide,)))
    assert sized.shape == (_FOUND,)
    for sizes, then, other, message in (
        ((), _ROW, wide, "'sizes' has no symbol"),
        ((_FOUND,), _ROW, _ROW, "more than there are sizes that differ"),
        ((_FOUND,), _ROW, TensorType(DType.F32, (12,)), "a size can reach 12"),
        ((), _ROW, _S64, "element type and rank"),
    ):
        with pytest.raises(OperatorError, match=message):
            IfElse(sizes=sizes).infer_node([_BOOL], _branches((then,), (other,)))
    with pytest.raises(OperatorError, match="has inputs"):
        IfElse(sizes=()).infer_node([_BOOL], [RegionType((_ROW,), (_ROW,)), RegionType((), (_ROW,))])
    with pytest.raises(OperatorError, match="one region has 1 outputs, the other 0"):
        IfElse(sizes=()).infer_node([_BOOL], _branches((_ROW,), ()))


def _finding() -> Graph:
    """Branches of sizes that differ, one of which finds its size out by itself."""
    graph = Graph(name="finding", symbols={})
    inner, size = symbol("inner", 0, 4), symbol("size", 0, 4)
    graph.symbols = {"inner": inner.symbol, "size": size.symbol}  # type: ignore[dict-item]
    condition, x = Value("condition", _BOOL), Value("x", TensorType(DType.F32, (4,)))
    graph.inputs = [condition, x]
    then, other = Region(), Region()
    then.nodes.append(graph.new_node(NonZero(size=(inner,)), [x]))
    then.outputs = list(then.nodes[0].outputs)
    other.outputs = [graph.new_constant("c", np.array([[1, 2]], np.int64))]
    graph.nodes.append(graph.new_node(IfElse(sizes=(size,)), [condition], regions=[then, other]))
    graph.outputs = list(graph.nodes[0].outputs)
    verify(graph)
    return graph


def test_sizes_found_in_a_branch() -> None:
    graph = _finding()
    x = np.array([0, 5, 0, 6], np.float32)
    for copy in (graph, graph.clone(), read(*write(graph), builtin())):
        name = copy.outputs[0].name
        assert evaluate(copy, {"condition": np.array(True), "x": x})[name].tolist() == [[1, 3]]
        assert evaluate(copy, {"condition": np.array(True), "x": np.zeros(4, np.float32)})[name].shape == (1, 0)
        assert evaluate(copy, {"condition": np.array(False), "x": x})[name].tolist() == [[1, 2]]


def test_rules_of_regions() -> None:
    graph = _finding()
    (node,) = graph.nodes
    found = node.regions[0].outputs[0]
    graph.nodes.append(graph.new_node(Identity(), [node.outputs[0]]))
    graph.nodes[1].outputs[0].type = found.type
    assert "is read before a node has computed it" in _problems(graph)
    graph = _finding()
    taken = graph.new_value("taken", found.type)
    graph.nodes[0].regions[0].inputs.append(taken)
    graph.nodes[0].regions[0].outputs[0] = taken
    assert "an output of a region is an input of it" in _problems(graph)


def _problems(graph: Graph) -> str:
    with pytest.raises(GraphError) as caught:
        verify(graph)
    return str(caught.value)


def test_a_part_for_a_device_gives_what_its_region_gives() -> None:
    body = Body(RegionType((), (_ROW,)), lambda inputs: (np.array([1, 2], np.float32),))
    (found,) = DeviceRegion().reference_node((), [body])
    assert found.tolist() == [1, 2]
    assert DeviceRegion().infer_node((), [body.type]) == (_ROW,)
    with pytest.raises(OperatorError, match="no values for them"):
        DeviceRegion().infer_node((), [RegionType((_ROW,), (_ROW,))])


@pytest.mark.parametrize(
    "wrong",
    [{"memory": "disk"}, {"storage": "s8"}, {"arithmetic": "f64"}, {"winograd": 3}, {"opencl_queue_window_size": -1}],
)
def test_a_part_for_a_device_has_words_of_its_own(wrong: dict[str, str | int]) -> None:
    with pytest.raises(OperatorError):
        DeviceRegion(**wrong).check()  # type: ignore[arg-type]
