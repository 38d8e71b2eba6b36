"""Which layers bear to be stored: the measure, and the search for few that do not."""

from __future__ import annotations

import itertools
from collections.abc import Collection

import numpy as np
import pytest

from buildtool.quant.sensitivity import EXACT, Noise, fewest


def test_the_ratio_of_signal_to_noise() -> None:
    noise = Noise()
    noise.see(np.array([3.0, 0.0]), np.array([3.0, 0.0]))
    assert noise.decibels == EXACT
    noise.see(np.array([4.0]), np.array([4.5]))
    assert noise.decibels == pytest.approx(20.0)  # 25 to 0.25
    nothing = Noise()
    nothing.see(np.zeros(2), np.ones(2))
    assert nothing.decibels == -EXACT


@pytest.mark.parametrize("needed", range(0, 100, 7))
def test_the_choice_is_sufficient_and_minimal(needed: int) -> None:
    harms = {"a": 31, "b": 30, "c": 20, "d": 10, "e": 5, "f": 3, "g": 1}

    def enough(names: Collection[str]) -> bool:
        return sum(harms[name] for name in names) >= needed

    chosen = fewest(list(harms), enough)
    assert enough(chosen)
    for name in chosen:
        assert not enough([other for other in chosen if other != name])
    best = min(
        len(names) for count in range(len(harms) + 1) for names in itertools.combinations(harms, count) if enough(names)
    )
    assert len(chosen) == best


def test_layers_without_effect_are_left_out() -> None:
    """The first layer alone does much harm, and none beside the third."""

    def enough(names: Collection[str]) -> bool:
        return "c" in names

    assert fewest(["a", "b", "c", "d"], enough) == ["c"]
