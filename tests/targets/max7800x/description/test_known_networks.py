"""The ten known answers: read as they are, computed, and compared to the last bit."""

from __future__ import annotations

import pytest

from buildtool.targets.max7800x import description
from buildtool.targets.max7800x.description import Described, Options
from buildtool.targets.max7800x.devices import MAX78000
from buildtool.targets.max7800x.simulation import simulate
from tests.targets.max7800x import known_answers
from tests.targets.max7800x.known_answers import KnownAnswer


def described(known: KnownAnswer) -> Described:
    """A known network, read with the options that it was generated with."""
    options = (known.folder / "options.txt").read_text().split()
    return description.read(
        known.description,
        device=MAX78000,
        weights=known.weights,
        sample=known.folder / "sample.npy",
        options=Options(fifo="--fifo" in options),
    )


@known_answers.exist
@pytest.mark.parametrize("name", known_answers.NAMES)
def test_outputs_are_the_expected_words(name: str) -> None:
    known = KnownAnswer(name)
    found = described(known)
    assert found.sample is not None
    trace = simulate.run(found.network, found.sample)
    assert known_answers.words(found.network.layers[-1], trace.result) == known.expected_words()


@known_answers.exist
def test_places_that_are_not_written_follow_the_rules_of_the_tool() -> None:
    layers = described(KnownAnswer("mnist")).network.layers
    assert [layer.in_offset for layer in layers] == [0, 0x2000, 0, 0x2000, 0]
    assert [layer.output_processors for layer in layers[:-1]] == [layer.processors for layer in layers[1:]]
    assert layers[-1].output_processors == 0x3FF  # ten channels, from the first processor on
    assert [layer.is_output for layer in layers] == [False] * 4 + [True]


@known_answers.exist
def test_written_keys_are_told_apart_from_defaults() -> None:
    written = described(KnownAnswer("t_fire_cifar10")).written
    assert "in_offset" not in written[1]
    assert {"in_offset", "output_processors", "operation"} <= written[2]
