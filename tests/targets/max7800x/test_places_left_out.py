"""Descriptions whose places are left out, all or some: the planner finds them, and the results stay the same."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from buildtool.errors import LatheError
from buildtool.targets.max7800x import description
from buildtool.targets.max7800x.description import Described
from buildtool.targets.max7800x.devices import MAX78000
from buildtool.targets.max7800x.firmware import program
from buildtool.targets.max7800x.planning import overlap
from buildtool.targets.max7800x.simulation import simulate
from tests.targets.max7800x import known_answers, machine
from tests.targets.max7800x.known_answers import KnownAnswer

PLACES = r"processors|output_processors|in_offset|out_offset|write_gap"


def read(known: KnownAnswer, text: str, folder: Path) -> Described:
    (folder / "network.yaml").write_text(text)
    return description.read(
        folder / "network.yaml",
        device=MAX78000,
        weights=known.weights,
        sample=known.folder / "sample.npy",
        options=description.Options(fifo="fifo" in known.name),
    )


def without_places(text: str) -> str:
    """Each layer begins with something else than a place then."""
    text = re.sub(rf"^  - (?=(?:{PLACES}):)", "  - name: x\n    ", text, flags=re.MULTILINE)
    names = iter(f"name: step_{number}" for number in range(100))
    text = re.sub(r"name: x\n", lambda _: next(names) + "\n", text)
    return re.sub(rf"^    (?:{PLACES}):.*\n", "", text, flags=re.MULTILINE)


@known_answers.exist
@pytest.mark.parametrize("name", known_answers.NAMES)
def test_places_are_found(name: str, tmp_path: Path) -> None:
    known = KnownAnswer(name)
    text = without_places(known.description.read_text())
    assert not re.search(PLACES, text)
    found = read(known, text, tmp_path)
    network = found.network
    assert overlap.check(network) == []
    assert len(found.written) == len(network.layers)
    assert not any("processors" in keys for keys in found.written)
    wanted = simulate.run(known.network, known.sample).result
    assert np.array_equal(simulate.run(network, known.sample).result, wanted)
    differences, outcome = machine.differences(program.make(network, known.sample))
    assert not differences
    assert not outcome.complaints


@known_answers.exist
def test_places_that_the_description_gives_are_kept(tmp_path: Path) -> None:
    """Of five layers the third says where it works, and where it writes."""
    known = KnownAnswer("mnist")
    text = without_places(known.description.read_text()).split("  - ")
    text[3] = "processors: 0x0fffffffffffffff\n    out_offset: 0x1000\n    " + text[3]
    found = read(known, "  - ".join(text), tmp_path)
    first, second, third, fourth, _ = found.network.layers
    assert second.output_processors == third.processors == 0x0FFFFFFFFFFFFFFF
    assert third.out_offset == fourth.in_offset == 0x1000
    assert first.out_offset != -1
    assert overlap.check(found.network) == []


@known_answers.exist
def test_contradictions_are_told(tmp_path: Path) -> None:
    known = KnownAnswer("mnist")
    text = without_places(known.description.read_text()).split("  - ")
    text[3] = "processors: 0x00ffffffffffffff\n    " + text[3]
    with pytest.raises(LatheError, match=r"yaml:18: error: 60 channels go in, with 56 processors"):
        read(known, "  - ".join(text), tmp_path)
