"""Cases of cast."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from buildtool.ir.types import DType
from buildtool.ops.cast import Cast
from tests.ops.case import OpCase
from tests.ops.inputs import Rng, label, uniform

_TYPES = (DType.F32, DType.F16, DType.S8, DType.U8, DType.S32, DType.S64, DType.BOOL)


def cases(rng: Rng) -> Iterator[OpCase]:
    for source in _TYPES:
        for target in _TYPES:
            low = 0.0 if DType.U8 in (source, target) else -100.0
            numbers = uniform(rng, (3, 17), low, 100.0)
            yield OpCase(Cast(target), (numbers.astype(source.numpy),), label(source.value, "to", target.value))
    for shape in ((), (1,), (1023,), (2, 5, 7, 3)):
        yield OpCase(Cast(DType.S32), (uniform(rng, shape, -1e6, 1e6),), label("f32_to_s32", shape))
    edges = np.array([-np.inf, -1e30, -2147483648.0, -0.9, 0.9, 2147483520.0, 2147483648.0, 1e30, np.inf, np.nan])
    yield OpCase(Cast(DType.S32), (edges.astype(np.float32),), "f32_to_s32_limits")
    yield OpCase(Cast(DType.U8), (np.array([-1.0, 0.0, 254.9, 255.0, 256.0, np.nan], np.float32),), "f32_to_u8_limits")
    wide = np.array([1e-9, 65504.0, 65520.0, 1e6, -1e6, np.inf, -np.inf], np.float32)
    for count in (1, 7):
        yield OpCase(Cast(DType.F16), (np.tile(wide, count),), label("f32_to_f16_limits", count))
    yield OpCase(Cast(DType.S8), (np.array([-300, -129, 127, 128, 511], np.int32),), "s32_to_s8_wraps")
    yield OpCase(Cast(DType.BOOL), (np.array([-0.0, 0.0, 1e-30, np.inf], np.float32),), "f32_to_bool_edges")
