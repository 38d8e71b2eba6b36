"""Values that stand inside of others: which the planner chooses, and that the checker finds what is wrong with them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from buildtool.ir.dims import minimum, symbol
from buildtool.ir.graph import Graph, Value
from buildtool.plan import arena, check
from buildtool.plan.conditions import Condition
from buildtool.plan.manifest import KernelInfo
from buildtool.plan.plan import Plan
from tests.plan.graphs import add_input, apply, make

PARTS = {"concat": "inputs", "slice": "outputs"}
ROWS = (4, 8, 16)  # rows of the last axis: 32 of 64 bytes


def kernels_for(graph: Graph, rigid: Mapping[str, bool] | None = None) -> list[KernelInfo]:
    """Kernels that can all deal with rows that lie apart, but for those of the operators in `rigid`."""
    result = []
    for node in graph.walk():
        op = node.op.name
        strided = op in ("abs", "relu", "sin", "add") and op not in (rigid or {})
        place = 0 if op in ("relu", "add", "reshape") else None
        kernel = KernelInfo(
            f"{op}_f32_x__portable", op, "f32", "x", "portable", (), (), Condition(), place, 0, 0, 0, Path()
        )
        numbers = frozenset(range(2)) if strided else frozenset()
        result.append(replace(kernel, strided_inputs=numbers, strided_output=strided, parts=PARTS.get(op, "")))
    return result


def planned(graph: Graph, kernels: list[KernelInfo]) -> tuple[Plan, dict[str, int]]:
    memory = arena.plan(graph, kernels)
    plan = Plan("host", tuple((kernel.name,) for kernel in kernels), memory.placements, memory.size)
    assert list(check.problems_of(graph, plan, kernels)) == []
    return plan, {place.value: place.offset for place in plan.arena}


def broken(graph: Graph, plan: Plan, kernels: list[KernelInfo], moved: Mapping[str, int]) -> list[str]:
    """What the checker says of a plan with other offsets."""
    places = tuple(replace(place, offset=moved.get(place.value, place.offset)) for place in plan.arena)
    wrong = replace(plan, arena=places, arena_size=plan.arena_size + 2**20)
    return [problem.what for problem in check.problems_of(graph, wrong, kernels)]


def joined(axis: int, *ops: str) -> tuple[Graph, list[Value], Value]:
    graph = Graph(name="g")
    x = add_input(graph, "x", ROWS)
    parts = [apply(graph, make(op), x) for op in ops]
    whole = apply(graph, make("concat", axis=axis), *parts)
    graph.outputs.append(apply(graph, make("cos"), whole))
    return graph, parts, whole


def test_inputs_of_a_concat_stand_in_their_columns() -> None:
    graph, parts, whole = joined(2, "abs", "relu", "sin")
    _, offsets = planned(graph, kernels_for(graph))
    assert [offsets[part.name] - offsets[whole.name] for part in parts] == [0, 64, 128]


def test_kernels_that_want_rows_side_by_side_get_them() -> None:
    graph, parts, whole = joined(2, "abs", "relu", "sin")
    kernels = kernels_for(graph, rigid={"relu": True})
    plan, offsets = planned(graph, kernels)
    assert [offsets[part.name] - offsets[whole.name] for part in parts[::2]] == [0, 128]
    inside = {parts[1].name: offsets[whole.name] + 64}
    assert "the rows of the value are not contiguous, which the kernel does not support" in broken(
        graph, plan, kernels, inside
    )


def test_a_part_that_is_as_large_as_its_source_at_the_largest_sizes() -> None:
    """As in Conformers: a table is cut to the run-time length, which may be all of it. Its rows lie side by side."""
    n = symbol("n", 1, 8)
    graph = Graph(name="g")
    x = add_input(graph, "x", (minimum(n * 2, 8), 2, 3))
    part = apply(graph, make("slice", starts=(0, 0, 0), steps=(1, 1, 1), sizes=(n, 2, 3)), apply(graph, make("sin"), x))
    graph.outputs.append(apply(graph, make("cos"), part))
    planned(graph, kernels_for(graph))


@pytest.mark.parametrize(("axis", "parts"), [(0, True), (1, False)])
def test_parts_of_one_piece_are_for_all_kernels(axis: int, parts: bool) -> None:
    graph, made, whole = joined(axis, "abs", "relu")
    kernels = kernels_for(graph, rigid={"abs": True, "relu": True})
    _, offsets = planned(graph, kernels)
    assert (offsets[made[1].name] == offsets[whole.name] + 4 * 8 * 16 * 4) is parts


def test_a_part_that_is_an_output_or_read_as_one_piece_is_copied() -> None:
    graph, parts, whole = joined(2, "abs", "relu", "sin")
    graph.outputs.append(parts[0])
    graph.outputs.append(apply(graph, make("softmax", axis=2), parts[1]))
    plan, offsets = planned(graph, kernels_for(graph))
    assert offsets[parts[2].name] == offsets[whole.name] + 128
    assert offsets[parts[0].name] != offsets[whole.name]
    assert offsets[parts[1].name] != offsets[whole.name] + 64
    found = broken(graph, plan, kernels_for(graph), {parts[0].name: offsets[whole.name]})
    assert "it is an input or output and is placed inside another value" in found


def test_one_place_is_enough_for_a_part() -> None:
    graph, parts, whole = joined(2, "abs", "relu")
    second = apply(graph, make("concat", axis=2), parts[1], parts[1])
    graph.outputs.append(apply(graph, make("cos"), second))
    _, offsets = planned(graph, kernels_for(graph))
    assert offsets[parts[1].name] == offsets[whole.name] + 64


def test_parts_that_would_keep_more_memory_busy_are_copied() -> None:
    """The skip of a network with a neck: its concat would be there all the time that the neck is wide."""
    graph = Graph(name="g")
    skip = apply(graph, make("abs"), add_input(graph, "x", (2, 16)))
    wide = apply(graph, make("concat", axis=0), *[skip] * 64)
    for _ in range(3):
        wide = apply(graph, make("cos"), wide)
    narrow = apply(graph, make("slice", starts=(0, 0), steps=(1, 1), sizes=(2, 16)), wide)
    late = [apply(graph, make("sin"), narrow) for _ in range(3)]
    whole = apply(graph, make("concat", axis=1), skip, *late)
    graph.outputs.append(apply(graph, make("cos"), whole))
    _, offsets = planned(graph, kernels_for(graph))
    assert offsets[skip.name] != offsets[whole.name]


def test_a_slice_stays_where_it_is_and_keeps_its_source() -> None:
    graph = Graph(name="g")
    x = add_input(graph, "x", (4, 32))
    source = apply(graph, make("cos"), x)
    part = apply(graph, make("slice", starts=(0, 8), steps=(1, 1), sizes=(4, 24)), source)
    later = apply(graph, make("cos"), source)
    graph.outputs.append(apply(graph, make("abs"), part))
    graph.outputs.append(apply(graph, make("cos"), later))
    kernels = kernels_for(graph)
    plan, offsets = planned(graph, kernels)
    assert offsets[part.name] == offsets[source.name] + 32
    assert offsets[later.name] != offsets[source.name]
    assert broken(graph, plan, kernels, {later.name: offsets[source.name]})


@pytest.mark.parametrize("step", [2, 3, -1])
def test_a_slice_with_steps_is_written_as_one_piece(step: int) -> None:
    """It stands in no column of a concat, and the checker finds where it does."""
    graph = Graph(name="g")
    x = apply(graph, make("relu"), add_input(graph, "x", (4, 6, 16)))
    size = len(range(6)[:: abs(step)])
    starts = (0, 5 if step < 0 else 0, 0)
    parts = [apply(graph, make("slice", starts=starts, steps=(1, step, 1), sizes=(4, size, 16)), x) for _ in range(2)]
    whole = apply(graph, make("concat", axis=2), *parts)
    graph.outputs.append(apply(graph, make("cos"), whole))
    kernels = kernels_for(graph)
    plan, offsets = planned(graph, kernels)
    assert all(offsets[part.name] != offsets[whole.name] + i * 64 for i, part in enumerate(parts))
    found = broken(graph, plan, kernels, {part.name: offsets[whole.name] + i * 64 for i, part in enumerate(parts)})
    assert "the rows of the value are not contiguous, which the kernel does not support" in found


def test_other_values_in_the_columns_are_found() -> None:
    graph, parts, whole = joined(2, "abs", "relu")
    other = apply(graph, make("sin"), graph.inputs[0])
    graph.nodes.insert(1, graph.nodes.pop())
    graph.outputs.append(other)
    kernels = kernels_for(graph)
    plan, offsets = planned(graph, kernels)
    assert offsets[parts[0].name] == offsets[whole.name]
    assert broken(graph, plan, kernels, {other.name: offsets[whole.name]})
    assert broken(graph, plan, kernels, {parts[1].name: offsets[whole.name] + 128})


@st.composite
def bushes(draw: st.DrawFn) -> Graph:
    """Slices and concatenations of both axes between element-wise operators."""
    graph = Graph(name="g")
    values = [add_input(graph, "x", (draw(st.sampled_from([1, 4])), 6))]
    for _ in range(draw(st.integers(1, 12))):
        source = draw(st.sampled_from(values))
        rows, columns = (int(str(dim)) for dim in source.type.shape)
        kind = draw(st.sampled_from(["abs", "relu", "sin", "concat", "concat", "slice", "reshape"]))
        if kind == "concat":
            axis = draw(st.integers(0, 1))
            fitting = [value for value in values if value.type.shape[1 - axis] == source.type.shape[1 - axis]]
            others = draw(st.lists(st.sampled_from(fitting), min_size=1, max_size=2))
            values.append(apply(graph, make("concat", axis=axis), source, *others))
        elif kind == "slice":
            start = draw(st.integers(0, columns - 1))
            step = draw(st.sampled_from([1, 1, 2, -1]))
            most = len(range(columns)[start::step])
            sizes = (rows, draw(st.integers(1, most)))
            values.append(apply(graph, make("slice", starts=(0, start), steps=(1, step), sizes=sizes), source))
        elif kind == "reshape":
            values.append(apply(graph, make("reshape", shape=(columns, rows)), source))
        else:
            values.append(apply(graph, make(kind), source))
    graph.outputs = draw(st.lists(st.sampled_from(values), min_size=1, max_size=3, unique_by=id))
    return graph


@given(bushes(), st.sets(st.sampled_from(["abs", "relu", "sin"]), max_size=2))
@settings(max_examples=150, deadline=None)
def test_plans_with_parts_pass_the_checker(graph: Graph, rigid: set[str]) -> None:
    planned(graph, kernels_for(graph, dict.fromkeys(rigid, True)))
