"""Two enlargements by whole factors are one; others depend on each other's rounding."""

from __future__ import annotations

from typing import Any

import pytest

from buildtool.passes.merge_resizes import MergeResizes
from tests.passes.harness import Maker, apply, ops

REPEAT: dict[str, Any] = {"mode": "nearest", "coordinates": "asymmetric", "rounding": "floor"}


@pytest.mark.parametrize(
    ("changes", "merged"),
    [({}, True), ({"mode": "linear"}, False), ({"coordinates": "half_pixel"}, False), ({"scales": (1.5, 2.0)}, False)],
)
def test_rows(changes: dict[str, Any], merged: bool) -> None:
    make = Maker()
    first = make("resize2d", make.input(1, 4, 3, 2), **{**REPEAT, "size": (8, 9), "scales": (2.0, 3.0)})
    graph = make.finish(make("resize2d", first, **{**REPEAT, "size": (16, 18), "scales": (2.0, 2.0), **changes}))
    assert apply(graph, MergeResizes) is merged
    assert len(ops(graph)) == (1 if merged else 2)
