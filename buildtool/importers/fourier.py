"""Fourier transforms as products with tables that are made on import."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from buildtool.importers.builder import Tensor
from buildtool.importers.spatial import NO_ACTIVATION
from buildtool.importers.step import Step
from buildtool.ir.operator import Array

_MOST_NUMBERS = 2**26  # of a table


def check_length(step: Step, used: int, length: int) -> None:
    """Asked before a table of `used` elements to `length` frequencies is made."""
    if used < 1 or length < 1 or used * length * 4 > _MOST_NUMBERS:
        step.unsupported(f"a transform of length {length}", "split it, or bring an own operator for it (op_paths)")


def transform_table(used: int, length: int, inverse: bool, onesided: bool) -> Array:
    """[used, 2, frequencies, 2]: what the real and the imaginary part of an element add to those of a frequency."""
    count = length // 2 + 1 if onesided else length
    turns = (np.outer(np.arange(used), np.arange(count)) % length) * (2 * np.pi / length)
    cos, sin = np.cos(turns), np.sin(turns) * (1 if inverse else -1)
    table = np.stack([np.stack([cos, sin], axis=-1), np.stack([-sin, cos], axis=-1)], axis=1)
    return table / length if inverse else table


def inverse_to_real(used: int, length: int) -> Array:
    """[used, 2, length, 1]: one side of a spectrum to a real signal; all but its ends stand for the other side too."""
    turns = (np.outer(np.arange(used), np.arange(length)) % length) * (2 * np.pi / length)
    twice = np.full((used, 1), 2.0)
    twice[0] = 1
    if length % 2 == 0 and used == length // 2 + 1:
        twice[-1] = 1
    table = np.stack([np.cos(turns) * twice, -np.sin(turns) * twice], axis=1)
    return np.asarray(table[..., None] / length)


def real_transform(step: Step, x: Tensor, length: int) -> tuple[Tensor, ...]:
    """Real and imaginary part of one side of the spectrum, along the last axis."""
    used = _used(step, x, length, length)
    return _products(step, (x,), transform_table(used, length, False, True)[:, :1])


def complex_transform(step: Step, parts: Sequence[Tensor], length: int, inverse: bool) -> tuple[Tensor, ...]:
    """The same of a complex tensor, with both sides."""
    used = _used(step, parts[0], length, length)
    return _products(step, parts, transform_table(used, length, inverse, False))


def inverse_real_transform(step: Step, parts: Sequence[Tensor], length: int) -> Tensor:
    """The real signal of `length` elements that one side of a spectrum describes."""
    used = _used(step, parts[0], length // 2 + 1, length)
    (y,) = _products(step, parts, inverse_to_real(used, length))
    return y


def _used(step: Step, x: Tensor, most: int, length: int) -> int:
    """How many elements of the last axis have a part in the transform: zeros follow where there are too few."""
    size = step.size(x, -1)
    if not isinstance(size, int):
        step.unsupported(f"a transform along an axis of {size} elements", "fix the input shapes")
    used = min(size, most)
    check_length(step, used, length)
    return used


def _products(step: Step, parts: Sequence[Tensor], table: Array) -> tuple[Tensor, ...]:
    """What the table [used, parts given, elements made, parts made] makes of the last axis."""
    used, _, count, made = table.shape
    rows = [_first(step, part, used) for part in parts]
    results = []
    for index in range(made):
        terms = [
            step.emit("matmul", row, step.constant(table[:, part, :, index].astype(row.dtype.numpy)))
            for part, row in enumerate(rows)
        ]
        y = terms[0] if len(terms) == 1 else step.emit("add", *terms, **NO_ACTIVATION)
        results.append(step.reshape(y, (*parts[0].shape[:-1], count)))
    return tuple(results)


def _first(step: Step, x: Tensor, used: int) -> Tensor:
    """The first elements of the last axis, as rows of a matrix at least."""
    if x.shape[-1] != used:
        sizes = (*x.shape[:-1], used)
        x = step.emit("slice", x, starts=(0,) * x.rank, steps=(1,) * x.rank, sizes=sizes)
    return step.reshape(x, (1, used)) if x.rank == 1 else x


def magnitude(step: Step, real: Tensor, imaginary: Tensor, squared: bool = False) -> Tensor:
    power = step.emit("add", *(step.emit("mul", part, part) for part in (real, imaginary)), **NO_ACTIVATION)
    return power if squared else step.emit("sqrt", power)
