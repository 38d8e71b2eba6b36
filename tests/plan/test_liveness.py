"""Lifetimes of values in and around regions, and that a plan which cuts one of them short is found by the checker."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from buildtool.ir.graph import Graph, Node, Region, Value
from buildtool.ir.types import DType, TensorType
from buildtool.ir.verify import verify
from buildtool.plan import arena, check, liveness
from tests.plan.graphs import add_input, make
from tests.plan.test_arena import kernels_for, plan_of

_ROWS = TensorType(DType.F32, (4, 8))


def _node(graph: Graph, region: Region, op: str, inputs: Sequence[Value], names: str, *inner: Region) -> list[Value]:
    """Append a node whose outputs have these names."""
    forms: dict[str, dict[str, object]] = {"loop": {"most": (), "size": ()}, "if_else": {"sizes": ()}}
    extra = forms.get(op, {})
    if op == "add":
        extra = {"activation": "none", "activation_alpha": 0.0, "activation_beta": 0.0}
    node: Node = graph.new_node(make(op, **extra), inputs, regions=inner)
    for value, name in zip(node.outputs, names.split(), strict=True):
        value.name = name
    region.nodes.append(node)
    return list(node.outputs)


def _loop() -> Graph:
    """The steps: 1 outer, 2 again, 3 start, 4 the loop, 5 to 7 its body, 8 the end of the body, 9 last."""
    graph = Graph(name="loop")
    x, flag = add_input(graph, "x", (4, 8)), add_input(graph, "flag", (), DType.BOOL)
    trips = add_input(graph, "trips", (), DType.S64)
    [outer] = _node(graph, graph, "abs", [x], "outer")
    [again] = _node(graph, graph, "logical_not", [flag], "again")
    [start] = _node(graph, graph, "relu", [x], "start")
    number, first, second = Value("number", trips.type), Value("first", _ROWS), Value("second", _ROWS)
    body = Region(inputs=[number, first, second])
    [early] = _node(graph, body, "add", [first, outer], "early")
    [middle] = _node(graph, body, "add", [early, second], "middle")
    [late] = _node(graph, body, "relu", [middle], "late")
    body.outputs = [again, early, late]
    read, _ = _node(graph, graph, "loop", [trips, flag, start, start], "read unread", body)
    graph.outputs = _node(graph, graph, "abs", [read], "last")
    return graph


def _branches() -> Graph:
    """The steps: 1 to 3 values, 4 the branch, 5 and 6 its first region, 7 its end, 8 to 10 the second one, 11 its end,
    12 last."""
    graph = Graph(name="branches")
    x, flag = add_input(graph, "x", (4, 8)), add_input(graph, "flag", (), DType.BOOL)
    [in_first] = _node(graph, graph, "abs", [x], "in_first")
    [in_second] = _node(graph, graph, "relu", [x], "in_second")
    [given] = _node(graph, graph, "neg", [x], "given")
    first, second = Region(), Region()
    [inner] = _node(graph, first, "relu", [in_first], "inner")
    first.outputs = [*_node(graph, first, "abs", [inner], "of_first"), given]
    [early] = _node(graph, second, "abs", [in_second], "early")
    [middle] = _node(graph, second, "relu", [x], "middle")
    second.outputs = [early, *_node(graph, second, "abs", [middle], "of_second")]
    read, _ = _node(graph, graph, "if_else", [flag], "read unread", first, second)
    graph.outputs = _node(graph, graph, "abs", [read], "last")
    return graph


def _branch_in_loop() -> Graph:
    """The steps: 1 outer, 2 the loop, 3 made, 4 the branch, 5 its first region, 6 its end, 7 the end of the second one,
    8 and 9 the rest of the body, 10 its end."""
    graph = Graph(name="nested")
    x, flag = add_input(graph, "x", (4, 8)), add_input(graph, "flag", (), DType.BOOL)
    trips = add_input(graph, "trips", (), DType.S64)
    [outer] = _node(graph, graph, "abs", [x], "outer")
    carried = Value("carried", _ROWS)
    body = Region(inputs=[Value("number", trips.type), carried])
    [made] = _node(graph, body, "relu", [carried], "made")
    first, second = Region(), Region()
    first.outputs = _node(graph, first, "add", [made, outer], "sum")
    second.outputs = [carried]
    [chosen] = _node(graph, body, "if_else", [flag], "chosen", first, second)
    [middle] = _node(graph, body, "abs", [chosen], "middle")
    body.outputs = [flag, *_node(graph, body, "relu", [middle], "given")]
    graph.outputs = _node(graph, graph, "loop", [trips, flag, x], "read", body)
    return graph


_GRAPHS = {"loop": _loop, "branches": _branches, "branch in loop": _branch_in_loop}

#: A graph, a value in it, its first and its last step.
_LIFETIMES = [
    # read in a region from around it: each iteration reads it again
    ("loop", "outer", 1, 8),
    ("loop", "again", 2, 8),
    ("branches", "in_first", 1, 11),
    ("branches", "in_second", 2, 11),
    ("branches", "given", 3, 11),
    ("branch in loop", "outer", 1, 10),
    ("branch in loop", "made", 3, 7),
    # carried: written at the end of an iteration, from outputs that must all be there until then
    ("loop", "number", 4, 8),
    ("loop", "first", 4, 8),
    ("loop", "second", 4, 8),
    ("loop", "early", 5, 8),
    ("loop", "late", 7, 8),
    ("branch in loop", "carried", 2, 10),
    ("branches", "of_first", 6, 7),
    ("branches", "early", 8, 11),
    # made and read within one iteration
    ("loop", "middle", 6, 7),
    ("branch in loop", "sum", 5, 6),
    ("branch in loop", "chosen", 4, 8),
    # read by the node, and written by it, whether or not anything reads it later
    ("loop", "start", 3, 4),
    ("loop", "read", 4, 9),
    ("loop", "unread", 4, 8),
    ("branches", "unread", 4, 11),
]


@pytest.mark.parametrize(("name", "value", "first", "last"), _LIFETIMES)
def test_a_value_is_live_from_its_node_to_the_end_of_what_reads_it(
    name: str, value: str, first: int, last: int
) -> None:
    graph = _GRAPHS[name]()
    verify(graph)
    found = {life.value.name: (life.first, life.last) for life in liveness.lifetimes(graph).values()}
    assert found[value] == (first, last)


@pytest.mark.parametrize(
    ("name", "value", "last"),
    [
        ("loop", "outer", 5),
        ("loop", "second", 6),
        ("loop", "early", 6),
        ("loop", "unread", 4),
        ("branches", "in_first", 5),
        ("branches", "early", 8),
        ("branch in loop", "outer", 5),
        ("branch in loop", "carried", 3),
    ],
)
def test_the_checker_finds_plans_in_which_a_lifetime_ends_too_early(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, last: int
) -> None:
    graph = _GRAPHS[name]()
    kernels = kernels_for(graph, in_place=False)
    plan, _ = plan_of(graph, kernels)
    assert list(check.problems_of(graph, plan, kernels)) == []
    lives = liveness.lifetimes(graph)
    [short] = [life for life in lives.values() if life.value.name == value]
    assert short.last > last
    lives[short.value] = replace(short, last=last)
    monkeypatch.setattr(arena, "lifetimes", lambda _: lives)
    plan, _ = plan_of(graph, kernels)
    assert list(check.problems_of(graph, plan, kernels))
