"""Sizes that data decides: who defines them, who reads them, and what they are after an evaluation."""

from __future__ import annotations

import numpy as np
import pytest

from buildtool.codegen import container
from buildtool.errors import GraphError
from buildtool.ir import text
from buildtool.ir.dims import symbol
from buildtool.ir.evaluate import evaluate
from buildtool.ir.graph import Graph, Value
from buildtool.ir.types import DType, TensorType
from buildtool.ir.verify import verify
from buildtool.ops.broadcast_to import BroadcastTo
from buildtool.ops.non_zero import NonZero
from buildtool.ops.registry import builtin
from buildtool.ops.relu import Relu
from buildtool.passes.remove_dead_code import RemoveDeadCode


def _graph(high: int = 6) -> Graph:
    """places = non_zero(x[2, 3]); ones = as many ones as there are places."""
    found = symbol("found", 0, high)
    assert found.symbol is not None
    graph = Graph(symbols={"found": found.symbol})
    x = Value("x", TensorType(DType.F32, (2, 3)))
    graph.inputs.append(x)
    places = graph.new_node(NonZero(size=(found,)), [x], "places")
    ones = graph.new_node(BroadcastTo((found,)), [graph.new_constant("one", np.float32(1).reshape(()))], "ones")
    graph.nodes += [places, ones]
    graph.outputs = [*places.outputs, *ones.outputs]
    return graph


def test_the_data_gives_the_size_its_value() -> None:
    graph = _graph()
    verify(graph)
    for x in (np.eye(2, 3), np.zeros((2, 3)), np.ones((2, 3))):
        places, ones = evaluate(graph, {"x": x.astype(np.float32)}).values()
        np.testing.assert_array_equal(places, np.nonzero(x))
        assert ones.shape == (np.count_nonzero(x),)


def test_the_bound_leaves_room_for_all() -> None:
    with pytest.raises(ValueError, match="the size can reach 6, but the bound of 'found' is 5"):
        _graph(5)


def test_text_and_container_keep_it() -> None:
    graph = _graph()
    written, constants = text.write(graph)
    assert text.write(text.read(written, constants, builtin()))[0] == written
    files = container.write(graph, name="model", half=False, plan=None)
    again, _ = container.read(files.model, files.data, builtin())
    verify(again)
    assert [value.type for value in again.outputs] == [value.type for value in graph.outputs]


def test_a_size_is_read_behind_its_node() -> None:
    graph = _graph()
    graph.nodes.reverse()
    with pytest.raises(GraphError, match="the size 'found' is read before a node has computed it"):
        verify(graph)


def test_a_size_has_one_node() -> None:
    graph = _graph()
    again = graph.new_node(graph.nodes[0].op, [graph.inputs[0]])
    graph.nodes.append(again)
    with pytest.raises(GraphError, match="the size 'found' is defined by another node as well"):
        verify(graph)


def test_no_input_has_it() -> None:
    graph = _graph()
    graph.inputs.append(Value("n", TensorType(DType.F32, graph.nodes[1].outputs[0].type.shape)))
    with pytest.raises(GraphError, match="an input has a size that a node computes"):
        verify(graph)


def test_a_node_lives_as_long_as_its_size() -> None:
    graph = _graph()
    del graph.outputs[0]
    assert not RemoveDeadCode().run(graph)
    graph.outputs = list(graph.nodes[0].outputs)
    unread = graph.new_node(Relu(), [graph.nodes[1].outputs[0]])
    graph.nodes.append(unread)
    assert RemoveDeadCode().run(graph)
    assert [node.op.name for node in graph.nodes] == ["non_zero"]
