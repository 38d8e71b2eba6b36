"""What a search may choose, and which bits it finds."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from buildtool.errors import ConfigError, Where
from buildtool.training import spaces
from buildtool.training.spaces import Candidate, Option

CHOICES: spaces.Choices = {"width": (4, 8, 16), "depth": (0, 1), "norm": (True, False)}


def test_bits_are_the_best_that_fit() -> None:
    """Against all combinations, over random losses and memories."""
    for seed in range(30):
        rng = np.random.default_rng(seed)
        layers = {
            f"layer{number}": [
                Option(bits, int(rng.integers(1, 9)) * bits, float(rng.normal(0.1, 0.3))) for bits in (8, 4, 2)
            ]
            for number in range(int(rng.integers(1, 7)))
        }
        whole = [sum(option.size for option in chosen) for chosen in itertools.product(*layers.values())]
        budget = int(rng.integers(min(whole), max(whole) + 1))
        fitting = [
            sum(option.loss for option in chosen)
            for chosen in itertools.product(*layers.values())
            if sum(option.size for option in chosen) <= budget
        ]
        (found,) = spaces.cheapest(layers, budget)
        used = [next(option for option in layers[name] if option.bits == bits) for name, bits in found.items()]
        assert sum(option.size for option in used) <= budget
        assert sum(option.loss for option in used) == pytest.approx(min(fitting))


def test_no_bits_fit_too_small_a_memory() -> None:
    layers = {"a": [Option(8, 80, 0.0), Option(4, 40, 1.0)], "b": [Option(8, 8, 0.0), Option(4, 4, 0.5)]}
    assert spaces.cheapest(layers, 43) == []
    assert spaces.cheapest(layers, 44) == [{"a": 4, "b": 4}]
    assert spaces.cheapest(layers, 84) == [{"a": 8, "b": 4}]


def test_the_next_best_are_of_other_sizes() -> None:
    layers = {"a": [Option(8, 80, 0.0), Option(4, 40, 1.0)], "b": [Option(8, 8, 0.0), Option(4, 4, 0.5)]}
    assert spaces.cheapest(layers, 100, keep=2) == [{"a": 8, "b": 8}, {"a": 8, "b": 4}]


def test_children_come_from_both_parents_and_change() -> None:
    rng = np.random.default_rng(0)
    one = Candidate({"width": 4, "depth": 0, "norm": True}, {"a": 8, "b": 8})
    other = Candidate({"width": 16, "depth": 1, "norm": True}, {"a": 2, "c": 2})
    children = [spaces.child(one, other, CHOICES, (8, 4, 2), rng) for _ in range(300)]
    assert {arguments["width"] for arguments, _ in children} == {4, 8, 16}
    assert {arguments["norm"] for arguments, _ in children} == {True, False}
    assert all(set(bits) == {"a", "b", "c"} for _, bits in children)
    assert {bits["a"] for _, bits in children} == {8, 4, 2}
    inherited = sum(bits["b"] == 8 for _, bits in children)
    assert 200 < inherited < 300


def test_equal_candidates_have_equal_keys() -> None:
    one = Candidate({"width": 4, "depth": 1}, {"a": 8, "b": 4})
    assert one.key == Candidate({"depth": 1, "width": 4}, {"b": 4, "a": 8}).key
    assert one.key != Candidate({"depth": 1, "width": 4}, {"b": 8, "a": 8}).key


MISTAKES: dict[str, Any] = {
    "`search` cannot be 3": 3,
    "`search` cannot have 8 for 'width'": {"width": 8},
    "`search` cannot have [] for 'width'": {"width": []},
    "`search` cannot have [[1]] for 'width'": {"width": [[1]]},
    "`search` names a value of 'width' twice: [8, 8]": {"width": [8, 8]},
}


@pytest.mark.parametrize("told", MISTAKES)
def test_mistakes_of_spaces_are_named(told: str) -> None:
    with pytest.raises(ConfigError) as caught:
        spaces.read({"name": "net", "search": MISTAKES[told]}, Where(file="model.py"))
    assert told in caught.value.render()


@pytest.mark.parametrize("text", ["", "8,", "3", "8 4", "8,8", "16", "eight"])
def test_bits_that_layers_cannot_have_are_refused(text: str) -> None:
    with pytest.raises(ConfigError, match=f"--weight-bits cannot be '{text}'"):
        spaces.bits_of(text)
    assert spaces.bits_of("2,8") == (8, 2)
