"""What handlers answer to nodes that are odd or wrong stays what the book says. See `tests.importers.answers`."""

from __future__ import annotations

from pathlib import Path

from tests.importers import answers


def test_answers_are_those_of_the_book(tmp_path: Path) -> None:
    found = answers.differences("tensorflow", tmp_path)
    assert not found, "python -m tests.importers.answers writes it anew:\n" + "\n".join(found[:40])
