"""The planner's arenas against the checker, and the checker against broken plans."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from buildtool.errors import InternalError, UnsupportedError
from buildtool.ir.dims import symbol
from buildtool.ir.graph import Graph, Node
from buildtool.ir.verify import verify
from buildtool.plan import arena, check, liveness, manifest, select
from buildtool.plan.conditions import Condition
from buildtool.plan.manifest import KernelInfo
from buildtool.plan.plan import ALIGNMENT, Placement, Plan
from tests.plan.graphs import add_input, apply, graphs, graphs_with_regions, looping_network, make, small_network


def kernels_for(graph: Graph, in_place: bool = True) -> list[KernelInfo]:
    """A kernel for every node, as a manifest would describe it: element-wise operators and views work in place."""
    return [_kernel(node, in_place) for node in graph.walk()]


def _kernel(node: Node, in_place: bool) -> KernelInfo:
    able = in_place and (node.op.is_elementwise or node.op.is_view or node.op.name == "softmax")
    place = 0 if able else None
    name = f"{node.op.name}_f32_x__portable"
    return KernelInfo(name, node.op.name, "f32", "x", "portable", (), (), Condition(), place, 0, 0.0, 0.0, Path())


def plan_of(graph: Graph, kernels: list[KernelInfo]) -> tuple[Plan, arena.Arena]:
    memory = arena.plan(graph, kernels)
    return Plan("host", tuple((kernel.name,) for kernel in kernels), memory.placements, memory.size), memory


@given(graphs(), st.booleans())
@settings(max_examples=150, deadline=None)
def test_planned_arenas_pass_the_checker(graph: Graph, in_place: bool) -> None:
    kernels = kernels_for(graph, in_place)
    plan, memory = plan_of(graph, kernels)
    assert list(check.problems_of(graph, plan, kernels)) == []
    assert memory.size >= memory.lower_bound
    assert Plan.from_json(plan.as_json()) == plan


@pytest.mark.slow
@given(graphs_with_regions(), st.booleans())
@settings(max_examples=150, deadline=None)
def test_planned_arenas_of_graphs_with_regions_pass_the_checker(graph: Graph, in_place: bool) -> None:
    verify(graph)
    kernels = kernels_for(graph, in_place)
    plan, _ = plan_of(graph, kernels)
    assert list(check.problems_of(graph, plan, kernels)) == []


@given(graphs(), st.data())
@settings(max_examples=150, deadline=None)
def test_a_value_moved_onto_another_that_lives_is_found(graph: Graph, data: st.DataObject) -> None:
    kernels = kernels_for(graph, in_place=False)
    plan, _ = plan_of(graph, kernels)
    lives = list(liveness.lifetimes(graph).values())
    first, second = (data.draw(st.sampled_from(lives)) for _ in range(2))
    views = any(node.op.is_view for node in graph.nodes)
    if views or first is second or not (first.first <= second.last and second.first <= first.last):
        return
    offset = next(item.offset for item in plan.arena if item.value == first.value.name)
    moved = tuple(replace(item, offset=offset) if item.value == second.value.name else item for item in plan.arena)
    broken = replace(plan, arena=moved, arena_size=plan.arena_size + 4096)
    assert list(check.problems_of(graph, broken, kernels))


def test_chains_run_in_two_buffers_and_in_place_in_one() -> None:
    graph = Graph(name="chain")
    x = add_input(graph, "x", (16,))
    y = apply(graph, make("relu"), x)
    for _ in range(6):
        y = apply(graph, make("relu"), y)
    graph.outputs.append(y)
    _, apart = plan_of(graph, kernels_for(graph, in_place=False))
    _, together = plan_of(graph, kernels_for(graph))
    assert apart.size == 3 * ALIGNMENT  # the input survives
    assert together.size == 2 * ALIGNMENT


def test_an_input_is_never_overwritten_even_through_a_view() -> None:
    graph = Graph(name="g")
    x = add_input(graph, "x", (4, 4))
    flat = apply(graph, make("reshape", shape=(16,)), x)
    graph.outputs.append(apply(graph, make("relu"), flat))
    kernels = kernels_for(graph)
    plan, _ = plan_of(graph, kernels)
    offsets = {item.value: item.offset for item in plan.arena}
    assert offsets["x"] == offsets[flat.name] != offsets[graph.outputs[0].name]
    assert list(check.problems_of(graph, plan, kernels)) == []


def test_a_result_does_not_replace_an_input_that_is_read_in_another_shape() -> None:
    graph = Graph(name="g")
    x = apply(graph, make("relu"), add_input(graph, "x", (1, 4)))
    column = apply(graph, make("reshape", shape=(4, 1)), x)
    y = apply(graph, make("mul"), x, column)
    assert y.type.shape == (4, 4)
    graph.outputs.append(apply(graph, make("mul"), y, y))
    kernels = kernels_for(graph)
    plan, _ = plan_of(graph, kernels)
    assert list(check.problems_of(graph, plan, kernels)) == []


def test_a_region_may_run_again_so_what_it_uses_lives_through_its_node() -> None:
    graph = looping_network()
    kernels = kernels_for(graph)
    plan, _ = plan_of(graph, kernels)
    assert list(check.problems_of(graph, plan, kernels)) == []
    lives = {value.name: life for value, life in liveness.lifetimes(graph).items()}
    assert (lives["item"].first, lives["item"].last) == (3, 5)
    places = {item.value: item for item in plan.arena}
    inner = graph.nodes[2].regions[0].outputs[0].name
    moved = replace(places[inner], offset=places[graph.nodes[0].outputs[0].name].offset)
    broken = replace(plan, arena=tuple(moved if item.value == inner else item for item in plan.arena))
    assert list(check.problems_of(graph, broken, kernels))  # the second round would read what the first one wrote


def test_lower_bound_is_reached_on_a_network() -> None:
    graph = small_network()
    _, memory = plan_of(graph, kernels_for(graph))
    assert memory.size == memory.lower_bound


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (lambda plan: replace(plan, arena=plan.arena[1:]), "no offset"),
        (lambda plan: replace(plan, arena=(*plan.arena, plan.arena[0])), "placed twice"),
        (lambda plan: replace(plan, arena_size=plan.arena_size - 64), "outside"),
        (lambda plan: replace(plan, kernels=plan.kernels[1:]), "one kernel per node"),
        (lambda plan: replace(plan, arena=(Placement("x", 1, 768), *plan.arena[1:])), "not aligned"),
        (lambda plan: replace(plan, arena=(Placement("x", 0, 12), *plan.arena[1:])), "12 bytes"),
    ],
)
def test_checker_names_what_is_wrong(change: object, what: str) -> None:
    graph = small_network()
    kernels = kernels_for(graph)
    plan, _ = plan_of(graph, kernels)
    assert plan.arena[0].value == "x"
    with pytest.raises(InternalError, match=what):
        check.check(graph, change(plan), kernels)  # type: ignore[operator]


def test_arenas_are_planned_for_upper_bounds() -> None:
    graph = Graph(name="g")
    n = symbol("n", 1, 100)
    graph.outputs.append(apply(graph, make("relu"), add_input(graph, "x", (n, 16))))
    _, memory = plan_of(graph, kernels_for(graph))
    assert memory.size == 2 * 6400


def test_a_dimension_without_a_bound_is_refused() -> None:
    graph = Graph(name="g")
    graph.outputs.append(apply(graph, make("relu"), add_input(graph, "x", (symbol("n"), symbol("m")))))
    with pytest.raises(UnsupportedError, match="tighter bounds"):
        arena.plan(graph, kernels_for(graph))


def test_selection_is_in_the_order_of_the_graph() -> None:
    graph = small_network()
    choices = select.select(graph, manifest.load(), abi="host", isas=("portable",))
    assert [choice.kernels[0].op for choice in choices] == [node.op.name for node in graph.walk()]
