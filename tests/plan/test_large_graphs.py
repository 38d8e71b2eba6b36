"""What is done with a graph takes a time in proportion to its nodes, whatever its form.

Each limit of processor time is about ten times what the step takes on a slow machine, and a tenth of what it would take
if the time grew with the square of the nodes.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, helper

from buildtool.importers.onnx import import_model
from buildtool.importers.request import ImportRequest
from buildtool.ir.graph import Graph, Value
from buildtool.ir.types import DType, TensorType
from buildtool.ops.concat import Concat
from buildtool.ops.registry import registry
from buildtool.passes.remove_identities import RemoveIdentities
from buildtool.passes.share_common import ShareCommon
from buildtool.plan import arena, check
from buildtool.plan.arena import _Gaps
from buildtool.plan.plan import Plan

MANY = 12_000


@dataclass(frozen=True)
class Anywhere:
    """A kernel that works in place, or does not, and joins its inputs, or does not."""

    in_place: int | None = None
    parts: str = ""
    strided_inputs: frozenset[int] = frozenset()
    strided_output: bool = False


@contextmanager
def within(seconds: float) -> Iterator[None]:
    start = time.process_time()
    yield
    assert time.process_time() - start < seconds


def fan(count: int, *, joined: bool) -> Graph:
    """Nodes that all read the input, and one that joins what they make; without it these are the outputs."""
    graph = Graph()
    graph.inputs = [Value("x", TensorType(DType.F32, (1, 4)))]
    for _ in range(count):
        graph.nodes.append(graph.new_node(registry()["sigmoid"](), graph.inputs))
    made = [node.outputs[0] for node in graph.nodes]
    if joined:
        graph.nodes.append(graph.new_node(Concat(axis=1), made))
        made = graph.nodes[-1].outputs
    graph.outputs = list(made)
    return graph


def chain(count: int, op: str) -> Graph:
    graph = Graph()
    graph.inputs = [Value("x", TensorType(DType.F32, (1, 4)))]
    value = graph.inputs[0]
    for index in range(count):
        graph.nodes.append(graph.new_node(registry()[op](), [value]))
        (value,) = graph.nodes[-1].outputs
        value.source_names = (f"v{index}",)
    graph.outputs = [value]
    return graph


def planned(graph: Graph, kernels: list[Anywhere]) -> arena.Arena:
    with within(15):
        memory = arena.plan(graph, kernels)
        names = tuple(("any",) for _ in kernels)
        check.check(graph, Plan("host", names, memory.placements, memory.size), kernels)
    return memory


@pytest.mark.slow
def test_values_that_are_live_together() -> None:
    graph = fan(MANY, joined=False)
    memory = planned(graph, [Anywhere()] * MANY)
    assert memory.size == memory.lower_bound == 64 * (MANY + 1)


@pytest.mark.slow
def test_a_join_of_many_values() -> None:
    graph = fan(MANY, joined=True)
    memory = planned(graph, [*[Anywhere()] * MANY, Anywhere(parts="inputs")])
    assert memory.size == 16 * MANY + 64


def test_one_buffer_that_many_values_share() -> None:
    assert planned(chain(MANY, "sigmoid"), [Anywhere(in_place=0)] * MANY).size == 128


def test_names_that_gather_at_one_value() -> None:
    graph = chain(MANY, "identity")
    with within(8):
        assert RemoveIdentities().run(graph)
    assert [node.inputs for node in graph.nodes] == [graph.inputs]
    assert len(graph.inputs[0].source_names) == MANY - 1


def test_operands_that_become_one() -> None:
    graph = fan(MANY, joined=True)
    with within(8):
        assert ShareCommon().run(graph)
    assert len(graph.nodes) == 2
    assert set(graph.nodes[1].inputs) == {graph.nodes[0].outputs[0]}


def test_many_outputs(tmp_path: Path) -> None:
    count = 5_000
    nodes = [helper.make_node("Sigmoid", [f"v{index}"], [f"v{index + 1}"]) for index in range(count)]
    inputs = [helper.make_tensor_value_info("v0", TensorProto.FLOAT, [1, 4])]
    outputs = [helper.make_tensor_value_info(f"v{index + 1}", TensorProto.FLOAT, None) for index in range(count)]
    model = helper.make_model(helper.make_graph(nodes, "outputs", inputs, outputs))
    onnx.save(model, tmp_path / "outputs.onnx")
    with within(12):
        graph = import_model(ImportRequest("outputs", tmp_path / "outputs.onnx")).graph
    assert [value.name for value in graph.outputs] == [f"v{index + 1}" for index in range(count)]


@pytest.mark.parametrize("seed", range(20))
def test_the_packing_of_very_many_buffers_is_sound(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The checker, which knows nothing of the planner, accepts what it makes of small graphs, too."""
    monkeypatch.setattr(arena, "MOST_COMPARED", 0)
    drawn = random.Random(seed)
    graph = Graph()
    graph.inputs = [Value("x", TensorType(DType.F32, (1, drawn.randrange(1, 200))))]
    values = list(graph.inputs)
    for _ in range(60):
        if drawn.random() < 0.5:
            node = graph.new_node(Concat(axis=1), drawn.choices(values[-8:], k=2))
            if node.outputs[0].type.shape[1] > 5_000:  # type: ignore[operator]
                continue
        else:
            node = graph.new_node(registry()["sigmoid"](), [drawn.choice(values[-8:])])
        graph.nodes.append(node)
        values += node.outputs
    graph.outputs = drawn.sample(values[1:], 3)
    memory = planned(graph, [Anywhere()] * len(graph.nodes))
    assert memory.lower_bound <= memory.size < 2 * memory.lower_bound


def test_gaps_that_touch_become_one() -> None:
    gaps = _Gaps()
    assert [gaps.take(64) for _ in range(4)] == [0, 64, 128, 192]
    gaps.free(64, 64)
    gaps.free(192, 64)
    gaps.free(128, 64)
    assert gaps.take(256) == 64  # the gap before the end grows
    assert gaps.end == 320
    gaps.free(0, 64)
    assert (gaps.take(0), gaps.take(32), gaps.take(32)) == (0, 0, 32)
