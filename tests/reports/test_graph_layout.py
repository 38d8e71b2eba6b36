"""The drawing of a graph: nothing overlaps, every edge leads down, chains are straight."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from buildtool.reports.graph_layout import RANK_HEIGHT, layout


@st.composite
def graphs(draw: st.DrawFn) -> tuple[list[int], list[tuple[int, int]]]:
    widths = draw(st.lists(st.integers(40, 300), max_size=12))
    pairs = [(start, end) for end in range(len(widths)) for start in range(end)]
    return widths, draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []


@given(graphs())
def test_boxes_stand_apart_and_edges_lead_down(graph: tuple[list[int], list[tuple[int, int]]]) -> None:
    widths, edges = graph
    drawing = layout(widths, edges)
    rows: dict[int, list[tuple[float, float]]] = {}
    for (x, y), width in zip(drawing.boxes, widths, strict=True):
        rows.setdefault(y, []).append((x - width / 2, x + width / 2))
        assert x - width / 2 >= -1
        assert x + width / 2 <= drawing.width + 1
        assert 0 <= y <= drawing.height
    for row in rows.values():
        assert all(before[1] < after[0] for before, after in pairwise(sorted(row)))
    for (start, end), route in zip(edges, drawing.routes, strict=True):
        heights = [drawing.boxes[start][1], *(y for _, y in route), drawing.boxes[end][1]]
        assert all(above < below for above, below in pairwise(heights))


def test_a_chain_is_straight_and_a_late_input_stands_above_its_reader() -> None:
    drawing = layout([100] * 5, [(0, 2), (2, 3), (3, 4), (1, 4)])
    assert len({drawing.boxes[box][0] for box in (0, 2)}) == 1
    assert drawing.boxes[4][1] - drawing.boxes[1][1] == RANK_HEIGHT
    assert layout([], []).boxes == ()


def test_an_edge_may_not_lead_backwards() -> None:
    with pytest.raises(ValueError, match="backwards"):
        layout([50, 50], [(1, 0)])


def test_large_graphs_are_quick() -> None:
    edges = [(box - 1, box) for box in range(1, 700)] + [(box - 40, box) for box in range(40, 700, 5)]
    began = time.process_time()
    layout([100] * 700, edges)
    assert time.process_time() - began < 5
