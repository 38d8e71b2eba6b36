"""Cases of dimensions."""

from __future__ import annotations

from collections.abc import Iterator

from buildtool.ir.types import DType
from buildtool.ops.dimensions import MOST, Dimensions
from tests.ops.case import OpCase
from tests.ops.inputs import Rng, label

# Every number is one that memory can be large on 32-bit targets, too.
_LISTS: tuple[tuple[int, ...], ...] = (
    (0,),
    (1,),
    (17,),
    (2**16 + 1,),
    (2**24 + 1,),
    (3, 5),
    (0, 7, 0),
    (2, 3, 5, 7, 11, 13, 17),
    tuple(range(MOST)),
)


def cases(rng: Rng) -> Iterator[OpCase]:
    for to in (DType.S64, DType.S32, DType.F32):
        for index, dims in enumerate(_LISTS):
            name = label(to.value, "list", index, "of", len(dims))
            yield OpCase(Dimensions(dims, to), (), name)
