"""A fingerprint says what a build reads, wherever that lies, and costs little where there are many."""

from __future__ import annotations

from pathlib import Path

import pytest

import buildtool
from buildtool.artifacts.fingerprints import fingerprint


def _folder(place: Path, text: str = "int a;\n") -> Path:
    place.mkdir(parents=True)
    (place / "add.cc").write_text(text)
    (place / "notes.txt").write_text(str(place))  # is no source
    return place


def test_places_do_not_count_but_contents_and_names_do(tmp_path: Path) -> None:
    same = [_folder(tmp_path / name / "ops") for name in ("here", "there")]
    other = _folder(tmp_path / "other", "int b;\n")
    renamed = _folder(tmp_path / "renamed")
    (renamed / "add.cc").rename(renamed / "sub.cc")
    assert fingerprint({}, [], [same[0]]) == fingerprint({}, [], [same[1]])
    assert fingerprint({}, [same[0] / "add.cc"]) == fingerprint({}, [same[1] / "add.cc"])
    different = [
        fingerprint({}, []),
        fingerprint({"layers": 2}, []),
        fingerprint({}, [], [same[0]]),
        fingerprint({}, [], [same[0], same[1]]),
        fingerprint({}, [], [other]),
        fingerprint({}, [], [renamed]),
        fingerprint({}, [same[0] / "add.cc"]),
        fingerprint({}, [other / "add.cc"]),
    ]
    assert len(set(different)) == len(different)


def test_sources_of_operators_are_read_each_time(tmp_path: Path) -> None:
    folder = _folder(tmp_path / "ops")
    before = fingerprint({}, [], [folder])
    (folder / "add.cc").write_text("int c;\n")
    assert fingerprint({}, [], [folder]) != before


def test_a_thousand_fingerprints_read_lathe_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One for each model of a deployment; Lathe's own sources have 9 MB."""
    fingerprint({}, [])
    read, own = Path.read_bytes, Path(buildtool.__file__).parent.parent
    opened: list[Path] = []

    def noted(path: Path) -> bytes:
        opened.append(path)
        return read(path)

    monkeypatch.setattr(Path, "read_bytes", noted)
    folder = _folder(tmp_path / "ops")
    assert len({fingerprint({"model": number}, [], [folder]) for number in range(1000)}) == 1000
    assert len(opened) == 1000
    assert not [path for path in opened if path.is_relative_to(own)]
