"""Every bad deployment file gives exactly the error that is written down beside it.

LATHE_UPDATE_GOLDEN=1 writes the texts anew; read the difference before you commit it.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from buildtool.config import load_deployment
from buildtool.errors import ConfigError

BAD = Path(__file__).parent / "bad"
FILES = sorted(BAD.glob("*.yml"))


def test_there_are_enough_of_them() -> None:
    assert len(FILES) >= 40
    assert {path.stem for path in FILES} == {path.stem for path in BAD.glob("*.txt")}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_error_is_the_golden_one(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(BAD)
    with pytest.raises(ConfigError) as caught:
        load_deployment(Path(path.name), environment={})
    assert caught.value.exit_code == 2
    text = caught.value.render() + "\n"
    golden = path.with_suffix(".txt")
    if os.environ.get("LATHE_UPDATE_GOLDEN"):
        golden.write_text(text, encoding="utf-8")
    assert text == golden.read_text(encoding="utf-8")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_error_points_into_the_file_and_fits_a_terminal(path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        load_deployment(path, environment={})
    for problem in caught.value.problems:
        assert problem.where.file == str(path)
        assert all(line.isprintable() for line in problem.render().split("\n"))
