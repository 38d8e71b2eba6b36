"""Cases of bit_shift."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from buildtool.ir.operator import Array
from buildtool.ops.bit_shift import BitShift
from tests.ops.case import OpCase
from tests.ops.element_types import SIGNED, UNSIGNED, anything
from tests.ops.inputs import Rng, integers, label


def onnx_form(case: OpCase) -> Iterator[tuple[str, tuple[Array, ...], dict[str, str]]]:
    yield "BitShift", case.inputs, {"direction": str(case.op.attributes()["direction"]).upper()}


def cases(rng: Rng) -> Iterator[OpCase]:
    for direction in ("left", "right"):
        op = BitShift(direction)
        for dtype in UNSIGNED:
            most = 8 * np.dtype(dtype).itemsize - 1
            places = integers(rng, (2, 1, 9), 0, most, dtype)
            yield OpCase(op, (anything(rng, (5, 1), dtype), places), label(direction, np.dtype(dtype).name))
            yield OpCase(
                op, (anything(rng, (17,), dtype), np.array(1, dtype)), label(direction, np.dtype(dtype).name, "by_1")
            )
            yield OpCase(
                op, (anything(rng, (3, 5), dtype), np.array(most, dtype)), label(direction, "far", np.dtype(dtype).name)
            )
        for dtype in SIGNED:
            places = np.array([0, 1, 3, 5, 7], dtype)
            yield OpCase(op, (anything(rng, (17, 5), dtype), places), label(direction, np.dtype(dtype).name))
        past = np.array([-1, 0, 31, 32, 33, 2**31 - 1], np.int32)
        yield OpCase(op, (anything(rng, (9, 1), np.int32), past), label(direction, "past_the_end"))
