"""Cases of sub."""

from __future__ import annotations

from collections.abc import Iterator

from buildtool.ops.sub import Sub
from tests.ops.case import OpCase
from tests.ops.element_types import binary_types
from tests.ops.inputs import Rng, binary, binary_integers


def cases(rng: Rng) -> Iterator[OpCase]:
    yield from binary(rng, Sub())
    yield from binary_integers(rng, Sub())
    yield from binary_types(rng, Sub())
