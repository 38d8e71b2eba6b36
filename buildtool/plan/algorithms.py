"""Chooses among ways of computing the same thing whose worth only the whole model tells: Winograd convolutions.

A Winograd convolution does fewer multiplications, but has to transform inputs and outputs, and reads filters that
became larger when they were transformed. Per convolution the estimate adds up these three; the filters of all
convolutions together may not make the model larger than `Costs.growth` times itself, or by `Costs.spare`.

Of 8 bits there are small tiles only, whose filters have 16 bits: 32 bytes instead of 9.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise

from buildtool.ir.dims import bounds
from buildtool.ir.graph import Graph, Node
from buildtool.ir.types import DType
from buildtool.ops.conv2d import Conv2d
from buildtool.plan.packing import MOST_OF_SQUARES

DIRECT = ""  # the algorithm of a node that is not named in what `choose` returns
ALGORITHMS = (DIRECT, "winograd2", "winograd4")

#: Nanoseconds by the label of a node and the algorithm.
Times = Mapping[str, Mapping[str, int]]


def label(position: int, name: str) -> str:
    """What a node is called where it was measured: models may lack names, or have one twice."""
    return f"{position} {name}".rstrip()


@dataclass(frozen=True)
class ByteCosts:
    """The same where there are 8 bits, as multiples of one multiply-accumulate in a matrix product of bytes."""

    product: float = 1.0  # of 16 bits
    transform: float = 2.0
    weight: float = 2.0  # per byte
    store: float = 0.0


@dataclass(frozen=True)
class Costs:
    """What one step of each kind takes, as multiples of one multiply-accumulate in a matrix product."""

    transform: float = 19.0  # per channel of one point of one tile, input or output
    weight: float = 20.0  # per number that is read from memory
    store: float = 0.0  # per output of one point of one tile: what its sum takes beside its products
    growth: float = 1.8  # of the constants of a model, at most
    spare: int = 4 << 20  # bytes by which a model may grow, however small it is
    squares: bool = False  # whether there are kernels for 7x7 with stride 2
    bytes: ByteCosts | None = None  # None: the best kernels for bytes are no slower than any that transform


@dataclass(frozen=True)
class _Way:
    algorithm: str
    cost: float
    weights: int  # bytes, as `graph` has the filters


def everywhere(graph: Graph, algorithm: str, costs: Costs | None = None) -> Mapping[Node, str]:
    """This algorithm for all nodes that it can compute, whatever it costs: to measure it."""
    costs = costs or Costs()
    able = (node for node in graph.walk() for way in _ways(node, (2, 4), costs) if way.algorithm == algorithm)
    return dict.fromkeys(able, algorithm) if algorithm != DIRECT else {}


def choose(
    graph: Graph, tiles: int | None = None, costs: Costs | None = None, measured: Times | None = None
) -> Mapping[Node, str]:
    """The algorithm of every node for which another one than the direct is better.

    `tiles`: the largest tile that may be used, as the deployment file says it; 0 is none, None leaves it open.
    `measured`: what each algorithm took, which holds instead of the estimate for the nodes that it has.
    """
    costs = costs or Costs()
    sizes = tuple(tile for tile in (2, 4) if tiles is None or tile <= tiles)
    times = {
        node: measured[label(number, node.name)]
        for number, node in enumerate(graph.nodes)
        if measured and label(number, node.name) in measured
    }
    # The gains of measured and of estimated nodes compete for the same room, so they need one unit.
    pace = _pace(times, sizes, costs)
    constants = {value: 0 for node in graph.walk() for value in node.inputs if value.constant is not None}
    size = sum(value.constant.nbytes for value in constants if value.constant is not None)
    room = max((costs.growth - 1) * size, costs.spare)
    steps: list[tuple[float, int, int, Node, _Way, _Way]] = []
    for number, node in enumerate(graph.walk()):
        ways = [_as_measured(way, times.get(node, {}), pace) for way in _ways(node, sizes, costs)]
        # From the way with the fewest weights to ever better ones: each step gains time and costs room.
        front = [way for way in ways if not any(_dominates(other, way) for other in ways)]
        front.sort(key=lambda way: way.weights)
        for before, after in pairwise(front):
            gain = (before.cost - after.cost) / (after.weights - before.weights)
            steps.append((gain, number, after.weights, node, before, after))
    chosen: dict[Node, _Way] = {}
    for _, _, _, node, before, after in sorted(steps, key=lambda step: (-step[0], step[1], step[2])):
        current = chosen.get(node, before)
        needed = after.weights - current.weights
        if needed <= room and after.cost < current.cost:
            room -= needed
            chosen[node] = after
    return {node: way.algorithm for node, way in chosen.items() if way.algorithm != DIRECT}


def _pace(times: Mapping[Node, Mapping[str, int]], tiles: tuple[int, ...], costs: Costs) -> float:
    """The estimated cost of what takes a nanosecond."""
    estimated = taken = 0.0
    for node, own in times.items():
        for way in _ways(node, tiles, costs):
            if way.algorithm in own:
                estimated += way.cost
                taken += own[way.algorithm]
    return estimated / taken if taken else 1.0


def _as_measured(way: _Way, times: Mapping[str, int], pace: float) -> _Way:
    return replace(way, cost=times[way.algorithm] * pace) if way.algorithm in times else way


def _dominates(one: _Way, other: _Way) -> bool:
    return one is not other and one.cost <= other.cost and one.weights <= other.weights


def _ways(node: Node, tiles: tuple[int, ...], costs: Costs) -> Iterator[_Way]:
    """The ways of a convolution that Winograd's can do; none for any other node."""
    op = node.op
    if not isinstance(op, Conv2d) or node.inputs[1].constant is None:
        return
    outputs, height, width, inputs = (bounds(dim)[0] for dim in node.inputs[1].type.shape)
    strides = set(op.strides)
    if height != width or len(strides) != 1 or op.groups != 1 or set(op.dilations) != {1}:
        return
    if costs.squares and (height, *strides) == (7, 2) and inputs <= MOST_OF_SQUARES and not node.inputs[1].type.quant:
        yield from _of_squares(node, tiles, costs)
    if (height, *strides) != (3, 1):
        return
    batch, rows, columns, _ = (bounds(dim)[1] for dim in node.outputs[0].type.shape)
    products, pixels = inputs * outputs, batch * rows * columns
    if node.inputs[1].type.quant is None:
        size, wide = node.inputs[1].constant.itemsize, 1
        own = ByteCosts(1.0, costs.transform, costs.weight, costs.store)
    elif costs.bytes is None or node.inputs[1].type.dtype is not DType.S8:
        return
    else:
        size, wide, own, tiles = 1, 2, costs.bytes, tuple(tile for tile in tiles if tile == 2)
    yield _Way(DIRECT, (pixels + own.weight) * 9 * products, 9 * products * size)
    for tile in tiles:
        points = (tile + 2) ** 2
        count = batch * -(-rows // tile) * -(-columns // tile)
        work = count * points * (own.product * products + own.transform * (inputs + outputs) + own.store * outputs)
        stored = points * wide * products  # numbers, or bytes
        yield _Way(f"winograd{tile}", work + own.weight * stored, stored * size)


def _of_squares(node: Node, tiles: tuple[int, ...], costs: Costs) -> Iterator[_Way]:
    """Windows of 7x7 that move by 2, as 4x4 over squares of four times the channels: 49 points for 4x4 outputs."""
    constant = node.inputs[1].constant
    assert constant is not None
    batch, rows, columns, outputs = (bounds(dim)[1] for dim in node.outputs[0].type.shape)
    yield _Way(DIRECT, (batch * rows * columns + costs.weight) * constant.size, constant.nbytes)
    if 4 in tiles:
        inputs = 4 * constant.shape[-1]
        stored = 49 * inputs * outputs
        count = batch * -(-rows // 4) * -(-columns // 4)
        work = count * 49 * (inputs * outputs + costs.transform * (inputs + outputs))
        yield _Way("winograd4", work + costs.weight * stored, stored * constant.itemsize)
