"""A model that no emulated board has room for is built, and what would execute it says why nothing does."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from buildtool.targets.micro.processors import PROCESSORS
from tests.cli.conftest import EXAMPLE, Lathe, lathe
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


def test_half_precision_is_not_silent(tmp_path: Path, lathe: Lathe) -> None:
    shutil.copy(EXAMPLE / "digits.onnx", tmp_path)
    text = (EXAMPLE / "deploy.yml").read_text().replace("fp32_fp32", "fp16_fp16")
    (tmp_path / "m.yml").write_text(re.sub(r"target_abis: .*", "target_abis: [cortex-m4]", text))
    checked = lathe("check", tmp_path / "m.yml")
    assert checked.code == 0
    assert "computed in single precision on the ARM Cortex-M4" in checked.stderr
    (tmp_path / "m.yml").write_text((tmp_path / "m.yml").read_text().replace("fp16_fp16", "bf16_fp32"))
    assert "single precision" not in lathe("check", tmp_path / "m.yml").stderr
