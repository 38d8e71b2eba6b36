"""Cases of div."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from buildtool.ops.div import Div
from tests.ops.case import OpCase
from tests.ops.element_types import between, binary_types
from tests.ops.inputs import Rng, binary, binary_integers, label, uniform


def cases(rng: Rng) -> Iterator[OpCase]:
    yield from binary(rng, Div(), second=lambda rng, shape: uniform(rng, shape, 0.5, 3))
    yield from binary_integers(rng, Div(), second_low=1)
    numbers = np.array([-7, -6, -1, 0, 1, 6, 7], np.int32)
    for divisor in (-3, -1, 2, 7):
        yield OpCase(Div(), (numbers, np.array(divisor, np.int32)), label("integers_by", divisor))
    yield from binary_types(rng, Div(), second=between(1, 9))
