"""Draws element-wise operators, operators along axes, and those that only move elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import strategies as st

from buildtool.ir.operator import Array, Operator
from buildtool.ops.batch_norm import BatchNorm
from buildtool.ops.concat import Concat
from buildtool.ops.gather_elements import GatherElements
from buildtool.ops.group_norm import GroupNorm
from buildtool.ops.layer_norm import LayerNorm
from buildtool.ops.prelu import Prelu
from buildtool.ops.rms_norm import RmsNorm
from buildtool.ops.transpose import Transpose
from tests.ops.case import OpCase
from tests.ops.drawn.numbers import CHANNELS, generators, shapes
from tests.ops.inputs import integers, label, normal, uniform

_LARGEST = 20000  # elements: enough for results that are shared out among threads


@st.composite
def unary(draw: st.DrawFn, op: Operator, most: float = 12.0) -> OpCase:
    """Numbers on both sides of 0, some of them so far from it that functions are flat there."""
    shape, reach = draw(shapes(most=_LARGEST)), draw(st.sampled_from((1.0, 4.0, 4.0, most)))
    return OpCase(op, (uniform(draw(generators()), shape, -reach, reach),), label(shape))


@st.composite
def binary(draw: st.DrawFn, op: Operator, second: Callable[..., Array] = normal) -> OpCase:
    result = draw(shapes(most=_LARGEST))
    first, other = (_broadcast(draw, result) for _ in range(2))
    rng = draw(generators())
    constants = draw(st.sampled_from(((), (), (1,), (0,))))
    return OpCase(op, (normal(rng, first), second(rng, other)), label(first, "with", other), constants)


@st.composite
def prelu(draw: st.DrawFn) -> OpCase:
    """Slopes of channels, more often than not."""
    shape = draw(shapes(most=_LARGEST))
    slopes = shape[-1:] if draw(st.integers(0, 2)) else _broadcast(draw, shape)
    rng = draw(generators())
    return OpCase(
        Prelu(),
        (normal(rng, shape), normal(rng, slopes)),
        label(shape, "by", slopes),
        draw(st.sampled_from(((), (1,)))),
    )


def _broadcast(draw: st.DrawFn, shape: tuple[int, ...]) -> tuple[int, ...]:
    """A shape that broadcasts to this one: half of the time the same one."""
    if draw(st.booleans()):
        return shape
    kept = shape[draw(st.integers(0, len(shape))) :]
    return tuple(1 if draw(st.booleans()) else size for size in kept)


@st.composite
def along_axis(draw: st.DrawFn, make: Callable[[int], Operator]) -> OpCase:
    shape = draw(shapes(least_rank=1, most=_LARGEST))
    axis, rng = draw(st.integers(0, len(shape) - 1)), draw(generators())
    numbers = normal(rng, shape) * np.float32(draw(st.sampled_from((1, 1, 10))))
    return OpCase(make(axis), (numbers,), label(shape, "along", axis))


@st.composite
def along_rows(draw: st.DrawFn, make: Callable[[int], Operator]) -> OpCase:
    """The last axis, of at least eight elements."""
    shape = (*draw(shapes(least_rank=0, most=200)), draw(st.integers(8, 300)))
    numbers = normal(draw(generators()), shape) * np.float32(draw(st.sampled_from((1, 1, 10))))
    return OpCase(make(len(shape) - 1), (numbers,), label(shape, "along rows"))


@st.composite
def reduction(draw: st.DrawFn, make: Callable[[tuple[int, ...], bool], Operator]) -> OpCase:
    shape = draw(shapes(most=_LARGEST))
    axes = tuple(axis for axis in range(len(shape)) if draw(st.booleans()))
    numbers = normal(draw(generators()), shape)
    return OpCase(make(axes, draw(st.booleans())), (numbers,), label(shape, "over", axes))


@st.composite
def product_of_few(draw: st.DrawFn, make: Callable[[tuple[int, ...], bool], Operator]) -> OpCase:
    """Factors near 1: products of many others are 0 or infinite."""
    shape = draw(shapes())
    axes = tuple(axis for axis in range(len(shape)) if draw(st.booleans()))
    numbers = uniform(draw(generators()), shape, 0.97, 1.03)
    return OpCase(make(axes, draw(st.booleans())), (numbers,), label(shape, "over", axes))


@st.composite
def row_norm(draw: st.DrawFn, kind: type[LayerNorm | RmsNorm], most_operands: int) -> OpCase:
    shape = draw(shapes(least_rank=1, most=_LARGEST))
    axis, rng = draw(st.integers(0, len(shape) - 1)), draw(generators())
    operands = [normal(rng, shape[axis:]) for _ in range(draw(st.integers(0, most_operands)))]
    constants = tuple(range(1, 1 + len(operands))) if draw(st.booleans()) else ()
    numbers = normal(rng, shape) * np.float32(3) + np.float32(1)
    return OpCase(kind(axis, 1e-3), (numbers, *operands), label(shape, "from", axis), constants)


@st.composite
def group_norm(draw: st.DrawFn) -> OpCase:
    groups, width = draw(st.integers(1, 9)), draw(st.integers(1, 17))
    shape = (*draw(shapes(least_rank=1, most_rank=3, most=300)), groups * width)
    rng = draw(generators())
    inputs = (normal(rng, shape) + np.float32(2), normal(rng, shape[-1:]), normal(rng, shape[-1:]))
    return OpCase(GroupNorm(groups, 1e-3), inputs, label(shape, "in", groups), draw(st.sampled_from(((), (1, 2)))))


@st.composite
def batch_norm(draw: st.DrawFn) -> OpCase:
    shape = (*draw(shapes(most_rank=3, most=300)), draw(CHANNELS))
    rng = draw(generators())
    row = shape[-1:]
    inputs = (normal(rng, shape), normal(rng, row), normal(rng, row), normal(rng, row), uniform(rng, row, 0.5, 2.0))
    return OpCase(BatchNorm(1e-3), inputs, label(shape), draw(st.sampled_from(((), (1, 2, 3, 4)))))


@st.composite
def transpose(draw: st.DrawFn) -> OpCase:
    shape = draw(
        shapes(most=_LARGEST) | st.tuples(CHANNELS, CHANNELS) | st.tuples(CHANNELS, CHANNELS, st.integers(1, 4))
    )
    perm = tuple(draw(st.permutations(range(len(shape)))))
    return OpCase(Transpose(perm), (normal(draw(generators()), shape),), label(shape, "as", perm))


@st.composite
def concat(draw: st.DrawFn) -> OpCase:
    shape = draw(shapes(least_rank=1))
    axis, rng = draw(st.integers(0, len(shape) - 1)), draw(generators())
    sizes = draw(st.lists(CHANNELS, min_size=1, max_size=5))
    inputs = tuple(normal(rng, (*shape[:axis], size, *shape[axis + 1 :])) for size in sizes)
    constants = (len(sizes) - 1,) if len(sizes) > 1 and draw(st.booleans()) else ()
    return OpCase(Concat(axis), inputs, label(shape, "along", axis), constants)


@st.composite
def gather_elements(draw: st.DrawFn) -> OpCase:
    shape = draw(shapes(least_rank=1))
    axis, rng = draw(st.integers(0, len(shape) - 1)), draw(generators())
    taken = [draw(st.integers(1, size)) for size in shape]
    taken[axis] = draw(CHANNELS)
    dtype: Any = draw(st.sampled_from((np.int32, np.int64)))
    picked = integers(rng, tuple(taken), -shape[axis], shape[axis], dtype)
    return OpCase(GatherElements(axis), (normal(rng, shape), picked), label(shape, "along", axis))
