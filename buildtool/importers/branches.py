"""What the branches of an operator have to agree on where only the data decides between them."""

from __future__ import annotations

from collections.abc import Sequence

from buildtool.importers.builder import Tensor
from buildtool.importers.step import Step
from buildtool.ir.dims import UNBOUNDED, Dim, bounds
from buildtool.ir.operator import OperatorError
from buildtool.ops.if_else import differing


def sizes_that_differ(step: Step, branch: Sequence[Tensor], other: Sequence[Tensor]) -> tuple[Dim, ...]:
    """A symbol for each axis along which the results of two branches differ."""
    return tuple(dim for one, two in zip(branch, other, strict=True) for dim in _sizes(step, one, two))


def _sizes(step: Step, one: Tensor, other: Tensor) -> list[Dim]:
    try:
        axes = differing(one.type, other.type)
    except OperatorError:
        step.unsupported(
            f"its branches give {one.type} and {other.type}, and which one is only known when the model runs",
            "let both branches give the same element type and rank, or make the condition a constant",
        )
    sizes = []
    for axis in axes:
        most = max(bounds(one.shape[axis])[1], bounds(other.shape[axis])[1])
        if most >= UNBOUNDED:
            step.unsupported(
                f"its branches give {one.type} and {other.type}, and nothing bounds the size",
                "declare input_shapes with smaller upper bounds",
            )
        sizes.append(step.data_size("if_else", most))
    return sizes
