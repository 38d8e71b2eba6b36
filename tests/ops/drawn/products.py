"""Draws matrix products."""

from __future__ import annotations

from hypothesis import strategies as st

from buildtool.ops.fully_connected import FullyConnected
from buildtool.ops.matmul import Matmul
from tests.ops.case import OpCase
from tests.ops.drawn.numbers import ACTIVATIONS, CHANNELS, generators, scaled
from tests.ops.inputs import label, normal

_DEPTHS = CHANNELS | st.sampled_from((127, 256, 257, 511, 521, 1031))
_WIDTHS = CHANNELS | st.sampled_from((127, 128, 131, 259))


@st.composite
def fully_connected(draw: st.DrawFn) -> OpCase:
    leading = draw(st.lists(st.integers(1, 4), max_size=3).map(tuple) | st.tuples(CHANNELS))
    depth, units = draw(_DEPTHS), draw(_WIDTHS)
    operands, rng = draw(st.sampled_from((2, 3))), draw(generators())
    inputs = (normal(rng, (*leading, depth)), scaled(rng, (units, depth), depth), normal(rng, (units,)))
    constants = tuple(range(1, operands)) if draw(st.integers(0, 4)) else ()
    name = label((*leading, depth), "to", units)
    return OpCase(FullyConnected(**draw(ACTIVATIONS)), inputs[:operands], name, constants)


@st.composite
def matmul(draw: st.DrawFn) -> OpCase:
    rows, depth, columns = draw(CHANNELS), draw(_DEPTHS), draw(_WIDTHS)
    batch = draw(st.lists(st.integers(1, 4), max_size=3))
    a, b = (_cut(draw, batch) for _ in range(2))
    first = (*a, rows, depth) if a or draw(st.integers(0, 5)) else (depth,)  # type: ignore[arg-type]
    second = (*b, depth, columns) if b or draw(st.integers(0, 5)) else (depth,)  # type: ignore[arg-type]
    rng = draw(generators())
    constants = draw(st.sampled_from(((), (), (1,), (0,))))
    inputs = (normal(rng, first), scaled(rng, second, depth))
    return OpCase(Matmul(), inputs, label(first, "by", second), constants)


def _cut(draw: st.DrawFn, batch: list[int]) -> list[int]:
    """Leading axes that broadcast to these: some of them are 1, and the first may be missing."""
    kept = batch[draw(st.integers(0, len(batch))) :] if draw(st.booleans()) else batch
    return [1 if draw(st.integers(0, 3)) == 0 else size for size in kept]
