"""A cast that loses nothing goes where another cast follows."""

from __future__ import annotations

import pytest

from buildtool.ir.types import DType
from buildtool.passes.merge_casts import MergeCasts
from tests.passes.harness import Maker, apply, ops


@pytest.mark.parametrize(
    ("types", "merged"),
    [
        ((DType.F32, DType.F64, DType.F32), True),
        ((DType.U8, DType.F32, DType.S32), True),
        ((DType.BOOL, DType.S64, DType.F32), True),
        ((DType.F32, DType.S32, DType.F32), False),
        ((DType.S64, DType.F32, DType.S64), False),
        ((DType.F32, DType.BOOL, DType.F32), False),
        ((DType.S32, DType.U8, DType.S64), False),
        ((DType.F32, DType.BF16, DType.F32), False),
        ((DType.BF16, DType.F32, DType.S32), True),
    ],
)
def test_rows(types: tuple[DType, DType, DType], merged: bool) -> None:
    make = Maker()
    x = make.input(2, 5, dtype=types[0])
    graph = make.finish(make("cast", make("cast", x, to=types[1]), to=types[2]))
    assert apply(graph, MergeCasts) is merged
    assert len(ops(graph)) == (1 if merged else 2)
