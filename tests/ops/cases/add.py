"""Cases of add."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from buildtool.ops.add import Add
from tests.ops.activations import ACTIVATED
from tests.ops.case import OpCase
from tests.ops.element_types import FLOATS, anything, binary_types, in_half
from tests.ops.inputs import Rng, binary, binary_integers, label, normal


def cases(rng: Rng) -> Iterator[OpCase]:
    yield from binary(rng, Add())
    yield from binary_integers(rng, Add())
    for activation in ACTIVATED:
        yield OpCase(Add(**activation), (normal(rng, (3, 19)), normal(rng, (19,))), label(activation["activation"]))
    yield from binary_types(rng, Add())
    for activation in ACTIVATED:
        for dtype in FLOATS:
            operands = anything(rng, (3, 19), dtype), anything(rng, (19,), dtype)
            yield OpCase(Add(**activation), operands, label(activation["activation"], np.dtype(dtype).name))
    yield from in_half(binary(rng, Add()))
