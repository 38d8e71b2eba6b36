"""Cases of requantize on real numbers, which it hands on; those of stored ones are in tests/ops/stored.py."""

from __future__ import annotations

from collections.abc import Iterator

from buildtool.ops.requantize import Requantize
from tests.ops.case import OpCase
from tests.ops.inputs import Rng, unary


def cases(rng: Rng) -> Iterator[OpCase]:
    yield from unary(rng, Requantize())
