"""Cases of quantize_linear."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from buildtool.ir.operator import Array
from buildtool.ir.types import dtype_of
from buildtool.ops.quantize_linear import QuantizeLinear
from tests.ops.case import OpCase
from tests.ops.inputs import Rng, label, normal
from tests.ops.quantised import scale, zero_point

_TYPES = (np.int8, np.uint8, np.int16, np.uint16)


def onnx_form(case: OpCase) -> Iterator[tuple[str, tuple[Array, ...], dict[str, int]]]:
    op: Any = case.op
    zeros = np.zeros(case.inputs[1].shape, op.to.numpy)  # ONNX reads the element type of the result off them
    x, factor, *rest = case.inputs
    yield "QuantizeLinear", (x, factor, *(rest or [zeros])), {"axis": op.axis, "block_size": op.block}


def _case(
    rng: Rng, shape: tuple[int, ...], parameters: tuple[int, ...], axis: int, block: int, to: Any, of: Any = np.float32
) -> OpCase:
    op = QuantizeLinear(axis, block, dtype_of(np.zeros(0, to)))
    spread = 3 if np.iinfo(to).bits == 8 else 300  # some numbers are beyond the range
    inputs = (normal(rng, shape) * spread).astype(of), scale(rng, parameters, of), zero_point(rng, parameters, to)
    return OpCase(op, inputs, label(np.dtype(of).name, shape, "by", parameters, axis, block, np.dtype(to).name), (1, 2))


def cases(rng: Rng) -> Iterator[OpCase]:
    for to in _TYPES:
        yield _case(rng, (17,), (), 0, 0, to)
        yield _case(rng, (3, 37), (), 0, 0, to)
        yield _case(rng, (2, 5, 7, 3), (3,), 3, 0, to)
        yield _case(rng, (2, 5, 7, 3), (5,), 1, 0, to)
        yield _case(rng, (3, 33), (3,), 0, 0, to, np.float16)
        yield _case(rng, (4, 6, 5), (4, 2, 5), 1, 3, to)
        yield _case(rng, (2, 11), (2, 3), 1, 4, to)
    yield _case(rng, (1023,), (1023,), 0, 0, np.int8)
    yield _case(rng, (), (), 0, 0, np.uint8)
    op = QuantizeLinear(0, 0, dtype_of(np.zeros(0, np.int8)))
    ties = np.arange(-40, 40, dtype=np.float32) / 2
    yield OpCase(op, (ties, np.array(1.0, np.float32)), "ties_without_zero_point", (1,))
    large = np.array([3e9, -3e9, 1e30, -1e30, np.inf, -np.inf, 8388609.0, 127.5, -128.5], np.float32)
    yield OpCase(op, (large, np.array(1.0, np.float32), np.array(-7, np.int8)), "limits", (1, 2))
    limits = [np.inf, -np.inf, 1e30, -1e30, 0.5, 1.5, -0.5, -2.5, *range(-130, 300)]
    for to in _TYPES[:2]:
        for name, x in (("limits", limits), ("not_a_number", [np.nan, *limits])):
            inputs = np.asarray(x, np.float32), np.float32(1), np.array(np.iinfo(to).max - 40, to)
            op = QuantizeLinear(0, 0, dtype_of(np.zeros(0, to)))
            yield OpCase(op, inputs, label(name, np.dtype(to).name), (1, 2))
