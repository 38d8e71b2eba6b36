"""Cases of dequantize_linear."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from buildtool.ir.operator import Array
from buildtool.ops.dequantize_linear import DequantizeLinear
from tests.ops.case import OpCase
from tests.ops.inputs import Rng, label
from tests.ops.quantised import scale, whole_range, zero_point


def onnx_form(case: OpCase) -> Iterator[tuple[str, tuple[Array, ...], dict[str, int]]]:
    op: Any = case.op
    yield "DequantizeLinear", case.inputs, {"axis": op.axis, "block_size": op.block}


def _case(
    rng: Rng, shape: tuple[int, ...], parameters: tuple[int, ...], axis: int, block: int, of: Any, to: Any = np.float32
) -> OpCase:
    inputs = whole_range(rng, shape, of), scale(rng, parameters, to), zero_point(rng, parameters, of)
    name = label(np.dtype(of).name, shape, "by", parameters, axis, block, np.dtype(to).name)
    return OpCase(DequantizeLinear(axis, block), inputs, name, (1, 2))


def cases(rng: Rng) -> Iterator[OpCase]:
    for of in (np.int8, np.uint8, np.int16, np.uint16):
        yield _case(rng, (17,), (), 0, 0, of)
        yield _case(rng, (3, 37), (), 0, 0, of)
        yield _case(rng, (2, 5, 7, 3), (3,), 3, 0, of)
        yield _case(rng, (2, 5, 7, 3), (5,), 1, 0, of)
        yield _case(rng, (4, 6, 5), (4, 2, 5), 1, 3, of)
        yield _case(rng, (2, 11), (2, 3), 1, 4, of)
    yield _case(rng, (3, 33), (3,), 0, 0, np.int8, np.float16)
    yield _case(rng, (3, 33), (), 0, 0, np.uint8, np.float16)
    yield _case(rng, (1023,), (1023,), 0, 0, np.int8)
    yield _case(rng, (), (), 0, 0, np.uint8)
    sums = whole_range(rng, (3, 7), np.int32)
    yield OpCase(DequantizeLinear(1, 0), (sums, scale(rng, (7,))), "s32_bias", (1,))
    yield OpCase(DequantizeLinear(0, 0), (sums, scale(rng, ()), np.zeros((), np.int32)), "s32_with_zero_point", (1, 2))
