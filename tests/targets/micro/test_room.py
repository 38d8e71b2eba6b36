"""A model that no emulated board has room for is built, and what would execute it says why nothing does."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from buildtool.targets.micro.processors import PROCESSORS
from tests.cli.conftest import Lathe, lathe
from tests.targets.micro.test_page import keywords

__all__ = ["lathe"]  # a fixture
pytestmark = pytest.mark.arm


@pytest.fixture
def deployment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lathe: Lathe) -> Path:
    """A model for a board whose RAM its program exceeds by the stack alone."""
    processor = PROCESSORS["cortex-m4"]
    assert processor.board is not None
    small = replace(processor.board, ram=(processor.board.ram[0], 64 << 10))
    monkeypatch.setitem(PROCESSORS, "cortex-m4", replace(processor, board=small))
    (tmp_path / "words.tflite").write_bytes(keywords())
    file = tmp_path / "words.yml"
    assert lathe("init", tmp_path / "words.tflite", "-o", file, "--target-abis", "cortex-m4").code == 0
    return file


def test_the_library_is_built_without_a_program(deployment: Path, tmp_path: Path, lathe: Lathe) -> None:
    built = lathe("build", deployment, "-o", tmp_path / "build", "--no-archive")
    assert built.code == 0
    assert "the library is built, but no program for an emulator" in built.stderr
    assert "and 65,536 bytes of RAM" in built.stderr
    folder = tmp_path / "build/words/lib/cortex-m4"
    assert sorted(file.name for file in folder.iterdir()) == ["libwords.a", "words"]


def test_nothing_executes_it(deployment: Path, tmp_path: Path, lathe: Lathe) -> None:
    assert lathe("check", deployment).code == 0
    judged = lathe("validate", deployment, "-o", tmp_path / "build")
    assert judged.code == 9
    assert "does not fit the emulated board" in judged.stdout + judged.stderr
    assert "does not fit the emulated board" in lathe("run", deployment, "-o", tmp_path / "build").stderr
