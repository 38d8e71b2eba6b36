"""What nodes and copies are expected to take on a phone, where nothing has been measured.

A kernel computes or waits for memory, whichever takes longer, after it has been started; a copy moves bytes after it
has been started. The numbers of `DeviceCosts` are round ones for a phone of the middle class: assumptions that nobody
has measured, good enough to tell a convolution that is worth two copies from an addition that is not. Measured times,
by node, take their place where there are any.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from buildtool.ir.dims import bounds
from buildtool.ir.graph import Graph, Node, Value
from buildtool.ir.types import DType
from buildtool.ir.work import node_macs
from buildtool.targets.regions.flow import read
from buildtool.targets.regions.placement import CopyCost, NodeCost


@dataclass(frozen=True)
class Speed:
    """How fast one side computes."""

    gmacs: float  # 10**9 multiply-accumulates of single precision in a second
    gigabytes: float  # read or written in a second
    start_us: float  # before a kernel begins
    half_gain: float = 1.0  # how many times as fast half precision is computed

    def microseconds(self, macs: int, size: int, half: bool = False) -> float:
        gmacs = self.gmacs * (self.half_gain if half else 1.0)
        return self.start_us + max(macs / gmacs, size / self.gigabytes) / 1000


@dataclass(frozen=True)
class DeviceCosts:
    """A phone with a GPU. Defaults: what kernels may reach of a GPU of 300 Gflop/s, and four threads on the CPU."""

    device: Speed = field(default_factory=lambda: Speed(gmacs=60.0, gigabytes=10.0, start_us=12.0, half_gain=1.8))
    cpu: Speed = field(default_factory=lambda: Speed(gmacs=25.0, gigabytes=8.0, start_us=2.0))
    #: A copy changes the layout too, and a download waits until the device has done everything before it.
    upload: Speed = field(default_factory=lambda: Speed(gmacs=1.0, gigabytes=3.0, start_us=60.0))
    download: Speed = field(default_factory=lambda: Speed(gmacs=1.0, gigabytes=2.5, start_us=150.0))
    pixels: bool = True  # the device keeps tensors in pixels of four channels
    half: bool = False  # the device keeps and computes floating-point numbers in half precision
    #: Nanoseconds by the name of a node, where they have been measured.
    device_ns: Mapping[str, int] = field(default_factory=dict)
    cpu_ns: Mapping[str, int] = field(default_factory=dict)


def node_costs(graph: Graph, why_not: Callable[[Node], str], costs: DeviceCosts) -> dict[Node, NodeCost]:
    """The costs of the outermost nodes. `why_not` says why the device has no kernel; empty where it has one."""
    result = {}
    for node in graph.nodes:
        reason = why_not(node)
        on_cpu = _measured(costs.cpu_ns, node)
        if on_cpu is None:
            on_cpu = costs.cpu.microseconds(_macs(node), _bytes_on_cpu(node))
        on_device = _measured(costs.device_ns, node)
        if on_device is None:
            size = _bytes_on_device(node, costs.half) if costs.pixels else _bytes_on_cpu(node)
            on_device = costs.device.microseconds(_macs(node), size, costs.half)
        result[node] = NodeCost(on_cpu, None if reason else on_device, reason)
    return result


def copy_costs(costs: DeviceCosts) -> Callable[[Value], CopyCost]:
    """What it takes to copy a value, by its size in the memory of the CPU."""

    def of(value: Value) -> CopyCost:
        size = _elements(value) * value.type.dtype.itemsize
        return CopyCost(costs.upload.microseconds(0, size), costs.download.microseconds(0, size))

    return of


def _measured(times: Mapping[str, int], node: Node) -> float | None:
    return times[node.name] / 1000 if node.name and node.name in times else None


def _macs(node: Node) -> int:
    """Multiply-accumulates of a node, with each of its regions once: how often one runs, only the data decides."""
    return node_macs(node) + sum(_macs(inner) for region in node.regions for inner in region.nodes)


def _operands(node: Node) -> list[Value]:
    """What a node reads and writes, constants included."""
    return [*read(node), *(value for value in dict.fromkeys(node.inputs) if value.is_constant), *node.outputs]


def _bytes_on_cpu(node: Node) -> int:
    """A view shares the memory of what it is a view of, so nothing is moved."""
    return 0 if node.op.is_view else sum(_elements(value) * value.type.dtype.itemsize for value in _operands(node))


def _bytes_on_device(node: Node, half: bool) -> int:
    """The device keeps tensors in pixels of four channels, whose order a view changes: it moves everything."""
    total = 0
    for value in _operands(node):
        channels = bounds(value.type.shape[-1])[1] if value.type.shape else 1
        pixels = _elements(value) // max(channels, 1) * ((channels + 3) // 4)
        total += pixels * 4 * (2 if half and value.type.dtype is DType.F32 else value.type.dtype.itemsize)
    return total


def _elements(value: Value) -> int:
    """At the upper bounds of sizes that vary."""
    return math.prod(bounds(dim)[1] for dim in value.type.shape)
