"""Records of builds: when a build has nothing to do, and when it has."""

from __future__ import annotations

import os
import shutil
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from buildtool.artifacts import build_records
from buildtool.errors import Problem, Where
from buildtool.settings import NOTHING, Options, Overrides

NOTES = [Problem("odd", Where(file="a.yml", line=3), rule="none", remedy="none"), Problem("short")]


@dataclass
class Built:
    """A build with one input, one tool and two outputs."""

    folder: Path

    def __post_init__(self) -> None:
        self.input, self.tool = self.folder / "model", self.folder / "compiler"
        self.out = self.folder / "out"
        for path in (self.input, self.tool, self.out / "lib.so", self.out / "report" / "build.json"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(path.name)

    def remember(self, began: int = 0) -> None:
        report = {"folder": str(self.out), "emitted": [str(self.out / "report" / "x.ir")]}
        later = time.time_ns() + 10**9  # all files are old
        build_records.write("it", began or later, [self.input], [self.tool], report, NOTES)

    def is_known(self) -> bool:
        return build_records.unchanged("it") is not None


@pytest.fixture
def built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Built:
    monkeypatch.setenv("LATHE_CACHE_DIR", str(tmp_path / "cache"))
    made = Built(tmp_path)
    made.remember()
    return made


def test_a_record_is_read_as_it_was_written(built: Built) -> None:
    found = build_records.unchanged("it")
    assert found is not None
    assert found[0]["folder"] == str(built.out)
    assert found[1] == NOTES
    assert build_records.inputs("it") == (built.input,)
    assert build_records.unchanged("another") is None
    assert build_records.inputs("another") == ()


def test_inputs_are_known_by_their_content(built: Built) -> None:
    os.utime(built.input)
    assert built.is_known()
    built.input.write_text("other")
    assert not built.is_known()
    built.input.write_text("model")
    assert built.is_known()
    built.input.unlink()
    assert not built.is_known()


def test_tools_and_outputs_are_known_by_their_state(built: Built) -> None:
    os.utime(built.tool)
    assert not built.is_known()
    built.remember()
    assert built.is_known()
    (built.out / "lib.so").write_text("lib!so")
    assert not built.is_known()
    built.remember()
    (built.out / "another").touch()
    assert not built.is_known()
    built.remember()
    shutil.rmtree(built.out)
    assert not built.is_known()


def test_files_of_other_commands_in_reports_do_not_count(built: Built) -> None:
    (built.out / "report" / "validation.json").touch()
    assert built.is_known()
    (built.out / "report" / "x.ir").touch()
    assert not built.is_known(), "--emit has asked for it"
    (built.out / "report" / "x.ir").unlink()
    (built.out / "report" / "tuning.json").touch()
    assert not built.is_known()


def test_a_file_that_changes_during_the_build_leaves_no_record(built: Built) -> None:
    (built.folder / "cache" / "builds" / "it").unlink()
    built.input.write_text("late")
    built.remember(began=time.time_ns())
    assert not built.is_known()


@pytest.mark.parametrize("damage", ["", "[]", '{"report": {}}', "{", "null"])
def test_a_damaged_record_is_none(built: Built, damage: str) -> None:
    record = built.folder / "cache" / "builds" / "it"
    record.write_text(damage)
    assert not built.is_known()
    assert build_records.inputs("it") == ()


def test_names_hold_all_that_was_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "deploy.yml"

    def name(overrides: Overrides = NOTHING, options: Options = Options(), command: str = "build") -> str:  # noqa: B008
        return build_records.name_of(command, file, overrides, options)

    first = name()
    emitted = [name(options=Options(emit=frozenset(order))) for order in (["ir", "plan"], ["plan", "ir"])]
    assert emitted[0] == emitted[1]
    others = [emitted[0], name(Overrides(target_abis=("host",))), name(command="check")]
    monkeypatch.setenv("CXX", "another-g++")
    others.append(name())
    monkeypatch.delenv("CXX")
    monkeypatch.setenv("COLUMNS", "80")
    assert name() == first
    assert len({first, *others}) == 5
