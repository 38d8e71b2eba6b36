"""What operators share whose outputs are as large as the data says: see "Sizes that depend on data" in the docs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from buildtool.ir.dims import Dim, Shape, bounds
from buildtool.ir.operator import Operator, OperatorError


@dataclass(frozen=True, kw_only=True)
class DataSizedOperator(Operator):
    """`size` is one symbol, which is not known before the node has run; its upper bound is what memory is planned for.

    A number in its place is an upper bound too: `reference` gives results of the size that the data has.
    """

    data_sizes: ClassVar[str | None] = "size"

    size: Shape

    def check(self) -> None:
        if len(self.size) != 1:
            raise OperatorError(f"'size' is one dimension, not {list(self.size)}")

    def sized(self, most: Dim) -> Dim:
        """The dimension, once it is certain that its bound leaves room for as many elements as there can be."""
        if bounds(self.size[0])[1] < bounds(most)[1]:
            raise OperatorError(
                f"the size can reach {bounds(most)[1]}, but the bound of '{self.size[0]}' is {bounds(self.size[0])[1]}"
            )
        return self.size[0]


def most_of(dims: Sequence[Dim]) -> int:
    """The largest number that a product of dimensions can be."""
    most = 1
    for dim in dims:
        most *= max(bounds(dim)[1], 0)
    return most
