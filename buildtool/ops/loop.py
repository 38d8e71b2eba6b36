"""loop: a region runs again and again, on what its last run gave."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from buildtool.ir.dims import Shape, bounds, is_static, static
from buildtool.ir.operator import Array, Body, Operator, OperatorError, RegionType
from buildtool.ir.types import DType, TensorType
from buildtool.ops._regions import check_single


@dataclass(frozen=True, kw_only=True)
class Loop(Operator):
    """Inputs trips (s64: how many iterations), condition (bool: whether there is a first one), what is carried...

    The region takes the number of the iteration (s64, from 0) and what is carried; it gives whether there is another
    iteration (bool), what is carried, and what is scanned. Outputs: what was carried last, and the scanned values of
    all iterations along a new first axis.

    `most`: no more iterations are run than this; without an element there is no such limit, and nothing is scanned.
    `size`: a symbol for how many there were, where only the data decides it; without an element there are `most`.
    """

    name: ClassVar[str] = "loop"
    arity: ClassVar[tuple[int, int | None]] = (2, None)
    outputs: ClassVar[int | None] = None
    regions: ClassVar[int] = 1
    data_sizes: ClassVar[str | None] = "size"

    most: Shape
    size: Shape

    def check(self) -> None:
        if len(self.most) > 1 or len(self.size) > 1:
            raise OperatorError("'most' and 'size' have one element or none")
        if self.size and not self.most:
            raise OperatorError("'size' needs 'most', which bounds it")
        if self.size and bounds(self.size[0])[1] < bounds(self.most[0])[1]:
            raise OperatorError(
                f"there can be {bounds(self.most[0])[1]} iterations, but the bound of '{self.size[0]}' is "
                f"{bounds(self.size[0])[1]}"
            )

    def infer_node(self, inputs: Sequence[TensorType], regions: Sequence[RegionType]) -> tuple[TensorType, ...]:
        trips, condition, *carried = self.operands(inputs)
        check_single(trips, DType.S64, "the number of iterations")
        check_single(condition, DType.BOOL, "the condition")
        (body,) = regions
        if len(body.inputs) != len(carried) + 1 or len(body.outputs) < len(carried) + 1:
            raise OperatorError(
                f"{len(carried)} values are carried, but the region takes {len(body.inputs)} and gives "
                f"{len(body.outputs)}"
            )
        check_single(body.inputs[0], DType.S64, "the number of the iteration")
        check_single(body.outputs[0], DType.BOOL, "the condition that the region returns")
        for index, type_ in enumerate(carried):
            for found, what in ((body.inputs[index + 1], "takes"), (body.outputs[index + 1], "gives")):
                if found != type_:
                    raise OperatorError(f"carried value {index} starts as {type_}, but the region {what} {found}")
        return (*carried, *(self._all(slice_) for slice_ in body.outputs[len(carried) + 1 :]))

    def _all(self, slice_: TensorType) -> TensorType:
        """The type of the scanned values of all iterations."""
        if not self.most:
            raise OperatorError("values are scanned, but 'most' does not bound their number")
        return TensorType(slice_.dtype, (self.size[0] if self.size else self.most[0], *slice_.shape))

    def reference_node(self, inputs: Sequence[Array], bodies: Sequence[Body]) -> tuple[Array, ...]:
        trips, condition, *carried = inputs
        (body,) = bodies
        limit = int(trips.reshape(-1)[0])
        if self.most:
            limit = min(limit, *static(self.most))
        goes_on = bool(condition.reshape(-1)[0])
        first = body.type.inputs[0].shape
        scanned: list[list[Array]] = [[] for _ in body.type.outputs[len(carried) + 1 :]]
        done = 0
        while goes_on and done < limit:
            condition, *given = body.run((np.full(static(first), done, np.int64), *carried))
            goes_on = bool(condition.reshape(-1)[0])
            carried, slices = given[: len(carried)], given[len(carried) :]
            for items, item in zip(scanned, slices, strict=True):
                items.append(item)
            done += 1
        return (
            *carried,
            *(_stacked(*pair) for pair in zip(scanned, body.type.outputs[len(carried) + 1 :], strict=True)),
        )


def _stacked(slices: list[Array], type_: TensorType) -> Array:
    """The slices along a new first axis; there may be none."""
    if slices:
        return np.stack(slices)
    shape = static(type_.shape) if is_static(type_.shape) else ()
    return np.empty((0, *shape), type_.dtype.numpy)
