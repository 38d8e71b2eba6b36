"""A layered drawing of a graph: where its boxes stand and which way its edges go.

Each box has a rank, the length of the longest path to it; an edge over several ranks passes a point on each of them.
The order inside the ranks follows the neighbours, and so do the places: as near to them as the order allows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

RANK_HEIGHT = 92
BOX_HEIGHT = 46
_GAP = 26  # between boxes of one rank
_POINT_WIDTH = 8  # room for an edge between boxes
_ORDER_SWEEPS = 8
_PLACE_SWEEPS = 16
_STRAIGHT = 8.0  # how much more a bend of a long edge counts than a box that stands beside its neighbour


@dataclass(frozen=True)
class Layout:
    """Boxes by their centres, edges by the points that they pass in between, in the order of the edges given."""

    boxes: tuple[tuple[int, int], ...]
    routes: tuple[tuple[tuple[int, int], ...], ...]
    width: int
    height: int


@dataclass
class _Spot:
    """A box, or a point where an edge passes a rank."""

    width: float
    rank: int
    is_box: bool = True
    above: list[int] = field(default_factory=list)
    below: list[int] = field(default_factory=list)
    x: float = 0.0


def layout(widths: Sequence[int], edges: Sequence[tuple[int, int]]) -> Layout:
    """Places boxes of these widths. Every edge goes from a box to one with a larger number."""
    if any(start >= end for start, end in edges):
        raise ValueError("an edge leads backwards")
    ranks = _ranks(len(widths), edges)
    spots = [_Spot(width, rank) for width, rank in zip(widths, ranks, strict=True)]
    passed: dict[tuple[int, int], int] = {}
    chains = [_chain(spots, passed, start, end) for start, end in edges]
    rows = _ordered(spots)
    _place(spots, rows)
    left = min((spot.x - spot.width / 2 for spot in spots), default=0.0)
    right = max((spot.x + spot.width / 2 for spot in spots), default=0.0)
    points = [(round(spot.x - left), spot.rank * RANK_HEIGHT + BOX_HEIGHT // 2) for spot in spots]
    routes = tuple(
        _without_needless([points[start], *(points[spot] for spot in chain), points[end]])
        for (start, end), chain in zip(edges, chains, strict=True)
    )
    height = (max(ranks, default=0)) * RANK_HEIGHT + BOX_HEIGHT
    return Layout(tuple(points[: len(widths)]), routes, round(right - left), height)


def _ranks(count: int, edges: Sequence[tuple[int, int]]) -> list[int]:
    """The longest path to each box; boxes that nothing leads to stand right above their first reader."""
    ranks = [0] * count
    readers: dict[int, list[int]] = {}
    for start, end in sorted(edges, key=lambda edge: edge[0]):
        ranks[end] = max(ranks[end], ranks[start] + 1)
        readers.setdefault(start, []).append(end)
    reached = {end for _, end in edges}
    for box in range(count):
        if box not in reached and box in readers:
            ranks[box] = min(ranks[reader] for reader in readers[box]) - 1
    return ranks


def _chain(spots: list[_Spot], passed: dict[tuple[int, int], int], start: int, end: int) -> list[int]:
    """The points of an edge. Edges from one box go together as far as they can: `passed` knows the points by rank."""
    chain: list[int] = []
    last = start
    for rank in range(spots[start].rank + 1, spots[end].rank):
        key = (start, rank)
        if key not in passed:
            passed[key] = len(spots)
            spots.append(_Spot(_POINT_WIDTH, rank, is_box=False))
            _link(spots, last, passed[key])
        last = passed[key]
        chain.append(last)
    _link(spots, last, end)
    return chain


def _link(spots: Sequence[_Spot], upper: int, lower: int) -> None:
    spots[upper].below.append(lower)
    spots[lower].above.append(upper)


def _ordered(spots: Sequence[_Spot]) -> list[list[int]]:
    """The spots of each rank from left to right: each near the middle of its neighbours on the rank before it."""
    rows: list[list[int]] = [[] for _ in range(max((spot.rank for spot in spots), default=-1) + 1)]
    for number, spot in enumerate(spots):
        rows[spot.rank].append(number)
    position = {number: float(index) for row in rows for index, number in enumerate(row)}
    for sweep in range(_ORDER_SWEEPS):
        down = sweep % 2 == 0
        for row in rows if down else reversed(rows):
            row.sort(key=lambda number: _middle(spots[number], position, down, position[number]))
            position.update((number, float(index)) for index, number in enumerate(row))
    return rows


def _middle(spot: _Spot, position: Mapping[int, float], down: bool, otherwise: float) -> float:
    near = spot.above if down else spot.below
    return sum(position[number] for number in near) / len(near) if near else otherwise


def _place(spots: Sequence[_Spot], rows: Sequence[Sequence[int]]) -> None:
    """Sweeps down and up; the last sweep goes both ways, so that neither direction wins."""
    for sweep in range(_PLACE_SWEEPS + 1):
        ways = (True, False) if sweep == _PLACE_SWEEPS else (sweep % 2 == 0, sweep % 2 == 1)
        for row in rows if ways[0] else reversed(rows):
            wanted = [_wanted(spots, spots[number], *ways) for number in row]
            _settle([spots[number] for number in row], wanted)


def _wanted(spots: Sequence[_Spot], spot: _Spot, from_above: bool, from_below: bool) -> tuple[float, float]:
    """Where a spot would like to be, and how much."""
    near = [*(spot.above if from_above else ()), *(spot.below if from_below else ())]
    weights = [1.0 if spot.is_box or spots[number].is_box else _STRAIGHT for number in near]
    total = sum(weights)
    if not total:
        return spot.x, 0.1
    return sum(weight * spots[number].x for weight, number in zip(weights, near, strict=True)) / total, total


def _settle(row: Sequence[_Spot], wanted: Sequence[tuple[float, float]]) -> None:
    """The places nearest to the wanted ones (least squares) that keep order and distances: pools what would overlap."""
    offsets: list[float] = []
    for index, spot in enumerate(row):
        distance = (row[index - 1].width + spot.width) / 2 + _GAP if index else 0.0
        offsets.append(offsets[-1] + distance if index else 0.0)
    pools: list[tuple[float, float, int]] = []  # place, weight, how many spots
    for (place, weight), offset in zip(wanted, offsets, strict=True):
        pool = (place - offset, weight, 1)
        while pools and pools[-1][0] > pool[0]:
            before = pools.pop()
            total = before[1] + pool[1]
            pool = ((before[0] * before[1] + pool[0] * pool[1]) / total, total, before[2] + pool[2])
        pools.append(pool)
    places = [place for place, _, count in pools for _ in range(count)]
    for spot, place, offset in zip(row, places, offsets, strict=True):
        spot.x = place + offset


def _without_needless(points: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """The inner points of a route, but for those on a straight line down."""
    kept = [
        point
        for before, point, after in zip(points, points[1:], points[2:], strict=False)
        if not before[0] == point[0] == after[0]
    ]
    return tuple(kept)
