"""The choice between CPU and device: the cheapest there is, in regions that can run, in a graph that means the same."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from buildtool.errors import InternalError, UnsupportedError
from buildtool.ir.dims import symbol
from buildtool.ir.evaluate import evaluate
from buildtool.ir.graph import Graph, Value
from buildtool.ir.types import DType
from buildtool.ir.verify import verify
from buildtool.ops.device_region import DeviceRegion
from buildtool.ops.from_device import FromDevice
from buildtool.ops.to_device import ToDevice
from buildtool.runtimes import Runtime
from buildtool.targets.regions.placement import CopyCost, NodeCost, Placement, nanoseconds, place
from buildtool.targets.regions.rewrite import rewrite
from tests.passes.harness import Maker
from tests.passes.test_regions import if_else, loop

_SHAPE = (1, 2, 2, 4)
_times = st.integers(0, 30)


class Case:
    """A graph with costs by node and by value."""

    def __init__(
        self, graph: Graph, cpu: Sequence[int | None], device: Sequence[int | None], copies: Callable[[Value], CopyCost]
    ) -> None:
        self.graph = graph
        self.cpu, self.device, self.copies = cpu, device, copies
        pairs = zip(cpu, device, strict=True)
        self.costs = {node: NodeCost(*pair, "too large") for node, pair in zip(graph.nodes, pairs, strict=True)}

    def place(self, runtime: Runtime = Runtime.CPU_GPU) -> Placement:
        return place(self.graph, self.costs, self.copies, runtime)

    def rewritten(self, placement: Placement) -> Graph:
        result = rewrite(self.graph, placement, DeviceRegion, {"storage": "f16"}, ToDevice(), FromDevice())
        verify(result)
        for body in (node.regions[0] for node in result.nodes if isinstance(node.op, DeviceRegion)):
            made = {value for node in body.nodes for value in node.outputs}
            for node in body.nodes:  # only uploads read what is around the region
                known = node.op == ToDevice() or all(
                    value.is_constant or value in made for value in (*node.inputs, *node.captured())
                )
                assert known, node
        return result

    def kernels(self, sides: Sequence[str]) -> int | None:
        """Microseconds of all kernels; None where one is missing."""
        times = [self.device[node] if side == "device" else self.cpu[node] for node, side in enumerate(sides)]
        return None if None in times else sum(time for time in times if time is not None)

    def copied_once(self, sides: Sequence[str]) -> float:
        """Microseconds of all copies, one at most for each value."""
        return sum(
            self.copies(value).upload_us if home == "cpu" else self.copies(value).download_us
            for value, home, others in self._uses(sides)
            if any(side != home for side in others)
        )

    def copied_by_region(self, sides: Sequence[str]) -> float:
        """As above, where every side is a number and only 0 is the CPU: all others are regions."""
        total = 0.0
        for value, home, others in self._uses(sides):
            total += sum(self.copies(value).upload_us for side in set(others) - {home, "cpu"})
            total += self.copies(value).download_us * (home != "cpu" and set(others) != {home} and bool(others))
        return total

    def _uses(self, sides: Sequence[str]) -> Iterator[tuple[Value, str, list[str]]]:
        """Each value, where it is made, and where it is read."""
        homes = {value: sides[index] for index, node in enumerate(self.graph.nodes) for value in node.outputs}
        for value in (*self.graph.inputs, *homes):
            others = [sides[index] for index, node in enumerate(self.graph.nodes) if value in node.inputs]
            others += ["cpu"] * (value in self.graph.outputs)
            yield value, homes.get(value, "cpu"), others


def flat(upload: float, download: float) -> Callable[[Value], CopyCost]:
    return lambda value: CopyCost(upload, download)


def chain(length: int) -> Graph:
    make = Maker()
    value = make.input(*_SHAPE)
    for _ in range(length):
        value = make("relu", value)
    return make.finish(value)


@st.composite
def cases(draw: st.DrawFn, most: int, everywhere: bool = False) -> Case:
    """Graphs with values that nobody reads, that many read, and that leave the graph."""
    make = Maker()
    values = [make.input(*_SHAPE) for _ in range(draw(st.integers(1, 2)))]
    for _ in range(draw(st.integers(1, most))):
        one, other = (draw(st.sampled_from(values[-6:])) for _ in range(2))
        kind = draw(st.sampled_from(("relu", "add", "split")))
        if kind == "split":
            values += make.all("split", make("concat", one, other, axis=3), axis=3, sizes=(4, 4))
        else:
            values.append(make(kind, one) if kind == "relu" else make(kind, one, other))
    made = [value for value in values if value not in make.graph.inputs]
    graph = make.finish(*draw(st.lists(st.sampled_from(made), min_size=1, max_size=3, unique=True)))
    cpu: list[int | None] = []
    device: list[int | None] = []
    for _ in graph.nodes:
        cpu.append(draw(_times))
        device.append(draw(_times if everywhere else st.one_of(_times, st.none())))
        if device[-1] is not None and not everywhere and draw(st.integers(0, 9)) == 0:
            cpu[-1] = None
    prices = {value: CopyCost(draw(_times), draw(_times)) for value in graph.values()}
    return Case(graph, cpu, device, prices.__getitem__)


@settings(max_examples=120, deadline=None)
@given(cases(most=6))
def test_no_choice_costs_less(case: Case) -> None:
    """Every choice there is, one by one."""
    prices = []
    for sides in itertools.product(("cpu", "device"), repeat=len(case.graph.nodes)):
        kernels = case.kernels(sides)
        if kernels is not None:
            prices.append(kernels + case.copied_once(sides))
    placement = case.place()
    assert placement.least_ns == min(prices) * 1000
    assert placement.cost_ns >= placement.least_ns


@settings(max_examples=100, deadline=None)
@given(cases(most=12))
def test_the_sums_are_those_of_the_regions(case: Case) -> None:
    placement = case.place()
    kernels = case.kernels(placement.sides)
    assert kernels is not None
    homes = _homes(placement)
    assert placement.cost_ns == (kernels + case.copied_by_region(homes)) * 1000
    assert placement.cost_ns == kernels * 1000 + sum(copy.cost_ns for copy in placement.copies)
    assert placement.cost_ns <= placement.greedy_cost_ns
    if placement.cpu_cost_ns is not None:
        assert placement.cost_ns <= placement.cpu_cost_ns


@settings(max_examples=100, deadline=None)
@given(cases(most=12), st.sampled_from((Runtime.GPU, Runtime.CPU_GPU)))
def test_the_graph_with_regions_means_the_same(case: Case, runtime: Runtime) -> None:
    placement = case.place(runtime)
    graph = case.rewritten(placement)
    regions = [node for node in graph.nodes if node.op.name == "device_region"]
    assert len(regions) == len(placement.regions)
    assert all(node.op == DeviceRegion(storage="f16") for node in regions)
    copies = [inner.op.name for node in regions for inner in node.regions[0].nodes if inner.op.name.endswith("_device")]
    assert len(copies) == len(placement.copies)
    assert copies.count("to_device") == sum(copy.to == "device" for copy in placement.copies)
    _check_same(case.graph, graph)


@settings(max_examples=60, deadline=None)
@given(cases(most=7, everywhere=True), st.data())
def test_regions_are_few_and_exchange_little(case: Case, data: st.DataObject) -> None:
    """No fewer regions can run; two of them share their nodes in the cheapest way."""
    device = [data.draw(st.sampled_from((1, None))) for _ in case.graph.nodes]
    case = Case(case.graph, case.cpu, device, case.copies)
    placement = case.place(Runtime.GPU)
    count = len(placement.regions)
    if count == 0:
        assert device == [None] * len(device)
        return
    assert not any(_can_run(case.graph, homes) for homes in _all_homes(placement, count - 1))
    assert _can_run(case.graph, _homes(placement))
    if count == 2:
        runnable = [homes for homes in _all_homes(placement, 2) if _can_run(case.graph, homes)]
        assert case.copied_by_region(_homes(placement)) == min(map(case.copied_by_region, runnable))


def _homes(placement: Placement) -> list[str]:
    regions = placement.region_of()
    return [str(regions[node]) if node in regions else "cpu" for node in range(len(placement.sides))]


def _all_homes(placement: Placement, count: int) -> Iterator[list[str]]:
    names = [str(number) for number in range(count)]
    yield from map(list, itertools.product(*(names if side == "device" else ["cpu"] for side in placement.sides)))


def _can_run(graph: Graph, homes: Sequence[str]) -> bool:
    """Whether all regions and the nodes around them can run one after the other: takes away what waits for nothing."""
    steps = [home if home != "cpu" else f"node {index}" for index, home in enumerate(homes)]
    makers = {value: steps[index] for index, node in enumerate(graph.nodes) for value in node.outputs}
    needs: dict[str, set[str]] = {step: set() for step in steps}
    for step, node in zip(steps, graph.nodes, strict=True):
        needs[step] |= {makers[value] for value in node.inputs if value in makers} - {step}
    while needs:
        ready = [step for step, others in needs.items() if not others & needs.keys()]
        if not ready:
            return False
        for step in ready:
            del needs[step]
    return True


def _check_same(before: Graph, after: Graph, numbers: Mapping[str, int] | None = None) -> None:
    sizes = numbers or {}
    random_ = np.random.default_rng(7)
    inputs = {}
    for value in before.inputs:
        shape = [dim if isinstance(dim, int) else sizes[str(dim)] for dim in value.type.shape]
        inputs[value.name] = random_.uniform(-1, 1, shape).astype(np.float32)
    old, new = evaluate(before, inputs), evaluate(after, inputs)
    assert list(old) == list(new)
    for name, array in old.items():
        np.testing.assert_array_equal(array, new[name])


def test_a_long_chain_is_cut_where_dynamic_programming_cuts_it() -> None:
    draw = random.Random(5)
    length = 400
    cpu, device = ([draw.randrange(200) for _ in range(length)] for _ in range(2))
    case = Case(chain(length), cpu, device, flat(70, 110))
    best = {"cpu": 0.0, "device": float("inf")}
    for on_cpu, on_device in zip(cpu, device, strict=True):
        best = {
            "cpu": min(best["cpu"], best["device"] + 110) + on_cpu,
            "device": min(best["device"], best["cpu"] + 70) + on_device,
        }
    placement = case.place()
    assert placement.cost_ns == placement.least_ns == min(best["cpu"], best["device"] + 110) * 1000
    assert len(placement.regions) > 1
    assert len(placement.copies) == 2 * len(placement.regions) < placement.greedy_copies
    _check_same(case.graph, case.rewritten(placement))


def test_a_value_is_copied_once_for_many_readers() -> None:
    """Two readers alone do not pay for two copies; for one they do."""
    make = Maker()
    x = make.input(*_SHAPE)
    wide = make("relu", x)
    graph = make.finish(make("add", make("tanh", wide), make("sigmoid", wide)))
    placement = Case(graph, [1, 50, 50, 1], [None, 1, 1, 60], flat(60, 5)).place()
    assert placement.sides == ("cpu", "device", "device", "cpu")
    assert [copy.to for copy in placement.copies] == ["device", "cpu", "cpu"]
    assert placement.cost_ns == (1 + 1 + 1 + 1 + 60 + 5 + 5) * 1000
    assert placement.regions == ((1, 2),)


def test_reasons() -> None:
    case = Case(chain(6), [100, 5, 100, 9, 3, 20], [10, 9, 20, None, 9, 10], flat(4, 6))
    placement = case.place()
    assert placement.reasons == (
        "device: saves 90.0 us",
        "device: its kernel takes 4.0 us longer than the CPU's, but saves copies",
        "device: saves 80.0 us",
        "cpu: no kernel: too large",
        "cpu: its kernel is as fast or faster",
        "cpu: the copies cost more",
    )
    assert placement.copies[0].to == "device"
    assert placement.cpu_cost_ns == 237_000
    assert (placement.greedy_copies, placement.greedy_cost_ns) == (6, (10 + 5 + 20 + 9 + 3 + 10 + 3 * 10) * 1000)
    document = json.loads(json.dumps(placement.document(case.graph)))
    assert document["nodes"][1] == {
        "node": "relu_1", "op": "relu", "side": "device", "region": 0, "reason": placement.reasons[1]
    }  # fmt: skip
    assert document["copies"][0] == {"value": "x.1", "to": "device", "region": 0, "cost_ns": 4000}


def test_gpu_takes_all_that_it_can_run() -> None:
    placement = Case(chain(4), [1, 1, 1, 1], [50, None, 50, 1], flat(1000, 1000)).place(Runtime.GPU)
    assert placement.sides == ("device", "cpu", "device", "device")
    assert placement.regions == ((0,), (2, 3))
    assert placement.cost_ns == (50 + 1 + 50 + 1 + 4000) * 1000
    assert (
        placement.reasons[0]
        == "device: its kernel takes 49.0 us longer than the CPU's, but all that can run there does"
    )


def test_a_region_that_only_its_neighbour_made_worth_while_goes_back() -> None:
    """The cut counts the copy between two regions once; with what it really costs, the small one is better on the CPU.

    `early` runs on the device for `late`, which has to wait for a node on the CPU.
    """
    make = Maker()
    x = make.input(*_SHAPE)
    early = make("relu", x)
    waits = make("tanh", early)
    graph = make.finish(make("add", early, waits))
    case = Case(graph, [30, 5, 100], [5, None, 5], flat(20, 10))
    placement = case.place()
    assert case.place(Runtime.GPU).regions == ((0,), (2,))
    assert placement.least_ns == (5 + 5 + 5 + 20 + 10 + 20 + 10) * 1000
    assert placement.sides == ("cpu", "cpu", "device")
    assert placement.least_ns < placement.cost_ns == (30 + 5 + 5 + 20 + 20 + 10) * 1000 < 100_000


def test_a_part_on_the_cpu_that_only_tears_a_region_apart_joins_it() -> None:
    """The kernel of the CPU is faster, even with two copies; not with the third, of what is read around it."""
    make = Maker()
    early = make("relu", make.input(*_SHAPE))
    graph = make.finish(make("add", early, make("sigmoid", make("tanh", early))))
    for slow, sides in ((28, ("device",) * 4), (38, ("device", "cpu", "cpu", "device"))):
        case = Case(graph, [100, 2, 3, 100], [1, slow, 4, 1], flat(10, 10))
        placement = case.place()
        assert placement.sides == sides
        assert placement.least_ns == 47_000
        assert placement.cost_ns == (54_000 if slow == 28 else 57_000)


@pytest.mark.parametrize("later", [1, 2, 3])
def test_waiting_nodes_go_to_the_region_that_reads_them(later: int) -> None:
    """A branch that only a later region reads is computed there, though it could run in the first."""
    make = Maker()
    x, y = make.input(*_SHAPE), make.input(*_SHAPE)
    branch = make("sigmoid", make("relu", make("relu", y)))
    for _ in range(later):
        x = make("tanh", make("relu", x))
    graph = make.finish(make("add", branch, x))
    device = [None if node.op.name == "tanh" else 1 for node in graph.nodes]
    placement = Case(graph, [9] * len(device), device, flat(1, 1)).place(Runtime.GPU)
    assert placement.regions[0] == (3,)
    assert placement.regions[later] == (0, 1, 2, len(device) - 1)
    assert len(placement.copies) == 2 * later + 3


@pytest.mark.parametrize(("size", "region"), [(1, 1), (50, 0)])
def test_values_that_two_regions_read_count(size: int, region: int) -> None:
    """A node goes to its reader, unless the other region has what it reads itself and that is large."""
    make = Maker()
    x, y, large = make.input(*_SHAPE), make.input(*_SHAPE), make.input(*_SHAPE)
    small = make("relu", large)
    other = make("sigmoid", y)
    waits = make("tanh", make("add", x, large))
    graph = make.finish(make("concat", small, other, waits, axis=3))
    prices = {value: CopyCost(5, 5) for value in graph.values()} | {large: CopyCost(size, 1), other: CopyCost(99, 99)}
    placement = Case(graph, [9] * 5, [1, 1, 1, None, 1], prices.__getitem__).place(Runtime.GPU)
    assert placement.region_of() == {0: region, 1: 1, 2: 0, 4: 1}


def test_a_node_that_finds_out_a_size_stays_outside() -> None:
    make = Maker()
    x = make.input(symbol("n", 1, 9))
    size = symbol("found", 0, 9)
    assert size.symbol is not None
    make.graph.symbols["found"] = size.symbol
    places = make("non_zero", make("relu", x), size=(size,))
    wide = make("cast", places, to=DType.F32)
    # Its size is all that this one knows of the data: no value leads there.
    lone = make("broadcast_to", make.constant(1.0), shape=(1, size))
    graph = make.finish(make("sigmoid", make("add", wide, lone)))
    case = Case(graph, [9] * 6, [1] * 6, flat(1, 1))
    placement = case.place(Runtime.GPU)
    assert placement.sides == ("device", "cpu", "device", "device", "device", "device")
    assert placement.reasons[1] == "cpu: no kernel: the size of its result depends on its data"
    assert placement.regions == ((0,), (2, 3, 4, 5))
    _check_same(graph, case.rewritten(placement), {"n": 5})


@pytest.mark.parametrize("inside", [False, True])
def test_values_that_regions_read_are_copied(inside: bool) -> None:
    """A loop and a branch read values around them, whether they run on the CPU or stand in a region themselves."""
    make = Maker()
    x = make.input(2, 3)
    y = make("relu", x)
    (total,) = loop(make, 3, [y], lambda inputs: [make("add", inputs[1], y)])
    condition = make("less", make("reduce_max", x, axes=(0, 1), keepdims=False), make.constant(5.0))
    (chosen,) = if_else(make, condition, lambda _: [make("add", total, x)], lambda _: [make("relu", y)])
    graph = make.finish(make("sigmoid", chosen))
    holds = {"loop", "if_else"}
    device = [1 if inside or node.op.name not in holds else None for node in graph.nodes]
    case = Case(graph, [9] * len(device), device, flat(1, 1))
    placement = case.place(Runtime.GPU)
    assert len(placement.regions) == (1 if inside else 2)
    _check_same(graph, case.rewritten(placement))


def test_a_graph_without_work_for_the_device() -> None:
    case = Case(chain(2), [1, 1], [None, None], flat(1, 1))
    placement = case.place()
    assert (placement.regions, placement.copies) == ((), ())
    assert [node.op.name for node in case.rewritten(placement).nodes] == ["relu", "relu"]


def test_a_node_that_nothing_can_run_is_named() -> None:
    with pytest.raises(UnsupportedError, match=r"node 'relu_1'.*neither the CPU nor the device(.|\n)*too large"):
        Case(chain(3), [1, None, 1], [1, None, 1], flat(1, 1)).place()


def test_costs_are_whole_and_not_negative() -> None:
    assert nanoseconds(1.2346) == 1235
    assert nanoseconds(float("inf")) == nanoseconds(1e30) == 1 << 40
    for wrong in (-1.0, float("nan")):
        with pytest.raises(InternalError, match="not negative"):
            nanoseconds(wrong)


def test_regions_that_wait_for_one_another_are_refused() -> None:
    case = Case(chain(3), [1] * 3, [1, None, 1], flat(1, 1))
    placement = case.place(Runtime.GPU)
    wrong = Placement(**{**vars(placement), "regions": ((0, 2),)})
    with pytest.raises(InternalError, match="depend on each other"):
        case.rewritten(wrong)
