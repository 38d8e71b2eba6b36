"""Cases of mod."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from buildtool.ops.mod import Mod
from tests.ops.case import OpCase
from tests.ops.element_types import INTEGERS, anything, binary_types
from tests.ops.inputs import Rng, binary, integers, label, uniform

ONNX = ("Mod", "fmod")


def cases(rng: Rng) -> Iterator[OpCase]:
    for fmod in (False, True):
        for case in _of(rng, Mod(fmod)):
            yield OpCase(case.op, case.inputs, f"{case.name}_{'as_in_c' if fmod else 'with_sign_of_b'}")


def _of(rng: Rng, op: Mod) -> Iterator[OpCase]:
    yield from binary(rng, op, second=lambda rng, shape: uniform(rng, shape, -3, 3))
    yield from binary_types(rng, op, (np.float64,))
    for dtype in INTEGERS:
        divisors = np.where(integers(rng, (17,), 0, 2, np.bool_), 3, np.array(7)).astype(dtype)
        if np.issubdtype(dtype, np.signedinteger):
            divisors[::3] *= -1
        numbers = anything(rng, (5, 17), dtype)
        if numbers.itemsize == 8:
            numbers //= 2**12  # onnxruntime computes C's fmod in double
        yield OpCase(op, (numbers, divisors), label("of", np.dtype(dtype).name))
    far = np.array([1e30, -3e38, 1e-40, 7.5, -7.5, 123456.78], np.float32)
    yield OpCase(op, (far[:, None], np.array([3.0, -0.7, 1e-38, 1e10], np.float32)), "far_apart")
    odd = np.array([0.0, -0.0, 1.5, -1.5, np.inf, np.nan], np.float32)
    yield OpCase(op, (odd[:, None], np.array([0.0, 2.0, -2.0, np.inf, np.nan], np.float32)), "special")
