"""if_else: one of two regions runs, and what it gives is the result."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from buildtool.ir.dims import Dim, Shape, bounds
from buildtool.ir.operator import Array, Body, Operator, OperatorError, RegionType
from buildtool.ir.types import DType, TensorType
from buildtool.ops._regions import check_single


@dataclass(frozen=True, kw_only=True)
class IfElse(Operator):
    """Input condition (bool, one element). Two regions without inputs: the one that runs if it holds, and the other.

    The outputs are those of the region. Where they have different sizes only the data decides which: `sizes` then has a
    symbol for each such dimension, in the order of outputs and axes.
    """

    name: ClassVar[str] = "if_else"
    outputs: ClassVar[int | None] = None
    regions: ClassVar[int] = 2
    data_sizes: ClassVar[str | None] = "sizes"

    sizes: Shape

    def infer_node(self, inputs: Sequence[TensorType], regions: Sequence[RegionType]) -> tuple[TensorType, ...]:
        (condition,) = self.operands(inputs)
        check_single(condition, DType.BOOL, "the condition")
        then, other = regions
        if then.inputs or other.inputs:
            raise OperatorError("a region has inputs; regions of if_else read outer values directly")
        if len(then.outputs) != len(other.outputs):
            raise OperatorError(f"one region has {len(then.outputs)} outputs, the other {len(other.outputs)}")
        sizes = iter(self.sizes)
        types = tuple(_either(*pair, sizes) for pair in zip(then.outputs, other.outputs, strict=True))
        if next(sizes, None) is not None:
            raise OperatorError(f"'sizes' has {len(self.sizes)} elements, more than there are sizes that differ")
        return types

    def reference_node(self, inputs: Sequence[Array], bodies: Sequence[Body]) -> tuple[Array, ...]:
        return bodies[0 if np.asarray(inputs[0]).reshape(-1)[0] else 1].run(())


def differing(one: TensorType, other: TensorType) -> tuple[int, ...]:
    """The axes along which two results have different sizes. OperatorError where they differ in more than that."""
    if one.dtype is not other.dtype or one.rank != other.rank or one.quant != other.quant:
        raise OperatorError(f"one region returns {one}, the other {other}: element type and rank must be equal")
    return tuple(axis for axis in range(one.rank) if one.shape[axis] != other.shape[axis])


def _either(one: TensorType, other: TensorType, sizes: Iterator[Dim]) -> TensorType:
    shape = list(one.shape)
    for axis in differing(one, other):
        size = next(sizes, None)
        if size is None:
            raise OperatorError(
                f"one region returns {one}, the other {other}, but 'sizes' has no symbol for this difference"
            )
        most = max(bounds(one.shape[axis])[1], bounds(other.shape[axis])[1])
        if bounds(size)[1] < most:
            raise OperatorError(f"a size can reach {most}, but the bound of '{size}' is {bounds(size)[1]}")
        shape[axis] = size
    return one.with_shape(tuple(shape))
