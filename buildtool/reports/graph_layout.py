"""A layered drawing of a graph: where its boxes stand and which way its edges go.

Each box has a rank, the length of the longest path to it; an edge over several ranks passes a point on each of them.
The order inside the ranks follows the neighbours, and so do the places: as near to them as the order allows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TypeAlias

RANK_HEIGHT = 92
BOX_HEIGHT = 46
_GAP = 26  # between boxes of one rank
_POINT_WIDTH = 8  # room for an edge between boxes
_ORDER_SWEEPS = 8
_PLACE_SWEEPS = 8  # up and down
_STEADY = 0.01  # what places may still move by, beside each other
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
    position = [0.0] * len(spots)
    for row in rows:
        for index, number in enumerate(row):
            position[number] = float(index)
    wide = [row for row in rows if len(row) > 1]
    for sweep in range(_ORDER_SWEEPS):
        down = sweep % 2 == 0
        for row in wide if down else reversed(wide):
            row.sort(key=lambda number: _middle(spots[number], position, down, position[number]))
            for index, number in enumerate(row):
                position[number] = float(index)
    return rows


def _middle(spot: _Spot, position: Sequence[float], down: bool, otherwise: float) -> float:
    near = spot.above if down else spot.below
    return sum(position[number] for number in near) / len(near) if near else otherwise


#: Neighbours of a spot, how much each pulls at it, and how much all do.
_Pull: TypeAlias = tuple[list[int], list[float], float]


def _place(spots: Sequence[_Spot], rows: Sequence[Sequence[int]]) -> None:
    """Sweeps down, then up and down until that leads to the same places."""
    places = [0.0] * len(spots)
    from_above = [_pull(spots, spot, spot.above) for spot in spots]
    from_below = [_pull(spots, spot, spot.below) for spot in spots]
    lines = [(row, _offsets([spots[number].width for number in row])) for row in rows]
    _sweep(places, lines, from_above)
    for _ in range(_PLACE_SWEEPS):
        before = places.copy()
        _sweep(places, lines[::-1], from_below)
        _sweep(places, lines, from_above)
        moves = [new - old for new, old in zip(places, before, strict=True)]
        if max(moves, default=0.0) - min(moves, default=0.0) < _STEADY:  # the drawing moves as a whole, if at all
            break
    for spot, place in zip(spots, places, strict=True):
        spot.x = place


def _pull(spots: Sequence[_Spot], spot: _Spot, near: list[int]) -> _Pull:
    weights = [1.0 if spot.is_box or spots[number].is_box else _STRAIGHT for number in near]
    return near, weights, sum(weights)


def _offsets(widths: Sequence[float]) -> list[float]:
    """How far the spots of a row are from the first one, where they stand as close as they may."""
    offsets = [0.0]
    for left, right in pairwise(widths):
        offsets.append(offsets[-1] + (left + right) / 2 + _GAP)
    return offsets


def _sweep(places: list[float], lines: Iterable[tuple[Sequence[int], Sequence[float]]], pulls: Sequence[_Pull]) -> None:
    """Moves row after row to where its neighbours pull it."""
    for row, offsets in lines:
        if len(row) == 1:  # most rows
            places[row[0]] = _wanted(places, row[0], pulls)[0]
            continue
        for number, place in zip(row, _settled(offsets, [_wanted(places, one, pulls) for one in row]), strict=True):
            places[number] = place


def _wanted(places: Sequence[float], number: int, pulls: Sequence[_Pull]) -> tuple[float, float]:
    """Where a spot would like to be, and how much."""
    near, weights, total = pulls[number]
    if len(near) == 1:
        return places[near[0]], total
    if not near:
        return places[number], 0.1
    return sum(weight * places[one] for weight, one in zip(weights, near, strict=True)) / total, total


def _settled(offsets: Sequence[float], wanted: Sequence[tuple[float, float]]) -> Iterator[float]:
    """The places nearest to the wanted ones (least squares) that keep order and distances: pools what would overlap."""
    pools: list[tuple[float, float, int]] = []  # place, weight, how many spots
    for (place, weight), offset in zip(wanted, offsets, strict=True):
        pool = (place - offset, weight, 1)
        while pools and pools[-1][0] > pool[0]:
            before = pools.pop()
            total = before[1] + pool[1]
            pool = ((before[0] * before[1] + pool[0] * pool[1]) / total, total, before[2] + pool[2])
        pools.append(pool)
    pooled = (place for place, _, count in pools for _ in range(count))
    return (place + offset for place, offset in zip(pooled, offsets, strict=True))


def _without_needless(points: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """The inner points of a route, but for those on a straight line down."""
    kept = [
        point
        for before, point, after in zip(points, points[1:], points[2:], strict=False)
        if not before[0] == point[0] == after[0]
    ]
    return tuple(kept)
