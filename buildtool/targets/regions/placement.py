"""Chooses for every outermost node of a graph whether the CPU or the device computes it.

What counts is the sum of all kernels and all copies. A value that is made on one side and read on the other is copied
once, however many nodes read it; inputs and outputs of the graph are on the CPU; constants are on both sides. The
cheapest choice under these costs is a minimum cut, found exactly.

Device nodes then become regions (see `grouping`). Each region gets what it reads from the CPU, so a value that two of
them need is copied twice, which the cut does not know. That is counted afterwards: what tears regions apart for little
joins the device, and regions that cost more than they save go back to the CPU. So the sum is exact, but may be above
the least; both are reported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias

from buildtool.errors import InternalError, Problem, UnsupportedError, Where
from buildtool.ir.graph import Graph, Node, Value
from buildtool.runtimes import Runtime
from buildtool.targets.regions.flow import AROUND, Carried, Flow, flow_of, unfit
from buildtool.targets.regions.grouping import CPU, Grouping, copies_of
from buildtool.targets.regions.min_cut import MOST, SOURCE, UNLIMITED, Labelling

Side: TypeAlias = Literal["cpu", "device"]

_TRIALS = 30_000  # nodes that are looked at again, over all parts that are tried on the other side


@dataclass(frozen=True)
class NodeCost:
    """What the kernels of a node take, in microseconds; None where a side has none."""

    cpu_us: float | None
    device_us: float | None
    why_not: str = ""  # why the device has no kernel


@dataclass(frozen=True)
class CopyCost:
    """What it takes to copy a value once, in microseconds."""

    upload_us: float
    download_us: float


@dataclass(frozen=True)
class Copy:
    """A value that goes from one side to the other, into the region of this number or out of it."""

    value: str
    to: Side
    region: int
    cost_ns: int


@dataclass(frozen=True)
class Placement:
    """Where the nodes of a graph run. Nodes are numbered in the order of the graph; so are `sides` and `reasons`."""

    runtime: Runtime
    sides: tuple[Side, ...]
    regions: tuple[tuple[int, ...], ...]  # the nodes of each, in the order that the regions run in
    copies: tuple[Copy, ...]  # all of them; one that goes from region to region is a download and an upload
    cost_ns: int  # kernels and copies, as the regions really need them
    least_ns: int  # as if no value had to be copied twice; for `cpu+gpu` no choice of any kind costs less
    cpu_cost_ns: int | None  # of everything on the CPU; None where some node has no kernel there
    greedy_copies: int  # where every node goes to the side whose kernel alone is faster: for comparison
    greedy_cost_ns: int
    reasons: tuple[str, ...]

    def region_of(self) -> dict[int, int]:
        """The region of every device node."""
        return {node: region for region, nodes in enumerate(self.regions) for node in nodes}

    def document(self, graph: Graph) -> dict[str, Any]:
        """Everything as plain data, with the nodes by name."""
        regions = self.region_of()
        nodes = [
            {
                "node": node.name,
                "op": node.op.name,
                "side": self.sides[index],
                "region": regions.get(index),
                "reason": self.reasons[index],
            }
            for index, node in enumerate(graph.nodes)
        ]
        totals = ("cost_ns", "least_ns", "cpu_cost_ns", "greedy_copies", "greedy_cost_ns")
        return {
            "runtime": str(self.runtime),
            **{key: getattr(self, key) for key in totals},
            "nodes": nodes,
            "copies": [asdict(copy) for copy in self.copies],
        }


def place(
    graph: Graph, costs: Mapping[Node, NodeCost], copy_cost: Callable[[Value], CopyCost], runtime: Runtime
) -> Placement:
    """The choice for a runtime: GPU gives the device all that it can run, CPU_GPU what makes the sum least.

    UnsupportedError where neither side can run a node.
    """
    task = _Task(graph, costs, copy_cost)
    if not runtime.uses_cpu:
        wanted = [device is not None for device in task.device]
        return task.placement(wanted, task.grouping.regions(wanted), task.price(wanted), runtime)
    least, cut = task.cut()
    choices = [task.settled(cut), task.greedy]
    if None not in task.cpu:
        choices.append([CPU] * len(task.cpu))
    regions = min(choices, key=task.real_price)
    return task.placement([region != CPU for region in regions], regions, least, runtime)


def nanoseconds(microseconds: float) -> int:
    """A cost as a whole number, so that sums are exact. What takes longer than a quarter of an hour counts as that."""
    if not microseconds >= 0:
        raise InternalError(f"a cost of {microseconds} microseconds", rule="costs are not negative")
    return min(round(min(microseconds, MOST / 1000) * 1000), MOST)


class _Task:
    """One graph with its costs, in nanoseconds."""

    def __init__(self, graph: Graph, costs: Mapping[Node, NodeCost], copy_cost: Callable[[Value], CopyCost]) -> None:
        self.flow: Flow = flow_of(graph)
        self.why_not = [unfit(node) or costs[node].why_not for node in self.flow.nodes]
        self.cpu = [_optional(costs[node].cpu_us) for node in self.flow.nodes]
        self.device = [None if unfit(node) else _optional(costs[node].device_us) for node in self.flow.nodes]
        copies = [copy_cost(carried.value) for carried in self.flow.values]
        self.uploads = [nanoseconds(copy.upload_us) for copy in copies]
        self.downloads = [nanoseconds(copy.download_us) for copy in copies]
        self.grouping = Grouping(self.flow, self.uploads, self.downloads)
        problems = tuple(self._without_kernel(graph.name))
        if problems:
            raise UnsupportedError(problems)
        #: The regions if each node went to the side whose kernel alone is faster.
        self.greedy = self.grouping.earliest(
            [
                device is not None and (cpu is None or device < cpu)
                for cpu, device in zip(self.cpu, self.device, strict=True)
            ]
        )

    def _without_kernel(self, model: str) -> Iterator[Problem]:
        for index, node in enumerate(self.flow.nodes):
            if self.cpu[index] is None and self.device[index] is None:
                what = f"{node.op.name}: neither the CPU nor the device has a kernel for this node"
                where = Where(model=model, node=node.name or node.outputs[0].name)
                yield Problem(what, where, f"device: {self.why_not[index]}" if self.why_not[index] else "")

    def cut(self) -> tuple[int, list[bool]]:
        """The least that kernels and copies can cost, and by node whether the device runs it. Ties go to the CPU."""
        labelling = Labelling()
        vertices = [
            labelling.vertex(UNLIMITED if cpu is None else cpu, UNLIMITED if device is None else device)
            for cpu, device in zip(self.cpu, self.device, strict=True)
        ]
        for index, carried in enumerate(self.flow.values):
            maker = SOURCE if carried.maker == AROUND else vertices[carried.maker]
            readers = [vertices[node] for node in carried.readers]
            labelling.charge_to_sink(maker, readers, self.uploads[index])
            labelling.charge_to_source(maker, [*readers, *([SOURCE] * carried.leaves)], self.downloads[index])
        cost, at_sink = labelling.solve()
        return cost, [at_sink[vertex] for vertex in vertices]

    def kernels(self, on_device: list[bool]) -> int:
        """What all kernels take. A side is chosen only where it has one."""
        chosen = (self.device[node] if here else self.cpu[node] for node, here in enumerate(on_device))
        return sum(cost for cost in chosen if cost is not None)

    def price(self, on_device: list[bool]) -> int:
        """As the cut counts: a value is copied at most once in each direction."""
        one_region = [0 if here else CPU for here in on_device]
        return self.kernels(on_device) + self.grouping.copies_cost(one_region)

    def real_price(self, regions: list[int]) -> int:
        return self.kernels([region != CPU for region in regions]) + self.grouping.copies_cost(regions)

    def settled(self, on_device: list[bool]) -> list[int]:
        """Regions after what the cut could not know: that leaving the device and coming back may copy values again.

        Parts on the CPU join the device where that is cheaper; then regions that cost more than they save leave it.
        """
        regions = self.grouping.regions(self._joined(on_device))
        if not self._cleared(regions):
            return regions
        again = self.grouping.regions([region != CPU for region in regions])
        return min(regions, again, key=self.real_price)

    def _joined(self, on_device: list[bool]) -> list[bool]:
        """Gives the device connected parts that are on the CPU, the one whose kernels lose least first."""
        joined = list(on_device)
        price = self.kernels(joined) + self.grouping.copies_cost(self.grouping.earliest(joined))
        parts = sorted(self._parts_on_cpu(joined), key=lambda part: (-self._loss(part), part))
        for part in parts[: _TRIALS // max(len(joined), 1)]:
            for node in part:
                joined[node] = True
            found = self.kernels(joined) + self.grouping.copies_cost(self.grouping.earliest(joined))
            if found < price:
                price = found
            else:
                for node in part:
                    joined[node] = False
        return joined

    def _parts_on_cpu(self, on_device: list[bool]) -> list[list[int]]:
        """The nodes on the CPU that the device could run, by what values connect."""
        part_of: dict[int, list[int]] = {}
        for node, earlier in enumerate(self.flow.before):
            if on_device[node] or self.device[node] is None:
                continue
            part = part_of[node] = [node]
            for other in {id(part_of[one]): part_of[one] for one in earlier if one in part_of}.values():
                for member in other:
                    part_of[member] = part
                part += other
        return list({id(part): sorted(part) for part in part_of.values()}.values())

    def _cleared(self, regions: list[int]) -> bool:
        """Takes regions away as long as that makes the whole cheaper, and says whether there was such a one.

        What is left still are regions: nothing new leads from one to another.
        """
        members: dict[int, list[int]] = {}
        for node, region in enumerate(regions):
            if region != CPU:
                members.setdefault(region, []).append(node)
        found = False
        waiting = list(members)
        while waiting:
            region = waiting.pop(0)
            nodes = members[region]
            before = self.grouping.copies_cost(regions, nodes)
            for node in nodes:
                regions[node] = CPU
            after = self.grouping.copies_cost(regions, nodes)
            if self._loss(nodes) + after < before:
                del members[region]
                waiting = list(members)
                found = True
            else:
                for node in nodes:
                    regions[node] = region
        return found

    def _loss(self, nodes: list[int]) -> int:
        """How much longer the kernels of nodes take on the CPU than on the device."""
        pairs = [(self.cpu[node], self.device[node]) for node in nodes]
        return sum((UNLIMITED if cpu is None else cpu) - (device or 0) for cpu, device in pairs)

    def placement(self, wanted: list[bool], regions: list[int], least: int, runtime: Runtime) -> Placement:
        numbers = {region: index for index, region in enumerate(sorted(set(regions) - {CPU}))}
        regions = [numbers.get(region, CPU) for region in regions]
        everything_on_cpu = [False] * len(wanted)
        return Placement(
            runtime=runtime,
            sides=tuple("device" if here else "cpu" for here in wanted),
            regions=tuple(
                tuple(node for node, region in enumerate(regions) if region == number) for number in range(len(numbers))
            ),
            copies=tuple(copy for index in range(len(self.uploads)) for copy in self._copies(index, regions)),
            cost_ns=self.real_price(regions),
            least_ns=least,
            cpu_cost_ns=None if None in self.cpu else self.kernels(everything_on_cpu),
            greedy_copies=sum(len(list(self._copies(index, self.greedy))) for index in range(len(self.uploads))),
            greedy_cost_ns=self.real_price(self.greedy),
            reasons=tuple(self._reason(node, here, runtime) for node, here in enumerate(wanted)),
        )

    def _copies(self, index: int, regions: list[int]) -> Iterator[Copy]:
        carried: Carried = self.flow.values[index]
        uploads, download = copies_of(carried, regions)
        if download:
            yield Copy(carried.value.name, "cpu", regions[carried.maker], self.downloads[index])
        for region in uploads:
            yield Copy(carried.value.name, "device", region, self.uploads[index])

    def _reason(self, node: int, here: bool, runtime: Runtime) -> str:
        cpu, device = self.cpu[node], self.device[node]
        if device is None:
            return f"cpu: no kernel: {self.why_not[node] or 'the device has none for this operator'}"
        if cpu is None:
            return "device: the CPU has no kernel"
        if here and cpu > device:
            return f"device: saves {(cpu - device) / 1000:.1f} us"
        if here:
            slower = f"its kernel takes {(device - cpu) / 1000:.1f} us longer than the CPU's"
            return f"device: {slower}, but " + ("saves copies" if runtime.uses_cpu else "all that can run there does")
        return "cpu: the copies cost more" if cpu > device else "cpu: its kernel is as fast or faster"


def _optional(microseconds: float | None) -> int | None:
    return None if microseconds is None else nanoseconds(microseconds)
