"""Passes on graphs with branches and loops: what regions read stays what it was, and what they hold is improved too."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from buildtool.ir.graph import Graph, Region, Value
from buildtool.ir.types import DType, TensorType
from buildtool.passes.fold_constants import FoldConstants
from buildtool.passes.fuse_activations import FuseActivations
from buildtool.passes.move_transposes import MoveTransposes
from buildtool.passes.pipeline import ORDER, optimise
from buildtool.passes.remove_dead_code import RemoveDeadCode
from buildtool.passes.share_common import ShareCommon
from tests.passes.harness import NCHW, NHWC, Maker, apply, ops
from tests.passes.test_random_graphs import RandomGraph

Body = Callable[[list[Value]], Sequence[Value]]


def region(make: Maker, types: Sequence[TensorType], body: Body) -> Region:
    """A region with inputs of these types; `body` makes its outputs."""
    result = Region([make.graph.new_value("inner", type_) for type_ in types])
    around, make.graph.nodes = make.graph.nodes, result.nodes
    outputs = list(body(result.inputs))
    result.outputs = [make("identity", value) if value in result.inputs else value for value in outputs]
    make.graph.nodes = around
    return result


def loop(make: Maker, trips: int, carried: Sequence[Value], body: Body) -> list[Value]:
    """A loop that never ends early; `body` takes the iteration's number too."""
    always = make.graph.new_constant("always", np.array(True))
    types = [TensorType(DType.S64, ()), *(value.type for value in carried)]
    inner = region(make, types, lambda inputs: [always, *body(inputs)])
    op = make.operator("loop", most=(trips,), size=())
    start = make.graph.new_constant("trips", np.array(trips, np.int64))
    return make.insert(make.graph.new_node(op, [start, always, *carried], regions=[inner]))


def if_else(make: Maker, condition: Value, then: Body, other: Body) -> list[Value]:
    regions = [region(make, [], then), region(make, [], other)]
    return make.insert(make.graph.new_node(make.operator("if_else", sizes=()), [condition], regions=regions))


class _Writer(RandomGraph):
    """Puts some of what it makes into regions, which read the values around them."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.depth = 0

    def steps(self) -> list[Callable[[Value], Value | None]]:
        return [*super().steps(), *([self.loop, self.branch] * 2 if self.depth < 2 else [])]

    def inside(self, values: list[Value]) -> None:
        """Some steps whose results stay where they are."""
        around, self.values = self.values, [*self.values, *values]
        self.depth += 1
        self.grow(int(self.random.integers(1, 6)))
        made, self.values = self.values[-3:], around
        self.depth -= 1
        self.made = made

    def like(self, value: Value, type_: TensorType) -> Value:
        """Something of the type that is needed, made from a value."""
        if value.type == type_:
            return value
        axes = tuple(range(value.type.rank))
        mean = self.make("reduce_mean", value, axes=axes, keepdims=False) if axes else value
        return self.make("broadcast_to", mean, shape=type_.shape)

    def loop(self, x: Value) -> Value:
        def body(inputs: list[Value]) -> list[Value]:
            self.inside([inputs[1]])
            made = self.made[int(self.random.integers(len(self.made)))]
            return [self.make("tanh", self.like(made, x.type)), made]

        results = loop(self.make, int(self.random.integers(1, 4)), [x], body)
        return results[0] if x.type.rank > 4 else results[int(self.random.integers(2))]

    def branch(self, x: Value) -> Value:
        low = self.make("reduce_max", x, axes=tuple(range(x.type.rank)), keepdims=False)
        condition = self.make("less", low, self.make.constant(0.5))

        def body(_: list[Value]) -> list[Value]:
            self.inside([])
            return [self.like(self.made[-1], x.type)]

        return if_else(self.make, condition, body, body)[0]


@pytest.mark.parametrize("seed", [*range(40), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(40, 200))])
def test_all_passes_in_order(seed: int) -> None:
    graph = _Writer(1000 + seed).graph()
    apply(graph, *(one() for one in ORDER), *(one() for one in ORDER))


@pytest.mark.parametrize("seed", range(40))
def test_pipeline(seed: int) -> None:
    optimise(_Writer(5000 + seed).graph())


def _relu_in_a_body(make: Maker) -> Graph:
    x = make.input(1, 4, 4, 3)
    conv = make.conv(x, 3, 1)
    (y,) = loop(make, 3, [x], lambda inputs: [make("add", make("relu", conv), inputs[1])])
    return make.finish(y)


def test_a_value_that_a_region_reads_is_not_private() -> None:
    make = Maker()
    graph = _relu_in_a_body(make)
    apply(graph, FuseActivations)
    assert ops(graph) == ["conv2d", "loop"]
    assert graph.nodes[0].op.attributes()["activation"] == "none"


def test_values_that_regions_read_are_not_dead() -> None:
    graph = _relu_in_a_body(Maker())
    assert not apply(graph, RemoveDeadCode)


def test_dead_code_goes_inside_too() -> None:
    make = Maker()
    x = make.input(3)

    def body(inputs: list[Value]) -> list[Value]:
        make("exp", inputs[1])
        return [make("neg", inputs[1])]

    graph = make.finish(*loop(make, 2, [x], body))
    assert apply(graph, RemoveDeadCode)
    assert [node.op.name for node in graph.nodes[0].regions[0].nodes] == ["neg"]


def test_a_loop_that_nobody_needs_goes() -> None:
    make = Maker()
    x = make.input(3)
    loop(make, 2, [x], lambda inputs: [make("neg", inputs[1])])
    graph = make.finish(make("abs", x))
    assert apply(graph, RemoveDeadCode)
    assert ops(graph) == ["abs"]


def test_bodies_are_folded_and_shared() -> None:
    make = Maker()
    x = make.input(3)
    two = make.constant(np.full(3, 2.0))

    def body(inputs: list[Value]) -> list[Value]:
        four = make("add", two, two)
        left, right = make("mul", inputs[1], four), make("mul", inputs[1], four)
        return [make("add", left, right)]

    graph = make.finish(*loop(make, 2, [x], body))
    assert apply(graph, FoldConstants)
    assert apply(graph, ShareCommon)
    assert [node.op.name for node in graph.nodes[0].regions[0].nodes] == ["mul", "add"]


def test_transposes_in_a_body_meet_there() -> None:
    """What the region takes and gives keeps its order."""
    make = Maker()
    x = make.input(1, 3, 4, 4)
    outside = make("transpose", x, perm=NHWC)

    def body(inputs: list[Value]) -> list[Value]:
        moved = make("transpose", inputs[1], perm=NHWC)
        first = make("add", make("relu", moved), outside)
        again = make("transpose", make("transpose", first, perm=NCHW), perm=NHWC)
        return [make("transpose", make.conv(again, 3, 1), perm=NCHW)]

    graph = make.finish(*loop(make, 3, [x], body))
    apply(graph, MoveTransposes())
    optimise(graph)
    (inner,) = [node.regions[0] for node in graph.nodes if node.regions]
    assert sum(node.op.name == "transpose" for node in inner.nodes) == 2
