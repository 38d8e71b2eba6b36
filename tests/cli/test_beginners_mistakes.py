"""What a beginner reads after each of many mistakes: every text is golden, and answers what, where, why and what to do.

LATHE_UPDATE_GOLDEN=1 writes the texts anew; read the difference before you commit it.
"""

from __future__ import annotations

import collections
import os
import re
import shutil
from pathlib import Path

import pytest

from tests.cli.beginners_commands import COMMAND
from tests.cli.beginners_files import FILES
from tests.cli.beginners_keys import KEYS
from tests.cli.beginners_mistakes import FILE, MODEL, Mistake
from tests.cli.conftest import EXAMPLE, Lathe

GOLDEN = Path(__file__).with_name("beginners_mistakes.txt")
MISTAKES = (*FILE, *MODEL, *FILES, *KEYS, *COMMAND)
LEAST_GRADE = 3
_PLACE = re.compile(r"'(?:\.\.\.|/)[^'\n]*/([^'/\n]+)'")  # in quotes, and shortened where the folder's name is long
_HEADING = re.compile(r"^## (.+)$", re.MULTILINE)


def golden() -> dict[str, str]:
    """The texts by the names of the mistakes."""
    parts = _HEADING.split(GOLDEN.read_text(encoding="utf-8"))[1:] if GOLDEN.is_file() else []
    return dict(zip(parts[::2], parts[1::2], strict=True))


@pytest.fixture(scope="module", autouse=True)
def updated() -> None:
    if os.environ.get("LATHE_UPDATE_GOLDEN"):
        GOLDEN.unlink(missing_ok=True)


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.name)
def test_the_message_says_what_where_why_and_what_to_do(
    mistake: Mistake, lathe: Lathe, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LATHE_CACHE_DIR", str(cache))
    monkeypatch.delenv("ANDROID_NDK_HOME", raising=False)
    if not mistake.tools:
        monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    for name in ("deploy.yml", "digits.onnx"):
        shutil.copy(EXAMPLE / name, tmp_path / name)
    (tmp_path / "samples").mkdir()
    mistake.change(tmp_path)
    result = lathe(*mistake.command.split())
    message = _PLACE.sub(r"'./\1'", (result.stdout + result.stderr).replace(str(tmp_path), "."))
    text = f"\n$ lathe {mistake.command}\n{message}exit code {result.code}, grade {mistake.grade(message)} of 4\n\n"
    if os.environ.get("LATHE_UPDATE_GOLDEN"):
        with GOLDEN.open("a", encoding="utf-8") as file:
            file.write(f"## {mistake.name}\n{text[1:]}")
    assert result.code in (2, 3, 4, 6, 8)
    assert text == "\n" + golden()[mistake.name].lstrip("\n")
    assert mistake.grade(message) >= LEAST_GRADE


def test_every_mistake_has_one_text() -> None:
    names = [mistake.name for mistake in MISTAKES]
    assert len(names) >= 60
    assert list(golden()) == names
    grades = collections.Counter(re.findall(r"grade (\d) of 4", GOLDEN.read_text(encoding="utf-8")))
    assert sum(grades.values()) == len(names)
