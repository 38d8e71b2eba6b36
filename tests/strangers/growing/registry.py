"""How a drawing grows: functions that add nodes behind a value."""

from __future__ import annotations

from collections.abc import Callable

from tests.strangers.drawing import Drawing, Drawn

#: Adds nodes behind a value and gives the results that later nodes may read; nothing where it does not fit there.
Grower = Callable[[Drawing, Drawn], list[Drawn]]

FLOATS = ("f32",)
GROWERS: list[tuple[Grower, float, tuple[str, ...]]] = []


def grower(weight: float = 1.0, kinds: tuple[str, ...] = FLOATS) -> Callable[[Grower], Grower]:
    """Registers a grower: how often it is drawn, for values of which types."""

    def register(function: Grower) -> Grower:
        GROWERS.append((function, weight, kinds))
        return function

    return register
